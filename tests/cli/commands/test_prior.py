"""prior on small real files: what they print, the command to paste, and bad input."""

import numpy as np
import pandas as pd
import pytest

from pucli.solvers.ensemble.class_prior import ALL_METHODS

WORDS = ("--label", "bought", "--positive", "yes")


def refused(done, *words, code=2):
    """The command ended with `code` and one message that holds `words`."""
    assert done.code == code
    assert done.out == ""
    assert "Traceback" not in done.err
    message = done.err.splitlines()[-1]
    assert message.startswith("pucli: ")
    for word in words:
        assert str(word) in message


def table(path, *, split=False, noise=0, n=90, labeled=40, prior=0.4, seed=0):
    """Write n unlabeled rows, a share `prior` of them positive, and labeled positives; far apart in two features.

    split : positives on both sides of the negatives; noise : further columns of noise.
    """
    random = np.random.default_rng(seed)
    positives = labeled + round(prior * n)
    side = np.where(np.arange(positives) % 2 == 0, 1.0, -1.0 if split else 1.0)
    centers = np.vstack([5.0 * side[:, None] * np.array([1.0, 0.8]), np.zeros((labeled + n - positives, 2))])
    X = np.hstack([centers + random.normal(size=centers.shape), random.normal(size=(len(centers), noise))])
    rows = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    rows["bought"] = np.where(np.arange(len(rows)) < labeled, "yes", "")
    rows.to_csv(path, index=False)
    return path


# --- prior ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_prior_is_by_default_the_recommended_estimate_alone(pucli, tmp_path):
    path = table(tmp_path / "rows.csv", prior=0.4)
    done = pucli("prior", "--data", path, *WORDS, "--json")
    (found,) = done.document["estimates"]
    assert found["method"] == "auto" and abs(found["prior"] - 0.4) < 0.12
    assert pucli("prior", "--data", path, *WORDS, "--estimator", "auto", "--json").document["estimates"] == [found]


@pytest.mark.slow
def test_a_given_number_of_positives_says_what_follows_and_whether_it_fits(pucli, tmp_path):
    path = table(tmp_path / "rows.csv", prior=0.4)
    # with this seed some labeled rows lie below the rows that bound the prior, so that the odds move both ends
    plain = pucli("prior", "--data", path, *WORDS, "--json", "--seed", 1).document
    low, high = plain["if_prior"]
    assert low["called"] <= 36 <= high["called"] and low["recall"] <= high["recall"]
    assert plain["if_odds"]["recall"]["low"] < plain["if_odds"]["recall"]["value"] and plain["given"] is None
    assert plain["if_odds"]["prior"]["low"] < low["prior"] < high["prior"] < plain["if_odds"]["prior"]["high"]
    done = pucli("prior", "--data", path, *WORDS, "--expected", 36)
    said = " ".join(done.out.split())
    assert "--expected 36: class prior 0.4, 36 of 90" in said
    assert "pucli auto --expected 36, or --param prior=0.4" in done.err and "outside" not in done.err
    known = pucli("prior", "--data", path, *WORDS, "--expected", 36, "--json").document["given"]
    assert (
        pucli("auto", "--data", path, *WORDS, "--expected", 36, "--json").document["called_positive"] == known["called"]
    )
    given = pucli("prior", "--data", path, *WORDS, "--expected", 80, "--json").document
    assert given["given"]["fits"] is False and given["if_prior"] == []
    assert "80 positives are outside the interval" in pucli("prior", "--data", path, *WORDS, "--expected", 80).err
    assert "1 positive is outside the interval" in pucli("prior", "--data", path, *WORDS, "--expected", 1).err
    refused(pucli("prior", "--data", path, *WORDS, "--expected", 90), "must be below the 90 unlabeled rows")
    refused(pucli("prior", "--data", path, *WORDS, "--expected", 9, "--estimator", "km2"), "km2 has none")


@pytest.mark.slow
def test_all_estimates_of_the_prior_of_a_file(pucli, tmp_path):
    path = table(tmp_path / "rows.csv", prior=0.4)
    done = pucli("prior", "--data", path, *WORDS, "--replicates", 5, "--estimator", "all", "--json")
    assert done.code == 0
    document = done.document
    assert (document["labeled"], document["unlabeled"]) == (40, 90)
    assert [estimate["method"] for estimate in document["estimates"]] == list(ALL_METHODS)
    for estimate in document["estimates"]:
        assert 0 <= estimate["low"] <= estimate["prior"] <= estimate["high"] <= 1
        assert estimate["replicates"] == 5 and estimate["confidence"] == 0.9
    assert abs(document["estimates"][0]["prior"] - 0.4) < 0.12
    assert document["share_in_test_set"] is None  # nobody knows it


def test_prior_of_a_single_labeled_row_leaves_out_what_holds_rows_out(pucli, tmp_path):
    path = table(tmp_path / "rows.csv", n=40, labeled=1)
    words = ("prior", "--data", path, *WORDS, "--replicates", 2, "--json")
    (found,) = pucli(*words).document["estimates"]
    assert found["method"] == "half-bbe"
    done = pucli(*words, "--estimator", "all")
    assert [estimate["method"] for estimate in done.document["estimates"]] == ["bbe", "half-bbe", "km2", "tice"]
    assert "with 1 labeled row the estimates" in done.err
    refused(pucli("prior", "--data", path, *WORDS, "--estimator", "auto"), "two labeled", "half-bbe needs one of each")


@pytest.mark.parametrize("command", ["train", "tune"])
@pytest.mark.slow
def test_a_given_prior_that_the_rows_contradict_is_warned_of(pucli, tmp_path, command):
    path = table(tmp_path / "rows.csv", n=400, labeled=100, prior=0.15)
    words = (command, "--method", "upu", "--data", path, *WORDS, "--param", "loss=squared")
    rest = ("--grid", "lam=1", "--cv-repeats", 1) if command == "tune" else ()
    far = pucli(*words, "--param", "prior=0.7", *rest)
    assert far.code == 0
    assert "prior=0.7 was given, but these rows point to one near 0.1" in far.err
    assert "if the labeled rows are a random sample" in far.err
    assert "point to one near" not in pucli(*words, "--param", "prior=0.2", *rest).err


def test_prior_prints_a_table_and_the_next_step(pucli, tmp_path):
    path = table(tmp_path / "rows.csv", n=400, labeled=150, prior=0.3)
    done = pucli("prior", "--data", path, *WORDS, "--replicates", 2, "--estimator", "bbe")
    assert done.code == 0
    assert "90% interval" in done.out and "bbe" in done.out and "tice" not in done.out
    assert "--param prior=0." in done.err
    quiet = pucli("prior", "--data", path, *WORDS, "--replicates", 2, "--estimator", "bbe", "--quiet")
    assert quiet.err == ""


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--replicates", 0), ("--replicates", 5)])
def test_a_prior_that_the_rows_do_not_determine_is_not_recommended(pucli, tmp_path, words):
    """Groups that overlap: every value between zero and the estimate fits the rows."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.normal(size=(140, 3)), columns=["f0", "f1", "f2"])
    rows.loc[:70, "f0"] += 0.4
    rows["bought"] = np.where(np.arange(140) < 40, "yes", "")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    done = pucli("prior", "--data", tmp_path / "rows.csv", *WORDS, *words)
    assert done.code == 0
    assert "the class prior cannot be told from these rows" in done.err
    assert "--param prior" not in done.err + done.out


def test_a_small_prior_with_ends_far_apart_is_warned_of(pucli, tmp_path):
    path = table(tmp_path / "rows.csv", n=400, labeled=150, prior=0.05)
    done = pucli("prior", "--data", path, *WORDS, "--replicates", 2, "--estimator", "bbe")
    assert "--param prior=0.0" in done.err and "between 0% and 12%" in done.err
    again = pucli("prior", "--data", path, *WORDS, "--replicates", 2, "--estimator", "bbe", "--json")
    assert again.document["reliable"] is False


@pytest.mark.slow
def test_a_prior_from_scores_that_may_be_chance_is_warned_of(pucli):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    rows.assign(sold=np.where(np.arange(150) < 20, "yes", "")).to_csv("noise.csv", index=False)
    done = pucli("prior", "--data", "noise.csv", "--label", "sold", "--positive", "yes", "--replicates", 2)
    assert "this class prior may mean nothing" in " ".join(done.err.split()) and "--param prior" not in done.err


def test_prior_of_a_declared_set_is_shown_with_the_true_share(pucli):
    done = pucli("prior", "--dataset", "breast-cancer", "--replicates", 3, "--estimator", "km2", "--json")
    truth = done.document["share_in_test_set"]
    assert 0 < truth < 1
    (found,) = done.document["estimates"]
    assert abs(found["prior"] - truth) < 0.15


def test_the_same_seed_gives_the_same_interval(pucli, tmp_path):
    path = table(tmp_path / "rows.csv")
    words = ("prior", "--data", path, *WORDS, "--replicates", 3, "--estimator", "tice", "--json")
    first, second, third = pucli(*words), pucli(*words), pucli(*words, "--seed", 1)
    assert first.document == second.document
    assert first.document["estimates"] != third.document["estimates"]


@pytest.mark.parametrize("words", [("--estimator", "km1"), ("--replicates", "-1")])
def test_wrong_options_of_prior(pucli, tmp_path, words):
    done = pucli("prior", "--data", table(tmp_path / "rows.csv"), *WORDS, *words)
    assert done.code == 2 and done.out == ""
    assert words[0].strip("-") in done.err or words[1] in done.err


@pytest.mark.slow
def test_few_labeled_rows_are_noted(pucli, tmp_path):
    path = table(tmp_path / "rows.csv", n=20, labeled=4)
    done = pucli("prior", "--replicates", 0, "--data", path, *WORDS, "--json")
    assert done.code == 0
    assert any("4 labeled rows" in warning for warning in done.document["warnings"])


def test_bad_input(pucli, tmp_path):
    command = ("prior", "--replicates", "0")

    def run(path, *words):
        return pucli(*command, "--data", path, *(words or WORDS))

    refused(run("nowhere.csv"), "nowhere.csv")
    good = table(tmp_path / "rows.csv", n=30, labeled=12)
    refused(run(good, "--label", "bougth", "--positive", "yes"), "rows.csv", "'bought'")
    refused(run(good, "--label", "bought", "--positive", "no"), "'no'")
    refused(pucli(*command, "--data", good), "--label")
    refused(pucli(*command), "no rows given", "--data")
    rows = pd.read_csv(good, keep_default_na=False)

    def changed(**columns):
        rows.assign(**columns).to_csv(tmp_path / "bad.csv", index=False)
        return tmp_path / "bad.csv"

    refused(run(changed(bought="yes")), "bad.csv", "one class")
    refused(run(changed(bought=""), "--label", "bought", "--positive", "yes"), "bad.csv")
    refused(run(changed(f0="", f1="")), "bad.csv", "no column can be used as a feature")
    refused(run(changed(f0=1, f1=2)), "bad.csv", "constant")
    (tmp_path / "bad.csv").write_text("")
    refused(run(tmp_path / "bad.csv"), "bad.csv")


# --- bad parameters of the methods that are advised -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "parameter"),
    [
        *[(method, f"prior={prior}") for method in ("cpb-glpual", "upu", "nnpu", "svc-naive") for prior in (0, 1.5)],
        ("bsvm", "c_u=-1"),
        ("blssvm", "c_p=0"),
        ("e-glpual", "lam1=-1"),
        ("ekf-glpual", "lam2=-0.5"),
        ("cpb-glpual", "lam=0"),
    ],
)
def test_a_prior_or_weight_out_of_range_names_the_parameter(pucli, tmp_path, method, parameter):
    path = table(tmp_path / "rows.csv", n=30, labeled=10)
    words = ("--method", method, "--data", path, *WORDS)
    done = pucli("train", *words, "--param", parameter, "--model", "m.model")
    refused(done, f"{parameter.partition('=')[0]} of {method} must be a number")
    assert not (tmp_path / "m.model").exists()
    grid = ("--grid", "learning_rate=0.001,0.01") if method in ("upu", "nnpu") else ()  # they have none of their own
    done = pucli("tune", *words, "--param", parameter, *grid)
    refused(done, f"{parameter.partition('=')[0]} of {method} must be a number")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("glpual", ("--grid", "lam=1", "--grid", "c_u=0.1,-0.1")),
        ("e-glpual", ("--grid", "lam1=-1,1", "--grid", "lam2=1")),
        ("ekf-glpual", ("--grid", "lam1=0,1", "--grid", "lam2=1")),
        ("cpb-glpual", ("--param", "prior=0.4", "--grid", "lam=0.1,-1")),
        ("svc-naive", ("--grid", "C=1,0")),
    ],
)
def test_no_point_of_a_grid_is_out_of_range(pucli, tmp_path, method, words):
    path = table(tmp_path / "rows.csv", n=30, labeled=10)
    done = pucli("tune", "--method", method, "--data", path, *WORDS, *words, "--trials", "t.csv")
    refused(done, f" of {method} must be a number")
    assert not (tmp_path / "t.csv").exists()


@pytest.mark.parametrize("command", [("train", "--model", "m.model"), ("tune",)], ids=lambda words: words[0])
@pytest.mark.slow
def test_more_quadratic_features_than_memory_allows(pucli, tmp_path, command):
    path = table(tmp_path / "rows.csv", noise=700, n=30, labeled=10)
    done = pucli(*command, "--method", "ekf-glpual", "--data", path, *WORDS)
    refused(done, "702 features", "247,455 coefficients", "bytes", "e-glpual", "kernel='rbf'")


@pytest.mark.slow
def test_a_sample_is_said_to_be_one(tmp_path, pucli):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1300, 2))
    pd.DataFrame(X, columns=["a", "b"]).assign(bought=np.where(X[:, 0] > 1.0, "yes", "no")).to_csv(
        tmp_path / "rows.csv", index=False
    )
    done = pucli("prior", "--data", tmp_path / "rows.csv", *WORDS, "--replicates", 0, "--estimator", "bbe")
    assert "labeled and 800 unlabeled rows, drawn at random, where `pucli auto` takes all" in done.err
    assert "bbe, another than that of `pucli auto`" in done.out and "`pucli auto` tests this" in done.err
