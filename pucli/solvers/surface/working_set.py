"""Elastic kernel-free GLPUAL (Wang 2024, eq. 4.26): a quadratic surface with one lasso group per feature.

The problem (`pucli.solvers.surface.problem`) is solved on a working set of features, which grows until no other feature
violates its condition (as in Massias, Gramfort and Salmon 2018). Each such problem is solved by alternating directions,
which reach a moderate accuracy at the lowest cost, and then, if they are slow, by semismooth Newton steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.solvers.kernels.quadratic_surface import surface_groups
from pucli.solvers.surface.newton import newton
from pucli.solvers.surface.problem import (
    SurfaceProblem,
    SurfaceSolution,
    constant_model,
    restricted,
    surface_bound,
    surface_objective,
)
from pucli.solvers.surface.splitting import alternate

# Number of features in the first working set, and the smallest number by which it grows.
FIRST_FEATURES = 10
# Iterations of alternating directions before Newton steps follow.
SPLITTING_ITERATIONS = 400
# Problems on a working set are solved to this share of the tolerance, and to a tenth of it if that is not enough.
SHARE = 0.5
SMALLEST_TOLERANCE = 1e-13


def solve_surface(
    problem: SurfaceProblem,
    lam1: float,
    tol: float = 1e-6,
    max_iter: int = 500,
    start: SurfaceSolution | None = None,
    allowed: float = 0.0,
) -> SurfaceSolution:
    """Minimise EKF-GLPUAL's objective (4.26) to a proven relative gap.

    Parameters
    ----------
    problem : SurfaceProblem
        From `pucli.solvers.surface.problem.surface_problem`.
    lam1 : float
        Group penalty, positive.
    tol : float, default 1e-6
        Gap at which to stop, relative to the objective.
    max_iter : int, default 500
        Largest number of Newton steps on one working set.
    start : SurfaceSolution, optional
        Solution of a similar problem on the same labelled rows, to start from.
    allowed : float, default 0
        Gap at which to stop, whatever the objective. It bounds the error of the scores: their squared errors on the
        unlabeled training rows add up to at most gap / c_u.

    Returns
    -------
    SurfaceSolution
        The point with the smallest gap.
    """
    m = problem.m
    w, p = constant_model(problem)
    v = np.zeros((m, m + 1))
    chosen = np.zeros(m, dtype=bool)
    if start is not None:
        w, p, v = start.coef.copy(), start.dual, start.multipliers
        chosen = np.any(w[surface_groups(m)] != 0.0, axis=1)
    n_iter, target, share, radius = 0, SHARE * tol, SHARE * allowed, 0.5 * lam1
    best: SurfaceSolution | None = None
    while True:
        v = v * (radius / np.maximum(np.linalg.norm(v, axis=1), max(radius, 1e-300)))[:, None]
        value = surface_objective(problem, w, lam1)
        enough = value - allowed if allowed > tol * value else np.inf
        bound, needed, full = surface_bound(problem, w, p, v, lam1, chosen, enough)
        if best is None or value - bound < best.gap:
            best = SurfaceSolution(
                coef=w,
                dual=p,
                multipliers=full,
                objective=value,
                gap=max(value - bound, 0.0),
                n_iter=n_iter,
                converged=bool(value - bound <= max(tol * value, allowed)),
            )
        outside = np.where(chosen, 0.0, needed)
        violating = np.flatnonzero(outside > 0.5 * lam1 * (1.0 + 1e-9))
        if len(violating):
            order = violating[np.argsort(-outside[violating])]
            chosen[order[: max(FIRST_FEATURES, np.count_nonzero(chosen))]] = True
        elif n_iter:
            target, share = 0.1 * target, 0.1 * share
        if best.converged or not chosen.any() or target < SMALLEST_TOLERANCE:
            return replace(best, n_iter=n_iter)
        w, p, v, steps = _on_features(problem, np.flatnonzero(chosen), lam1, (target, share), max_iter, w, p, v)
        n_iter += steps


def _on_features(
    problem: SurfaceProblem,
    features: Ints,
    lam1: float,
    tolerance: tuple[float, float],
    max_iter: int,
    w: Floats,
    p: Floats,
    v: Floats,
) -> tuple[Floats, Floats, Floats, int]:
    """Solve the problem on the surface of some features; return the full-size w, p and v, and the iterations."""
    sub, place = restricted(problem, features)
    inner = np.ix_(features, np.append(features, problem.m))
    # hinges are smoothed over a zone of width 1 in f, groups over their size when f is about 1
    mean_square = float(np.sum(sub.Zp[:, :-1] ** 2)) / max(len(sub.Zp), 1)
    penalties = (sub.c_p, 0.5 * lam1 * np.sqrt(mean_square / (sub.m + 1)))
    w_sub, p, v_sub, steps, penalties, converged = alternate(
        sub, lam1, tolerance, SPLITTING_ITERATIONS, w[place], p, v[inner], penalties
    )
    if not converged:
        w_sub, p, v_sub, more = newton(sub, lam1, tolerance, max_iter, w_sub, p, v_sub, penalties)
        steps += more
    w, v = np.zeros_like(w), np.zeros_like(v)
    w[place], v[inner] = w_sub, v_sub
    return w, p, v, steps
