"""The rows' problem with the linear kernel, for any number of rows: it is solved for w and the intercept.

The problem of `pucli.solvers.row_losses.losses` for g(x) = w.x is solved by the augmented Lagrangian of the splitting
z_i = f(x_i), whose multipliers are the dual variables sigma, and whose inner problems, smooth and piecewise quadratic
in (w, b), are solved by semismooth Newton steps (Li, Sun and Toh 2018 for the lasso). A step costs a few passes over
the data and one (m + 1)-square system, built only from the rows on a kink. Every outer iteration ends with a feasible
dual point, so the duality gap is known and proven.

Used by USMO and RampPU with the linear kernel, by uPU with the double hinge, by the biased SVM and by CPB-GLPUAL.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.sparse import issparse

from pucli.core.arrays import Bools, Floats
from pucli.solvers.result import Solution
from pucli.solvers.row_losses.losses import (
    OBJECTIVE,
    ROUNDING,
    RowLosses,
    Scale,
    conjugate_values,
    intercept_and_gap,
    loss_values,
    optimal_intercept,
    relative_scale,
    restore_total,
)
from pucli.solvers.row_losses.sparse import largest_of_columns, mean_of_columns, sparse_newton_step

# w is kept up to this many features, if there are this many rows per feature; otherwise the (m + 1)-square systems cost
# more than kernel rows. With 784 features (MNIST) kernel rows took 0.02 of the time at 250 rows, 0.5 of it at 2000.
LINEAR_FEATURES = 3000
ROWS_PER_FEATURE = 2
# Width of the zone about a kink in the first smoothing, in units of f and of its spread at the start (the wider one);
# each outer iteration divides it.
FIRST_ZONE = 1.0
ZONE_DIVISOR = 5.0
# From a solution of a similar problem, the zone starts narrower by the first factor, and is divided by the second one:
# of 2, 2.5, 3, 5 and 10, 2 needed the fewest Newton steps along ridges from 1e4 to 1e-4.
WARM_ZONE, WARM_DIVISOR = 25.0, 2.0
# If f starts with a wider spread than this, w is divided by ten as long as that helps: with large features it is far
# too long.
WIDEST_START = 1000.0
MAX_NEWTON = 60
# Steps are halved down to the first number, then divided by ten.
SHORT_STEP, SHORTEST_STEP = 1e-3, 1e-20
# The smoothed problem is solved to this share of the tolerance.
INNER_ACCURACY = 0.05
# If the gap has not decreased after this many narrowings, it is limited by rounding.
MAX_STALLED = 9
# Rows gathered at once when the Newton matrix is built.
GATHER_ROWS = 8192


def keeps_w(n: int, m: int) -> bool:
    """Return whether the linear kernel's problem with n rows of m features is solved for w."""
    return m <= LINEAR_FEATURES and n >= ROWS_PER_FEATURE * m


@dataclass(frozen=True, kw_only=True)
class LinearSolution(Solution):
    """Solution with the linear kernel; `n_iter` counts Newton steps."""

    intercept: float  # b, which is not in `coef`
    dual: Floats  # (n,), dual variables sigma
    trace: Floats  # (outer iterations, 3), elapsed seconds, dual value and gap


class _DualPoint(NamedTuple):
    """Feasible dual variables (n,), a w (m,) with its best intercept, and their certificate."""

    dual: Floats
    coef: Floats
    intercept: float
    objective: float
    gap: float


@njit(cache=True)
def smoothed(  # noqa: PLR0913
    f: Floats,
    sigma: Floats,
    mu: float,
    lower: Floats,
    knot: Floats,
    upper: Floats,
    left: Floats,
    right: Floats,
    multiplier: Floats,
    on_kink: Bools,
) -> float:
    """Return the value of the smoothed losses, and write their derivatives to `multiplier`.

    The smoothed loss at v = f + sigma / mu is min_z loss(z) + mu/2 (v - z)^2; its derivative is the multiplier, which
    lies in the box, and its second derivative is mu where the minimizing z sits on a kink, else zero.
    """
    value = 0.0
    for i in range(f.shape[0]):
        v = f[i] + sigma[i] / mu
        first = min(max(mu * (v - left[i]), lower[i]), knot[i])
        second = min(max(mu * (v - right[i]), knot[i]), upper[i])
        s = first + (second - knot[i])
        z = v - s / mu
        loss = (
            lower[i] * z + (knot[i] - lower[i]) * max(z - left[i], 0.0) + (upper[i] - knot[i]) * max(z - right[i], 0.0)
        )
        value += loss + 0.5 * s * s / mu
        multiplier[i] = s
        on_kink[i] = (lower[i] < first < knot[i]) or (knot[i] < second < upper[i])
    return value


def solve_linear(
    X: Floats,
    losses: RowLosses,
    total: float,
    a: Floats,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    scale: Scale = OBJECTIVE,
    start: Floats | None = None,
) -> LinearSolution:
    """Minimize 1/2 |w|^2 - a.w - total b + sum_i loss_i(x_i.w + b) over w and b."""
    began = time.perf_counter()
    trivial, constant = scale
    state = _Smoothed(X, losses, total, a)
    if start is not None:
        state.start_near(start)
    best = _DualPoint(state.sigma, state.w, 0.0, np.inf, np.inf)
    n_newton = stalled = 0
    history, converged = [], False
    while not converged and n_newton < max_iter and stalled < MAX_STALLED:
        value = best.objective + constant
        size = relative_scale(value, 0.0, trivial) if np.isfinite(value) else abs(trivial)
        n_newton += state.minimize(INNER_ACCURACY * tol * size, min(MAX_NEWTON, max_iter - n_newton))
        point = state.certify(either=stalled > 0)
        history.append((time.perf_counter() - began, point.objective - point.gap, point.gap))
        stalled = 0 if point.gap < 0.9 * best.gap else stalled + 1
        best = point if point.gap < best.gap else best
        value = best.objective + constant
        converged = best.gap < np.inf and best.gap <= tol * relative_scale(value, best.gap, trivial)
        state.sharpen()
    return LinearSolution(
        coef=best.coef,
        intercept=best.intercept - float(state.center @ best.coef),
        dual=best.dual,
        objective=best.objective,
        gap=best.gap,
        n_iter=n_newton,
        converged=bool(converged),
        trace=np.array(history),
    )


class _Smoothed:
    """The smoothed problem around multipliers `sigma`, at a point (w, b), with the features centered.

    Centering only changes the intercept, and decouples it from w. f = (X - center) w + b is kept at all rows, with the
    multipliers that it implies and the rows that are on a kink.
    """

    def __init__(self, X: Floats, losses: RowLosses, total: float, a: Floats) -> None:
        n = X.shape[0]
        self.X, self.losses, self.total = X, losses, total
        self.center = mean_of_columns(X)
        self.a = a - total * self.center
        self.sigma = restore_total(losses.lower.copy(), losses, total)
        self.largest = largest_of_columns(X)
        self.w, self.b = self.a - self.pull_back(self.sigma), 0.0
        self.f = self.apply(self.w)
        spread = max(1.0, float(self.f.std()))
        while spread > WIDEST_START and self._at_best_intercept(0.1) < self._at_best_intercept(1.0):
            self.w *= 0.1
            self.f *= 0.1
            spread *= 0.1
        self.mu, self.divisor = float((losses.upper - losses.lower).max()) / (2.0 * FIRST_ZONE * spread), ZONE_DIVISOR
        self.multiplier, self.on_kink = np.empty(n), np.empty(n, np.bool_)

    def start_near(self, dual: Floats) -> None:
        """Move to the point of dual variables (n,) of a similar problem."""
        lower, upper = self.losses.lower, self.losses.upper
        self.sigma = restore_total(np.clip(dual, lower, upper), self.losses, self.total)
        self.w = self.a - self.pull_back(self.sigma)
        self.f = self.apply(self.w)
        self.b = optimal_intercept(self.losses, self.total, self.f)
        self.f += self.b
        self.mu, self.divisor = self.mu * WARM_ZONE, WARM_DIVISOR

    def _at_best_intercept(self, share: float) -> float:
        """Return the objective at `share` times w, with the best intercept."""
        w, f = share * self.w, share * self.f
        intercept = optimal_intercept(self.losses, self.total, f)
        rows = float(loss_values(self.losses, f + intercept).sum())
        return rows + 0.5 * float(w @ w) - float(self.a @ w) - self.total * intercept

    def apply(self, w: Floats) -> Floats:
        """Return the centered rows times w."""
        f: Floats = self.X @ w
        f -= self.center @ w
        return f

    def pull_back(self, sigma: Floats) -> Floats:
        """Return the centered rows, transposed, times sigma."""
        pulled: Floats = sigma @ self.X - sigma.sum() * self.center
        return pulled

    def value(self, f: Floats, w: Floats, b: float) -> float:
        """Return the smoothed objective and set `multiplier` and `on_kink`."""
        rows = smoothed(f, self.sigma, self.mu, *self.losses, self.multiplier, self.on_kink)
        return rows + 0.5 * float(w @ w) - float(self.a @ w) - self.total * b

    def minimize(self, accuracy: float, most: int) -> int:
        """Take Newton steps until the bound from the gradient is below `accuracy`; return their number."""
        value = self.value(self.f, self.w, self.b)
        for step in range(most):
            gradient_w = self.w - self.a + self.pull_back(self.multiplier)
            gradient_b = float(self.multiplier.sum()) - self.total
            if 0.5 * float(gradient_w @ gradient_w) + abs(gradient_b) <= accuracy:
                return step
            if not self.on_kink.any():
                shift = _best_shift(self.f, self.sigma, self.mu, self.losses, self.total, self.multiplier, self.on_kink)
                self.f += shift
                self.b += shift
                value = self.value(self.f, self.w, self.b)
                if self.on_kink.any():
                    continue
            value = self._line_search(value, gradient_w, gradient_b)
        return most

    def _line_search(self, value: float, gradient_w: Floats, gradient_b: float) -> float:
        """Halve the Newton step until the objective decreases enough; return its value."""
        newton_step = sparse_newton_step if issparse(self.X) else _newton_step
        step_w, step_b = newton_step(self.X, self.center, self.on_kink, self.mu, gradient_w, gradient_b)
        step_f = self.apply(step_w)
        step_f += step_b
        slope = float(gradient_w @ step_w) + gradient_b * step_b
        t = 1.0
        while True:
            f, w, b = self.f + t * step_f, self.w + t * step_w, self.b + t * step_b
            new = self.value(f, w, b)
            if new <= value + 1e-4 * t * slope + 1e-14 * abs(value) or t < SHORTEST_STEP:
                self.f, self.w, self.b = f, w, b
                return new
            t *= 0.5 if t > SHORT_STEP else 0.1

    def certify(self, either: bool = False) -> _DualPoint:
        """Return feasible dual variables and a w with their certificate and the centered intercept.

        w is a - X'sigma, that of the dual variables. With `either` it is Newton's w if that has the smaller gap: if the
        features differ much in size, rounding in a - X'sigma changes f by more than the tolerance.
        """
        sigma = restore_total(self.multiplier.copy(), self.losses, self.total)
        w = w_dual = self.a - self.pull_back(sigma)
        # the dual value with g = w: no large numbers cancel, whatever the units of the features
        lower_bound = -0.5 * float(w @ w) - float(conjugate_values(self.losses, sigma).sum())
        intercept, gap = intercept_and_gap(self.losses, self.total, sigma, -self.apply(w))
        if either:
            intercept_newton, gap_newton = intercept_and_gap(self.losses, self.total, sigma, -self.apply(self.w))
            gap_newton += 0.5 * float((self.w - w_dual) @ (self.w - w_dual))
            if gap_newton < gap:
                w, intercept, gap = self.w, intercept_newton, gap_newton
        return _DualPoint(sigma, w, intercept, lower_bound + gap, gap + self.rounding(sigma, w))

    def rounding(self, sigma: Floats, w: Floats) -> float:
        """Return a bound on the effect of rounding on the gap.

        w differs from a - X'sigma by at most e = 4 eps (|a| + |X|'|sigma|), and f from its rows' w.x + b by that share
        of |X||w|; the gap is then off by e.|w| + |e|^2 / 2.
        """
        error = ROUNDING * (np.abs(self.a) + float(np.abs(sigma).sum()) * self.largest)
        return float(error @ np.abs(w)) + 0.5 * float(error @ error)

    def sharpen(self) -> None:
        """Adopt the multipliers and narrow the zone around the kinks."""
        self.sigma = self.multiplier.copy()
        self.mu *= self.divisor


def _best_shift(
    f: Floats, sigma: Floats, mu: float, losses: RowLosses, total: float, multiplier: Floats, on_kink: Bools
) -> float:
    """Return the change of the intercept at which the multipliers sum to `total`, by bisection.

    Between kinks the smoothed problem has no curvature along the intercept, and Newton's step is not defined.
    """
    v = f + sigma / mu
    low = float((losses.left - v).min() - 1.0)
    high = float((losses.right - v).max() + (losses.upper - losses.lower).max() / mu + 1.0)
    for _ in range(100):
        middle = 0.5 * (low + high)
        smoothed(f + middle, sigma, mu, *losses, multiplier, on_kink)
        excess = multiplier.sum() - total
        if on_kink.any() and abs(excess) <= 1e-12 * total:
            break
        low, high = (low, middle) if excess > 0 else (middle, high)
    return middle


def _newton_step(
    X: Floats, center: Floats, on_kink: Bools, mu: float, gradient_w: Floats, gradient_b: float
) -> tuple[Floats, float]:
    """Solve (I + mu Z'Z) step = -gradient with Z the centered rows on a kink and a column of ones."""
    m = X.shape[1]
    rows = np.flatnonzero(on_kink)
    H = np.zeros((m + 1, m + 1))
    for start in range(0, len(rows), GATHER_ROWS):
        Z = X[rows[start : start + GATHER_ROWS]]
        Z -= center
        H[:m, :m] += Z.T @ Z
        H[m, :m] += Z.sum(axis=0)
    H[:m, m] = H[m, :m]
    H[m, m] = max(len(rows), 1)
    H *= mu
    H[np.arange(m), np.arange(m)] += 1.0
    step = _solve_scaled(H, -np.append(gradient_w, gradient_b))
    return step[:m], float(step[m])


def _solve_scaled(H: Floats, right_side: Floats) -> Floats:
    """Solve H x = right_side for a positive definite H, with its diagonal scaled to ones first.

    Scaling removes the effect of the columns' units on the rounding. If rounding has nevertheless made H indefinite,
    eigenvalues below the rounding error are raised to it, which still gives a direction of descent.
    """
    scale = 1.0 / np.sqrt(np.diagonal(H))
    S = H * scale * scale[:, None]
    try:
        step: Floats = scale * cho_solve(cho_factor(S, lower=True, check_finite=False), scale * right_side)
    except LinAlgError:
        values, vectors = eigh(S, check_finite=False)
        values = np.maximum(values, len(S) * np.finfo(float).eps * values[-1])
        step = scale * (vectors @ (vectors.T @ (scale * right_side) / values))
    return step
