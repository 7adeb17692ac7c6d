"""Coordinate ascent on GLPUAL's dual, a box problem in the labeled rows (see `pucli.solvers.glpual.dual`).

    max_{0 <= a <= upper}  1'a - 1/2 (Zp'a - b)' A^-1 (Zp'a - b)

`box_ascent` keeps the coefficients up to date, best if there are more labeled rows than features, and continues with
`box_ascent_gram` if that is slow. That one keeps the scores up to date, from a Gram matrix, best if there are fewer. An
occasional Newton step on the coordinates inside the box finds their joint optimum. Hsieh et al. (2008) use the same
ascent for the linear SVM.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.core.arrays import Floats
from pucli.solvers.row_losses.box import box_newton, inside

# Sweeps between Newton rounds, and steps in a round: sweeps find the coordinates inside the box, and Newton steps find
# their values.
NEWTON_EVERY = 5
NEWTON_STEPS = 3
# Sweeps after which pairs are moved as well. With a strong ridge the intercept couples all labeled rows, and single
# coordinates make little progress along 1'a = constant.
PAIRS_AFTER = 5
# Sweeps on the coefficients before the Gram matrix is used, and the most labeled rows for which it is computed.
SWEEPS_BEFORE_GRAM = 25
GRAM_ROWS = 4000
# Smallest diagonal entry to which the ridge of a Newton step is relative. The dual is in units of f, of order one.
NEWTON_SCALE = 1.0


@njit(cache=True)
def _box_ascent_weights(  # noqa: C901
    Y: Floats, v: Floats, a: Floats, upper: float, constant: float, half_b: Floats, tol: float, max_iter: int
) -> tuple[int, float, float]:
    """Ascend with the coefficients v = Y'a - 2 half_b kept up to date; return the sweeps, the gap and the objective.

    The arguments are those of `box_ascent`, and f = Y v.
    """
    n, r = Y.shape
    curvature = np.empty(n)
    for i in range(n):
        total = 0.0
        for k in range(r):
            total += Y[i, k] * Y[i, k]
        curvature[i] = total
    gap = np.inf
    objective = np.inf
    for sweep in range(max_iter + 1):
        gap = 0.0
        objective = constant
        for k in range(r):
            objective += half_b[k] * v[k]
        for i in range(n):
            f = 0.0
            for k in range(r):
                f += Y[i, k] * v[k]
            loss = upper * max(0.0, 1.0 - f)
            gap += loss - a[i] * (1.0 - f)
            objective += loss + 0.5 * a[i] * f
        if gap <= tol * objective or sweep == max_iter:
            return sweep, gap, objective
        if sweep % NEWTON_EVERY == NEWTON_EVERY - 1:
            _newton_weights(Y, v, a, upper)
        for i in range(n):
            if curvature[i] <= 0.0:
                continue
            f = 0.0
            for k in range(r):
                f += Y[i, k] * v[k]
            new = min(max(a[i] + (1.0 - f) / curvature[i], 0.0), upper)
            step = new - a[i]
            if step != 0.0:
                a[i] = new
                for k in range(r):
                    v[k] += step * Y[i, k]
    return max_iter, gap, objective


@njit(cache=True)
def box_ascent_gram(
    Q: Floats, q: Floats, a: Floats, upper: float, constant: float, tol: float, max_iter: int
) -> tuple[int, float, float, Floats]:
    """Ascend with the scores f = Q a - q kept up to date, for more features than labeled rows."""
    n = Q.shape[0]
    f = np.dot(Q, a) - q
    gap = np.inf
    objective = np.inf
    for sweep in range(max_iter + 1):
        if sweep % 10 == 0 and sweep > 0:
            f = np.dot(Q, a) - q  # removes accumulated rounding
        gap = 0.0
        hinge = 0.0
        quadratic = 0.0
        for i in range(n):
            loss = upper * max(0.0, 1.0 - f[i])
            hinge += loss
            gap += loss - a[i] * (1.0 - f[i])
            quadratic += 0.5 * a[i] * (f[i] + q[i])
        objective = quadratic + constant + hinge
        if gap <= tol * objective or sweep == max_iter:
            return sweep, gap, objective, f
        if sweep % NEWTON_EVERY == NEWTON_EVERY - 1:
            _newton_gram(Q, f, a, upper)
        if sweep >= PAIRS_AFTER:
            _pair_steps(Q, f, a, upper)
        for i in range(n):
            if Q[i, i] <= 0.0:
                continue
            new = min(max(a[i] + (1.0 - f[i]) / Q[i, i], 0.0), upper)
            step = new - a[i]
            if step != 0.0:
                a[i] = new
                for k in range(n):
                    f[k] += step * Q[i, k]
    return max_iter, gap, objective, f


@njit(cache=True)
def _pair_steps(Q: Floats, f: Floats, a: Floats, upper: float) -> None:
    """Raise one coordinate and lower another by the same amount, for the most violating pairs; update a and f."""
    n = Q.shape[0]
    for _ in range(n):
        i, j = -1, -1
        for k in range(n):
            if a[k] < upper and (i < 0 or f[k] < f[i]):
                i = k
            if a[k] > 0.0 and (j < 0 or f[k] > f[j]):
                j = k
        if i < 0 or j < 0 or f[j] - f[i] <= 1e-12:
            return
        curvature = max(Q[i, i] + Q[j, j] - 2.0 * Q[i, j], 1e-14 * Q[i, i])
        step = min((f[j] - f[i]) / curvature, upper - a[i], a[j])
        a[i] = min(a[i] + step, upper)
        a[j] = max(a[j] - step, 0.0)
        for k in range(n):
            f[k] += step * (Q[i, k] - Q[j, k])


@njit(cache=True)
def box_ascent(
    Y: Floats, v: Floats, a: Floats, upper: float, constant: float, half_b: Floats, tol: float, max_iter: int
) -> int:
    """Ascend on the coefficients, then, if that is slow, by `box_ascent_gram`; return the number of sweeps.

    Everything is in the coordinates of A = C C'.
    """
    first = min(max_iter, SWEEPS_BEFORE_GRAM) if Y.shape[0] <= GRAM_ROWS else max_iter
    sweeps, gap, objective = _box_ascent_weights(Y, v, a, upper, constant, half_b, tol, first)
    if gap <= tol * objective or sweeps == max_iter:
        return sweeps
    Q, q, rest = _gram(Y, half_b, constant)
    more, _, _, _ = box_ascent_gram(Q, q, a, upper, rest, tol, max_iter - sweeps)
    _coefficients(Y, half_b, a, v)
    return sweeps + more


@njit(cache=True)
def _gram(Y: Floats, half_b: Floats, constant: float) -> tuple[Floats, Floats, float]:
    """Return Q, q and the constant of `box_ascent_gram`."""
    return np.dot(Y, Y.T), 2.0 * np.dot(Y, half_b), constant - 2.0 * np.dot(half_b, half_b)


@njit(cache=True)
def _coefficients(Y: Floats, half_b: Floats, a: Floats, v: Floats) -> None:
    """Fill v with Y'a - 2 half_b."""
    for k in range(v.shape[0]):
        total = -2.0 * half_b[k]
        for i in range(a.shape[0]):
            total += a[i] * Y[i, k]
        v[k] = total


@njit(cache=True)
def _newton_gram(Q: Floats, f: Floats, a: Floats, upper: float) -> None:
    """Move the coordinates inside the box toward their joint optimum. Updates a and f in place."""
    low, high = np.zeros(a.shape[0]), np.empty(a.shape[0])
    for i in range(a.shape[0]):
        high[i] = upper
    for _ in range(NEWTON_STEPS):
        free = inside(a, low, high)
        k = free.shape[0]
        if k == 0:
            return
        M = np.empty((k, k))
        g = np.empty(k)
        for p in range(k):
            g[p] = 1.0 - f[free[p]]
            for s in range(k):
                M[p, s] = Q[free[p], free[s]]
        move = box_newton(M, g, a, low, high, free, NEWTON_SCALE)
        for p in range(k):
            if move[p] != 0.0:
                for i in range(f.shape[0]):
                    f[i] += move[p] * Q[free[p], i]


@njit(cache=True)
def _newton_weights(Y: Floats, v: Floats, a: Floats, upper: float) -> None:
    """Move the coordinates inside the box toward their joint optimum. Updates a and v in place."""
    r = v.shape[0]
    low, high = np.zeros(a.shape[0]), np.empty(a.shape[0])
    for i in range(a.shape[0]):
        high[i] = upper
    for _ in range(NEWTON_STEPS):
        free = inside(a, low, high)
        k = free.shape[0]
        if k == 0:
            return
        rows = np.empty((k, r))
        for p in range(k):
            for q in range(r):
                rows[p, q] = Y[free[p], q]
        g = np.dot(rows, v)
        for p in range(k):
            g[p] = 1.0 - g[p]
        move = np.dot(box_newton(np.dot(rows, rows.T), g, a, low, high, free, NEWTON_SCALE), rows)
        for q in range(r):
            v[q] += move[q]
