"""The squared losses against rational arithmetic: the value, and the proof of the gap where digits are lost."""

from fractions import Fraction

import numpy as np
import pytest

from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.upu import squared
from pucli.solvers.upu.squared import solve_squared_upu


def exact(Z, kinds, lam, w):
    """Return J(w) and its minimum for rows Z and `kinds`, (rows, q, t, c) with means q (1 - t f)^2 / 4 + c f.

    The minimum is that of a quadratic function, by elimination.
    """
    m, lam = Z.shape[1], Fraction(lam)
    A = [[lam * (i == j < m - 1) for j in range(m)] for i in range(m)]
    b, constant = [Fraction(0)] * m, Fraction(0)
    for rows, q, t, c in kinds:
        q, c = Fraction(q) / int(rows.sum()), Fraction(c) / int(rows.sum())
        for z in Z[rows]:
            x = [Fraction(float(value)) for value in z]
            constant += q / 4
            for i in range(m):
                b[i] += (q * t / 2 - c) * x[i]
                A[i] = [a + q / 2 * x[i] * x[j] for j, a in enumerate(A[i])]

    def value(w):
        return constant + sum(w[i] * (sum(A[i][j] * w[j] for j in range(m)) / 2 - b[i]) for i in range(m))

    M = [[*row, right] for row, right in zip(A, b, strict=True)]
    for k in range(m):
        for i in set(range(m)) - {k}:
            M[i] = [x - M[i][k] / M[k][k] * y for x, y in zip(M[i], M[k], strict=True)]
    return value([Fraction(float(x)) for x in w]), value([M[i][m] / M[i][i] for i in range(m)])


def problem(seed=3, close=1.0, size=1.0, offset=0.0):
    """Return rows of which two columns differ by the share `close`, and which are labeled."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(16, 3))
    X[:, 1] = X[:, 0] + close * X[:, 1]
    y = np.repeat([1, 0, -1], [5, 7, 4])
    X[y == 1] += 0.5
    return with_intercept(size * X + offset), y


def check(found, Z, kinds, lam):
    value, best = exact(Z, kinds, lam, found.coef)
    assert float(value - best) <= found.gap + 1e-16
    assert abs(found.objective - float(value)) <= found.gap + 1e-15


SPOILED = [
    {"lam": 0.01},
    {"lam": 1e-14, "close": 1e-6},
    {"lam": 1e-9, "close": 1e-8, "size": 1e3},
    {"lam": 1e-12, "close": 1e-6, "size": 1e3, "offset": 1e8},
]


@pytest.mark.parametrize("how", SPOILED)
def test_the_gap_of_upu_bounds_what_rounding_leaves(how):
    lam, how = how["lam"], {key: value for key, value in how.items() if key != "lam"}
    Z, y = problem(**how)
    kinds = [(y == 1, 0, 1, -0.3), (y != 1, 1, -1, 0)]
    check(solve_squared_upu(Z, y == 1, 0.3, lam), Z, kinds, lam)


def test_the_value_is_that_of_the_rounded_intercept_far_from_the_origin():
    for seed in range(4):
        Z, y = problem(seed, offset=1e8)
        found = solve_squared_upu(Z, y == 1, 0.3, 0.01)
        value, _ = exact(Z, [(y == 1, 0, 1, -0.3), (y != 1, 1, -1, 0)], 0.01, found.coef)
        assert found.objective == pytest.approx(float(value), abs=1e-13)


def test_the_cautious_gap_is_exact_if_the_ridge_alone_bends_the_slopes():
    """Unlabeled rows that are all equal: the objective at any point exceeds its minimum by the bound."""
    Z, y = problem()
    Zu = np.tile([2.0, -1.0, 0.5, 1.0], (11, 1))
    Z[y != 1] = Zu
    w = np.array([0.3, -0.2, 0.7, 0.1])
    A = 0.5 * Zu.T @ Zu / 11 + 0.1 * np.diag([1.0, 1.0, 1.0, 0.0])
    gradient = A @ w - (0.3 * Z[y == 1].mean(axis=0) - 0.5 * Zu[0])
    value, best = exact(Z, [(y == 1, 0, 1, -0.3), (y != 1, 1, -1, 0)], 0.1, w)
    assert squared._cautious_gap(gradient, Zu, 0.1) == pytest.approx(float(value - best), rel=1e-12)


def test_where_the_factor_proves_nothing_the_cautious_gap_is_taken(monkeypatch):
    monkeypatch.setattr(squared, "_cautious_gap", lambda *given: 123.0)
    for close, gap in ((1e-8, 123.0), (1.0, 0.0)):
        Z, y = problem(close=close)
        assert solve_squared_upu(Z, y == 1, 0.3, 1e-14).gap == pytest.approx(gap, abs=1e-3)
