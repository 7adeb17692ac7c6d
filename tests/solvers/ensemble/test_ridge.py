"""Kernel ridge regression: closed-form held-out scores, landmarks."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble import ridge
from pucli.solvers.ensemble.ridge import (
    MOST_LANDMARKS,
    SAMPLE_LANDMARKS,
    WeightedLeastSquares,
    fit_kernel_ridge,
    kernel_matrix,
    landmarks_for,
)
from pucli.solvers.ensemble.rows import balanced_weights
from pucli.solvers.folds import stratified_folds
from tests.solvers.ensemble.helpers import two_clouds


@pytest.mark.parametrize("n_folds", [2, 5, 20])
@pytest.mark.parametrize("strength", [1e-2, 1.0, 100.0])
def test_held_out_scores_equal_refitting_without_the_fold(n_folds: int, strength: float) -> None:
    X, s, _ = two_clouds(60, labeled=25)
    rng = np.random.default_rng(0)
    Z = kernel_matrix("gaussian", 1.5, X, X[:30])
    weights, targets = balanced_weights(s), np.where(s, 1.0, -1.0)
    fold = stratified_folds(s, n_folds, rng)
    found = WeightedLeastSquares(Z, targets, weights).held_out(strength, fold)
    for b in range(n_folds):
        kept, out = fold != b, fold == b
        A = Z[kept] * weights[kept, None]
        c = np.linalg.solve(A.T @ Z[kept] + strength * np.eye(30), A.T @ targets[kept])
        np.testing.assert_allclose(found[out], Z[out] @ c, rtol=0, atol=1e-8)


@pytest.mark.parametrize("columns", [10, 30])
def test_scores_of_many_ridges_are_those_of_each_alone(columns: int) -> None:
    X, s, _ = two_clouds(60, labeled=25)
    Z, rng = kernel_matrix("gaussian", 1.5, X, X[:columns]), np.random.default_rng(0)
    problem = WeightedLeastSquares(Z, np.where(s, 1.0, -1.0), balanced_weights(s))
    folds = np.stack([stratified_folds(s, 5, rng) for _ in range(2)])
    alone = [np.mean([problem.held_out(one, fold) for fold in folds], axis=0) for one in ridge.RIDGES]
    np.testing.assert_allclose(problem.by_ridge(ridge.RIDGES, folds), alone, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_a_fit_in_chunks_equals_a_fit_at_once(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, s, _ = two_clouds(240, labeled=60)
    folds = stratified_folds(s, 5, np.random.default_rng(0))[None]
    monkeypatch.setattr(ridge, "LANDMARKS", 40)
    monkeypatch.setattr(ridge, "MOST_LANDMARKS", 40)
    whole, held_out, taken = fit_kernel_ridge(X, s, folds, kernel, np.random.default_rng(1))
    monkeypatch.setattr(ridge, "_CHUNK_ENTRIES", 41 * 70)
    monkeypatch.setattr(ridge, "CHOOSING_ROWS", len(X) - 1)
    strength = taken["ridge"] * (len(X) - 1) / len(X)
    chunked, scores = ridge.refit_kernel_ridge(whole, X, s, np.where(s, 1.0, -1.0), folds[0], strength)
    np.testing.assert_allclose(scores, held_out, atol=1e-6)
    np.testing.assert_allclose(chunked.score(X), whole.score(X), atol=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_with_many_rows_the_ridge_is_chosen_again_by_the_held_out_pu_auc(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, s, _ = two_clouds(300, labeled=80)
    folds = stratified_folds(s, 5, np.random.default_rng(0))[None]
    monkeypatch.setattr(ridge, "CHOOSING_ROWS", 120)
    monkeypatch.setattr(ridge, "LANDMARKS", 40)
    monkeypatch.setattr(ridge, "MOST_LANDMARKS", 60)
    model, held_out, taken = fit_kernel_ridge(X, s, folds, kernel, np.random.default_rng(1))
    monkeypatch.setattr(ridge, "MULTIPLES", (1.0,))
    start = fit_kernel_ridge(X, s, folds, kernel, np.random.default_rng(1))[2]["ridge"]
    tried = {}
    for multiple in (3.0, 1.0, 0.3, 0.1, 0.03):
        one, scores = ridge.refit_kernel_ridge(model, X, s, np.where(s, 1.0, -1.0), folds[0], multiple * start)
        tried[multiple * start] = pu_auc(scores, s)
        if multiple * start == taken["ridge"]:
            np.testing.assert_array_equal(scores, held_out)
            np.testing.assert_allclose(one.score(X), model.score(X), atol=1e-12)
    assert taken["ridge"] == max(tried, key=lambda value: tried[value])
    assert len(set(tried.values())) == 5


def test_new_rows_are_scored_like_training_rows() -> None:
    X, s, _ = two_clouds(150, labeled=50)
    folds = stratified_folds(s, 5, np.random.default_rng(0))[None]
    model, _, _ = fit_kernel_ridge(X, s, folds, "laplace", np.random.default_rng(1))
    scores = model.score(X)
    assert np.corrcoef(scores, np.where(s, 1.0, -1.0))[0, 1] > 0.3
    np.testing.assert_allclose(model.score(X[:1]), scores[:1], atol=1e-9)


@pytest.mark.parametrize("most", [10, 40, 1000])
def test_landmarks_are_rows_of_both_kinds_up_to_the_given_number(most: int) -> None:
    s = np.arange(200) < 15
    rows = ridge.pick_landmarks(s, most, np.random.default_rng(0))
    assert len(rows) == len(set(rows)) == min(most, 200)
    assert 0 < s[rows].sum() < len(rows)


def test_more_rows_get_fewer_landmarks_within_bounds() -> None:
    found = [landmarks_for(n) for n in (2001, 16_000, 40_000, 100_000, 1_000_000)]
    assert found == sorted(found, reverse=True)
    assert found[0] == MOST_LANDMARKS
    assert found[-1] == SAMPLE_LANDMARKS


def test_the_final_fit_to_many_rows_has_more_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ridge, "CHOOSING_ROWS", 150)
    monkeypatch.setattr(ridge, "SAMPLE_LANDMARKS", 40)
    monkeypatch.setattr(ridge, "MOST_LANDMARKS", 90)
    X, labeled, _ = two_clouds(400, labeled=60)
    folds = stratified_folds(labeled, 5, np.random.default_rng(0))[None]
    model, held_out, _ = fit_kernel_ridge(X, labeled, folds, "laplace", np.random.default_rng(0))
    assert len(model.landmarks) == 90
    assert np.corrcoef(held_out, model.score(X))[0, 1] > 0.9
