"""Losses with one kink per row, given the kernel matrix: pair steps alternate with Newton steps on the free rows.

    min_{g, b}  1/2 |g|_H^2 + sum_i loss_i(g(x_i) + b),      loss_i' = lower_i below kink_i, upper_i above

is the problem of `pucli.solvers.row_losses.losses` with one kink per row and no linear term in g or b. Its dual has a
box for each row and 1'sigma = 0. Pair steps (`pucli.solvers.row_losses.pairs`) find which rows are free, but then
converge slowly if the boxes are wide; libsvm, which only has pair steps, stalls. On the free rows the dual is a linear
system, and a Newton step goes toward its solution up to the first bound (Scheinberg 2006 solves the whole SVM this
way).

Used by the biased SVM (`svm.hinge`, `estimators.svm`) and CPB-GLPUAL (`cpb.dc`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pucli.core.arrays import Floats
from pucli.solvers.result import Certificate
from pucli.solvers.row_losses.losses import RowLosses, intercept_and_gap, loss_values, restore_total
from pucli.solvers.row_losses.pairs import solve_block

# Above this many rows the kernel matrix is not computed.
DENSE_ROWS = 4000
# With more free rows than this, only pair steps are used.
NEWTON_SIZE = 400
# First tolerance of the pair steps, on the largest violation; it is reduced until the gap is small enough.
FIRST_VIOLATION = 1e-3
SMALLEST_VIOLATION = 1e-13
MAX_PAIRS = 1_000_000
# Number of pair steps, times the number of rows, and of Newton steps on the free rows before the other kind follows.
PAIRS_PER_ROW = 2
NEWTON_STEPS = 5


@dataclass(frozen=True, kw_only=True)
class KernelRows(Certificate):
    """Solution of the problem above; `n_iter` counts pair steps."""

    f: Floats  # (n,), scores of the rows
    intercept: float  # b
    dual: Floats  # (n,), dual variables: g = -sum_i dual_i k(x_i, .)
    half_norm: float  # 1/2 |g|_H^2


def solve_kernel_rows(
    K: Floats, losses: RowLosses, start: Floats, accuracy: float, max_pairs: int = MAX_PAIRS
) -> KernelRows:
    """Minimize half the squared norm plus the rows' losses until the gap is below `accuracy`."""
    dual = restore_total(np.clip(start, losses.lower, losses.upper), losses, 0.0)
    G = K @ dual
    tolerance, pairs = FIRST_VIOLATION, 0
    while True:
        turn = min(PAIRS_PER_ROW * len(dual), max_pairs - pairs)
        taken, _ = solve_block(K, G, dual, *losses, tolerance, turn)
        pairs += taken
        for _ in range(NEWTON_STEPS):
            if not _newton_step(K, G, dual, losses):
                break
        intercept, gap = intercept_and_gap(losses, 0.0, dual, G)
        if gap <= accuracy or pairs >= max_pairs or tolerance < SMALLEST_VIOLATION:
            break
        if taken < turn:
            tolerance *= 0.1
    f, half_norm = intercept - G, 0.5 * float(dual @ G)
    return KernelRows(
        objective=half_norm + float(loss_values(losses, f).sum()),
        gap=gap,
        n_iter=pairs,
        converged=gap <= accuracy,
        f=f,
        intercept=intercept,
        dual=dual,
        half_norm=half_norm,
    )


def _newton_step(K: Floats, G: Floats, dual: Floats, losses: RowLosses) -> bool:
    """Move the free rows toward their joint optimum, up to the first bound; return whether a bound was reached.

    At the optimum f = intercept - G is at the kink of every free row: K d = intercept - kink - G there, with 1'd = 0.
    `dual` (n,), within its box, and G = K dual are updated in place. If a bound was reached, another step may help.
    """
    free = np.flatnonzero((dual > losses.lower) & (dual < losses.upper))
    if not 1 < len(free) <= NEWTON_SIZE:
        return False
    system = np.ones((len(free) + 1,) * 2)
    system[:-1, :-1] = K[np.ix_(free, free)]
    system[np.diag_indices(len(free))] += 1e-13 * np.trace(system[:-1, :-1])
    system[-1, -1] = 0.0
    rhs = np.append(-(losses.left[free] + G[free]), 0.0)
    try:
        d = np.linalg.solve(system, rhs)[:-1]
    except np.linalg.LinAlgError:  # a kernel matrix of zeros
        return False
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
