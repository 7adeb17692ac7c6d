"""The PU protocol: what is shared between methods, what is scaled, and that test labels choose nothing."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from pucli import data
from pucli.core.errors import UsageError
from pucli.data import load_dataset, repeated_splits
from pucli.data.features import Standardizer
from pucli.methods import make_estimator
from pucli.protocols import common
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.pu import protocol as pu
from pucli.runner import Context, load_experiment, plan, run
from pucli.runner.execute import run_group
from pucli.runner.store import read_rows, read_trials

DECLARED = {
    "title": "One set that needs no download",
    "data": {"names": ["breast-cancer"], "standardize": "train"},
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
    pu.PROTOCOL.run_cell(cell, context)
    return context.cache[cell.group]


def test_rows_are_those_of_pucli_split(experiment):
    """The split of repeat r is the r-th that `pucli split` writes for the same seed."""
    data = load_dataset("breast-cancer")
    splits = repeated_splits("case-control", data.y, 0.5, repeats=2, seed=7, name="breast-cancer")
    for cell in plan(experiment, methods=["fixed"]):
        split = splits[cell.repeat]
        rows = prepared(experiment, cell)
        assert np.array_equal(rows.y_train, split.s) and np.array_equal(rows.hidden.drawn(), data.y[split.test])
        scaler = Standardizer().fit(data.X[split.train])
        X_train, X_test = scaler.transform(data.X[split.train]), scaler.transform(data.X[split.test])
        assert np.array_equal(rows.X_train, X_train) and np.array_equal(rows.X_test, X_test)


def test_test_labels_do_not_affect_the_choice(experiment):
    """With other test labels everything but the metrics is the same."""
    for cell in plan(experiment, methods=["glpual"])[:1]:
        context = Context()
        first = pu.PROTOCOL.run_cell(cell, context)
        rows = context.cache[cell.group]
        context.cache[cell.group] = dataclasses.replace(rows, hidden=HiddenLabels(-rows.hidden.drawn()), shared={})
        second = pu.PROTOCOL.run_cell(cell, context)
        assert first.metrics != second.metrics
        assert first.params == second.params and first.trials == second.trials and first.flags == second.flags
        predicted = [r.metrics["tp"] + r.metrics["fp"] for r in (first, second)]
        assert predicted[0] == predicted[1]


@pytest.mark.slow
def test_a_cut_that_tuning_moved_is_that_of_the_model(tmp_path):
    declared = {**DECLARED, "tuning": {"folds": 3, "score": "pu-auc"}}
    declared["methods"] = {name: DECLARED["methods"][name] for name in ("glpual",)}
    (tmp_path / "two.yaml").write_text(yaml.safe_dump(declared))
    cell = plan(load_experiment(tmp_path / "two.yaml"))[0]
    context = Context()
    result = pu.PROTOCOL.run_cell(cell, context)
    best = int(np.argmax(result.trials["score"]))
    assert result.params["threshold"] == result.trials["threshold"][best] != 0.0
    rows = context.cache[cell.group]
    model = make_estimator("glpual", **result.params).fit(rows.X_train, rows.y_train)
    assert np.sum(model.predict(rows.X_test) == 1) == result.metrics["tp"] + result.metrics["fp"]


def test_methods_share_rows_and_folds(experiment):
    cells = [cell for cell in plan(experiment) if cell.repeat == 0]
    context = Context()
    results = {cell.method: pu.PROTOCOL.run_cell(cell, context) for cell in cells}
    assert len(context.cache) == 1
    # the same validation folds: equal numbers of labeled and unlabeled rows in each trial
    assert results["glpual"].trials["n_labeled"][0] == results["gllc"].trials["n_labeled"][0]
    alone = pu.PROTOCOL.run_cell(cells[0], Context())
    assert alone.metrics == results[cells[0].method].metrics
    assert alone.trials == results[cells[0].method].trials


def test_a_fixed_method_is_not_tuned(experiment):
    cell = plan(experiment, methods=["fixed"])[0]
    result = pu.PROTOCOL.run_cell(cell, Context())
    assert cell.n_fits == 1 and result.n_fits == 0 and not result.trials
    assert result.params["lam"] == 10.0 and result.seconds["tune"] == 0.0


def test_metrics_and_certificate(experiment):
    cell = plan(experiment, methods=["gllc"])[0]
    result = pu.PROTOCOL.run_cell(cell, Context())
    m = result.metrics
    ranked = {"average_precision", "precision@10%", "recall@10%", "lift@1%", "bedroc@20", "boyce"}
    assert set(m) == {"f1", "precision", "recall", "accuracy", "auc", "tp", "fp", "fn", "tn", "puf"} | ranked
    share = (m["tp"] + m["fp"]) / (m["tp"] + m["fp"] + m["fn"] + m["tn"])
    assert m["puf"] == pytest.approx(m["recall"] ** 2 / share)
    assert result.certificate["dual_gap"] <= 1e-6 * max(1, abs(result.certificate["objective"]))


def test_metrics_at_other_places_are_part_of_the_key(experiment, tmp_path):
    (tmp_path / "places.yaml").write_text(yaml.safe_dump({**DECLARED, "metrics": ["f1", "precision@20"]}))
    (tmp_path / "plain.yaml").write_text(yaml.safe_dump({**DECLARED, "metrics": ["f1", "recall@10%"]}))
    cells = [plan(load_experiment(tmp_path / f"{name}.yaml"), methods=["fixed"])[0] for name in ("places", "plain")]
    assert cells[1].key == plan(experiment, methods=["fixed"])[0].key != cells[0].key
    assert 0 < pu.PROTOCOL.run_cell(cells[0], Context()).metrics["precision@20"] <= 1


def test_edge_and_one_class_are_flagged(experiment, tmp_path):
    methods = {"glpual": {"method": "glpual", "grid": {"lam": [1e6, 1e7, 1e8], "c_u": [1e-6]}}}
    (tmp_path / "edge.yaml").write_text(yaml.safe_dump({**DECLARED, "methods": methods}))
    (finished,) = run_group(plan(load_experiment(tmp_path / "edge.yaml"))[:1], Context())
    result = finished.result
    assert result.flags == ["edge of the grid", "one class predicted"]
    assert any("one class" in note for note in result.notes)


def test_an_edge_needs_more_than_two_numbers():
    assert pu._on_edge({"lam": 1.0}, {"lam": [0.1, 0.5, 1.0]}) and pu._on_edge({"lam": 2.0}, {"lam": [0.1, 0.5, 1.0]})
    assert not pu._on_edge({"lam": 1.0}, {"lam": [0.1, 1.0]})
    assert not pu._on_edge({"kernel": "rbf"}, {"kernel": ["rbf", "linear", "other"]})


def test_a_plan_counts_every_fit_of_the_grid_on_every_fold(tmp_path):
    methods = {"gllc": {"method": "gllc", "grid": {"lam": [0.1, 1.0], "c_u": [0.5, 0.1, 0.01]}}}
    content = {**DECLARED, "methods": methods, "tuning": {"folds": 3, "cv_repeats": 2}}
    (tmp_path / "fits.yaml").write_text(yaml.safe_dump(content))
    cell = plan(load_experiment(tmp_path / "fits.yaml"))[0]
    assert cell.n_fits == 1 + 2 * 3 * 3 * 2 and pu.PROTOCOL.run_cell(cell, Context()).n_fits == cell.n_fits - 1


def test_true_prior_is_the_share_among_unlabeled_rows(tmp_path):
    """`prior: "true"` counts positives among unlabeled training rows and test rows; it is part of the key."""
    methods = {
        "given": {"method": "cpb-glpual", "prior": "true", "max_iter": 3, "grid": {}},
        "estimated": {"method": "cpb-glpual", "max_iter": 3, "grid": {}},
    }
    (tmp_path / "prior.yaml").write_text(yaml.safe_dump({**DECLARED, "methods": methods}))
    experiment = load_experiment(tmp_path / "prior.yaml")
    given, estimated = (plan(experiment, methods=[name])[0] for name in methods)
    assert given.key != estimated.key
    data = load_dataset("breast-cancer")
    split = repeated_splits("case-control", data.y, 0.5, repeats=1, seed=7, name="breast-cancer")[0]
    labeled = split.train[split.s == 1]
    unlabeled = np.setdiff1d(np.arange(len(data.y)), labeled)
    assert pu.PROTOCOL.run_cell(given, Context()).params["prior"] == np.mean(data.y[unlabeled] == 1)


@pytest.mark.slow
def test_irrelevant_features_come_from_the_cell(tmp_path):
    """Standardized rows and two noise columns a feature, equal for all methods, anew for each repeat and frequency."""
    declared = {
        **DECLARED,
        "data": {"names": ["breast-cancer"], "standardize": "none"},
        "split": {**DECLARED["split"], "label_frequencies": [0.5, 0.25]},
        "options": {"irrelevant_per_feature": 2},
        "methods": {
            "e-glpual": {"method": "e-glpual", "lam1": 100.0, "grid": {}},
            "ridge": {"method": "glpual", "grid": {}},
            "kernel": {"method": "gllc", "kernel": "rbf", "grid": {}},
        },
    }
    (tmp_path / "noise.yaml").write_text(yaml.safe_dump(declared))
    experiment = load_experiment(tmp_path / "noise.yaml")
    X = load_dataset("breast-cancer").X
    seen = {}
    for cell in plan(experiment, methods=["e-glpual"]):
        rows = prepared(experiment, cell)
        m = X.shape[1]
        assert rows.relevant == m and rows.X_train.shape[1] == rows.X_test.shape[1] == 3 * m
        both = np.vstack([rows.X_train, rows.X_test])
        assert both[:, :m].mean(axis=0) == pytest.approx(0, abs=1e-9) and both[:, :m].std(axis=0) == pytest.approx(1)
        assert abs(both[:, m:].mean()) < 0.05 and abs(both[:, m:].std() - 1) < 0.05
        seen[cell.key] = np.sort(both[:, -1]).tobytes()
    assert len(set(seen.values())) == len(seen) == 4
    results = {}
    context = Context()
    for cell in plan(experiment):
        if cell.repeat == 0 and cell.setting["label_frequency"] == 0.5:
            results[cell.method] = pu.PROTOCOL.run_cell(cell, context).metrics
    assert results["e-glpual"]["irrelevant_zeroed"] > 0.5  # a strong L1 penalty
    assert results["ridge"]["irrelevant_zeroed"] == 0.0
    assert "irrelevant_zeroed" not in results["kernel"]


def test_generated_set_knows_its_irrelevant_features(tmp_path):
    declared = {
        "title": "Two Gaussians with noise columns",
        "data": {"generate": "wang-two-gaussians", "parameters": {"irrelevant": 2}, "standardize": "none"},
        "split": {"scenario": "case-control", "label_frequencies": [0.5], "repeats": 1, "seed": 1},
        "methods": {"e-glpual": {"method": "e-glpual", "lam1": 1e6, "grid": {}}},
    }
    (tmp_path / "drawn.yaml").write_text(yaml.safe_dump(declared))
    experiment = load_experiment(tmp_path / "drawn.yaml")
    cell = plan(experiment)[0]
    assert prepared(experiment, cell).relevant == 2
    assert pu.PROTOCOL.run_cell(cell, Context()).metrics["irrelevant_zeroed"] == 1.0
    (tmp_path / "drawn.yaml").write_text(yaml.safe_dump({**declared, "options": {"irrelevant_per_feature": 2}}))
    with pytest.raises(UsageError, match="irrelevant_per_feature is for declared data sets"):
        plan(load_experiment(tmp_path / "drawn.yaml"))


def test_a_cut_at_the_prior_calls_that_share_of_the_unlabeled_rows_positive(tmp_path):
    methods = {name: {"method": "gllc", "lam": 1e3, "grid": {}} for name in ("own", "moved")}
    declared = {**DECLARED, "methods": methods, "options": {"threshold_at_prior": ["moved"]}}
    (tmp_path / "threshold.yaml").write_text(yaml.safe_dump(declared))
    experiment = load_experiment(tmp_path / "threshold.yaml")
    own, moved = (plan(experiment, methods=[name])[0] for name in methods)
    assert own.key != moved.key
    without = {**declared, "options": {}, "methods": {"own": methods["own"]}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(without))
    assert plan(load_experiment(tmp_path / "own.yaml"))[0].key == own.key
    found = [pu.PROTOCOL.run_cell(cell, Context()).metrics for cell in (own, moved)]
    assert found[0]["auc"] == found[1]["auc"] and found[0]["f1"] < found[1]["f1"]

    rows = prepared(experiment, moved)
    model = make_estimator("gllc", lam=1e3).fit(rows.X_train, rows.y_train)
    unlabeled = rows.X_train[rows.y_train == 0]
    called = pu._called_at(rows.prior, model, unlabeled, unlabeled)
    assert (called == 1).sum() == round(rows.prior * len(unlabeled))
    assert (
        model.decision_function(unlabeled)[called == 1].min() > model.decision_function(unlabeled)[called == -1].max()
    )
    declared["options"]["threshold_at_prior"] = ["other"]
    (tmp_path / "threshold.yaml").write_text(yaml.safe_dump(declared))
    with pytest.raises(UsageError, match=r"options\.threshold_at_prior 'other'"):
        plan(load_experiment(tmp_path / "threshold.yaml"))


@pytest.mark.parametrize(
    "options", [{"irrelevant": 2}, {"irrelevant_per_feature": -1}, {"irrelevant_per_feature": "two"}]
)
def test_wrong_option_is_named(tmp_path, options):
    (tmp_path / "wrong.yaml").write_text(yaml.safe_dump({**DECLARED, "options": options}))
    with pytest.raises(UsageError, match=f"options.{next(iter(options))}"):
        plan(load_experiment(tmp_path / "wrong.yaml"))


def test_finished_cells_of_another_experiment_are_taken_over(tmp_path):
    """Where every setting agrees, and with the label they have here; the rest is run."""
    split = {**DECLARED["split"], "repeats": 1}
    first = {**DECLARED, "split": split}
    second = {
        **first,
        "reuses": ["first", "never-run"],
        "methods": {
            "tuned": DECLARED["methods"]["glpual"],
            "other": {"method": "glpual", "lam": 20.0, "grid": {}},
        },
    }
    for name, declared in {"first": first, "second": second}.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(declared))
    run(load_experiment(tmp_path / "first.yaml"), results_dir=tmp_path)
    summary = run(load_experiment(tmp_path / "second.yaml"), results_dir=tmp_path)
    assert (summary.total, summary.already_done, summary.ran) == (2, 1, 1)
    rows = {row["method"]: row for row in read_rows(tmp_path / "second").values()}
    origin = {row["method"]: row for row in read_rows(tmp_path / "first").values()}
    assert set(rows) == {"tuned", "other"}
    for name in ("metrics", "params", "seconds", "finished", "provenance"):
        assert rows["tuned"][name] == origin["glpual"][name]
    assert read_trials(tmp_path / "second", rows["tuned"]["key"]) == read_trials(
        tmp_path / "first", origin["glpual"]["key"]
    )


def test_a_key_does_not_depend_on_how_a_number_is_written_but_on_what_the_refinement_holds(tmp_path):
    keys = {}
    for held in ({}, {"lam": [1.0]}):
        for values in ([1, 10], [1.0, 10.0]):
            methods = {"glpual": {"method": "glpual", "grid": {"lam": values}, "tuning": {"stay_on_grid": held}}}
            tuning = {"folds": 3, "greedy": {"step": 0.1}}
            (tmp_path / "grid.yaml").write_text(yaml.safe_dump({**DECLARED, "methods": methods, "tuning": tuning}))
            cell = plan(load_experiment(tmp_path / "grid.yaml"))[0]
            keys[bool(held), type(values[0])] = cell.key
            assert cell.declared["method"]["tuning"].get("stay_on_grid") == (held or None)
    assert keys[True, int] == keys[True, float] != keys[False, int] == keys[False, float]


def test_rows_of_a_biased_labeling_are_those_of_pucli_split(tmp_path):
    declared = {**DECLARED, "split": {**DECLARED["split"], "labeling": "sar-score"}}
    (tmp_path / "sar.yaml").write_text(yaml.safe_dump(declared))
    (tmp_path / "scar.yaml").write_text(yaml.safe_dump(DECLARED))
    data = load_dataset("breast-cancer")
    how = {"repeats": 1, "seed": 7, "name": "breast-cancer", "labeling": "sar-score", "X": data.X}
    split = repeated_splits("case-control", data.y, 0.5, **how)[0]
    biased = load_experiment(tmp_path / "sar.yaml")
    cell = plan(biased, methods=["fixed"])[0]
    assert np.array_equal(prepared(biased, cell).y_train, split.s)
    assert cell.key != plan(load_experiment(tmp_path / "scar.yaml"), methods=["fixed"])[0].key


def test_a_declared_error_of_scores_reaches_the_tuning_and_the_key(tmp_path, monkeypatch):
    keys, asked = [], []
    tune = pu.tune
    monkeypatch.setattr(pu, "tune", lambda *a, **how: asked.append(how["score_error"]) or tune(*a, **how))
    for tuning in ({}, {"score_error": 0.1}):
        methods = {"gllc": {**DECLARED["methods"]["gllc"], "tuning": tuning}}
        (tmp_path / "accurate.yaml").write_text(yaml.safe_dump({**DECLARED, "methods": methods}))
        cell = plan(load_experiment(tmp_path / "accurate.yaml"))[0]
        keys.append(cell.key)
        pu.PROTOCOL.run_cell(cell, Context())
    assert asked == [0.0, 0.1] and keys[0] != keys[1]


def test_rows_and_groups_of_a_data_set_are_read_once(monkeypatch):
    loaded = []
    whole = data.load_dataset
    monkeypatch.setattr(data, "load_dataset", lambda name, **how: loaded.append(name) or whole(name, **how))
    monkeypatch.setattr(data, "dataset_entry", lambda name: SimpleNamespace(groups="visits"))
    common._read.cache_clear()
    common.read_rows("breast-cancer", Context())
    common.read_groups("breast-cancer", Context())
    assert loaded == ["breast-cancer"]
