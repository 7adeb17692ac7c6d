"""--groups and --time: rows of one group, and rows of one time, are on one side of every fold and split."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from pucli import AutoPU
from pucli.core.errors import UsageError
from pucli.data import make_split
from pucli.data.splits.groups import held_out_groups, one_of_each, row_groups
from pucli.estimators.auto.random_labeling import labeling_of
from pucli.models.compare import Task
from pucli.models.validation import held_out
from pucli.tuning.folds import pu_folds
from tests.cli.helpers import refused

WORDS = ("--data", "visits.csv", "--label", "bought", "--positive", "yes")


def people(n=200, visits=4, seed=0):
    """Return visits that are near copies of each other, the person of each, whether positive, and whether labeled."""
    random = np.random.default_rng(seed)
    positive = random.random(n) < 0.5
    center = random.normal(size=(n, 6)) + 0.6 * positive[:, None] * np.r_[1.0, 1.0, np.zeros(4)]
    known = positive & (random.random(n) < 0.5)
    who = np.repeat(np.arange(n), visits)
    return center[who] + 0.02 * random.normal(size=(n * visits, 6)), who, positive[who], known[who]


@pytest.fixture
def visits(tmp_path):
    X, who, _, known = people()
    table = pd.DataFrame(X, columns=list("abcdef")).assign(customer=[f"C{10000 + k}" for k in who])
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(who)) // 3, unit="D")
    table["bought"] = np.where(known, "yes", "")
    table.sample(frac=1, random_state=0).to_csv(tmp_path / "visits.csv", index=False)


def divided(groups, train, test):
    """Whether no group is on both sides, and both have rows."""
    return len(train) > 0 < len(test) and not set(groups[train]) & set(groups[test])


def test_rows_with_the_same_cell_in_any_column_are_one_group():
    table = pd.DataFrame({"a": ["x", "x", "", None, "y", "", None], "b": [1, 2, 2, 3, 4, 5, 6]})
    assert row_groups(table, ["a"]).tolist() == [0, 0, 1, 2, 3, 4, 5]
    assert row_groups(table, ["a", "b"]).tolist() == [0, 0, 0, 1, 2, 3, 4]
    with pytest.raises(UsageError, match=r"all rows are one group, .*\. Choose another column, or leave"):
        row_groups(table.assign(c=1), ["c"])
    labeled = np.arange(7) < 3
    assert row_groups(table, ["a"], np.arange(7) < 1).max() == 5  # a single labeled row is no group
    for mine, kind in ((labeled, "labeled"), (~labeled, "unlabeled")):
        with pytest.raises(UsageError, match=f"groups 'c': all {kind} rows are one group"):
            row_groups(table.assign(c=np.where(mine, 0, np.arange(7))), ["c"], labeled)


def test_blocks_are_squares_of_two_coordinates():
    plane = pd.DataFrame({"x": ["1", "70", "80", "-1", "", "80"], "y": [1, 9, 60, 1, 1, 61], "lon": 7.0})
    assert row_groups(plane, ["x,y,75"]).tolist() == [0, 0, 1, 2, 3, 1]  # an empty coordinate joins nothing
    # a degree of longitude is 111 km long at the equator, half as long at 60 degrees
    globe = pd.DataFrame({"lon": [0.01, 0.9, 0.01, 0.9, 1.5, 0.01], "lat": [0.01, 0.01, 60.1, 60.1, 60.1, 60.9]})
    assert row_groups(globe, ["lon,lat,75km"]).tolist() == [0, 1, 2, 2, 3, 4]
    for name in ("x,y,75km", "x,y,0"):
        with pytest.raises(UsageError, match=f"groups {name}: blocks need two columns .* such as x,y,75000"):
            row_groups(plane.assign(y=100), [name])


def test_blocks_of_a_file_are_the_groups_of_its_rows(pucli, tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.uniform(0, 100, (300, 3)), columns=["east", "north", "a"]).round(2)
    table["block"] = [f"B{a:.0f}-{b:.0f}" for a, b in table[["east", "north"]].to_numpy() // 25]
    table["seen"] = np.where(random.random(300) < table["a"] / 200, "yes", "")
    table.to_csv("places.csv", index=False)
    words = ("train", "places.csv", "--method", "gllc", "--label", "seen", "--positive", "yes", "--json")
    named, made = (pucli(*words, *more, "--model", "m").document for more in (
        ("--groups", "block", "--drop", "east", "--drop", "north"), ("--groups", "east,north,25", "--drop", "block")
    ))  # fmt: skip
    assert made["data"]["groups"] == {"columns": ["east,north,25"], "number": 16}
    assert made["held_out"] == named["held_out"]  # the coordinates are no features, the blocks the same
    refused(pucli(*words[:-1], "--groups", "east,nord,25", "--model", "m"), "'nord'", "north")


def test_no_fold_and_no_split_divides_a_group():
    groups = np.random.default_rng(0).integers(0, 60, 400)
    positive = np.random.default_rng(1).random(400) < 0.4
    for repeat in pu_folds(positive.astype(int), 4, 0, 2, groups):
        assert all(divided(groups, *fold) for fold in repeat)
    for scenario in ("case-control", "single-training-set"):
        split = make_split(scenario, np.where(positive, 1, -1), 0.5, rng=np.random.default_rng(0), groups=groups)
        assert divided(groups, split.train, split.test)
        assert abs(len(split.test) / (len(split.train) + len(split.test)) - 0.3) < 0.05
        assert positive[split.train[split.s == 1]].all()
        assert abs(split.s.sum() / positive[split.train].sum() - 0.5) < 0.1
    held = held_out_groups(groups, 0.3, np.random.default_rng(0), (positive, ~positive))
    assert [abs(held[kind].mean() - 0.3) < 0.05 for kind in (positive, ~positive)] == [True, True]
    assert positive[one_of_each(groups, positive)].sum() == len(np.unique(groups[positive]))


def test_a_split_that_the_groups_leave_without_rows_of_a_kind_is_refused():
    positive = np.arange(200) < 100
    large = np.where(np.arange(200) % 20 > 0, ~positive, positive).astype(int)  # each has nearly all rows of one kind
    with pytest.raises(UsageError, match="groups: they are too few or too large"):
        held_out_groups(large, 0.3, np.random.default_rng(0), (positive, ~positive))


def test_too_few_groups_for_the_folds():
    with pytest.raises(UsageError, match=r"groups of the labeled rows fill 2 of 3 folds"):
        pu_folds(np.repeat([1, 0], 20), 3, 0, 1, np.r_[np.repeat([0, 1], 10), np.arange(2, 22)])


@pytest.mark.slow  # four fits of the whole ensemble
@pytest.mark.filterwarnings("ignore:.*labeled rows are copies")
def test_near_copies_do_not_look_better_than_they_are():
    """The PU-AUC with groups is near that of new people; without, it is far too good, and the AUC with it."""
    new, _, _, known_new = people(4000, 1, seed=9)
    found = []
    for seed in (0, 1):
        X, who, _, known = people(250, 4, seed)
        alone, together = AutoPU().fit(X, known), AutoPU().fit(X, known, groups=who)
        scores, auc = together.decision_function(new), together.estimates_["auc"]
        # near copies of labeled rows may also look like labels of clear positives only
        assert alone.labeling_ == "sar" or alone.estimates_["auc"].value > auc.value
        true = roc_auc_score(known_new, scores)
        found.append([roc_auc_score(known, model.held_out_) - true for model in (alone, together)])
    too_good, left = np.mean(found, axis=0)
    assert too_good > 0.1 and abs(left) < 0.08


@pytest.mark.slow
def test_held_out_rows_of_train(visits):
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.pipeline import make_pipeline

    X, who, _, known = people()
    forest = make_pipeline(ExtraTreesClassifier(30, random_state=0))
    assert held_out(forest, X, known, 0).pu_auc > held_out(forest, X, known, 0, who).pu_auc + 0.1


@pytest.mark.slow
def test_a_group_is_no_feature_and_is_kept_together(pucli, visits):
    one = pucli("train", "--method", "gllc", *WORDS, "--groups", "customer", "--drop", "day", "--model", "m", "--json")
    assert one.document["data"]["groups"] == {"columns": ["customer"], "number": 200}
    plain = pucli("train", "--method", "gllc", *WORDS, "--drop", "customer", "--drop", "day", "--json").document
    assert one.document["held_out"]["pu_auc"] < plain["held_out"]["pu_auc"]
    assert one.document["objective"] == plain["objective"]
    pd.read_csv("visits.csv").drop(columns="customer").to_csv("new.csv", index=False)
    assert pucli("predict", "--model", "m", "--data", "new.csv").code == 0
    tune = ("tune", "--method", "svc-naive", *WORDS, "--drop", "day", "--grid", "C=1,10", "--json")
    apart, kept = (pucli(*tune, option, "customer").document for option in ("--drop", "--groups"))
    assert kept["score"] < apart["score"]


@pytest.mark.slow
def test_an_identifier_that_repeats_is_named(pucli, visits):
    seen = pucli("train", "--method", "gllc", *WORDS).err
    (line,) = [line for line in seen.splitlines() if "--groups customer" in line]
    assert line.startswith("warning: column 'customer' has 200 values in 800 rows")
    for option in ("--groups", "--id"):
        assert "200 values in 800 rows" not in pucli("train", "--method", "gllc", *WORDS, option, "customer").err


def test_groups_of_one_row_are_said_to_have_no_effect(pucli, visits):
    table = pd.read_csv("visits.csv")
    table.assign(visit=[f"V{k:05d}" for k in range(len(table))]).to_csv("visits.csv", index=False)
    said = "warning: --groups: every row is a group of its own"
    assert said in pucli("train", "--method", "gllc", *WORDS, "--groups", "visit").err
    assert said not in pucli("train", "--method", "gllc", *WORDS, "--groups", "visit", "--groups", "customer").err


def test_the_test_of_random_labeling_says_so_where_groups_are_few():
    """A group with a labeled row counts as labeled; if each has one, no row is left to compare with."""
    X, labeled = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) < 60
    model = SimpleNamespace(prior_=0.3, scenario="case-control", _columns=None)
    many, *few = (labeling_of(model, X, labeled, 0, groups) for groups in (np.arange(200) // 2, np.arange(200) % 20,
                                                                             np.arange(200) % 4))  # fmt: skip
    assert 0.1 < many.p_value <= 1.0
    for one in few:
        assert np.isnan(one.p_value) and one.random
        assert one.verdict.startswith("bias cannot be tested for")


def test_wrong_groups_are_refused(pucli, visits):
    refused(pucli("train", "--method", "gllc", *WORDS, "--groups", "custmer"), "'custmer'", "customer")
    refused(pucli("train", "--method", "gllc", "--dataset", "wine", "--groups", "x"), "--groups", "declared data set")


@pytest.mark.slow
def test_compare_divides_by_groups_and_by_time(pucli, visits):
    words = ("compare", "svc-naive", "blssvm", *WORDS, "--repeats", 3, "--json")
    apart = pucli(*words, "--drop", "customer", "--drop", "day").document
    kept = pucli(*words, "--groups", "customer", "--drop", "day").document
    assert kept["scores"][0]["values"]["svc-naive"] != apart["scores"][0]["values"]["svc-naive"]
    assert "no group on both sides" in kept["made"][0]
    by_time = pucli(*words, "--groups", "customer", "--time", "day", "--drop", "day").document
    assert by_time["made"][0].startswith("3 splits by time, each trained on all rows older")
    refused(pucli(*words[:-1], "--time", "bought"), "--time bought")


@pytest.mark.parametrize("known", [True, False])
def test_the_test_rows_are_newer(known):
    X, who, positive, labeled = people()
    times = np.random.default_rng(0).integers(0, 90, len(X)).astype(float)
    X = np.column_stack([np.arange(len(X)), X])
    task = Task("t", X, positive if known else labeled, known, groups=who, times=times)
    latest = []
    for repeat in range(4):
        one = task.division(repeat, seed=0, label_frequency=0.5, repeats=4)
        train, test = one.X_train[:, 0].astype(int), one.X_test[:, 0].astype(int)
        assert times[train].max() < times[test].min()
        assert divided(who, train, test)
        latest.append(times[test].max())
    assert latest == sorted(set(latest)) and latest[-1] == times.max()
    with pytest.raises(UsageError, match="fewer --repeats"):
        task.division(400, seed=0, label_frequency=0.5, repeats=800)
