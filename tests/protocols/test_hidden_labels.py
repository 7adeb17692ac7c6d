"""Nothing is chosen by test rows or by classes that a method must not see, in any protocol.

Each cell is run as it is, and again with poisoned test rows, permuted ones, or other classes where none may be seen.
What the cell chose and the solution that it found must be the same to the last bit; its scores must not.
"""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any, NamedTuple

import numpy as np
import pytest

from pucli.protocols.classtering import protocol as classtering
from pucli.protocols.deep import protocol as deep
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.pu import protocol as pu
from pucli.protocols.pu import rows as pu_rows
from pucli.protocols.pu_benchmarks import protocol as pu_benchmarks
from pucli.protocols.pu_figures import protocol as pu_figures
from pucli.protocols.semi_supervised import protocol as semi_supervised
from pucli.protocols.usmo import protocol as usmo
from pucli.protocols.usmo_curves import protocol as usmo_curves
from pucli.runner import Cell, CellResult, Context, parse_experiment, plan
from pucli.runner.cells import protocol_names

N = 160
SPLIT = {"label_frequencies": [0.5], "repeats": 1, "seed": 3}
GRID = {"lam": [0.01, 1.0, 100.0], "c_u": [0.3, 0.01]}
PU = {
    "data": {"names": ["breast-cancer"]},
    "split": {**SPLIT, "scenario": "case-control"},
    "tuning": {"folds": 3, "greedy": {"step": 0.1}},
    "methods": {
        "path": {"method": "glpual", "grid": GRID},
        "generic": {"method": "bsvm", "grid": GRID, "tuning": {"greedy": False}},
        "lower": {"method": "gllc", "grid": GRID, "tuning": {"score": "puf-lower-1se"}},
        "cut": {"method": "svc-naive", "prior": "estimate", "grid": {}},
    },
}
BENCHMARK = {**PU, "protocol": "pu_benchmarks", "split": SPLIT}


class Case(NamedTuple):
    """One protocol: its module and an experiment."""

    module: Any
    declared: dict[str, Any]


CASES = {
    "pu": Case(pu, PU),
    "pu, one sample": Case(
        pu,
        {**PU, "split": {**SPLIT, "scenario": "single-training-set"}, "data": {"names": ["breast-cancer"]}},
    ),
    "pu, raw": Case(pu, {**PU, "data": {"names": ["breast-cancer"], "standardize": "none"}}),
    "pu_benchmarks": Case(pu_benchmarks, {**BENCHMARK, "options": {"sampling": "pu-bench"}}),
    "pu_benchmarks, transductive": Case(
        pu_benchmarks, {**BENCHMARK, "options": {"sampling": "puicl", "sets": ["breast-cancer"]}}
    ),
    "semi_supervised": Case(
        semi_supervised,
        {
            "protocol": "semi_supervised",
            "data": {"names": ["breast-cancer"]},
            "split": {"scenario": "learning-curve", "repeats": 1, "seed": 3},
            "options": {"labeled": [10, 10], "unlabeled": [10, 50], "test_rows": 40},
            "methods": {
                "ls/supervised": {"method": "least-squares"},
                "ls/safe": {"method": "icls"},
                "lda/supervised": {"method": "mcpl-lda", "ridge": 0.1},
                "lda/em": {"method": "em-lda", "ridge": 0.1},
            },
        },
    ),
    "classtering": Case(
        classtering,
        {
            "protocol": "classtering",
            "data": {"names": ["iris"]},
            "split": {"scenario": "labels-per-class", "repeats": 1, "seed": 3},
            "options": {"task": "classification", "labels": [8], "folds": 4},
            "methods": {
                "searched": {
                    "method": "laplacian-svm",
                    "grid": {"gamma_a": [0.005], "gamma_i": [0.5], "width": [0.3, 3.0]},
                },
                "spread": {"method": "label-spreading", "kernel": "knn"},
            },
        },
    ),
    "usmo_curves": Case(
        usmo_curves,
        {
            "protocol": "usmo_curves",
            "data": {"names": ["breast-cancer"]},
            "split": {"scenario": "single-training-set", "repeats": 1, "seed": 3},
            "options": {"unlabeled": [20, 60], "labeled": 15, "test_rows": 40},
            "methods": {"usmo": {"method": "usmo", "kernel": "linear"}, "ramp": {"method": "ramp-pu", "width": 2.0}},
        },
    ),
}
# in the other case the test rows are the unlabeled ones, so that only their classes are unseen
INDUCTIVE = [name for name in CASES if not name.endswith("transductive")]
# protocols without a case, and why, or which test here is theirs
EXCUSED = {
    "adversarial_labels": "it has no test rows, and nothing is chosen",
    "class_prior": "it has no test rows, and nothing is chosen",
    "deep": "its fits see no test row; test_the_bandwidth_and_the_counts_of_modes_do_not_see_test_rows",
    "pu_ceiling": "it chooses by the test rows, as a diagnosis that no method gets to see",
    "pu_figures": "it tunes and fits as pu does; test_a_picture_of_the_rows_changes_no_score",
    "presence_only": "nothing is chosen, and its test rows are another table; the tests of the protocol poison them",
    "strict_improvement": "it has no test rows, and nothing is chosen",
    "usmo": "transductive, and nothing is tuned; test_classes_of_unlabeled_rows_do_not_affect_usmo",
}


def rows_of(y_values=(-1, 1)):
    """Overlapping groups; every row is unlike all others."""
    rng = np.random.default_rng(5)
    y = np.repeat(y_values, N // 2)
    return rng.normal(size=(N, 3)) + 0.8 * (y[:, None] == y_values[1]), y


def give(monkeypatch, case: Case, X, y) -> None:
    """Let the protocol read these rows."""
    if case.module is classtering:
        monkeypatch.setattr(classtering, "_load", lambda *_: (X, (y + 1) // 2))
    else:
        reader = pu_rows if case.module is pu else case.module
        monkeypatch.setattr(reader, "read_rows", lambda *_, **__: (X, y))


def numbers_of_test_rows(case: Case, cell: Cell, X) -> np.ndarray:
    """Return the numbers of the test rows."""
    raw = dataclasses.replace(
        cell, declared={**cell.declared, "data": {**cell.declared["data"], "standardize": "none"}}
    )
    X_test = case.module.PROTOCOL.prepare(raw, Context()).X_test
    number = {row.tobytes(): place for place, row in enumerate(np.ascontiguousarray(X))}
    return np.array([number[row.tobytes()] for row in np.ascontiguousarray(X_test)])


def choices(result: CellResult, case: Case) -> dict[str, Any]:
    """Return all of a result that must not depend on test rows."""
    details: dict[str, Any] = {}
    if case.module is semi_supervised:
        of_test_rows = ("error", "worse_test_error")
        details |= {name: v for name, v in result.details["curve"].items() if name not in of_test_rows}
    if case.module is usmo_curves:
        details["objectives"] = result.details["curve"]["objective"]
    flags = [flag for flag in result.flags if flag != "one class predicted"]  # on the test rows
    return plain([result.params, result.trials, result.certificate, result.notes, flags, details])


def plain(value):
    """Return the value with NaN as a word, which equals itself."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def cells_of(case: Case) -> list[Cell]:
    return plan(parse_experiment({"title": "Unseen", **case.declared}, file="unseen.yaml"))


def test_every_protocol_has_a_case_or_an_excuse():
    cases = {case.declared.get("protocol", "pu") for case in CASES.values()}
    assert sorted([*cases, *EXCUSED]) == sorted(name for name, package in protocol_names().items() if not package)
    named = re.findall(r"\btest_\w+", " ".join(EXCUSED.values()))
    assert len(named) == 3 and set(named) <= globals().keys()


def quick(names):
    """Return the names as parameters; those that tune over many points are slow."""
    return [pytest.param(name, marks=[pytest.mark.slow] * name.startswith("pu")) for name in names]


@pytest.mark.parametrize(
    ("name", "column"), [("pu", "lower"), *(pytest.param(*one.values, "", marks=one.marks) for one in quick(INDUCTIVE))]
)
def test_poisoned_test_rows_do_not_affect_the_choice(name, column, monkeypatch):
    case = CASES[name]
    X, y = rows_of()
    give(monkeypatch, case, X, y)
    for cell in [cell for cell in cells_of(case) if column in ("", cell.method)]:
        first = case.module.PROTOCOL.run_cell(cell, Context())
        test = numbers_of_test_rows(case, cell, X)
        assert 0 < len(test) < N
        poisoned = X.copy()
        poisoned[test] = 40.0 - 25.0 * poisoned[test]
        give(monkeypatch, case, poisoned, y)
        second = case.module.PROTOCOL.run_cell(cell, Context())
        give(monkeypatch, case, X, y)
        assert choices(first, case) == choices(second, case), cell.method
        assert first.metrics != second.metrics, cell.method


@pytest.mark.parametrize("name", quick(INDUCTIVE))
def test_permuted_test_rows_do_not_affect_the_choice(name, monkeypatch):
    """Test rows that change places with their classes kept in place."""
    case = CASES[name]
    X, y = rows_of()
    give(monkeypatch, case, X, y)
    for cell in cells_of(case):
        first = case.module.PROTOCOL.run_cell(cell, Context())
        test = numbers_of_test_rows(case, cell, X)
        permuted = X.copy()
        permuted[test] = X[np.roll(test, 1)]
        give(monkeypatch, case, permuted, y)
        second = case.module.PROTOCOL.run_cell(cell, Context())
        give(monkeypatch, case, X, y)
        assert choices(first, case) == choices(second, case), cell.method


@pytest.mark.parametrize("name", quick(CASES))
def test_classes_of_test_rows_only_affect_the_metrics(name, monkeypatch):
    case = CASES[name]
    X, y = rows_of()
    give(monkeypatch, case, X, y)
    for cell in cells_of(case):
        first = case.module.PROTOCOL.run_cell(cell, Context())
        context = Context()
        rows = case.module.PROTOCOL.prepare(cell, context)
        y = rows.hidden.drawn()
        context.cache[cell.group] = dataclasses.replace(rows, hidden=HiddenLabels(1 - y if y.min() == 0 else -y))
        second = case.module.PROTOCOL.run_cell(cell, context)
        assert choices(first, case) == choices(second, case), cell.method
        assert first.metrics != second.metrics, cell.method


def test_a_picture_of_the_rows_changes_no_score(monkeypatch):
    """The protocol that draws decision fields tunes and scores as the one that does not."""
    X, y = rows_of()
    monkeypatch.setattr(pu_rows, "read_rows", lambda *_, **__: (X[:, :2], y))
    declared = {**PU, "data": CASES["pu, raw"].declared["data"], "methods": {"glpual/a": PU["methods"]["path"]}}
    fields = {"a": {"title": "A", "variant": "a"}}
    drawn = {**declared, "protocol": "pu_figures", "options": {"fields": fields, "grid": 5}}
    results = [
        module.PROTOCOL.run_cell(cells_of(Case(module, one))[0], Context())
        for module, one in ((pu, declared), (pu_figures, drawn))
    ]
    assert choices(results[0], CASES["pu"]) == choices(results[1], CASES["pu"])
    del results[1].metrics["crossing"]
    assert results[0].metrics == results[1].metrics


def test_hidden_classes_do_not_affect_semi_supervised_fits(monkeypatch):
    """Only the role `oracle` sees classes of unlabeled rows."""
    case = CASES["semi_supervised"]
    methods = {**case.declared["methods"], "lda/oracle": {"method": "mcpl-lda", "ridge": 0.1}}
    case = case._replace(declared={**case.declared, "methods": methods})
    X, y = rows_of()
    give(monkeypatch, case, X, y)
    for cell in cells_of(case):
        first = semi_supervised.PROTOCOL.run_cell(cell, Context())
        context = Context()
        rows = semi_supervised.PROTOCOL.prepare(cell, context)
        y = np.where(rows.y_train == -1, 1 - rows.true_classes, rows.true_classes)
        context.cache[cell.group] = dataclasses.replace(rows, true_classes=y)
        second = semi_supervised.PROTOCOL.run_cell(cell, context)
        same = (
            plain(first.certificate) == plain(second.certificate) and first.metrics["error"] == second.metrics["error"]
        )
        assert same == (cell.method != "lda/oracle"), cell.method


def test_hidden_classes_do_not_affect_clusterings(monkeypatch):
    case = CASES["classtering"]
    options = {"task": "clustering", "labels": [8]}
    case = case._replace(declared={**case.declared, "options": options})
    X, y = rows_of()
    give(monkeypatch, case, X, y)
    for cell in cells_of(case):
        first = classtering.PROTOCOL.run_cell(cell, Context())
        context = Context()
        rows = classtering.PROTOCOL.prepare(cell, context)
        context.cache[cell.group] = dataclasses.replace(rows, hidden=HiddenLabels(np.roll(rows.hidden.drawn(), 40)))
        second = classtering.PROTOCOL.run_cell(cell, context)
        assert choices(first, case) == choices(second, case) and first.metrics["nmi"] != second.metrics["nmi"]


def test_classes_of_unlabeled_rows_do_not_affect_usmo(monkeypatch):
    X, y = rows_of()
    params = {"prior": 0.5, "lam": 0.01, "kernel": "linear"}
    declared = {
        "data": {"name": "toy"},
        "split": {"label_frequency": 0.2, "seed": 1, "repeat": 0},
        "method": {"name": "usmo", "version": 1, "params": params},
        "reference": None,
    }
    monkeypatch.setattr(usmo, "read_rows", lambda *_: (X, y))
    cell = Cell("toy", {}, 0, "usmo", declared, "group")
    first = usmo.PROTOCOL.run_cell(cell, Context())
    context = Context()
    rows = usmo.PROTOCOL.prepare(cell, context)
    context.cache["group"] = dataclasses.replace(rows, hidden=HiddenLabels(-rows.hidden.drawn()))
    second = usmo.PROTOCOL.run_cell(cell, context)
    assert plain(first.certificate) == plain(second.certificate) and first.metrics["f1"] != second.metrics["f1"]


@pytest.mark.parametrize("n", [37, 50, 83])
def test_only_positives_are_labeled_and_their_number_is_rounded_down(n, monkeypatch):
    """floor(frequency n prior): a part of a row is not labeled."""
    X, y = np.random.default_rng(0).normal(size=(n, 2)), np.where(np.arange(n) < n // 2, 1, -1)
    monkeypatch.setattr(usmo, "read_rows", lambda *_: (X, y))
    declared = {
        "split": {"label_frequency": 0.2, "seed": 1, "repeat": 0},
        "method": {"name": "usmo", "params": {"prior": 0.47}},
    }
    rows = usmo.PROTOCOL.rows(Cell("toy", {}, 0, "usmo", declared, "group"), Context())
    share = 0.2 * n * 0.47
    assert share - 1 < rows.y_train.sum() < share and np.all(y[rows.y_train] == 1)


def test_the_prior_of_a_fit_is_that_of_its_own_unlabeled_rows(monkeypatch):
    """Classes of the pool beyond the first n rows say nothing to the fit with n."""
    case = CASES["usmo_curves"]
    X, y = rows_of()
    give(monkeypatch, case, X, y)
    given: list[float] = []
    make = usmo_curves.make
    monkeypatch.setattr(usmo_curves, "make", lambda *a, prior, **k: given.append(prior) or make(*a, prior=prior, **k))
    cell = cells_of(case)[0]
    first = usmo_curves.PROTOCOL.run_cell(cell, Context())
    context = Context()
    rows = usmo_curves.PROTOCOL.prepare(cell, context)
    assert given == [np.mean(rows.positive_in_pool[:n]) for n in (20, 60)]
    beyond = rows.positive_in_pool | (np.arange(len(rows.positive_in_pool)) >= 20)
    context.cache[cell.group] = dataclasses.replace(rows, positive_in_pool=beyond)
    second = usmo_curves.PROTOCOL.run_cell(cell, context)
    objectives = [result.details["curve"]["objective"] for result in (first, second)]
    assert objectives[0][0] == objectives[1][0] and objectives[0][1] != objectives[1][1]


def test_the_bandwidth_and_the_counts_of_modes_do_not_see_test_rows():
    rng = np.random.default_rng(0)
    drawn = deep.DrawnRows(rng.normal(size=(60, 2)), X_test=rng.normal(size=(50, 2)), centers=np.eye(2), sd=0.3)

    class Model:
        def sample(self, n, random_state):
            return np.random.default_rng(random_state).normal(size=(n, 2))

    seen = []
    for X_test in (drawn.X_test, 30.0 + drawn.X_test):
        result = CellResult()
        options = {"generated": 200, "likelihood": True}
        deep._judge(Model(), dataclasses.replace(drawn, X_test=X_test), options, 1, result, shown=False)
        seen.append((result.details, result.metrics.pop("log_likelihood"), result.metrics))
    assert seen[0][0] == seen[1][0] and seen[0][2] == seen[1][2] and seen[0][1] != seen[1][1]
