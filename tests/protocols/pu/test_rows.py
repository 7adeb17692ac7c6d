"""Other readings of the PU protocol: labels before the split, labeled rows among the unlabeled ones, other priors."""

import numpy as np
import pytest
import yaml

from pucli.core.errors import UsageError
from pucli.data import load_dataset, repeated_splits
from pucli.protocols import steps
from pucli.protocols.pu import protocol as pu
from pucli.runner import Context, load_experiment, plan

ALL = {"scenario": "single-training-set", "labeled": "all", "label_frequencies": [0.5], "repeats": 1, "seed": 7}
CPB = {"method": "cpb-glpual", "max_iter": 2, "grid": {}}
DECLARED = {"title": "One set", "data": {"names": ["breast-cancer"]}, "split": ALL, "methods": {"one": CPB}}


def planned(tmp_path, **changes):
    (tmp_path / "one.yaml").write_text(yaml.safe_dump({**DECLARED, **changes}))
    return plan(load_experiment(tmp_path / "one.yaml"))


def test_rows_are_those_of_labels_before_the_split(tmp_path):
    data = load_dataset("breast-cancer")
    how = {"repeats": 1, "seed": 7, "name": "breast-cancer"}
    split = repeated_splits("single-training-set", data.y, 0.5, labeled="all", **how)[0]
    (cell,) = planned(tmp_path, methods={"one": {**CPB, "prior": "true"}})
    context = Context()
    result = pu.PROTOCOL.run_cell(cell, context)
    rows = context.cache[cell.group]
    assert np.array_equal(rows.y_train, split.s) and np.array_equal(rows.hidden.drawn(), data.y[split.test])
    # the prior is that of the unlabeled training rows: the test rows have more positives
    assert result.params["prior"] == np.mean(data.y[split.train[split.s == 0]] == 1) < np.mean(rows.hidden.drawn() == 1)
    (stated,) = planned(tmp_path, split={**ALL, "labeled": "training"})
    assert stated.key != planned(tmp_path)[0].key


def test_copies_of_labeled_rows_are_unlabeled_rows_and_count_in_the_prior(tmp_path, monkeypatch):
    data = load_dataset("breast-cancer")
    columns = {"alone": {**CPB, "prior": "true"}, "copies": {**CPB, "prior": "true"}}
    cells = planned(tmp_path, methods=columns, options={"labeled_as_unlabeled": ["copies"]})
    fitted = []
    make = steps.make
    monkeypatch.setattr(steps, "make", lambda *a, **b: fitted.append(make(*a, **b)) or fitted[-1])
    context = Context()
    results = [pu.PROTOCOL.run_cell(cell, context) for cell in cells]
    rows = context.cache[cells[0].group]
    n, labeled = len(rows.y_train), int(rows.y_train.sum())
    assert [len(model._coef) > 0 for model in fitted] == [True, True]
    split = repeated_splits("single-training-set", data.y, 0.5, labeled="all", repeats=1, seed=7, name="breast-cancer")
    # all training rows are unlabeled, so that the prior is that of all
    assert results[1].params["prior"] == np.mean(data.y[split[0].train] == 1) > results[0].params["prior"]
    both = pu._with_copies(rows)
    assert len(both.X_train) == n + labeled and both.y_train.sum() == labeled
    assert np.array_equal(both.X_train[n:], rows.X_train[rows.y_train == 1])
    with pytest.raises(UsageError, match=r"options\.labeled_as_unlabeled 'other'"):
        planned(tmp_path, options={"labeled_as_unlabeled": ["other"]})


def test_the_odds_are_positives_over_negatives_and_below_one(tmp_path):
    (cell,) = planned(tmp_path, methods={"one": {**CPB, "prior": "odds"}})
    context = Context()
    odds = pu.PROTOCOL.run_cell(cell, context).params["prior"]
    share = context.cache[cell.group].prior
    assert odds == share / (1 - share) > share
    rows = context.cache[cell.group]
    object.__setattr__(rows, "prior", 0.6)
    with pytest.raises(UsageError, match=r"odds is 1\.5 here"):
        pu.PROTOCOL.run_cell(cell, context)


def test_irrelevant_columns_beside_features_as_they_come(tmp_path):
    data = {"names": ["breast-cancer"], "standardize": "none"}
    found = []
    for options in ({"irrelevant_per_feature": 1}, {"irrelevant_per_feature": 1, "scaled": False}):
        (cell,) = planned(tmp_path, data=data, options=options)
        found.append(pu.PROTOCOL.prepare(cell, Context()))
    scaled, raw = found
    m = raw.relevant
    assert np.array_equal(scaled.X_train[:, m:], raw.X_train[:, m:])
    X = load_dataset("breast-cancer").X
    assert np.isin(raw.X_train[:, 0], X[:, 0]).all() and not np.isin(scaled.X_train[:, 0], X[:, 0]).any()


def test_labels_before_the_split_are_of_a_single_training_set(tmp_path):
    with pytest.raises(UsageError, match=r"split\.labeled belongs to the scenario single-training-set"):
        planned(tmp_path, split={**ALL, "scenario": "case-control"})
