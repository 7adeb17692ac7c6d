"""Class-prior-based GLPUAL (Wang 2024, eq. 5.8 with c = 1) by difference-of-convex steps.

    J = lam/2 |g|^2 + prior/n_p sum_p ([1 - f_i]_+ - |1 + f_i|) + 1/n_u sum_u |1 + f_i| + f'Rf,      f = g + beta_0

is the unbiased PU risk with the hinge for positives and the absolute loss for negatives. Only -|1 + f| on labelled rows
is not convex. A step replaces it by its tangent, -s_i (1 + f_i) with s_i the sign of 1 + f_i, and solves what is left:
per row one kink between two slopes, a ridge in the metric of lam I + 2 X'RX, and an intercept that nothing bends, so
the dual has a box for each row and one equality. That is the problem of `pucli.solvers.rows.kernel`, solved there on
the n x n matrix of inner products, or by its augmented Lagrangian where n is large; with few columns,
`pucli.solvers.rows.smoothed` finds where to start. J never rises (Tao, An 1997; Yuille, Rangarajan 2003). Local minima
differ in which labelled rows are below f = -1; two starts are tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from pucli.kernels.graph import similarity_form
from pucli.solvers.rows.kernel import DENSE_ROWS, solve_kernel_rows
from pucli.solvers.rows.linear import solve_linear
from pucli.solvers.rows.losses import RowLosses, loss_values
from pucli.solvers.rows.smoothed import STEPS, WIDTHS, smoothed_slopes

# The convex problems are solved to this share of the tolerance: with the free rows known it costs nothing.
INNER_ACCURACY = 0.01
# Starts are compared at this tolerance, and the best one is carried on.
LOOSE = 1e-3
# Share of the labelled rows that the second start puts below f = -1.
LAST_SHARE = 0.25


class CPBFit(NamedTuple):
    """A linear model on features, at a stationary point.

    w : (m + 1,) coefficients, intercept last; objective : J(w); residual : how much lower the convex majorant of J at w
    may still reach, zero exactly at a stationary point; n_iter : convex problems solved, over all starts; converged :
    residual within tolerance; objectives : J along the steps of the best start, never rising;
    dual : (n,) of the last convex problem, empty where there is none.
    """

    w: np.ndarray
    objective: float
    residual: float
    n_iter: int
    converged: bool
    objectives: np.ndarray
    dual: np.ndarray = np.empty(0)


class _Convex(NamedTuple):
    """Solution of one convex problem: f (n,), dual (n,), half squared norm, and bound on the excess."""

    f: np.ndarray
    bias: float
    dual: np.ndarray
    half_norm: float
    gap: float


def cpb_loss(f, labelled, prior):
    """Return the unbiased risk of scores f (n,), the middle three terms of (5.8)."""
    p, u = f[labelled], f[~labelled]
    labelled_part = np.mean(np.maximum(1.0 - p, 0.0) - np.abs(1.0 + p))
    return float(prior * labelled_part + np.mean(np.abs(1.0 + u)))


def cpb_objective(w, Z, labelled, edges, prior, lam):
    """Return J(w) from its definition (5.8), c = 1."""
    f = Z @ w
    i, j, weight = edges
    similarity = float(np.sum(weight * (f[i] - f[j]) ** 2))
    return 0.5 * lam * float(w[:-1] @ w[:-1]) + cpb_loss(f, labelled, prior) + similarity


def majorant_losses(side, labelled, prior) -> RowLosses:
    """Return the convex rows that `side` (n_p,) of +-1 gives: -|1 + f| as -side (1 + f), up to a constant a row.

    Labelled rows have slopes -(1 + side) and -side, times prior / n_p, about a kink at 1; unlabeled rows -1 and 1,
    over n_u, about a kink at -1.
    """
    c_p, c_u = prior / np.count_nonzero(labelled), 1.0 / np.count_nonzero(~labelled)
    lower = np.full(len(labelled), -c_u)
    upper = np.full(len(labelled), c_u)
    lower[labelled] = -c_p * (1.0 + side)
    upper[labelled] = -c_p * side
    kink = np.where(labelled, 1.0, -1.0)
    return RowLosses(lower, upper, upper, kink, kink)


def trivial_value(prior):
    """Return J of the best constant f."""
    return 2.0 * min(prior, 1.0 - prior)


class _Descent(NamedTuple):
    """The last point of a run of steps, J along the way, the residual there, and the convex problems solved."""

    point: _Convex
    values: list[float]
    residual: float
    steps: int


class _Problem:
    """Features in the metric of the quadratic part, and the convex solver that suits the number of rows."""

    def __init__(self, F, labelled, similarity, prior, lam) -> None:
        self.labelled, self.prior = labelled, prior
        A = similarity.copy()
        A[np.diag_indices(len(A))] += lam
        self.factor = cholesky(A, lower=True, check_finite=False)
        self.X = np.ascontiguousarray(solve_triangular(self.factor, F.T, lower=True, check_finite=False).T)
        self.K = self.X @ self.X.T if len(F) <= DENSE_ROWS else None

    def near(self, side: np.ndarray, dual: np.ndarray) -> np.ndarray:
        """Return where to start from the tangents `side` (n_p,): `dual` (n,), or better with few columns."""
        n, m = self.X.shape
        if self.K is None or m * m > n:
            return dual
        losses = majorant_losses(side, self.labelled, self.prior)
        return smoothed_slopes(self.X, losses.lower, losses.upper, losses.left, WIDTHS, STEPS)

    def convex(self, losses: RowLosses, start: np.ndarray, accuracy: float) -> _Convex:
        """Minimise half the squared norm plus the rows' losses until the gap is below `accuracy`."""
        if self.K is None:
            linear = solve_linear(self.X, losses, 0.0, np.zeros(self.X.shape[1]), tol=accuracy, trivial=1e3)
            g = self.X @ linear.coef
            half_norm = 0.5 * float(linear.coef @ linear.coef)
            return _Convex(g + linear.bias, linear.bias, linear.dual, half_norm, linear.gap)
        found = solve_kernel_rows(self.K, losses, start, accuracy)
        return _Convex(found.f, found.bias, found.dual, found.half_norm, found.gap)

    def descend(self, side: np.ndarray, dual: np.ndarray, tol: float, max_iter: int) -> _Descent:
        """Take steps from the tangents `side` (n_p,), the first convex problem from dual variables near `dual` (n,)."""
        labelled, prior = self.labelled, self.prior
        point, residual = None, np.inf
        values: list[float] = []
        for step in range(1, max_iter + 1):
            losses = majorant_losses(side, labelled, prior)
            accuracy = tol * (max(abs(values[-1]), 1e-3 * trivial_value(prior)) if values else trivial_value(prior))
            new = self.convex(losses, dual, INNER_ACCURACY * accuracy)
            value = new.half_norm + cpb_loss(new.f, labelled, prior)
            if point is not None:
                residual = _possible_fall(losses, point, new)
                if residual <= accuracy or value >= values[-1]:
                    return _Descent(point, values, residual, step)
            point, dual, residual = new, new.dual, new.gap
            values.append(value)
            same = np.array_equal(_side(new.f[labelled]), side)
            if same and residual <= tol * max(abs(value), 1e-3 * trivial_value(prior)):
                return _Descent(point, values, residual, step)
            side = _side(new.f[labelled])
        # the steps are used up: the majorant at the last point is solved for the residual alone
        assert point is not None
        losses = majorant_losses(side, labelled, prior)
        new = self.convex(losses, dual, INNER_ACCURACY * accuracy)
        return _Descent(point, values, _possible_fall(losses, point, new), max_iter + 1)


def _side(f) -> np.ndarray:
    """Return the sign of 1 + f, +1 at zero."""
    return np.where(f >= -1.0, 1.0, -1.0)


def _possible_fall(losses: RowLosses, point: _Convex, new: _Convex) -> float:
    """Return what the majorant with the rows `losses` is at `point`, less the least that `new` proves it can become."""
    here = point.half_norm + _row_total(losses, point.f)
    return max(here - (new.half_norm + _row_total(losses, new.f) - new.gap), 0.0)


def _row_total(losses: RowLosses, f: np.ndarray) -> float:
    """Return the sum of the rows' losses; the zeros of `loss_values` may differ between tangents, not within one."""
    return float(loss_values(losses, f).sum())


def starts(F, labelled):
    """Return the tangents to start from, each (n_p,) of +-1.

    All labelled rows above f = -1, where most of them end; and, along the line that joins the means of labelled and of
    unlabeled rows, the last quarter of them below it.
    """
    direction = F[labelled].mean(axis=0) - F[~labelled].mean(axis=0)
    score = F[labelled] @ direction
    outer = np.where(score < np.quantile(score, LAST_SHARE), -1.0, 1.0)
    return [np.ones(len(score)), outer]


def solve_cpb(Z, labelled, edges, prior, lam, tol=1e-6, max_iter=100, similarity=None, dual=None) -> CPBFit:
    """Find a stationary point of CPB-GLPUAL's objective (5.8), the best of a few starts.

    Parameters
    ----------
    Z : (n, m + 1) rows with a last column of ones.
    labelled : (n,) bool, True for labelled positives.
    edges : (i, j, weight), the edges of R (`pucli.kernels.graph`).
    prior : share of positives among the unlabeled rows, in (0, 1); lam : ridge, positive.
    tol : stop when the majorant cannot fall by tol times the objective.
    max_iter : steps a start, each a convex problem; where they do not suffice, one more gives the residual.
    similarity : `similarity_form` of the features, where it is known from another fit.
    dual : (n,) `dual` of a fit to the same rows with a ridge near this one, to start from.
    """
    F = Z[:, :-1]
    if similarity is None:
        similarity = similarity_form(F, edges)
    problem = _Problem(F, labelled, 0.5 * (similarity + similarity.T), prior, lam)
    tried: list[_Descent] = []
    for side in starts(F, labelled):
        if tried:
            dual = tried[-1].point.dual
        elif dual is None:
            dual = np.zeros(len(labelled))
        tried.append(problem.descend(side, problem.near(side, dual), max(tol, LOOSE), max_iter))
    best = min(tried, key=lambda run: run.values[-1])
    last = problem.descend(_side(best.point.f[labelled]), best.point.dual, tol, max_iter)
    point, residual = last.point, last.residual
    values = best.values + [value for value in last.values if value < best.values[-1]]
    n_iter = sum(run.steps for run in [*tried, last])
    beta = solve_triangular(problem.factor, -(problem.X.T @ point.dual), lower=True, trans=1, check_finite=False)
    w = np.append(beta, point.bias)
    value = cpb_objective(w, Z, labelled, edges, prior, lam)
    scale = max(abs(value), 1e-3 * trivial_value(prior))
    return CPBFit(w, value, float(residual), n_iter, bool(residual <= tol * scale * 1.01), np.array(values), point.dual)
