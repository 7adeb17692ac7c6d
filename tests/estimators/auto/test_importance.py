"""Permutation importance on held-out rows."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from pucli import AutoPU
from pucli.estimators.auto import importance
from pucli.estimators.auto.importance import importances
from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.members import MEMBERS, Member
from tests.solvers.ensemble.helpers import two_clouds


def scores_without_own_fold(model: AutoPU, X: np.ndarray, s: np.ndarray) -> np.ndarray:
    rows = np.arange(len(X))
    scorer = importance._scorer(model, X, s, rows, np.random.default_rng(0))
    assert scorer is not None
    return scorer.score(X[:, model._columns], rows)


@pytest.mark.slow  # each number of rows has other members; with more than 2,000, ridges are fitted to some rows again
@pytest.mark.parametrize("n", [950, 2100])
def test_scores_are_those_of_models_trained_without_the_row(n: int) -> None:
    X, s, _ = two_clouds(n, labeled=120)
    model = AutoPU().fit(X, s)
    found = scores_without_own_fold(model, X, s)
    if n < 2000:
        np.testing.assert_allclose(found, model.held_out_, atol=1e-7)
    assert np.corrcoef(found, model.held_out_)[0, 1] > 0.999


@pytest.mark.slow
def test_a_refitted_ensemble_is_tried_on_held_out_rows() -> None:
    """Of noise, models follow their training rows, and rank no held-out row."""
    X, s = np.random.default_rng(5).normal(size=(300, 60)), np.arange(300) % 3 == 0
    with pytest.warns(UserWarning):
        model = AutoPU().fit(X, s)
    assert pu_auc(model.score_rows(X), s) > 0.9
    assert pu_auc(scores_without_own_fold(model, X, s), s) < 0.7


@pytest.mark.slow
def test_the_feature_that_separates_the_classes_is_most_important() -> None:
    X, s, _ = two_clouds(200, labeled=60)
    X = np.insert(X, 1, 7.0, axis=1)
    model = AutoPU().fit(X, s)
    found = importances(model, X, s, np.random.default_rng(0))
    assert found.order[0] == 0 and found.fall[0] > 0.05 and found.fall[0] > 3.0 * found.error[0] > 0.0
    assert np.isnan(found.fall[1]) and found.order[-1] == 1  # a constant column is not measured
    assert importances(model, X, s, np.random.default_rng(0), [slice(2, 5), slice(0, 2)]).order.tolist() == [1, 0]
    kept = importances(copy.copy(model), X, s, np.random.default_rng(0))
    np.testing.assert_array_equal(kept.fall, found.fall)


@pytest.mark.slow
def test_importance_does_not_vanish_where_the_training_rows_are_separated() -> None:
    X, s, _ = two_clouds(400, labeled=40, features=150)
    model = AutoPU(members=MEMBERS[:4]).fit(X, s)
    assert pu_auc(model.score_rows(X), s) > 0.99
    found = importances(model, X, s, np.random.default_rng(0))
    assert found.order[0] == 0 and found.fall[0] > 0.02
    assert np.isfinite(found.fall).sum() == importance.BUDGET // 150


def test_without_folds_nothing_is_measured_and_the_columns_that_separate_come_first() -> None:
    X, s, _ = two_clouds(100, labeled=30)
    model = AutoPU(members=MEMBERS[:1]).fit(X[:, ::-1], s)
    own = Member("own", "raw", MEMBERS[0].fit)
    of_a_file = pickle.loads(pickle.dumps(model))  # a pickle keeps the folds, a model file does not
    np.testing.assert_array_equal(of_a_file._folds, model._folds)
    of_a_file._folds = None
    for one in (of_a_file, AutoPU(members=[own]).fit(X[:, ::-1], s)):
        found = importances(one, X[:, ::-1], s, np.random.default_rng(0))
        assert np.isnan(found.fall).all() and found.order[0] == 3
