"""Rows with one kink each on a kernel matrix at hand: pair steps and Newton steps on the free rows, in turns.

    min_{g, b}  1/2 |g|_H^2 + sum_i loss_i(g(x_i) + b),      loss_i' = lower_i below kink_i, upper_i above

is the problem of `pucli.solvers.rows.losses` with one kink a row and nothing that pulls on g or b; its dual has a box
for each row and 1'sigma = 0. Steps by pairs (`pucli.solvers.rows.pairs`) find which rows are free, but crawl once they
are known where the boxes are wide: libsvm, which has nothing else, stalls there. On the free rows alone the dual is a
linear system, whose solution a Newton step takes up to the first bound (Scheinberg 2006 solves all of the SVM so).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pucli.solvers.rows.losses import RowLosses, bias_and_gap, restore_total
from pucli.solvers.rows.pairs import solve_block

# Above this many rows the kernel matrix is not formed.
DENSE_ROWS = 4000
# More free rows than this are left to the pair steps.
NEWTON_SIZE = 400
# First tolerance of the pair steps, on the largest violation; it is divided until the gap is small enough.
FIRST_VIOLATION = 1e-3
SMALLEST_VIOLATION = 1e-13
MAX_PAIRS = 1_000_000
# Pair steps, times the number of rows, and Newton steps on the free rows take turns.
PAIRS_A_ROW = 2
NEWTON_STEPS = 5


class KernelRows(NamedTuple):
    """Solution: f (n,) scores, bias, dual (n,), half the squared norm of g, gap (objective less optimum), pairs taken.

    g = -sum_i dual_i k(x_i, .).
    """

    f: np.ndarray
    bias: float
    dual: np.ndarray
    half_norm: float
    gap: float
    pairs: int


def solve_kernel_rows(
    K: np.ndarray, losses: RowLosses, start: np.ndarray, accuracy: float, max_pairs: int = MAX_PAIRS
) -> KernelRows:
    """Minimise half the squared norm plus the rows' losses until the gap is below `accuracy`.

    Parameters
    ----------
    K : (n, n) kernel matrix; losses : of its rows, with knot = upper and right = left.
    start : (n,) dual variables to start from, feasible or not; accuracy : in units of the objective.
    max_pairs : pair steps after which to stop, at the end of a turn.
    """
    dual = restore_total(np.clip(start, losses.lower, losses.upper), losses, 0.0)
    G = K @ dual
    tolerance, pairs = FIRST_VIOLATION, 0
    while True:
        turn = min(PAIRS_A_ROW * len(dual), max_pairs - pairs)
        taken, _ = solve_block(K, G, dual, *losses, tolerance, turn)
        pairs += taken
        for _ in range(NEWTON_STEPS):
            if not newton_step(K, G, dual, losses):
                break
        bias, gap = bias_and_gap(losses, 0.0, dual, G)
        if gap <= accuracy or pairs >= max_pairs or tolerance < SMALLEST_VIOLATION:
            break
        if taken < turn:
            tolerance *= 0.1
    return KernelRows(bias - G, bias, dual, 0.5 * float(dual @ G), gap, pairs)


def newton_step(K, G, dual, losses: RowLosses) -> bool:
    """Move the free rows towards their joint optimum, up to the first bound; return whether one stood in the way.

    At the optimum f = bias - G is at the kink of every free row: K d = bias - kink - G there, with 1'd = 0. G (n,) and
    dual (n,) are updated in place.
    """
    free = np.flatnonzero((dual > losses.lower) & (dual < losses.upper))
    if not 1 < len(free) <= NEWTON_SIZE:
        return False
    system = np.ones((len(free) + 1,) * 2)
    system[:-1, :-1] = K[np.ix_(free, free)]
    system[np.diag_indices(len(free))] += 1e-13 * np.trace(system[:-1, :-1])
    system[-1, -1] = 0.0
    rhs = np.append(-(losses.left[free] + G[free]), 0.0)
    d = np.linalg.solve(system, rhs)[:-1]
    d -= d.mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(d > 0, losses.upper[free] - dual[free], losses.lower[free] - dual[free]) / d
    step = min(1.0, float(np.min(room[d != 0.0], initial=np.inf)))
    change = K[free].T @ d
    slope = float(d @ (G[free] + losses.left[free]))
    if not np.isfinite(step) or slope * step + 0.5 * step**2 * float(d @ change[free]) >= 0.0:
        return False
    G += step * change
    moved = dual[free] + step * d
    dual[free] = np.clip(moved, losses.lower[free], losses.upper[free])
    if step < 1.0:
        blocking = free[np.argmin(np.where(d != 0.0, room, np.inf))]
        dual[blocking] = losses.upper[blocking] if d[free == blocking][0] > 0 else losses.lower[blocking]
    return step < 1.0
