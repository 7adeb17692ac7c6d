"""pucli compare: the same splits for every method, tests that hold their level, and a verdict in words."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import ttest_1samp

from pucli.core.declared_files import declared_path
from pucli.metrics import corrected_resampled_t, holm_adjusted
from pucli.models.compare import ComparisonScores, Task, compare, declared_task, judge, run
from pucli.models.compare.chance import Ranked, chance, why_useless
from pucli.report import gathering
from tests.helpers import by_night


def scores(values, metric="f1"):
    """Return scores of methods a, b, ... from values (tasks, methods, repeats)."""
    values = np.asarray(values, dtype=float)
    names = list("abcdefgh")
    tasks = [f"set{number}" for number in range(len(values))]
    return ComparisonScores(names[: values.shape[1]], tasks, metric, values, [0.5] * len(values), [])


def test_one_table_is_judged_by_the_corrected_test():
    values = np.array([[[80, 82, 81, 83], [78, 79, 80, 79]]])
    (line,) = judge(scores(values)).verdict
    p = corrected_resampled_t(values[0, 0] - values[0, 1], 0.5)
    message = "a is better than b on 4 of 4 splits, by 2.50 on average; this could be chance (p = "
    assert line == f"{message}{p:.2f}).".replace("= 0.", "= .")
    assert "a and b are equal on all 3 splits" in judge(scores(np.ones((1, 2, 3)))).verdict[0]
    (line,) = judge(scores([[[1.0, 2.0], [3.0, 0.5]]])).verdict
    assert line.startswith("b is better than a on 1 of 2 splits, by 0.25 on average")


def test_the_correction_makes_p_larger_and_without_it_the_plain_test_is_left():
    d = [1.0, 2.0, 0.5, 1.5]
    assert corrected_resampled_t(d, 0.0) == pytest.approx(ttest_1samp(d, 0).pvalue)
    assert corrected_resampled_t(d, 0.4) > corrected_resampled_t(d, 0.0)
    assert corrected_resampled_t([0.0, 0.0], 0.4) == 1.0
    assert np.isnan(corrected_resampled_t([1.0], 0.4))


def test_the_corrected_test_holds_its_level_where_the_plain_one_does_not():
    """Means of overlapping subsets of one sample of zero mean: the plain test finds differences much too often."""
    random = np.random.default_rng(0)
    corrected, plain = [], []
    for _ in range(300):
        sample = random.normal(size=60)
        d = [sample[random.permutation(60)[:18]].mean() for _ in range(10)]
        # training on 42 and testing on 18 of 60
        corrected.append(corrected_resampled_t(d, 18 / 42) < 0.05)
        plain.append(ttest_1samp(d, 0).pvalue < 0.05)
    assert np.mean(plain) > 0.2 > 0.12 > np.mean(corrected)


def test_auto_learns_from_the_rows_of_one_sample(monkeypatch):
    told = []
    monkeypatch.setattr(
        "pucli.estimators.auto.auto_pu.AutoPU.fit", lambda self, X, y, **_: told.append(self.scenario) or 1 / 0
    )
    one = replace(noise(0), scenario="single-training-set")
    found = compare(["auto", "blssvm"], [one], repeats=2)
    assert told == ["single-training-set"] * 2 and np.isnan(found.values[0, 0]).all()
    apart = noise(0, apart=1.0)
    as_one = replace(apart, scenario="single-training-set")
    puf, of_one = (compare(["gllc", "blssvm"], [task], repeats=2).values for task in (apart, as_one))
    assert (of_one < puf).all()  # labeled rows above the threshold count as predicted positive, too


def noise(seed, n=400, m=4, apart=0.0):
    """Return rows of which a quarter are known positives, at a distance `apart` from the others."""
    random = np.random.default_rng(seed)
    positive = np.arange(n) < n // 4
    return Task("noise", random.normal(size=(n, m)) + apart * positive[:, None], positive, known=False)


@pytest.mark.slow
def test_on_noise_no_method_is_called_better():
    """The method that calls more rows positive has the larger PUF there, whatever the test."""
    for seed in range(3):
        scores = compare(["blssvm", "svc-naive"], [noise(seed)], seed=seed)
        found = judge(scores)
        assert scores.useless == ["blssvm", "svc-naive"] and not found.pairs[0].differ
        assert found.verdict[0].startswith("Neither blssvm nor svc-naive ")
        assert sum("may be useless on noise: held-out positives hardly rank" in line for line in scores.remarks) == 2
    useful = compare(["blssvm", "svc-naive"], [noise(0, apart=1.5)])
    assert useful.useless == [] and judge(useful).verdict[0].startswith(("blssvm is", "svc-naive is"))


def test_a_puf_below_that_of_all_rows_positive_is_said():
    scores = compare(["blssvm", "svc-naive"], [noise(0)])
    assert any("PUF of 0." in line and "that of calling every row positive" in line for line in scores.remarks)


def test_useless_methods_are_not_ranked_among_each_other():
    values = np.array([[[1, 1.1, 1.2, 1.1], [0.5, 0.6, 0.5, 0.6], [3, 3.3, 3.1, 3.2]]])
    found = judge(replace(scores(values, "puf"), test_shares=[0.0], useless=["a", "b"]))
    assert found.verdict[0] == "Perhaps no better than chance, so not compared with each other: a, b."
    assert [pair.differ for pair in found.pairs] == [False, True, True]
    assert "all pairs" not in found.verdict[-1] and not any("a is better than b" in line for line in found.verdict)


def test_a_method_is_useless_if_it_is_so_on_every_table():
    found = compare(["blssvm", "svc-naive"], [noise(0), replace(noise(0, apart=1.5), name="other")], repeats=2)
    assert found.useless == []
    assert {line.split(":")[0] for line in found.remarks if "useless" in line} == {
        f"{name} may be useless on noise" for name in ("blssvm", "svc-naive")
    }


def test_features_are_scaled_by_the_training_rows_alone(monkeypatch):
    seen = []
    monkeypatch.setattr(
        run, "_score", lambda name, division, *more: (seen.append(division), (0.5, Ranked(0.5, 1, 1)))[1]
    )
    task = noise(0, m=2, apart=3.0)
    compare(["gllc", "blssvm"], [task], repeats=2)
    for division, repeat in zip(seen, (0, 0, 1, 1), strict=True):
        raw = task.division(repeat, seed=0, label_frequency=0.5)
        mean, sd = raw.X_train.mean(axis=0), raw.X_train.std(axis=0)
        np.testing.assert_allclose(division.X_train, (raw.X_train - mean) / sd, atol=1e-12)
        np.testing.assert_allclose(division.X_test, (raw.X_test - mean) / sd, atol=1e-12)


def test_rows_of_unknown_classes_are_divided_by_kind():
    one, other = (noise(0).division(repeat, seed=0, label_frequency=0.5) for repeat in (0, 1))
    assert (len(one.X_test), one.truth.sum(), len(one.X_train), one.s.sum()) == (120, 30, 280, 70)
    assert not {*map(tuple, one.X_train)} & {*map(tuple, one.X_test)}
    assert not np.array_equal(one.X_test, other.X_test)


def test_the_limit_of_chance_is_that_of_overlapping_splits():
    ranked = [Ranked(0.9, 30, 70)] * 4
    assert chance(ranked, 0.5) == pytest.approx(0.5 + 1.645 * np.sqrt((1 / 4 + 0.5) * 101 / (12 * 30 * 70)))
    said = why_useless(np.array([0.5]), ranked[:1], np.array([0.5]), "puf", 0.0)
    assert "PUF of 0.50" in said and "every row positive" in said
    assert why_useless(np.array([0.5]), ranked[:1], np.array([np.nan]), "puf", 0.5) == ""


@pytest.mark.slow
@pytest.mark.parametrize("times", by_night([150, 400], by_day=[150]))
def test_the_limit_of_chance_holds_its_level(times):
    """A fixed ranking of noise, looked at on overlapping parts: above the limit in about one of twenty cases."""
    random = np.random.default_rng(0)
    above = []
    for _ in range(times):
        truth, score = np.arange(100) < 40, random.normal(size=100)
        ranked = [Ranked.of(truth[part].astype(int), score[part]) for part in _parts(random)]
        above.append(np.mean([one.area for one in ranked]) > chance(ranked, 30 / 70))
    assert 0.0 < np.mean(above) < 0.1


def _parts(random):
    kinds = np.arange(40), np.arange(40, 100)
    return [np.concatenate([random.permutation(kind)[: round(0.3 * len(kind))] for kind in kinds]) for _ in range(10)]


def test_holm_is_between_no_adjustment_and_bonferroni():
    p = np.array([0.01, 0.02, 0.03, np.nan])
    adjusted = holm_adjusted(p)
    assert np.isnan(adjusted[3]) and (adjusted[:3] >= p[:3]).all() and (adjusted[:3] <= 3 * p[:3] + 1e-12).all()


def test_several_data_sets_are_compared_over_data_sets():
    better = np.arange(8)[:, None] + np.array([[3.0, 2.0]])
    found = judge(scores(better[:, :, None].repeat(3, axis=2)))
    assert (found.blocks, found.pairs[0].wins) == ("data sets", 8)
    assert found.verdict[0].startswith("a is better than b on 8 of 8 data sets, by 1.00 on average; this is more than")
    few = judge(scores(better[:3, :, None].repeat(3, axis=2))).verdict[0]
    assert "With 3 data sets, no test can find a difference: p is at least .25." in few


def test_what_no_test_of_a_pair_can_show_is_said_of_more_methods_as_well():
    """Holm's method multiplies the least p of a pair by their number."""
    random = np.random.default_rng(0)
    few, more = (judge(scores(random.normal(size=(n, 3, 4)))) for n in (6, 8))
    assert min(pair.p for pair in few.pairs) >= 3 / 32
    assert few.verdict[-1].endswith("With 6 data sets, no test of a pair can find a difference: p is at least .094.")
    assert "no test" not in " ".join(more.verdict)


def test_lower_is_better_where_the_metric_says_so():
    found = judge(scores([[[1, 1.1, 1.2], [5, 5.1, 5.3]]], metric="error"))
    assert found.verdict[0].startswith("a is better than b on 3 of 3 splits, by 4.03 on average")
    assert found.pairs[0].difference == pytest.approx(-12.1 / 3)  # a less b


def test_three_methods_are_ranked_and_the_best_differs_from_the_worst():
    random = np.random.default_rng(1)
    values = random.normal(size=(20, 3, 4)) * 0.1 + np.array([3.0, 2.98, 0.0])[None, :, None]
    found = judge(scores(values))
    assert found.ranking.ranks[2] == 3.0
    assert "The methods differ (Friedman's test over 20 data sets, p < .001)" in found.verdict[0]
    assert found.verdict[0].endswith("; by Nemenyi's test it differs from c.")


def test_a_split_on_which_a_method_failed_is_left_out():
    found = judge(scores([[[1, np.nan, 3, 4], [0, 1, 2, 2]]]))
    assert found.pairs[0].wins == 3


def test_every_method_sees_the_splits_of_pucli_split(pucli, tmp_path):
    task = declared_task("wine")
    ours = task.division(1, seed=4, label_frequency=0.5)
    assert pucli("split", "wine", "--seed", 4, "--repeats", 2, "--out", "s.json").code == 0
    from pucli.data import load_splits

    split = load_splits("s.json").splits[1]
    np.testing.assert_array_equal(ours.X_test, task.X[split.test])
    np.testing.assert_array_equal(ours.s, split.s)


def test_page_and_latex(pucli, tmp_path):
    words = ("compare", "gllc", "blssvm", "svc-naive", "--dataset", "wine", "--dataset", "breast-cancer")
    done = pucli(*words, "--repeats", 2, "--out", "deep/c.html", "--out", "c.tex")
    assert done.code == 0, done.err
    page, latex = (tmp_path / "deep" / "c.html").read_text(), (tmp_path / "c.tex").read_text()
    assert "<svg" in page and "Friedman" in page and "http" not in re.sub(r"http://www.w3.org\S+", "", page)
    assert latex.count("\\\\") == 4 and "\\textbf{" in latex and "average rank" in latex
    (caption,) = [line for line in latex.splitlines() if line.startswith("\\caption{")]
    assert caption == "\\caption{f1 (\\%), mean and standard deviation over 2 splits.}\\label{tab:c}"
    assert "% Wilcoxon signed-rank test; 2 case-control splits" in latex
    assert done.out.split("\n\n")[1].splitlines()[-1] in page.replace("&#39;", "'")


@pytest.mark.slow
def test_a_table_of_the_user(pucli, customers):
    """Of marked positives alone PUF decides; with all classes known, F1."""
    base = ("compare", "gllc", "blssvm", "--repeats", "2", "--json", "--data")
    known = ("--label", "bought", "--positive", "yes")
    done = pucli(*base, customers.pu, *known).document
    assert (done["metric"], done["blocks"]) == ("puf", "splits")
    truth = pucli(*base, customers.true, "--label", "really", "--positive", "yes", "--labels", "true").document
    assert truth["metric"] == "f1"
    unsure = pucli(*base, customers.true, "--label", "really", "--positive", "yes")
    assert "'no'" in unsure.err and "--labels true" in unsure.err
    seen = {str(done["scores"])}
    for words in (
        ("--drop", "age"),
        ("--only", "age"),
        ("--id", "visits"),
        ("--as", "age=category"),
        ("--scenario", "single-training-set"),
    ):
        changed = pucli(*base, customers.pu, *known, *words)
        assert changed.code == 0, changed.out
        seen.add(str(changed.document["scores"]))
    assert len(seen) == 6


@pytest.mark.slow
def test_what_decides_and_how_often(pucli):
    base = ("compare", "gllc", "blssvm", "--dataset", "wine", "--json")
    before = pucli(*base, "--repeats", 2).document
    assert pucli(*base, "--repeats", 2, "--n-jobs", 2).document["scores"] == before["scores"]
    assert len(pucli(*base, "--repeats", 3).document["scores"][0]["values"]["gllc"]) == 3
    for words in (
        ("--metric", "auc"),
        ("--label-frequency", "0.2"),
        ("--seed", "3"),
        ("--tune",),
        ("--scenario", "single-training-set"),
    ):
        assert pucli(*base, "--repeats", 2, *words).document["scores"] != before["scores"], words


MINE = {
    "title": "A table",
    "data": {"names": ["wine", "breast-cancer"]},
    "split": {"label_frequencies": [0.5, 0.25], "repeats": 3, "seed": 1},
    "methods": {"blssvm": {"method": "blssvm", "grid": {}}, "svc-naive/C": {"method": "svc-naive", "C": 3, "grid": {}}},
    "published": {"file": "printed.csv", "rename": {"SVC": "svc-naive"}},
}


@pytest.fixture
def mine(pucli, tmp_path, monkeypatch):
    """An experiment with committed runs and printed figures, and a method that is one of its columns."""
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(MINE))
    printed = [f"{name},{share},SVC,{80 + share}" for name in MINE["data"]["names"] for share in (0.5, 0.25)]
    (tmp_path / "printed.csv").write_text("\n".join(["dataset,label_frequency,method,mean", *printed]) + "\n")
    (tmp_path / "same.py").write_text("from pucli import BLSSVM\n\n\nclass Same(BLSSVM):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert pucli("reproduce", "mine.yaml").code == 0
    (tmp_path / "results" / "mine" / "store.sqlite").unlink()  # as in a fresh clone
    return ("compare", "same:Same", "--experiment", "mine.yaml")


@pytest.mark.slow
def test_a_method_joins_the_committed_runs_of_an_experiment(pucli, mine, tmp_path):
    done = pucli(*mine, "--json").document
    assert done["methods"] == ["same:Same", "blssvm", "svc-naive/C"]
    assert [(pair["a"], pair["b"]) for pair in done["pairs"]] == [("same:Same", "blssvm"), ("same:Same", "svc-naive/C")]
    assert (done["pairs"][0]["ties"], done["pairs"][0]["difference"], done["pairs"][0]["p"]) == (2, 0.0, 1.0)
    committed = pd.read_csv(tmp_path / "results" / "mine" / "cells.csv.gz")
    of_half = committed[committed["setting"] == '{"label_frequency":0.5}']
    for of in done["scores"]:
        for method in ("blssvm", "svc-naive"):
            cells = of_half[(of_half["dataset"] == of["data"]) & (of_half["method"] == method)]
            joined = of["values"]["svc-naive/C" if method == "svc-naive" else method]
            assert joined == pytest.approx(100 * cells.sort_values("repeat")["f1"], abs=1e-9)
        assert of["values"]["same:Same"] == of["values"]["blssvm"]
        assert of["printed"] == {"same:Same": None, "blssvm": None, "svc-naive/C": 80.5}
    again = pucli(*mine, "--label-frequency", "0.25", "--out", "c.html")
    assert "(80.2)" in again.out and "(80.25)" in (tmp_path / "c.html").read_text()
    assert "label frequency 0.25" in again.out
    one = pucli(*mine, "--repeats", 2, "--dataset", "wine", "--metric", "auc", "--json").document
    assert one["blocks"] == "splits" and len(one["scores"][0]["values"]["blssvm"]) == 2
    # the runs of the method are kept, and the table itself is as it was
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["compared", "mine"]
    table = pucli("compare", "blssvm", "svc-naive", "--experiment", "mine.yaml", "--json").document
    assert table["methods"] == ["blssvm", "svc-naive/C"] and len(table["pairs"]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("blssvm", "-e", "usmo-table-iii"), "joins runs of the protocol pu"),
        (("gllcc", "-e", "table-3.3"), "did you mean 'gllc'"),
        (("upu", "-e", "table-3.3"), "no run of table-3.3 is finished in"),
        (("blssvm", "-e", "table-3.3", "--tune"), "leave out --tune"),
        (("blssvm", "-e", "table-3.3", "--data", "pu.csv"), "both name rows"),
    ],
)
def test_the_error_names_what_cannot_be_joined(pucli, customers, monkeypatch, tmp_path, words, message):
    """As in an installed package, which ships no runs."""
    monkeypatch.setattr(gathering, "declared_path", lambda name: tmp_path if name == "results" else declared_path(name))
    done = pucli("compare", *words)
    assert done.code == 2 and message in done.err, done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("upu",), "name a method that table-3.3 lacks"),
        (("blssvm", "--label-frequency", "0.3"), "table-3.3 has 0.5 and 0.25"),
        (("blssvm", "--metric", "nmi"), "no run of table-3.3 has it; use f1"),
        (("blssvm", "--dataset", "wine"), "unknown data set 'wine' of table-3.3"),
    ],
)
def test_the_committed_table_says_what_it_has(pucli, words, message):
    done = pucli("compare", *words, "--experiment", "table-3.3")
    assert done.code == 2 and message in done.err, done.err


def test_a_mirror_is_used(pucli, mirror, monkeypatch):
    words = ("compare", "gllc", "blssvm", "--dataset", "seeds", "--repeats", 2)
    assert pucli(*words).code == 1
    monkeypatch.setenv("PUCLI_MIRROR", str(mirror))
    assert pucli(*words).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("gllc", "--dataset", "wine"), "at least two methods"),
        (("gllc", "gllc", "--dataset", "wine"), "gllc is named twice"),
        (("gllc", "gllcc", "--dataset", "wine"), "did you mean 'gllc'"),
        (("gllc", "cpls", "--dataset", "wine"), "cpls is semi-supervised"),
        (("gllc", "blssvm"), "no rows given"),
        (("gllc", "blssvm", "--dataset", "wine", "--metric", "tp"), "no better side"),
        (("gllc", "blssvm", "--dataset", "wine", "--metric", "nmi"), "cannot be computed of these methods"),
        (("gllc", "blssvm", "--data", "true.csv"), "needs --label"),
        (("gllc", "blssvm", "--dataset", "wine", "--scenario", "census"), "unknown scenario 'census'"),
        (
            (
                "gllc",
                "blssvm",
                "--data",
                "pu.csv",
                "--label",
                "bought",
                "--positive",
                "yes",
                "--label-frequency",
                "0.2",
            ),
            "--label-frequency hides labels",
        ),
        (("gllc", "blssvm", "--dataset", "wine", "--drop", "x"), "need --data"),
    ],
)
def test_the_error_names_what_cannot_be_compared(pucli, customers, words, message):
    done = pucli("compare", *words)
    assert done.code == 2 and message in done.err, done.err
