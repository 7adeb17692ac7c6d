"""The interior-point method for the dual, on the matrices that coordinate ascent is slow on."""

import cvxpy as cp
import numpy as np
import pytest

from pucli.solvers.glpual.ascent import box_ascent_gram
from pucli.solvers.glpual.interior import box_interior
from tests.oracles import clarabel


def dual(kind, seed, n=60):
    """Return Q and q of a dual: with equal rows, of low rank, with a zero row, or with scales of 1 to 1e6."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n, 5 if kind == "low rank" else n))
    if kind == "equal rows":
        Y = Y[rng.integers(0, n // 4, size=n)]
    elif kind == "zero row":
        Y[0] = 0.0
    elif kind == "scales":
        Y *= 10.0 ** rng.uniform(-3, 3, size=n)
    Q = Y @ Y.T / n
    return Q, rng.normal(size=n) if kind == "scales" else Y @ rng.normal(size=Y.shape[1])


def gap_and_objective(Q, q, a, upper, constant):
    f = Q @ a - q
    loss = upper * np.maximum(1.0 - f, 0.0)
    return (loss - a * (1.0 - f)).sum(), 0.5 * a @ (f + q) + constant + loss.sum()


@pytest.mark.parametrize("kind", ["full rank", "equal rows", "low rank", "zero row", "scales"])
@pytest.mark.parametrize("upper", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("start", [0.0, 0.5, 1.0])
def test_the_gap_is_within_the_tolerance_from_any_start(kind, upper, start):
    for seed in range(4):
        Q, q = dual(kind, seed)
        steps, a = box_interior(Q, q, np.full(len(q), start * upper), upper, 1.0, 1e-8)
        gap, objective = gap_and_objective(Q, q, a, upper, 1.0)
        assert np.all((a >= 0) & (a <= upper)) and steps < 40
        assert gap <= 1e-8 * objective


@pytest.mark.parametrize("kind", ["equal rows", "low rank"])
def test_objective_is_clarabels(kind):
    Q, q = dual(kind, 1)
    values, vectors = np.linalg.eigh(Q)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    a = cp.Variable(len(q))
    best = -clarabel(0.5 * cp.sum_squares(root.T @ a) - (1.0 + q) @ a, [a >= 0, a <= 2.0])
    found = box_interior(Q, q, np.zeros(len(q)), 2.0, 0.0, 1e-9)[1]
    assert 0.5 * found @ Q @ found - (1.0 + q) @ found == pytest.approx(-best, rel=1e-6)


def test_scores_are_those_of_the_ascent():
    Q, q = dual("full rank", 2)
    a = np.zeros(len(q))
    f = box_ascent_gram(Q, q, a, 1.0, 1.0, 1e-12, 5000)[3]
    found = box_interior(Q, q, np.zeros(len(q)), 1.0, 1.0, 1e-12)[1]
    np.testing.assert_allclose(Q @ found - q, f, atol=1e-5)
