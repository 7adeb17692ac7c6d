"""Weights of the members: equal with few labeled rows, chosen by likely negatives with many."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.metrics.ranking import auc
from pucli.solvers.ensemble.ensemble import FEW, MANY, Ensemble, chosen_weights, fit_members
from pucli.solvers.ensemble.members import MEMBERS, SMALL, make_views
from pucli.solvers.folds import stratified_folds
from tests.solvers.ensemble.helpers import two_clouds


def scores_of_members(labeled: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scores (2, n) of a good member and of noise, labels and truth."""
    rng = np.random.default_rng(seed)
    s = np.arange(max(4 * labeled, SMALL + 1)) < labeled
    truth = s | (rng.random(len(s)) < 0.3)
    return np.stack([2.5 * truth + rng.normal(size=len(s)), rng.normal(size=len(s))]), s, truth


def test_few_labeled_rows_give_equal_weights() -> None:
    scores, s, _ = scores_of_members(FEW)
    assert chosen_weights(scores, s) is None
    assert chosen_weights(*scores_of_members(2 * MANY)[:2]) is not None


def test_small_tables_need_more_labeled_rows() -> None:
    scores, s, _ = scores_of_members(MANY)
    order = np.argsort(~s, kind="stable")[:SMALL]
    assert chosen_weights(scores[:, order], s[order]) is None


def test_many_labeled_rows_choose_the_better_members() -> None:
    scores, s, truth = scores_of_members(MANY)
    weights = chosen_weights(scores, s)
    assert weights is not None and weights.sum() == pytest.approx(1.0)
    assert weights[1] < 0.2
    mixed = weights @ scores
    equal = scores.mean(axis=0)
    assert auc(mixed[truth & ~s], mixed[~truth]) > auc(equal[truth & ~s], equal[~truth]) + 0.02


def test_in_between_the_weights_are_mixed() -> None:
    scores, s, _ = scores_of_members((FEW + MANY) // 2)
    weights = chosen_weights(scores, s)
    assert weights is not None and 0.2 < weights[1] < 0.4


def test_a_weighted_ensemble_scores_as_the_weighted_mean() -> None:
    X, s, _ = two_clouds(200, labeled=60)
    folds = np.stack([stratified_folds(s, 5, np.random.default_rng(k)) for k in range(8)])
    ensemble, _ = fit_members(MEMBERS[:3], make_views(X), X, s, ~s, folds, 0, 1)
    weights = np.array([0.25, 0.0, 0.75])
    views = ensemble.views.of(X)
    parts = np.stack([member.standardized(member.model.score(views[member.view])) for member in ensemble.members])
    light = ensemble.weighted(weights)
    assert isinstance(light, Ensemble) and len(light.members) == 2
    np.testing.assert_allclose(light.score(X), weights @ parts)
    assert ensemble.weighted(None) is ensemble
