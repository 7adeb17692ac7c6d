"""PU learning with the ramp loss by the concave-convex procedure (du Plessis, Niu and Sugiyama 2014).

For f = g + b, with R(z) = 1/2 max(0, min(2, 1 - z)), c1 = prior / (2 lam p) and c2 = 1 / (2 lam n),

    2 c1 sum_p R(f_i) + c2 sum_u R(-f_i) + 1/2 |g|_H^2

is the PU risk with a loss that satisfies R(z) + R(-z) = 1, divided by 2 lam and up to a constant. Since
R(z) = 1/2 [1 - z]_+ - 1/2 [-1 - z]_+, each step replaces the concave part by its tangent and solves a convex problem
with one kink per row (Collobert et al. 2006). The objective never increases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.result import Certificate
from pucli.solvers.row_losses.linear import keeps_w, solve_linear
from pucli.solvers.row_losses.losses import (
    ROUNDING,
    RowLosses,
    Scale,
    gap_at,
    intercept_and_gap,
    loss_values,
    relative_scale,
    restore_total,
)
from pucli.solvers.usmo.blocks import KernelProblem, solve_kernel

# The convex problems are solved to this share of the tolerance, in absolute terms: their objectives lack constants.
INNER_ACCURACY = 0.1
# Rounding below this share of the objective is not part of the residual.
LEAST_ROUNDING = 1e-11


@dataclass(frozen=True, kw_only=True)
class RampSolution(Certificate):
    """Stationary point of the ramp problem.

    `residual` bounds the possible decrease of the convex majorant at f; it is zero exactly at stationary points.
    `n_iter` counts convex problems.
    """

    weights: Floats  # (N,), coefficients of g = sum_i weights_i k(x_i, .)
    coef: Floats | None  # (m,), g as coefficients, with the linear kernel
    intercept: float  # b
    # the objective at f = 0, if it starts there, and after each step that is kept; it never increases
    objectives: Floats


def ramp(z: Floats) -> Floats:
    """Return R(z) = 1/2 max(0, min(2, 1 - z))."""
    return 0.5 * np.clip(1.0 - z, 0.0, 2.0)


def _tangent_losses(f: Floats, labeled: Bools, c1: float, c2: float) -> RowLosses:
    """Return the convex majorants at f (N,), up to a constant per row: the concave part becomes its tangent.

    Labeled rows: c1 [1 - z]_+ + c1 z where f < -1; unlabeled rows: c2/2 [1 + z]_+ - c2/2 z where f > 1.
    """
    lower = np.where(labeled, np.where(f < -1.0, 0.0, -c1), np.where(f > 1.0, -0.5 * c2, 0.0))
    upper = lower + np.where(labeled, c1, 0.5 * c2)
    kink = np.where(labeled, 1.0, -1.0)
    return RowLosses(lower, upper, upper, kink, kink)


class RampProblem(NamedTuple):
    """Rows and weights."""

    X: Floats  # (N, m), rows
    labeled: Bools  # (N,), True for labeled positives
    kernel: Kernel
    prior: float  # share of positives among the unlabeled rows
    lam: float  # ridge


def solve_ramp(
    problem: RampProblem,
    *,
    tol: float = 1e-4,
    max_iter: int = 100,
    cache_bytes: float = 200e6,
    start: Floats | None = None,
) -> RampSolution:
    """Run the procedure from f = 0, where no loss is cut off, or from other scores."""
    X, labeled, kernel, prior, lam = problem
    c1 = prior / (2.0 * lam * labeled.sum())
    c2 = 1.0 / (2.0 * lam * (~labeled).sum())
    trivial = min(2.0 * prior, 1.0) / (2.0 * lam)
    linear = kernel.name == "linear" and keeps_w(*X.shape)
    coef = np.zeros(X.shape[1]) if kernel.name == "linear" else None
    f, norm, weights, intercept = np.zeros(len(X)), 0.0, np.zeros(len(X)), 0.0
    objectives = [_objective(f, labeled, c1, c2, norm)] if start is None else [np.inf]
    f = f if start is None else start
    residual, n_iter = np.inf, 0
    while n_iter < max_iter:
        losses = _tangent_losses(f, labeled, c1, c2)
        majorant = 0.5 * norm + float(loss_values(losses, f).sum())
        known = np.isfinite(objectives[-1])
        accuracy = tol * relative_scale(objectives[-1] if known else trivial, 0.0, trivial)
        inner_tol = INNER_ACCURACY * accuracy / max(abs(majorant), accuracy / tol)
        if linear:
            sigma, new = _minimum_in_w(X, losses, inner_tol, trivial)
        else:
            sigma = restore_total(np.clip(-weights, losses.lower, losses.upper), losses, 0.0)
            in_pairs = KernelProblem(X, kernel, losses, 0.0, np.zeros(len(X)), 0.0, trivial)
            sigma, new = _minimum_in_pairs(in_pairs, sigma, inner_tol, cache_bytes)
        n_iter += 1
        # the first tangents may be taken at scores that are those of no f
        residual = max(majorant - new.lower_bound, 0.0) if known else np.inf
        # where scores are huge, losses that are nearly zero are differences of large numbers
        rounding = ROUNDING * float((losses.upper - losses.lower) @ np.abs(f))
        if rounding > LEAST_ROUNDING * accuracy / tol:
            residual += rounding
        value = _objective(new.f, labeled, c1, c2, new.norm)
        if known and (residual <= accuracy or value >= objectives[-1]):
            break
        weights = -sigma
        coef, f, intercept, norm, _ = new
        objectives.append(value)
    if start is not None:
        del objectives[0]
    return RampSolution(
        weights=weights,
        coef=coef,
        intercept=intercept,
        objective=objectives[-1],
        residual=residual,
        n_iter=n_iter,
        converged=residual <= tol * relative_scale(objectives[-1], 0.0, trivial),
        objectives=np.array(objectives),
    )


class _Minimum(NamedTuple):
    """A convex problem's coefficients with the linear kernel, scores, intercept, squared norm and lower bound."""

    coef: Floats | None
    f: Floats
    intercept: float
    norm: float
    lower_bound: float


def _minimum_in_w(X: Floats, losses: RowLosses, tol: float, trivial: float) -> tuple[Floats, _Minimum]:
    """Return dual variables (N,) and the minimum with the linear kernel."""
    found = solve_linear(X, losses, 0.0, np.zeros(X.shape[1]), tol=tol, scale=Scale(trivial))
    coef, intercept = found.coef, found.intercept
    return found.dual, _Minimum(coef, X @ coef + intercept, intercept, float(coef @ coef), found.objective - found.gap)


def _minimum_in_pairs(problem: KernelProblem, start: Floats, tol: float, cache_bytes: float) -> tuple[Floats, _Minimum]:
    """Return dual variables (N,) and the minimum with any kernel, from the dual variables `start`."""
    found = solve_kernel(problem, start, tol=tol, cache_bytes=cache_bytes)
    sigma, intercept = found.dual, found.intercept
    if problem.kernel.name != "rbf":  # pair steps on values of very different size leave an error in the scores
        return sigma, _scored_anew(problem.X, problem.kernel, problem.losses, sigma, intercept)
    norm = -float(sigma @ (found.scores - intercept))
    return sigma, _Minimum(None, found.scores, intercept, norm, found.objective - found.gap)


def _scored_anew(X: Floats, kernel: Kernel, losses: RowLosses, sigma: Floats, intercept: float) -> _Minimum:
    """Return the minimum of dual variables (N,), with scores computed from the rows."""
    coef = None
    if kernel.name == "linear":
        coef = -sigma @ X
        f, norm = X @ coef + intercept, float(coef @ coef)
        gap = gap_at(losses, X, sigma, coef, intercept)
    else:
        G = kernel.combination(X, X, sigma)
        intercept, gap = intercept_and_gap(losses, 0.0, sigma, G)
        f, norm = intercept - G, float(sigma @ G)
        gap += kernel.rounding(X, sigma) + kernel.rounding_of_scores(X, sigma, losses.upper - losses.lower)
    return _Minimum(coef, f, intercept, norm, 0.5 * norm + float(loss_values(losses, f).sum()) - gap)


def _objective(f: Floats, labeled: Bools, c1: float, c2: float, norm: float) -> float:
    return float(2.0 * c1 * ramp(f[labeled]).sum() + c2 * ramp(-f[~labeled]).sum() + 0.5 * norm)
