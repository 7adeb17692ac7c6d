"""The pair steps of USMO: two dual variables at a time, in closed form (Sansone et al. 2019, Table I).

For a pair (i, j) the dual of `pucli.solvers.row_losses.losses` is minimized along sigma_i + t, sigma_j - t, a convex
piecewise quadratic in t whose pieces are the four cases of Table I. Two rows with the same image in feature space
(eta = 0) make it piecewise linear: the step then ends at a corner. Pairs are chosen by second-order gain (Fan, Chen and
Lin 2005), inside a block of rows whose kernel matrix is available.

Used by `usmo.blocks`, where a block is a working set, and by `row_losses.kernel`, where it is the whole problem.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.core.arrays import Floats, Ints

# Below this curvature K_ii + K_jj - 2 K_ij (relative to K_ii + K_jj) two rows count as duplicates: the step is linear.
FLAT = 1e-12
# Columns of a tile: with 64 rows of kernel entries, 1 MB, it fits into the processor's second-level cache.
TILE_COLUMNS = 2048


@njit(cache=True)
def _slope_right(sigma: float, knot: float, upper: float, left: float, right: float) -> float:
    """Return the derivative of loss* as sigma grows; infinite at the upper end of the box."""
    if sigma >= upper:
        return np.inf
    return left if sigma < knot else right


@njit(cache=True)
def _slope_left(sigma: float, lower: float, knot: float, left: float, right: float) -> float:
    """Return the derivative of loss* as sigma shrinks; minus infinity at the lower end of the box."""
    if sigma <= lower:
        return -np.inf
    return left if sigma <= knot else right


@njit(cache=True)
def pair_step(  # noqa: PLR0913
    slope: float,
    curvature: float,
    s_i: float,
    s_j: float,
    knot_i: float,
    upper_i: float,
    kink_i: float,
    lower_j: float,
    knot_j: float,
    kink_j: float,
) -> float:
    """Return the t >= 0 that minimizes the dual along sigma_i + t, sigma_j - t."""
    end = min(upper_i - s_i, s_j - lower_j)
    break_i = knot_i - s_i if s_i < knot_i else np.inf
    break_j = s_j - knot_j if s_j > knot_j else np.inf
    t = 0.0
    while True:
        stop = min(end, break_i, break_j)
        if curvature > 0.0 and slope + curvature * (stop - t) >= 0.0:
            return min(max(t - slope / curvature, t), stop)
        slope += curvature * (stop - t)
        t = stop
        if stop >= end:
            return end
        if stop == break_i:
            slope += kink_i
            break_i = np.inf
        if stop == break_j:
            slope += kink_j
            break_j = np.inf
        if slope >= 0.0:
            return t


@njit(cache=True)
def _snap(value: float, lower: float, knot: float, upper: float) -> float:
    """Return a dual variable, moved to a corner if it is within rounding of it."""
    slack = 1e-13 * (upper - lower)
    if value <= lower + slack:
        return lower
    if value >= upper - slack:
        return upper
    if abs(value - knot) <= slack:
        return knot
    return value


@njit(cache=True)
def _first_row(G: Floats, up: Floats, down: Floats) -> tuple[int, float, float]:
    """Return the row i of the largest first-order violation, its G + up, and the largest G + down of any row."""
    i = -1
    best = np.inf
    worst = -np.inf
    for k in range(G.shape[0]):
        value = G[k] + up[k]
        if value < best:
            best = value
            i = k
        value = G[k] + down[k]
        if value > worst:
            worst = value
    return i, best, worst


@njit(cache=True)
def _second_row(K: Floats, G: Floats, down: Floats, i: int, best: float) -> tuple[int, float]:
    """Return the row j of the largest second-order gain with row i, and the curvature of the pair, zero if flat."""
    j = -1
    gain = -1.0
    curvature_j = 0.0
    for k in range(G.shape[0]):
        difference = G[k] + down[k] - best
        if difference > 0.0:
            scale = K[i, i] + K[k, k]
            curvature = scale - 2.0 * K[i, k]
            if curvature <= FLAT * scale:
                curvature = FLAT * scale if scale > 0.0 else FLAT
            value = difference * difference / curvature
            if value > gain:
                gain = value
                j = k
                curvature_j = curvature
    scale = K[i, i] + K[j, j]
    if curvature_j <= FLAT * max(scale, 1.0):
        curvature_j = 0.0
    return j, curvature_j


@njit(cache=True)
def solve_block(  # noqa: PLR0913
    K: Floats,
    G: Floats,
    sigma: Floats,
    lower: Floats,
    knot: Floats,
    upper: Floats,
    left: Floats,
    right: Floats,
    tolerance: float,
    max_pairs: int,
) -> tuple[int, float]:
    """Minimize the dual over one block by pairs; return the number of pair steps and the increase of the dual value."""
    q = sigma.shape[0]
    up = np.empty(q)
    down = np.empty(q)
    for k in range(q):
        up[k] = _slope_right(sigma[k], knot[k], upper[k], left[k], right[k])
        down[k] = _slope_left(sigma[k], lower[k], knot[k], left[k], right[k])
    pairs = 0
    gained = 0.0
    while True:
        i, best, worst = _first_row(G, up, down)
        if i < 0 or worst - best <= tolerance or pairs >= max_pairs:
            return pairs, gained
        j, curvature = _second_row(K, G, down, i, best)
        slope = best - G[j] - down[j]
        step = pair_step(
            slope,
            curvature,
            sigma[i],
            sigma[j],
            knot[i],
            upper[i],
            right[i] - left[i],
            lower[j],
            knot[j],
            right[j] - left[j],
        )
        total = sigma[i] + sigma[j]
        new_i = _snap(sigma[i] + step, lower[i], knot[i], upper[i])
        new_j = _snap(total - new_i, lower[j], knot[j], upper[j])
        if new_i == sigma[i] and new_j == sigma[j]:
            return pairs, gained
        step_i = new_i - sigma[i]
        step_j = new_j - sigma[j]
        gained -= step_i * (G[i] + 0.5 * step_i * K[i, i] + step_j * K[i, j]) + step_j * (G[j] + 0.5 * step_j * K[j, j])
        for k, old, new in ((i, sigma[i], new_i), (j, sigma[j], new_j)):
            gained -= left[k] * (min(new, knot[k]) - min(old, knot[k]))
            gained -= right[k] * (max(new, knot[k]) - max(old, knot[k]))
        for k in range(q):
            G[k] += step_i * K[i, k] + step_j * K[j, k]
        sigma[i] = new_i
        sigma[j] = new_j
        for k in (i, j):
            up[k] = _slope_right(sigma[k], knot[k], upper[k], left[k], right[k])
            down[k] = _slope_left(sigma[k], lower[k], knot[k], left[k], right[k])
        pairs += 1


@njit(cache=True)
def add_rows(store: Floats, slots: Ints, weights: Floats, out: Floats) -> None:
    """Add sum_k weights_k store[slots_k, :n] to `out` (n,) in place, a tile of columns at a time."""
    n = out.shape[0]
    for start in range(0, n, TILE_COLUMNS):
        stop = min(start + TILE_COLUMNS, n)
        for k in range(slots.shape[0]):
            weight = weights[k]
            if weight != 0.0:
                row = store[slots[k]]
                for c in range(start, stop):
                    out[c] += weight * row[c]
