"""USMO: exact PU learning with the double hinge and a kernel, with memory linear in the number of rows.

Sansone, De Natale and Zhou (2019), "Efficient training for positive unlabeled learning", minimize the dual of
`pucli.solvers.row_losses.losses` by pairs of rows, each solved in closed form, until the tau-optimality conditions (13)
hold. Here the pairs are taken inside a block of rows, as in SVM-light (Joachims 1999) and ThunderSVM (Wen et al.
2018): kernel rows are computed a block at a time by one matrix product, pairs are solved on the block's own small
matrix, and f at all other rows follows by one product. f is kept for the active rows (the paper's function cache); rows
that stay at a corner are left out, and f is recomputed for them at the end. The stopping rule is the duality gap, which
(13) bounds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.result import Certificate
from pucli.solvers.row_losses.cache import RowStore
from pucli.solvers.row_losses.losses import RowLosses, dual_value, intercept_and_gap, relative_scale
from pucli.solvers.row_losses.pairs import add_rows, solve_block
from pucli.solvers.usmo.problem import DoubleHingeProblem

# Number of rows in a block, the working set; its pairs are solved until a tenth of the violation is left.
BLOCK = 256
BLOCK_ACCURACY = 0.1
MAX_PAIRS = 100_000
# If the gap has not decreased by a tenth in this many blocks, or in two passes over the rows, the pairs make no
# progress, which happens with features of very different size.
MAX_STALLED = 200
# Rows that stay at a corner are left out after this many blocks, if they are at least this share of the active rows.
SHRINK_EVERY = 10
SHRINK_SHARE = 0.1


@dataclass(frozen=True, kw_only=True)
class KernelSolution(Certificate):
    """Solution of the kernel problem; `n_iter` counts blocks."""

    dual: Floats  # (n,), dual variables sigma
    scores: Floats  # (n,), f at the rows
    intercept: float  # b
    violation: float  # tau of (13), the largest violation by any pair
    trace: Floats  # (blocks + 1, 3), elapsed seconds, dual value, and gap of the active rows


class KernelProblem(NamedTuple):
    """A problem of `pucli.solvers.row_losses.losses`."""

    X: Floats  # (n, m), rows that carry a loss
    kernel: Kernel
    losses: RowLosses
    total: float  # coefficient of the intercept
    a_X: Floats  # (n,), the fixed element a at the rows
    a_norm: float  # |a|_H^2
    trivial: float = 0.0  # value of the best constant f, a lower bound of the scale of the relative gap

    @classmethod
    def of(cls, problem: DoubleHingeProblem) -> Self:
        """Return the double-hinge problem in this form."""
        return cls(
            problem.X_u,
            problem.kernel,
            problem.losses,
            problem.total,
            problem.a_X,
            problem.a_norm,
            problem.trivial,
        )


def solve_kernel(
    problem: KernelProblem,
    start: Floats,
    *,
    tol: float = 1e-6,
    max_iter: int = 100_000,
    cache_bytes: float = 200e6,
    overwrite_X: bool = False,
) -> KernelSolution:
    """Minimize the problem of `pucli.solvers.row_losses.losses` over g in the kernel's space and the intercept.

    It counts as not converged if the gap has not decreased by a tenth in `MAX_STALLED` blocks. Memory: a copy of X
    unless overwritten, some twenty vectors of length n, and the cache.
    """
    began = time.perf_counter()
    X, kernel, losses, total, a_X, a_norm, trivial = problem
    n = len(X)
    rows = RowStore(X, kernel, cache_bytes, min(BLOCK, n), overwrite=overwrite_X)
    state = _DualState(rows, losses, a_X, start)
    dual = dual_value(losses, state.sigma, state.G, a_X, a_norm)
    n_iter = stalled = 0
    lowest_gap, patience = np.inf, max(MAX_STALLED, 2 * n // BLOCK)
    history = []
    while True:
        sigma, G, active_losses = state.active_part()
        highest, lowest = state.critical_values()
        intercept, gap = intercept_and_gap(active_losses, total - state.frozen_sum(), sigma, G)
        history.append((time.perf_counter() - began, dual, gap))
        converged = gap <= tol * relative_scale(dual + gap, gap, trivial)
        lowest_gap, stalled = (gap, 0) if gap < 0.9 * lowest_gap else (lowest_gap, stalled + 1)
        ended = n_iter >= max_iter or stalled >= patience
        if converged or ended or highest <= lowest:
            if state.active == n:
                break
            state.restore()
            lowest_gap = lowest_gap if ended else np.inf
            continue
        pairs, gained = state.solve_block(highest, lowest)
        if pairs == 0:
            if state.active == n:
                break
            state.restore()
            lowest_gap = np.inf
            continue
        dual += gained
        n_iter += 1
        if n_iter % SHRINK_EVERY == 0:
            state.shrink(highest, lowest)
    if not converged and n_iter < max_iter:  # no progress: remove the rounding that has accumulated in G
        state.G = rows.product(state.sigma, slice(0, n)) - a_X[state.order]
        intercept, gap = intercept_and_gap(state.losses, total, state.sigma, state.G)
    sigma, G = state.in_order()
    objective = dual_value(losses, sigma, G, a_X, a_norm) + gap
    return KernelSolution(
        objective=objective,
        gap=gap,
        dual=sigma,
        scores=intercept - G,
        intercept=intercept,
        violation=max(highest - lowest, 0.0),
        n_iter=n_iter,
        converged=bool(converged),
        trace=np.array(history),
    )


def _violators(up: Floats, down: Floats, active: int, highest: float, lowest: float, largest: int) -> Ints:
    """Return the working set, the rows of the largest violations: half of them may increase, half may decrease."""
    half = max(min(BLOCK, largest) // 2, 1)
    last = min(half, active) - 1
    rising = np.argpartition(up[:active], last)[: last + 1]
    falling = np.argpartition(-down[:active], last)[: last + 1]
    return np.unique(np.concatenate([rising[up[rising] < highest], falling[down[falling] > lowest]]))


class _DualState:
    """The dual variables and G = K sigma - a(X), in an order with the active rows first."""

    def __init__(self, rows: RowStore, losses: RowLosses, a_X: Floats, start: Floats) -> None:
        n = len(start)
        self.rows = rows
        self.losses = RowLosses(*(field.copy() for field in losses))
        self.order = np.arange(n)
        self.active = n
        self.sigma = start.copy()
        self.G = rows.product(start, slice(0, n)) - a_X
        self.up, self.down = np.empty(n), np.empty(n)
        # sigma and G when G was last exact at all rows
        self.sigma_then, self.G_then = self.sigma, self.G

    def active_part(self) -> tuple[Floats, Floats, RowLosses]:
        """Return sigma, G and the losses of the active rows."""
        k = self.active
        return self.sigma[:k], self.G[:k], RowLosses(*(field[:k] for field in self.losses))

    def critical_values(self) -> tuple[float, float]:
        """Set `up` and `down`, the right and left derivatives of the dual, and return the largest down and smallest up.

        Their difference is the violation of tau-optimality, which combines the conditions (13): with f = b - G, m1 and
        m3 collect the rows whose sigma may decrease or increase on either side of the kink.
        """
        sigma, G, (lower, knot, upper, left, right) = self.active_part()
        up, down = self.up[: self.active], self.down[: self.active]
        with np.errstate(invalid="ignore"):  # scores that have overflowed count for nothing
            up[:] = G + np.where(sigma >= upper, np.inf, np.where(sigma < knot, left, right))
            down[:] = G + np.where(sigma <= lower, -np.inf, np.where(sigma <= knot, left, right))
        return float(np.fmax.reduce(down, initial=-np.inf)), float(np.fmin.reduce(up, initial=np.inf))

    def solve_block(self, highest: float, lowest: float) -> tuple[int, float]:
        """Solve the pairs of the largest violators; return their number and the increase of the dual value."""
        sigma, G, losses = self.active_part()
        block = _violators(self.up, self.down, self.active, highest, lowest, self.rows.capacity)
        slots = self.rows.fetch(block, self.active)
        K = self.rows.store[np.ix_(slots, block)]
        G_block, sigma_block = G[block], sigma[block]
        accuracy = BLOCK_ACCURACY * (highest - lowest)
        pairs, gained = solve_block(K, G_block, sigma_block, *losses.take(block), accuracy, MAX_PAIRS)
        if pairs:
            add_rows(self.rows.store, slots, sigma_block - sigma[block], G)
            sigma[block] = sigma_block
        return pairs, gained

    def in_order(self) -> tuple[Floats, Floats]:
        """Return sigma and G of all rows, in the given order."""
        sigma, G = np.empty(len(self.order)), np.empty(len(self.order))
        sigma[self.order], G[self.order] = self.sigma, self.G
        return sigma, G

    def frozen_sum(self) -> float:
        """Return the sum of sigma over the rows that are left out."""
        return float(self.sigma[self.active :].sum())

    def shrink(self, highest: float, lowest: float) -> None:
        """Leave out the rows that no violating pair can contain: up is above `highest` and down below `lowest`."""
        up, down = self.up[: self.active], self.down[: self.active]
        settled = (up > highest) & (down < lowest)
        count = int(settled.sum())
        if count < SHRINK_SHARE * self.active or count == self.active:
            return
        if self.active == len(self.sigma):
            self.sigma_then, self.G_then = self.sigma.copy(), self.G.copy()
        keep = self.active - count
        first, second = np.flatnonzero(settled[:keep]), keep + np.flatnonzero(~settled[keep:])
        both, crossed = np.concatenate([first, second]), np.concatenate([second, first])
        for values in (self.sigma, self.G, self.sigma_then, self.G_then, self.order, *self.losses):
            values[both] = values[crossed]
        self.rows.swap(first, second)
        self.active = keep

    def restore(self) -> None:
        """Take all rows back and update G for those left out, from the change of sigma since G was exact."""
        n, k = len(self.sigma), self.active
        change = self.rows.product(self.sigma - self.sigma_then, slice(k, n))
        self.G[k:] = self.G_then[k:] + change
        self.rows.forget()
        self.active = n
