"""Elastic kernel-free GLPUAL (Wang 2024, eq. 4.26) to a proven gap: the certified solver of the quadratic surface.

The problem (`pucli.solvers.surface.problem`) is solved on a working set of features, which grows until no other feature
violates its condition (as in Massias, Gramfort and Salmon 2018). On a working set, hinges and groups are split off:

1. Alternating directions reach a moderate accuracy at the lowest cost. The quadratic terms stay in the matrix A, so an
   iteration takes one product with the inverse of A + rho_h Zp'Zp + rho_t D'D and two with the labeled rows. Steps are
   over-relaxed (Eckstein and Bertsekas 1992), and both penalties change by a common factor when the two residuals drift
   apart (He, Yang and Wang 2000).
2. Where they are slow, semismooth Newton steps on the augmented Lagrangian (Li, Sun and Toh 2018) reach any accuracy.
   Minimizing it over w keeps the multipliers p and v in their box and balls, and the matrix of a step, A plus the rows
   on a kink plus the groups, is positive definite even where A is singular.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import cho_solve

from pucli.core.arrays import Bools, Floats, Ints
from pucli.solvers.kernels.cholesky import Cholesky, inverse_of, scaled_cholesky
from pucli.solvers.kernels.quadratic_surface import surface_groups
from pucli.solvers.surface.problem import (
    SurfaceProblem,
    SurfaceSolution,
    constant_model,
    restricted,
    surface_bound,
    surface_objective,
    with_exact_zeros,
)

# Number of features in the first working set, and the smallest number by which it grows.
FIRST_FEATURES = 10
# Problems on a working set are solved to this share of the tolerance, and to a tenth of it if that is not enough.
SHARE = 0.5
SMALLEST_TOLERANCE = 1e-13
# Iterations of alternating directions before Newton steps follow.
SPLITTING_ITERATIONS = 400
RELAXATION = 1.6
CHECK_EVERY = 20
# If the squares of the residuals differ by more than this factor, the penalties change by `STEP`, at most `CHANGES`
# times.
APART = 16.0
STEP = 5.0
CHANGES = 8
# Up to this many coefficients the steps multiply by an inverse.
INVERTED = 400
PENALTY_GROWTH = 5.0
PENALTY_RANGE = 1e6
# Inner problems of the Newton steps are solved until the Newton decrement is this share of the tolerance. If that holds
# from the start, the share is reduced for the following ones.
INNER_ACCURACY = 0.05
INNER_DIVISOR = 100.0
SMALLEST_ACCURACY = 1e-18
MAX_INNER = 50
MAX_OUTER = 40


class Point(NamedTuple):
    """Coefficients, and the dual variables of hinges and groups."""

    w: Floats  # (r,), the intercept last
    p: Floats  # (n_p,), slopes of the hinges
    v: Floats  # (m, m + 1), multipliers of the groups


class Penalties(NamedTuple):
    """Penalties of the splitting."""

    rho_h: float  # of hinges
    rho_t: float  # of groups

    def times(self, factor: float) -> Penalties:
        """Return both times a factor."""
        return Penalties(factor * self.rho_h, factor * self.rho_t)


class Tolerance(NamedTuple):
    """The gap at which to stop; the larger one counts."""

    relative: float  # to the objective
    absolute: float

    def at(self, value: float) -> float:
        """Return the gap at an objective."""
        return max(self.relative * value, self.absolute)

    def times(self, factor: float) -> Tolerance:
        """Return both times a factor."""
        return Tolerance(factor * self.relative, factor * self.absolute)


def solve_surface(
    problem: SurfaceProblem,
    lam1: float,
    tol: float = 1e-6,
    max_iter: int = 500,
    start: SurfaceSolution | None = None,
    allowed: float = 0.0,
) -> SurfaceSolution:
    """Minimize EKF-GLPUAL's objective (4.26) to a proven relative gap."""
    m = problem.m
    w, p = constant_model(problem)
    v = np.zeros((m, m + 1))
    chosen = np.zeros(m, dtype=bool)
    if start is not None:
        w, p, v = start.coef.copy(), start.dual, start.multipliers
        chosen = np.any(w[surface_groups(m)] != 0.0, axis=1)
    n_iter, radius, wanted = 0, 0.5 * lam1, Tolerance(tol, allowed)
    target = wanted.times(SHARE)
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
                converged=bool(value - bound <= wanted.at(value)),
            )
        outside = np.where(chosen, 0.0, needed)
        violating = np.flatnonzero(outside > 0.5 * lam1 * (1.0 + 1e-9))
        if len(violating):
            order = violating[np.argsort(-outside[violating])]
            chosen[order[: max(FIRST_FEATURES, np.count_nonzero(chosen))]] = True
        elif n_iter:
            target = target.times(0.1)
        if best.converged or not chosen.any() or target.relative < SMALLEST_TOLERANCE:
            return replace(best, n_iter=n_iter)
        (w, p, v), steps = _on_features(problem, np.flatnonzero(chosen), lam1, target, max_iter, Point(w, p, v))
        n_iter += steps


def _on_features(
    problem: SurfaceProblem, features: Ints, lam1: float, tolerance: Tolerance, max_iter: int, start: Point
) -> tuple[Point, int]:
    """Solve the problem on the surface of some features; return the full-size point and the iterations."""
    sub, place = restricted(problem, features)
    inner = np.ix_(features, np.append(features, problem.m))
    # hinges are smoothed over a zone of width 1 in f, groups over their size when f is about 1
    mean_square = float(np.sum(sub.Zp[:, :-1] ** 2)) / max(len(sub.Zp), 1)
    penalties = Penalties(sub.c_p, 0.5 * lam1 * np.sqrt(mean_square / (sub.m + 1)))
    found = Point(start.w[place], start.p, start.v[inner])
    found, steps, penalties, converged = _alternate(sub, lam1, tolerance, found, penalties)
    if not converged:
        found, more = newton(sub, lam1, tolerance, max_iter, found, penalties)
        steps += more
    w, v = np.zeros_like(start.w), np.zeros_like(start.v)
    w[place], v[inner] = found.w, found.v
    return Point(w, found.p, v), steps


@njit(cache=True)
def _pull(  # noqa: PLR0913
    b: Floats,
    Zp: Floats,
    groups: Ints,
    rho_h: float,
    rho_t: float,
    p: Floats,
    v: Floats,
    z_h: Floats,
    z_t: Floats,
) -> Floats:
    """Return the right-hand side (r,) of the system for w."""
    rhs: Floats = np.dot(rho_h * (1.0 + z_h) - p, Zp) - b
    m, width = groups.shape
    for j in range(m):
        for k in range(width):
            rhs[groups[j, k]] += rho_t * z_t[j, k] - v[j, k]
    return rhs


@njit(cache=True)
def _split(  # noqa: PLR0913
    Zp: Floats,
    c_p: float,
    groups: Ints,
    radius: float,
    rho_h: float,
    rho_t: float,
    w: Floats,
    p: Floats,
    v: Floats,
    z_h: Floats,
    z_t: Floats,
) -> tuple[float, float]:
    """Update p, v, z_h and z_t, in place; return the squares of the primal residual and of the move of z."""
    m, width = groups.shape
    y = np.empty(width)
    t = np.dot(Zp, w)
    primal = 0.0
    moved = 0.0
    for i in range(Zp.shape[0]):
        distance = t[i] - 1.0
        target = p[i] + rho_h * (RELAXATION * distance + (1.0 - RELAXATION) * z_h[i])
        p[i] = min(max(target, -c_p), 0.0)
        z = (target - p[i]) / rho_h
        moved += rho_h * (z - z_h[i]) ** 2
        primal += rho_h * (distance - z) ** 2
        z_h[i] = z
    for j in range(m):
        norm = 0.0
        for k in range(width):
            y[k] = v[j, k] + rho_t * (RELAXATION * w[groups[j, k]] + (1.0 - RELAXATION) * z_t[j, k])
            norm += y[k] * y[k]
        norm = np.sqrt(norm)
        shrink = 1.0 if norm <= radius else radius / norm
        for k in range(width):
            v[j, k] = shrink * y[k]
            z = 0.0 if norm <= radius else (1.0 - shrink) * y[k] / rho_t
            moved += rho_t * (z - z_t[j, k]) ** 2
            primal += rho_t * (w[groups[j, k]] - z) ** 2
            z_t[j, k] = z
    return primal, moved


@njit(cache=True)
def _iterate(  # noqa: PLR0913
    inverse: Floats,
    b: Floats,
    Zp: Floats,
    c_p: float,
    groups: Ints,
    radius: float,
    rho_h: float,
    rho_t: float,
    w: Floats,
    p: Floats,
    v: Floats,
    z_h: Floats,
    z_t: Floats,
) -> tuple[float, float]:
    """Take `CHECK_EVERY` steps, in place in w, p, v, z_h and z_t; return what `_split` does."""
    primal, moved = 0.0, 0.0
    for _ in range(CHECK_EVERY):
        new = np.dot(inverse, _pull(b, Zp, groups, rho_h, rho_t, p, v, z_h, z_t))
        for k in range(w.shape[0]):
            w[k] = new[k]
        primal, moved = _split(Zp, c_p, groups, radius, rho_h, rho_t, w, p, v, z_h, z_t)
    return primal, moved


def _alternate(
    problem: SurfaceProblem, lam1: float, tolerance: Tolerance, start: Point, penalties: Penalties
) -> tuple[Point, int, Penalties, bool]:
    """Alternate until the gap is within the tolerance, or `SPLITTING_ITERATIONS` are done.

    Returns the last point, w with exact zeros, the number of iterations, the final penalties, and whether the tolerance
    was reached.
    """
    everything = np.ones(problem.m, dtype=bool)
    b, Zp, c_p = problem.b, problem.Zp, problem.c_p
    groups, radius = surface_groups(problem.m), 0.5 * lam1
    owners = np.append(np.bincount(groups.ravel(), minlength=len(b) - 1), 0.0)
    ZZ = Zp.T @ Zp
    w, p, v = (part.copy() for part in start)
    z_h, z_t = Zp @ w - 1.0, w[groups]
    system: Floats | tuple[Floats, Cholesky] | None = None
    changes, iteration = 0, 0
    while True:
        if system is None:
            H = penalties.rho_h * ZZ
            H += problem.A
            H[np.diag_indices(len(w))] += penalties.rho_t * owners
            # the inverse takes thrice the operations of the factor: of large matrices more than it saves in the steps
            system = inverse_of(H) if len(H) <= INVERTED else scaled_cholesky(H, overwrite=True)
        if isinstance(system, np.ndarray):
            primal, moved = _iterate(system, b, Zp, c_p, groups, radius, *penalties, w, p, v, z_h, z_t)
        else:
            d, factor = system
            for _ in range(CHECK_EVERY):
                rhs = _pull(b, Zp, groups, *penalties, p, v, z_h, z_t)
                w[:] = d * cho_solve(factor, d * rhs, overwrite_b=True, check_finite=False)
                primal, moved = _split(Zp, c_p, groups, radius, *penalties, w, p, v, z_h, z_t)
        iteration += CHECK_EVERY
        sparse = with_exact_zeros(problem, w, ~np.any(z_t != 0.0, axis=1))
        value = surface_objective(problem, sparse, lam1)
        enough = value - tolerance.at(value)
        converged = surface_bound(problem, sparse, p, v, lam1, everything, enough)[0] >= enough
        if converged or iteration >= SPLITTING_ITERATIONS:
            return Point(sparse, p, v), iteration, penalties, bool(converged)
        if changes < CHANGES and (primal > APART * moved or moved > APART * primal):
            penalties = penalties.times(STEP if primal > moved else 1.0 / STEP)
            system, changes = None, changes + 1


def newton(
    problem: SurfaceProblem, lam1: float, tolerance: Tolerance, max_iter: int, start: Point, penalties: Penalties
) -> tuple[Point, int]:
    """Return the point with the smallest gap, w with exact zeros, and the Newton steps, about `max_iter` at most.

    Late steps can lose accuracy to rounding.
    """
    everything = np.ones(problem.m, dtype=bool)
    accuracy = INNER_ACCURACY * max(tolerance.relative, tolerance.absolute / surface_objective(problem, start.w, lam1))
    n_iter, smallest, growth = 0, np.inf, 1.0
    point = best = start
    for _ in range(MAX_OUTER):
        if n_iter >= max_iter:
            break
        point, zero, steps = _lagrangian_step(problem, lam1, point, penalties, accuracy)
        n_iter += max(steps, 1)
        sparse = with_exact_zeros(problem, point.w, zero)
        value = surface_objective(problem, sparse, lam1)
        gap = value - surface_bound(problem, sparse, point.p, point.v, lam1, everything)[0]
        if gap < smallest:
            smallest, best = gap, point._replace(w=sparse)
        if gap <= tolerance.at(value):
            break
        if steps == 0:
            accuracy = max(accuracy / INNER_DIVISOR, SMALLEST_ACCURACY)
        if growth < PENALTY_RANGE:
            penalties, growth = penalties.times(PENALTY_GROWTH), PENALTY_GROWTH * growth
    return best, n_iter


def _lagrangian_step(
    problem: SurfaceProblem, lam1: float, start: Point, penalties: Penalties, accuracy: float
) -> tuple[Point, Bools, int]:
    """Minimize the augmented Lagrangian once and update the multipliers.

    Returns the point, which groups (m,) are zero, and the number of Newton steps.
    """
    A, b, Zp, c_p, m = problem.A, problem.b, problem.Zp, problem.c_p, problem.m
    groups, radius = surface_groups(m), 0.5 * lam1
    (w, p, v), (rho_h, rho_t) = start, penalties
    steps = 0

    def multipliers(w: Floats) -> tuple[Floats, Floats, Floats, Floats, float]:
        t = Zp @ w - 1.0
        q = np.clip(p + rho_h * t, -c_p, 0.0)
        y = v + rho_t * w[groups]
        norms = np.linalg.norm(y, axis=1)
        u = y * (radius / np.maximum(norms, max(radius, 1e-300)))[:, None]
        value = float(q @ t) - float(np.sum((q - p) ** 2)) / (2.0 * rho_h)
        value += float(np.sum(u * w[groups])) - float(np.sum((u - v) ** 2)) / (2.0 * rho_t)
        return q, u, y, norms, value

    q, u, y, norms, value = multipliers(w)
    value += 0.5 * float(w @ A @ w) + float(b @ w)
    while steps < MAX_INNER:
        gradient = A @ w + b + Zp.T @ q
        np.add.at(gradient, groups.ravel(), u.ravel())
        on_kink = (q > -c_p) & (q < 0.0)
        H = A + rho_h * (Zp[on_kink].T @ Zp[on_kink])
        shrink = radius / np.maximum(norms, max(radius, 1e-300))
        for j in range(m):
            block = np.eye(m + 1)
            if norms[j] > radius:
                block -= np.outer(y[j], y[j] / norms[j] ** 2)
            H[np.ix_(groups[j], groups[j])] += rho_t * shrink[j] * block
        d, factor = scaled_cholesky(H, overwrite=True)
        direction = -(d * cho_solve(factor, d * gradient, check_finite=False))
        slope = float(gradient @ direction)
        if -0.5 * slope <= accuracy * (abs(value) + problem.constant):
            break
        steps += 1
        length = 1.0
        while True:
            trial = w + length * direction
            q, u, y, norms, new = multipliers(trial)
            new += 0.5 * float(trial @ A @ trial) + float(b @ trial)
            if new <= value + 1e-4 * length * slope + 1e-14 * abs(value) or length < 1e-10:
                break
            length *= 0.5
        w, value = trial, new
    return Point(w, q, u), norms <= radius, steps
