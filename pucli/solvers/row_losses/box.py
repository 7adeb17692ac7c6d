"""A quadratic plus one loss with one kink per row, by coordinate ascent on the box dual.

    min_w  1/2 w'Aw + b'w + sum_i phi_i(z_i'w),      phi_i(t) = max_{lower_i <= p <= upper_i} p (t - kink_i)

covers the hinge c [1 - t]_+ (lower -c, upper 0, kink 1), the absolute loss c |1 + t| (-c, c, -1) and the L1 penalty
c |w_j| (-c, c, 0 on a unit row). With A positive definite the dual is a box problem,

    max_p  -1/2 (b + Z'p)' A^-1 (b + Z'p) - kink'p,      w = -A^-1 (b + Z'p),

solved by coordinate ascent that keeps w up to date, with an occasional Newton step on the free coordinates, as
`pucli.solvers.glpual.dual` does for the hinge alone. The gap between the two is a sum of non-negative terms,
phi_i(t_i) - p_i (t_i - kink_i).

The rows of the matrix come first. After them come `len(p) - len(Z)` unit rows, the first coordinates of w.

Used by the elastic methods (`elastic.dual`, `elastic.path`), whose L1 penalty makes unit rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.core.arrays import Floats, Ints
from pucli.solvers.kernels.lapack import solved

# Sweeps between Newton steps: sweeps find the free set, Newton solves on it.
NEWTON_EVERY = 5
# With more free coordinates than this, only sweeps are used.
NEWTON_SIZE = 600
# The ridge of a Newton step is relative to each diagonal entry, however small it is.
SMALLEST = 1e-300


@njit(cache=True)
def _score(Z: Floats, w: Floats, i: int) -> float:
    """Return t_i, the product of row i with w."""
    if i >= Z.shape[0]:
        return float(w[i - Z.shape[0]])
    r = w.shape[0]
    even = 0.0
    odd = 0.0
    for k in range(0, r - 1, 2):
        even += Z[i, k] * w[k]
        odd += Z[i, k + 1] * w[k + 1]
    if r % 2:
        even += Z[i, r - 1] * w[r - 1]
    return even + odd


@njit(cache=True)
def _row_loss(t: float, lower: float, upper: float, kink: float) -> float:
    """Return phi(t), with the slopes `lower` and `upper` on the sides of the kink, where it is zero."""
    d = t - kink
    return upper * d if d > 0.0 else lower * d


@njit(cache=True)
def ascend(  # noqa: PLR0913
    Z: Floats,
    V: Floats,
    w: Floats,
    p: Floats,
    lower: Floats,
    upper: Floats,
    kink: Floats,
    half_b: Floats,
    constant: float,
    tol: float,
    max_iter: int,
) -> tuple[int, float, float]:
    """Raise the dual until the gap is below `tol` times the objective; return the sweeps, the gap and the objective."""
    n_rows = p.shape[0]
    r = w.shape[0]
    curvature = np.empty(n_rows)
    for i in range(n_rows):
        curvature[i] = _score(Z, V[i], i)
    gap = np.inf
    objective = np.inf
    for sweep in range(max_iter + 1):
        gap = 0.0
        objective = constant
        for k in range(r):
            objective += half_b[k] * w[k]
        for i in range(n_rows):
            t = _score(Z, w, i)
            loss = _row_loss(t, lower[i], upper[i], kink[i])
            gap += loss - p[i] * (t - kink[i])
            objective += loss - 0.5 * p[i] * t
        if gap <= tol * abs(objective) or sweep == max_iter:
            return sweep, gap, objective
        if sweep % NEWTON_EVERY == NEWTON_EVERY - 1:
            _newton(Z, V, w, p, lower, upper, kink)
        for i in range(n_rows):
            if curvature[i] <= 0.0:
                continue
            new = p[i] + (_score(Z, w, i) - kink[i]) / curvature[i]
            new = min(max(new, lower[i]), upper[i])
            step = new - p[i]
            if step != 0.0:
                p[i] = new
                for k in range(r):
                    w[k] -= step * V[i, k]
    return max_iter, gap, objective


@njit(cache=True)
def _newton(Z: Floats, V: Floats, w: Floats, p: Floats, lower: Floats, upper: Floats, kink: Floats) -> None:
    """Move the free coordinates toward their joint optimum; update p and w in place."""
    r = w.shape[0]
    free = inside(p, lower, upper)
    size = free.shape[0]
    if size == 0 or size > NEWTON_SIZE:
        return
    M = np.empty((size, size))
    g = np.empty(size)
    for c in range(size):
        i = free[c]
        g[c] = _score(Z, w, i) - kink[i]
        for s in range(c + 1):
            M[c, s] = _score(Z, V[free[s]], i)
            M[s, c] = M[c, s]
    move = box_newton(M, g, p, lower, upper, free, SMALLEST)
    for c in range(size):
        if move[c] != 0.0:
            for k in range(r):
                w[k] -= move[c] * V[free[c], k]


@njit(cache=True)
def inside(x: Floats, lower: Floats, upper: Floats) -> Ints:
    """Return the indices of the coordinates strictly inside the box."""
    free = np.empty(x.shape[0], np.int64)
    count = 0
    for i in range(x.shape[0]):
        if lower[i] < x[i] < upper[i]:
            free[count] = i
            count += 1
    return free[:count]


@njit(cache=True)
def box_newton(M: Floats, g: Floats, x: Floats, lower: Floats, upper: Floats, free: Ints, scale: float) -> Floats:
    """Move coordinates of x within their box by a step d that raises g'd - d'Md/2; return d, zeros if none is found.

    The Newton step is tried first, with each coordinate clipped to the box; if that does not raise the value, the same
    direction up to the first bound.
    """
    k = g.shape[0]
    ridged = M.copy()
    for c in range(k):
        ridged[c, c] += 1e-12 * (scale + M[c, c])
    direction = solved(ridged, g)
    move = np.zeros(k)
    longest = 1.0
    for c in range(k):
        i = free[c]
        if not np.isfinite(direction[c]):
            return np.zeros(k)
        move[c] = min(max(x[i] + direction[c], lower[i]), upper[i]) - x[i]
        if direction[c] > 0.0:
            longest = min(longest, (upper[i] - x[i]) / direction[c])
        elif direction[c] < 0.0:
            longest = min(longest, (lower[i] - x[i]) / direction[c])
    if not np.dot(g, move) - 0.5 * np.dot(move, np.dot(M, move)) > 0.0:
        rise = np.dot(g, direction)
        curvature = np.dot(direction, np.dot(M, direction))
        if not (rise > 0.0 and curvature > 0.0):
            return np.zeros(k)
        step = min(longest, rise / curvature)
        for c in range(k):
            i = free[c]
            move[c] = min(max(x[i] + step * direction[c], lower[i]), upper[i]) - x[i]
    for c in range(k):
        i = free[c]
        x[i] = min(max(x[i] + move[c], lower[i]), upper[i])
    return move
