"""The PU protocol: what is shared between methods, what is scaled, and that test labels choose nothing."""

import dataclasses

import numpy as np
import pytest
import yaml

from pucli.data import load_dataset, repeated_splits
from pucli.runner import Context, load_experiment, plan
from pucli.runner.protocols import pu

DECLARED = {
    "title": "One set that needs no download",
    "data": {"names": ["breast-cancer"], "standardise": "train"},
    "split": {"scenario": "case-control", "label_frequencies": [0.5], "repeats": 2, "seed": 7},
    "tuning": {"folds": 3, "score": "puf", "greedy": {"step": 0.1}},
    "methods": {
        "glpual": {"method": "glpual", "grid": {"lam": [1, 10, 100], "sigma": [10], "c_u": [0.1]}},
        "gllc": {"method": "gllc", "grid": {"lam": [10], "sigma": [10], "c_u": [0.1]}},
        "fixed": {"method": "glpual", "lam": 10.0, "grid": {}},
    },
}


@pytest.fixture
def experiment(tmp_path):
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(DECLARED))
    return load_experiment(tmp_path / "one.yaml")


def prepared(experiment, cell):
    context = Context()
    pu.run_cell(cell, experiment, context)
    return context.cache[cell.group]


def test_rows_are_those_of_pucli_split(experiment):
    """The split of repeat r is the r-th that `pucli split` writes for the same seed."""
    data = load_dataset("breast-cancer")
    splits = repeated_splits("case-control", data.y, 0.5, repeats=2, seed=7, name="breast-cancer")
    for cell in plan(experiment, methods=["fixed"]):
        split = splits[cell.repeat]
        rows = prepared(experiment, cell)
        assert np.array_equal(rows.s, split.s) and np.array_equal(rows.y_test, data.y[split.test])
        X_train, X_test = pu.standardise(data.X[split.train], data.X[split.test])
        assert np.array_equal(rows.X_train, X_train) and np.array_equal(rows.X_test, X_test)


def test_standardise_uses_training_rows_and_zeroes_constants():
    rng = np.random.default_rng(0)
    train, test = rng.normal(5, 3, (50, 3)), rng.normal(size=(20, 3))
    train[:, 1] = 0.1 + 0.2  # constant, and not exact in binary
    test[:, 1] = 9.0
    a, b = pu.standardise(train, test)
    assert a[:, [0, 2]].mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert a[:, [0, 2]].std(axis=0) == pytest.approx(1)
    assert not a[:, 1].any() and not b[:, 1].any()
    assert np.allclose(b[:, 0], (test[:, 0] - train[:, 0].mean()) / train[:, 0].std())


def test_test_labels_choose_nothing(experiment):
    """With other test labels everything but the metrics is the same."""
    for cell in plan(experiment, methods=["glpual"])[:1]:
        context = Context()
        first = pu.run_cell(cell, experiment, context)
        rows = context.cache[cell.group]
        context.cache[cell.group] = dataclasses.replace(rows, y_test=-rows.y_test, shared={})
        second = pu.run_cell(cell, experiment, context)
        assert first.metrics != second.metrics
        assert first.params == second.params and first.trials == second.trials and first.flags == second.flags
        said = [r.metrics["tp"] + r.metrics["fp"] for r in (first, second)]
        assert said[0] == said[1]


def test_methods_share_rows_and_folds(experiment):
    cells = [cell for cell in plan(experiment) if cell.repeat == 0]
    context = Context()
    results = {cell.method: pu.run_cell(cell, experiment, context) for cell in cells}
    assert len(context.cache) == 1
    # the same validation folds: equal numbers of labelled and unlabeled rows in each trial
    assert results["glpual"].trials["n_labelled"][0] == results["gllc"].trials["n_labelled"][0]
    alone = pu.run_cell(cells[0], experiment, Context())
    assert alone.metrics == results[cells[0].method].metrics
    assert alone.trials == results[cells[0].method].trials


def test_a_fixed_method_is_not_tuned(experiment):
    cell = plan(experiment, methods=["fixed"])[0]
    result = pu.run_cell(cell, experiment, Context())
    assert cell.n_fits == 1 and result.n_fits == 0 and not result.trials
    assert result.params["lam"] == 10.0 and result.seconds["tune"] == 0.0


def test_metrics_and_certificate(experiment):
    cell = plan(experiment, methods=["gllc"])[0]
    result = pu.run_cell(cell, experiment, Context())
    m = result.metrics
    assert set(m) == {"f1", "precision", "recall", "accuracy", "auc", "tp", "fp", "fn", "tn", "puf"}
    share = (m["tp"] + m["fp"]) / (m["tp"] + m["fp"] + m["fn"] + m["tn"])
    assert m["puf"] == pytest.approx(m["recall"] ** 2 / share)
    assert result.certificate["dual_gap"] <= 1e-6 * max(1, abs(result.certificate["objective"]))


def test_edge_and_one_class_are_flagged(experiment, tmp_path):
    methods = {"glpual": {"method": "glpual", "grid": {"lam": [1e6, 1e7, 1e8], "c_u": [1e-6]}}}
    (tmp_path / "edge.yaml").write_text(yaml.safe_dump({**DECLARED, "methods": methods}))
    result = pu.run_cell(plan(load_experiment(tmp_path / "edge.yaml"))[0], experiment, Context())
    assert result.flags == ["edge of the grid", "one class predicted"]
    assert any("one class" in note for note in result.notes)
