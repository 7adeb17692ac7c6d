"""The class prior at given shares of positives: samples, and the error of an estimate."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.data.catalogue.datasets import Dataset
from pucli.protocols import steps
from pucli.protocols.class_prior import protocol as class_prior
from pucli.protocols.class_prior.protocol import doubling, drawn_rows, hidden_positives
from pucli.runner import Context, load_experiment, parse_experiment, plan

DECLARED: dict[str, Any] = {
    "title": "One set",
    "protocol": "class_prior",
    "data": {"names": ["breast-cancer"]},
    "split": {"repeats": 2, "seed": 0},
    "options": {"shares": [0.1, 0.3]},
    "methods": {"bbe": {"method": "upu", "prior_estimator": "bbe", "grid": {}}},
    "metrics": ["prior_error"],
}


def planned(**changes):
    return plan(parse_experiment({**DECLARED, **changes}, file="prior.yaml"))


def test_auto_is_scored_by_its_interval_and_by_models_that_did_not_see_a_row():
    """The kind that is labeled most seldom is apart from the negatives on one feature, the other kind on none."""
    y = np.repeat([1, 1, -1, -1], 5)
    scores = np.array([9.0] * 5 + [0.0] * 5 + [1.0] * 10)
    assert class_prior._auc(y, scores) == 0.5 and class_prior._auc(np.r_[y[:5], np.zeros(5), y[10:]], scores) == 1.0
    assert class_prior._covered(y, 0.4, 0.6) and not class_prior._covered(y, 0.1, 0.4)
    auto = {"methods": {"auto": {"method": "auto", "grid": {}}}, "metrics": ["auc_seldom"]}
    cells = planned(**auto, options={"shares": [0.3]})
    found = class_prior.PROTOCOL.run_cell(cells[0], Context()).metrics
    assert found["prior_covered"] in (0.0, 1.0) and found["auc"] == found["auc_seldom"] > 0.9
    with pytest.raises(UsageError, match="or auto"):
        planned(methods={"svc-naive": {"method": "svc-naive", "grid": {}}})


def test_hidden_positives_make_the_share_and_are_those_of_the_published_script():
    positive = np.arange(1000) % 5 < 3
    for share, seed in ((0.05, 0), (0.4, 7)):
        hidden = hidden_positives(positive, share, seed)
        assert not (hidden & ~positive).any()
        assert hidden.sum() / (hidden.sum() + 400) == pytest.approx(share, abs=2e-3)
        np.random.seed(seed)  # as the script does, step by step
        rows = np.where(positive)[0]
        np.random.shuffle(rows)
        assert set(np.flatnonzero(hidden)) == set(rows[: int(400 * share / (1 - share))])


def test_hidden_positives_of_classes_are_mostly_of_the_most_common_one():
    classes = np.repeat(["a", "b", "c", "n"], [90, 120, 200, 100])
    ratio = doubling(classes[classes != "n"])
    hidden = hidden_positives(classes != "n", 0.4, 3, [(classes == name, weight) for name, weight in ratio])
    assert [int(hidden[classes == name].sum()) for name in "abcn"] == [9, 19, 38, 0]  # 66 in the ratio 1 : 2 : 4


@pytest.mark.parametrize("names", ["abcn", [4, 2, 7, 1]])
def test_hidden_positives_of_a_list_come_from_its_classes_in_its_order(names, monkeypatch):
    classes = np.repeat(np.array(list(names)), [90, 120, 200, 100])
    y = np.where(classes == names[3], -1, 1)
    dataset = Dataset("toy", classes != classes, y, ("x",), "", classes=classes)
    monkeypatch.setattr(class_prior, "read_dataset", lambda *_: dataset)
    options = {"shares": [0.4], "labeling": {"breast-cancer": [[names[2], 3], [names[0], 1]]}}
    (cell, _) = planned(options=options, data={"names": ["breast-cancer"], "standardize": "none"})
    hidden = set(np.flatnonzero((y == 1) & (class_prior.PROTOCOL.prepare(cell, Context()).y_train == 0)))
    np.random.seed(0)  # as the scripts do, step by step: 66 in the ratio 3 : 1
    expected: set[int] = set()
    for name, number in ((names[2], 50), (names[0], 16)):
        rows = np.where(classes == name)[0]
        np.random.shuffle(rows)
        expected |= set(rows[:number])
    assert hidden == expected


def by_the_script(classes, share, labeled, unlabeled, seed):
    """Return the unlabeled and the labeled rows of the scripts for synthetic sets, where 0 is the negative class."""
    random.seed(seed)
    rows = [np.where(classes == name)[0] for name in range(classes.max() + 1)]
    for own in rows:
        random.shuffle(own)
    if len(rows) == 2:
        hidden = round(unlabeled * share)
        zeros = [*rows[1][:hidden], *rows[0][: round((1 - share) * unlabeled)]]
        return zeros, list(rows[1][hidden : hidden + labeled])
    kinds = len(rows) - 1
    zeros, ones, each = list(rows[0][: int(unlabeled * (1 - share))]), [], round(labeled / kinds)
    for k, own in enumerate(rows[1:]):
        ones += list(own[:each])
        zeros += list(own[each : each + round(int(unlabeled * share) * (2**k / (2**kinds - 1)))])
    return zeros, ones


@pytest.mark.parametrize("name", ["pulsnar-scar", "pulsnar-snar"])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5])
def test_rows_of_synthetic_sets_are_those_of_the_published_scripts(name, share, monkeypatch):
    kinds = {"pulsnar-scar": 2, "pulsnar-snar": 6}[name]
    classes = np.random.default_rng(1).permutation(np.repeat(np.arange(kinds), 12000))
    X = np.arange(len(classes), dtype=np.float64)[:, None]
    dataset = Dataset(name, X, np.where(classes > 0, 1, -1), ("row",), "", classes=classes)
    monkeypatch.setattr(class_prior, "read_dataset", lambda *_: dataset)
    options = {**load_experiment("pulsnar").options, "shares": [share], "shares_of": {}}
    options = {
        key: {name: value[name]} if name in value else {} if isinstance(value, dict) else value
        for key, value in options.items()
    }
    for cell in planned(options=options, data={"names": [name], "standardize": "none"}):
        rows = class_prior.PROTOCOL.prepare(cell, Context())
        zeros, ones = by_the_script(classes, share, 2000, 6000, 1001)
        assert set(rows.X_train[rows.y_train == 0, 0]) == set(zeros) and set(rows.X_train[rows.y_train == 1, 0]) == set(
            ones
        )
        assert (len(zeros), len(ones)) == (6000, 2000)
        assert np.mean(rows.hidden.drawn() == 1) == pytest.approx(share)
        if kinds == 6 and share == 0.2:
            found = classes[rows.X_train[:, 0].astype(int)]
            assert np.bincount(found[rows.y_train == 0]).tolist() == [4800, 39, 77, 155, 310, 619]
            assert np.bincount(found[rows.y_train == 1]).tolist() == [0, 400, 400, 400, 400, 400]


def test_too_few_rows_to_draw_are_named():
    positive = np.repeat([True, False], [20, 100])
    with pytest.raises(UsageError, match=r"share 0\.2: 30 rows are to be drawn, of 20 of their kind"):
        drawn_rows(positive, 0.2, {"labeled": 10, "unlabeled": 100, "seed": 0}, [(positive, 1)])


def test_a_set_may_have_shares_of_its_own():
    cells = planned(options={"shares": [0.1, 0.3], "shares_of": {"breast-cancer": [0.2]}})
    assert [cell.setting["share"] for cell in cells] == [0.2, 0.2]


def test_too_few_positives_are_named():
    with pytest.raises(UsageError, match="90 positives are to be hidden, of 20 of their kind"):
        hidden_positives(np.repeat([True, False], [20, 10]), 0.9, 0)


def test_the_error_is_that_of_the_share_of_positives_among_the_unlabeled_rows(monkeypatch):
    class Half:
        prior_ = 0.5

        def fit(self, X, s):
            assert set(s) == {0, 1}
            return self

    monkeypatch.setattr(steps, "make", lambda *_: Half())
    cells = planned()
    assert [(cell.setting["share"], cell.repeat) for cell in cells] == [(0.1, 0), (0.1, 1), (0.3, 0), (0.3, 1)]
    for cell in cells:
        metrics = class_prior.PROTOCOL.run_cell(cell, Context()).metrics
        assert metrics["prior"] == 0.5
        assert metrics["prior_error"] == pytest.approx(0.5 - cell.setting["share"], abs=2e-3)


@pytest.mark.slow
def test_an_estimator_runs_on_separate_classes(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(3, 1, (300, 2)), rng.normal(-3, 1, (200, 2))])
    y = np.repeat([1, -1], [300, 200])
    monkeypatch.setattr(class_prior, "read_dataset", lambda *_: Dataset("toy", X, y, ("a", "b"), ""))
    for cell in planned()[-1:]:
        result = class_prior.PROTOCOL.run_cell(cell, Context())
        assert result.status == "done" and result.metrics["prior_error"] < 0.1


def test_classes_of_rows_reach_the_estimate_only_through_the_labels(monkeypatch):
    seen = []

    class Spy:
        prior_ = 0.5

        def fit(self, X, s):
            seen.append((X.copy(), s.copy()))
            return self

    monkeypatch.setattr(steps, "make", lambda *_: Spy())
    cell = planned()[0]
    class_prior.PROTOCOL.run_cell(cell, Context())
    rows = class_prior.PROTOCOL.prepare(cell, Context())
    assert np.array_equal(seen[0][0], rows.X_train) and np.array_equal(seen[0][1], rows.y_train)
    assert rows.y_train.mean() < np.mean(class_prior.read_dataset("breast-cancer", Context()).y == 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": {"shares": [0.1, 1.0]}}, "options.shares: 1.0 is not between 0 and 1"),
        ({"options": {"shares": [0.1], "shares_of": {"breast-cancer": [0.0]}}}, "options.shares: 0.0 is not between"),
        ({"methods": {"svc": {"method": "bsvm", "grid": {}}}}, "methods.svc: give a method and its prior_estimator"),
        (
            {"options": {"shares": [0.1], "labeling": {"brest-cancer": "classes"}}},
            "options.labeling.brest-cancer: the data sets are breast-cancer",
        ),
        ({"split": {"repeats": 1, "seed": 0, "label_frequencies": [0.5]}}, "takes options.shares"),
        (
            {"methods": {"bbe": {"method": "upu", "prior_estimator": "bbe", "grid": {"lam": [1.0]}}}},
            "methods.bbe.grid.*does not tune",
        ),
    ],
)
def test_what_the_protocol_does_not_do_is_named(changes, message):
    with pytest.raises(UsageError, match=message):
        planned(**changes)
