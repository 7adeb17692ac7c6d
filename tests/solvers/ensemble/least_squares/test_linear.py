"""Linear least squares: its optimum, its held-out scores, and the tables that have it."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.core.saved_state import check_state
from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.least_squares.linear import RIDGES, fit_linear
from pucli.solvers.ensemble.members import MEMBERS, SMALL, WIDE, members_for
from pucli.solvers.ensemble.rows import balanced_weights
from pucli.solvers.folds import stratified_folds


def rows_of(n: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    s = rng.random(n) < 0.3
    X = rng.normal(size=(n, m)) + np.outer(s, rng.normal(size=m))
    return X, s, stratified_folds(s, 5, rng)


@pytest.mark.parametrize("shape", [(60, 200), (90, 8)])
def test_it_is_ridge_regression_and_each_fold_is_scored_by_the_others(shape: tuple[int, int]) -> None:
    X, s, fold = rows_of(*shape)
    model, held_out, chosen = fit_linear(X, s, fold, np.random.default_rng(0))
    check_state(model, "model", {"m": shape[1]})
    weights, y = balanced_weights(s), np.where(s, 1.0, -1.0)
    size = np.sqrt(np.mean(np.sum(X**2, axis=1)))

    def solved(rows: np.ndarray, ridge: float) -> np.ndarray:
        Z = np.column_stack([X / size, np.ones(len(X))])
        A = Z[rows] * weights[rows, None]
        return Z @ np.linalg.solve(A.T @ Z[rows] + ridge * np.eye(Z.shape[1]), A.T @ y[rows])

    np.testing.assert_allclose(model.score(X), solved(np.arange(len(X)), chosen["ridge"]), atol=1e-6)
    for b in range(5):
        expected = solved(np.flatnonzero(fold != b), chosen["ridge"])
        np.testing.assert_allclose(held_out[fold == b], expected[fold == b], atol=1e-6)
    assert chosen["ridge"] in RIDGES and pu_auc(held_out, s) > 0.9


def test_wide_tables_of_many_rows_have_it() -> None:
    def has(n: int, m: int) -> bool:
        return "least-squares" in [member.name for member in members_for(MEMBERS, n, m)]

    assert has(SMALL + 1, WIDE + 1) and not has(SMALL, WIDE + 1) and not has(SMALL + 1, WIDE)
