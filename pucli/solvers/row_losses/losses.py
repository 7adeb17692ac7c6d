"""Convex piecewise-linear losses with two kinks, their conjugates, and the certificate of a solution.

For f = g + b, with g in the space H of a kernel, the solvers of this folder minimize

    min_{g, b}  1/2 |g|_H^2 - <a, g>_H - e b + sum_i loss_i(f(x_i))

where loss_i has slopes lower_i <= knot_i <= upper_i that change at left_i <= right_i, and `a` is a fixed element of H.
Its dual in sigma, one variable for each row, with G = K sigma - a(X) and g = a - sum_i sigma_i k(x_i, .), is

    min  1/2 sigma'K sigma - a(X)'sigma + sum_i loss_i*(sigma_i),    lower <= sigma <= upper,    1'sigma = e

Used by the double hinge (`usmo.problem`, `usmo.blocks`), the ramp loss (`usmo.ramp`), the biased SVM (`svm.hinge`) and
CPB-GLPUAL (`cpb.dc`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Floats, Ints

# Relative rounding error of an inner product.
ROUNDING = 4.0 * np.finfo(float).eps


class RowLosses(NamedTuple):
    """One loss per row, z -> lower z + (knot - lower) [z - left]_+ + (upper - knot) [z - right]_+."""

    # (n,), slopes. The dual variable of a row lies between `lower` and `upper`
    lower: Floats
    knot: Floats
    upper: Floats
    # (n,), kinks. With one kink, `knot` equals `upper` and `right` equals `left`
    left: Floats
    right: Floats

    def take(self, rows: Ints) -> RowLosses:
        """Return the losses of some rows."""
        return RowLosses(*(field[rows] for field in self))


class Scale(NamedTuple):
    """Scale of a relative gap, besides the objective that a solver knows."""

    trivial: float = 0.0  # value of the best constant f, a lower bound of the scale
    constant: float = 0.0  # constant that the solver's objective leaves out


# A gap relative to the objective alone.
OBJECTIVE = Scale()


def loss_values(losses: RowLosses, z: Floats) -> Floats:
    """Return loss_i(z_i), shape (n,)."""
    lower, knot, upper, left, right = losses
    return lower * z + (knot - lower) * np.maximum(z - left, 0.0) + (upper - knot) * np.maximum(z - right, 0.0)


def conjugate_values(losses: RowLosses, sigma: Floats) -> Floats:
    """Return loss_i*(sigma_i), shape (n,), for sigma inside the box."""
    lower, knot, _, left, right = losses
    return left * (np.minimum(sigma, knot) - lower) + right * np.maximum(sigma - knot, 0.0)


def optimal_intercept(losses: RowLosses, total: float, g: Floats) -> float:
    """Return the intercept b that minimizes -total b + sum_i loss_i(g_i + b), the middle of the interval of minimizers.

    The slope is a step function of b, so the minimizer is a weighted quantile of the kinks. If the interval is
    unbounded, its end is returned.
    """
    breaks = np.concatenate([losses.left - g, losses.right - g])
    jumps = np.concatenate([losses.knot - losses.lower, losses.upper - losses.knot])
    if jumps[0] > 0.0 and jumps.min() == jumps.max():
        return _equal_jumps(breaks, float((total - losses.lower.sum()) / jumps[0]))
    order = np.argsort(breaks)
    slope = losses.lower.sum() - total + np.cumsum(jumps[order])
    slack = 1e-12 * max(abs(total), float(np.abs(losses.upper).sum()))
    first = min(int(np.searchsorted(slope, -slack)), len(breaks) - 1)
    last = min(int(np.searchsorted(slope, slack)), len(breaks) - 1)
    return 0.5 * float(breaks[order[first]] + breaks[order[last]])


def _equal_jumps(breaks: Floats, count: float) -> float:
    """Return the minimizer if every kink raises the slope by the same amount; `count` kinks lie at or below it."""
    position = int(np.clip(np.ceil(count - 1e-9), 1, len(breaks)))
    flat = abs(count - position) < 1e-9 and position < len(breaks)
    ordered = np.partition(breaks, [position - 1, position] if flat else [position - 1])
    return 0.5 * float(ordered[position - 1] + ordered[position]) if flat else float(ordered[position - 1])


def intercept_and_gap(losses: RowLosses, total: float, sigma: Floats, G: Floats) -> tuple[float, float]:
    """Return the best intercept and the duality gap of feasible dual variables.

    The gap is the sum of the rows' Fenchel gaps, loss_i(f_i) + loss_i*(sigma_i) - sigma_i f_i. Each is at least zero,
    so no digits cancel.
    """
    intercept = optimal_intercept(losses, total, -G)
    f = intercept - G
    gap = float((loss_values(losses, f) + conjugate_values(losses, sigma) - sigma * f).sum())
    return intercept, max(gap, 0.0)


def dual_value(losses: RowLosses, sigma: Floats, G: Floats, a_X: Floats, a_norm: float) -> float:
    """Return the value of the dual, a lower bound of the primal, at a feasible sigma (n,)."""
    return -0.5 * a_norm - 0.5 * float(sigma @ (G - a_X)) - float(conjugate_values(losses, sigma).sum())


def relative_scale(objective: float, gap: float, trivial: float) -> float:
    """Return the scale of a relative gap: the larger modulus of primal and dual value.

    It is at least a thousandth of `trivial`, so that the tolerance can be reached if the optimum happens to be zero.
    """
    return max(abs(objective), abs(objective - gap), 1e-3 * abs(trivial))


def restore_total(sigma: Floats, losses: RowLosses, total: float) -> Floats:
    """Return dual variables shifted so that they have the given sum, each row in proportion to its room.

    Rows strictly between their corners are shifted first, then all rows.
    """
    lower, knot, upper = losses.lower, losses.knot, losses.upper
    between = (sigma > lower) & (sigma < upper) & (sigma != knot)
    for rows in (between, np.ones(len(sigma), bool)):
        excess = float(sigma.sum()) - total
        end = (lower if excess > 0 else upper)[rows]
        room = float((sigma[rows] - end).sum())
        if room != 0.0:
            sigma[rows] += (end - sigma[rows]) * min(excess / room, 1.0)
    return sigma


def gap_at(losses: RowLosses, X: Floats, sigma: Floats, w: Floats, intercept: float, fixed: float = 0.0) -> float:
    """Return an upper bound on the gap of a linear model and feasible dual variables, w = a - X'sigma, from scores.

    The kernel matrix of rows that differ much in length keeps few digits, and so do scores K sigma. The bound includes
    the possible rounding error of w and of the scores.
    """
    f = X @ w + intercept
    gap = float((loss_values(losses, f) + conjugate_values(losses, sigma) - sigma * f).sum())
    error = ROUNDING * (fixed + float(np.abs(sigma) @ np.linalg.norm(X, axis=1)))
    scores = ROUNDING * (np.abs(X) @ np.abs(w) + abs(intercept))
    return max(gap, 0.0) + 0.5 * error**2 + float((losses.upper - losses.lower) @ scores)
