"""CPB-GLPUAL (Wang 2024, eq. 5.8; the objective is in `pucli.solvers.cpb.problem`) by difference-of-convex steps.

Only -|1 + f| on labeled rows is not convex. A step replaces it by its tangent, -s_i (1 + f_i) with s_i the sign of
1 + f_i, and solves the convex problem that remains: one kink between two slopes for each row, a ridge in the metric of
lam I + 2 X'RX, and an intercept without a quadratic term, so the dual has a box for each row and one equality.
`pucli.solvers.row_losses.kernel` solves it on the n x n matrix of inner products, and `pucli.solvers.row_losses.linear`
for large n. With few columns, `pucli.solvers.row_losses.smoothed` finds a starting point. J never increases (Tao and An
1997; Yuille and Rangarajan 2003). Local minima differ in which labeled rows are below f = -1; two starts are tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from pucli.core.arrays import Bools, Floats
from pucli.solvers.cpb.problem import CPBProblem, cpb_loss, trivial_value
from pucli.solvers.kernels.graph import similarity_form
from pucli.solvers.kernels.intercept import at_offset, without_offset
from pucli.solvers.result import Solution
from pucli.solvers.row_losses.kernel import DENSE_ROWS, solve_kernel_rows
from pucli.solvers.row_losses.linear import solve_linear
from pucli.solvers.row_losses.losses import ROUNDING, RowLosses, Scale, gap_at, loss_values
from pucli.solvers.row_losses.smoothed import STEPS, WIDTHS, smoothed_slopes

# The convex problems are solved to this share of the tolerance, which is cheap once the free rows are known.
INNER_ACCURACY = 0.01
# The starts are compared at this tolerance, and the best one is refined.
LOOSE = 1e-3
# The features are centered if the squared norm of their mean, in the metric of the quadratic part, is above the first
# number and above the second number times their variance: otherwise inner products would lose too many digits.
FAR, FAR_SHARE = 1e8, 1e6
# Scores are computed from coefficients if rounding of the kernel matrix may cost more than this share of the accuracy.
ROUNDING_SHARE = 0.01
# A result whose J is above that of a constant by this factor is replaced by it.
WORSE = 1.0 + 1e-6
# Rounding of the result below this share of the objective is not part of the residual.
LEAST_ROUNDING = 1e-12
# Differences of larger scores are computed in extended precision.
LARGE_SCORE = 1e6
# Share of the labeled rows that the second start puts below f = -1.
LAST_SHARE = 0.25


@dataclass(frozen=True, kw_only=True)
class CPBSolution(Solution):
    """A linear model on features, at a stationary point.

    `coef` (m + 1,) has the intercept last. `residual` bounds the possible decrease of the convex majorant of J at
    `coef`; it is zero exactly at stationary points. `n_iter` counts convex problems over all starts. `dual` (n,) is
    that of the last convex problem.
    """

    objectives: Floats  # (n_steps,), J along the steps of the best start. It never increases


class _Convex(NamedTuple):
    """Solution of a convex problem: f (n,), intercept, dual (n,), half the squared norm, bound on its suboptimality."""

    f: Floats
    intercept: float
    dual: Floats
    half_norm: float
    gap: float


def _majorant_losses(side: Floats, labeled: Bools, prior: float) -> RowLosses:
    """Return the convex losses in which -|1 + f| is replaced by its tangent -side (1 + f), side (n_p,) of +1 and -1.

    They are exact up to a constant for each row. Labeled rows have the slopes -(1 + side) and -side, times prior /
    n_p, about a kink at 1. Unlabeled rows have -1 / n_u and 1 / n_u about a kink at -1.
    """
    c_p, c_u = prior / np.count_nonzero(labeled), 1.0 / np.count_nonzero(~labeled)
    upper = np.full(len(labeled), c_u)
    lower = -upper
    lower[labeled] = -c_p * (1.0 + side)
    upper[labeled] = -c_p * side
    kink = np.where(labeled, 1.0, -1.0)
    return RowLosses(lower, upper, upper, kink, kink)


class _Descent(NamedTuple):
    """The last point of some steps, J along them, the residual at the point, and the number of convex problems."""

    point: _Convex
    values: list[float]
    residual: float
    steps: int


class _Problem:
    """Features in the metric of the quadratic part, and a convex solver chosen by the number of rows."""

    def __init__(self, F: Floats, similarity: Floats, problem: CPBProblem) -> None:
        _, self.labeled, _, self.prior, lam = problem
        A = similarity.copy()
        A[np.diag_indices(len(A))] += lam
        self.factor = cholesky(A, lower=True, check_finite=False)
        self.X = self._in_the_metric(F)
        self.center = np.zeros(F.shape[1])
        middle = self.X.mean(axis=0)
        offset, spread = float(middle @ middle), float(self.X.var(axis=0).sum())
        if offset > FAR and offset > FAR_SHARE * spread:
            self.center = F.mean(axis=0)
            self.X = self._in_the_metric(F - self.center)
        self.K = self.X @ self.X.T if len(F) <= DENSE_ROWS else None

    def _in_the_metric(self, F: Floats) -> Floats:
        """Return the rows whose inner products are F A^-1 F'."""
        return np.ascontiguousarray(solve_triangular(self.factor, F.T, lower=True, check_finite=False).T)

    def near(self, side: Floats, dual: Floats) -> Floats:
        """Return a starting point for the tangents `side` (n_p,): `dual` (n,), or better slopes if columns are few."""
        n, m = self.X.shape
        if self.K is None or m * m > n:
            return dual
        losses = _majorant_losses(side, self.labeled, self.prior)
        try:
            return smoothed_slopes(self.X, losses.lower, losses.upper, losses.left, WIDTHS, STEPS)
        except np.linalg.LinAlgError:  # columns of very different sizes
            return dual

    def convex(self, losses: RowLosses, start: Floats, accuracy: float) -> _Convex:
        """Minimize half the squared norm plus the rows' losses until the gap is below `accuracy`."""
        if self.K is None:
            linear = solve_linear(self.X, losses, 0.0, np.zeros(self.X.shape[1]), tol=accuracy, scale=Scale(1e3))
            g = self.X @ linear.coef
            half_norm = 0.5 * float(linear.coef @ linear.coef)
            return _Convex(g + linear.intercept, linear.intercept, linear.dual, half_norm, linear.gap)
        found = solve_kernel_rows(self.K, losses, start, accuracy)
        rounding = ROUNDING * float(self.K.diagonal().max()) * float(np.abs(found.dual).sum()) ** 2
        if rounding > ROUNDING_SHARE * accuracy:
            w = -(found.dual @ self.X)
            gap = gap_at(losses, self.X, found.dual, w, found.intercept)
            return _Convex(self.X @ w + found.intercept, found.intercept, found.dual, 0.5 * float(w @ w), gap)
        return _Convex(found.f, found.intercept, found.dual, found.half_norm, found.gap)

    def descend(self, side: Floats, dual: Floats, tol: float, max_iter: int) -> _Descent:
        """Take steps from the tangents `side` (n_p,); `dual` (n,) is the start of the first convex problem."""
        labeled, prior = self.labeled, self.prior
        point: _Convex | None = None
        residual = np.inf
        values: list[float] = []
        for step in range(1, max_iter + 1):
            losses = _majorant_losses(side, labeled, prior)
            accuracy = tol * (max(abs(values[-1]), 1e-3 * trivial_value(prior)) if values else trivial_value(prior))
            new = self.convex(losses, dual, INNER_ACCURACY * accuracy)
            value = new.half_norm + cpb_loss(new.f, labeled, prior)
            if point is not None:
                residual = _possible_fall(losses, point, new)
                if residual <= accuracy or value >= values[-1]:
                    return _Descent(point, values, residual, step)
            point, dual, residual = new, new.dual, new.gap
            values.append(value)
            same = np.array_equal(_side(new.f[labeled]), side)
            if same and residual <= tol * max(abs(value), 1e-3 * trivial_value(prior)):
                return _Descent(point, values, residual, step)
            side = _side(new.f[labeled])
        # no steps are left: the majorant at the last point is minimized only for its residual
        assert point is not None
        losses = _majorant_losses(side, labeled, prior)
        new = self.convex(losses, dual, INNER_ACCURACY * accuracy)
        return _Descent(point, values, _possible_fall(losses, point, new), max_iter + 1)


def _side(f: Floats) -> Floats:
    """Return the sign of 1 + f, +1 at zero."""
    return np.where(f >= -1.0, 1.0, -1.0)


def _possible_fall(losses: RowLosses, point: _Convex, new: _Convex) -> float:
    """Return the value of the majorant with these losses at `point` minus the lower bound proven by `new`."""
    here = point.half_norm + float(loss_values(losses, point.f).sum())
    there = new.half_norm + float(loss_values(losses, new.f).sum())
    return max(here - (there - new.gap), 0.0)


def _starts(F: Floats, labeled: Bools) -> list[Floats]:
    """Return the tangents to start from, each (n_p,) of +1 and -1.

    The first has all labeled rows above f = -1, where most of them are at a solution. The second has a quarter of them
    below it: the last ones in the direction from the mean of the unlabeled rows to that of the labeled rows.
    """
    direction = F[labeled].mean(axis=0) - F[~labeled].mean(axis=0)
    score = F[labeled] @ direction
    outer = np.where(score < np.quantile(score, LAST_SHARE), -1.0, 1.0)
    return [np.ones(len(score)), outer]


def solve_cpb(
    problem: CPBProblem,
    tol: float = 1e-6,
    max_iter: int = 100,
    similarity: Floats | None = None,
    dual: Floats | None = None,
) -> CPBSolution:
    """Find a stationary point of CPB-GLPUAL's objective (5.8), the best of a few starts."""
    Z, labeled, edges, prior, _ = problem
    F = Z[:, :-1]
    near, center = without_offset(Z)
    if similarity is None:
        similarity = similarity_form(near[:, :-1], edges)
    descent = _Problem(F, 0.5 * (similarity + similarity.T), problem)
    tried: list[_Descent] = []
    for side in _starts(F, labeled):
        if tried:
            dual = tried[-1].point.dual
        elif dual is None:
            dual = np.zeros(len(labeled))
        tried.append(descent.descend(side, descent.near(side, dual), max(tol, LOOSE), max_iter))
    best = min(tried, key=lambda run: run.values[-1])
    last = descent.descend(_side(best.point.f[labeled]), best.point.dual, tol, max_iter)
    point, residual = last.point, last.residual
    values = best.values + [value for value in last.values if value < best.values[-1]]
    n_iter = sum(run.steps for run in [*tried, last])
    beta = solve_triangular(descent.factor, -(descent.X.T @ point.dual), lower=True, trans=1, check_finite=False)
    w = np.append(beta, point.intercept - float(descent.center @ beta))
    at: Any = at_offset(w, center)
    exactly: Any = np.longdouble if np.abs(near @ at).max() > LARGE_SCORE else np.float64
    value = float(problem._replace(Z=near.astype(exactly, copy=False)).objective(at.astype(exactly)))
    scale = max(abs(value), 1e-3 * trivial_value(prior))
    cost = value - last.values[-1] if last.values else 0.0  # of rounding w and the intercept
    if cost > LEAST_ROUNDING * scale:
        residual += cost
    if not value <= WORSE * trivial_value(prior):  # the features are too large for the solver: a constant f is better
        w, value = np.append(np.zeros(F.shape[1]), -1.0 if prior < 0.5 else 1.0), trivial_value(prior)
        residual = np.inf
    return CPBSolution(
        coef=w,
        dual=point.dual,
        objective=value,
        residual=float(residual),
        n_iter=n_iter,
        converged=bool(residual <= tol * scale * 1.01),
        objectives=np.array(values),
    )
