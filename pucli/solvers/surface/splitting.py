"""Elastic kernel-free GLPUAL by alternating directions that split only hinges and groups.

The quadratic terms stay in the matrix A of `pucli.solvers.surface.problem`, so an iteration takes one product with the
inverse of A + rho_h Zp'Zp + rho_t D'D and two with the labelled rows. Steps are over-relaxed (Eckstein and Bertsekas
1992). Both penalties change by a common factor when the two residuals drift apart (He, Yang and Wang 2000).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import cho_solve

from pucli.core.arrays import Floats, Ints
from pucli.solvers.kernels.cholesky import Cholesky, inverse_of, scaled_cholesky
from pucli.solvers.kernels.quadratic_surface import surface_groups
from pucli.solvers.surface.problem import (
    SurfaceProblem,
    surface_bound,
    surface_objective,
    with_exact_zeros,
)

RELAXATION = 1.6
CHECK_EVERY = 20
# If the squares of the residuals differ by more than this factor, the penalties change by `STEP`, at most `CHANGES`
# times.
APART = 16.0
STEP = 5.0
CHANGES = 8
# Up to this many coefficients the steps multiply by an inverse.
INVERTED = 400


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
    n_iter: int,
) -> tuple[float, float]:
    """Take `n_iter` steps, in place in w, p, v, z_h and z_t; return what `_split` does."""
    primal, moved = 0.0, 0.0
    for _ in range(n_iter):
        new = np.dot(inverse, _pull(b, Zp, groups, rho_h, rho_t, p, v, z_h, z_t))
        for k in range(w.shape[0]):
            w[k] = new[k]
        primal, moved = _split(Zp, c_p, groups, radius, rho_h, rho_t, w, p, v, z_h, z_t)
    return primal, moved


def alternate(
    problem: SurfaceProblem,
    lam1: float,
    tolerance: tuple[float, float],
    max_iter: int,
    w: Floats,
    p: Floats,
    v: Floats,
    penalties: tuple[float, float],
) -> tuple[Floats, Floats, Floats, int, tuple[float, float], bool]:
    """Take steps until the gap is within a tolerance.

    Parameters
    ----------
    problem : SurfaceProblem
        The problem.
    lam1 : float
        Group penalty.
    tolerance : tuple of float
        Gap at which to stop, relative to the objective; and absolute. The larger one counts.
    max_iter : int
        Largest number of iterations.
    w, p, v : ndarray
        Starting point: coefficients, slopes of hinges, multipliers of groups.
    penalties : tuple of float
        Initial rho_h and rho_t.

    Returns
    -------
    w, p, v : ndarray
        The last point, w with exact zeros.
    n_iter, penalties, converged : int, tuple of float and bool
        Number of iterations, the final rho_h and rho_t, and whether the tolerance was reached.
    """
    everything = np.ones(problem.m, dtype=bool)
    groups, radius = surface_groups(problem.m), 0.5 * lam1
    owners = np.append(np.bincount(groups.ravel(), minlength=len(problem.b) - 1), 0.0)
    ZZ = problem.Zp.T @ problem.Zp
    rho_h, rho_t = penalties
    w, p, v = w.copy(), p.copy(), v.copy()
    z_h, z_t = problem.Zp @ w - 1.0, w[groups]
    system: Floats | tuple[Floats, Cholesky] | None = None
    changes, iteration = 0, 0
    while True:
        if system is None:
            H = rho_h * ZZ
            H += problem.A
            H[np.diag_indices(len(w))] += rho_t * owners
            # the inverse takes thrice the operations of the factor: of large matrices more than it saves in the steps
            system = inverse_of(H) if len(H) <= INVERTED else scaled_cholesky(H, overwrite=True)
        primal, moved = _advance(system, problem, groups, radius, (rho_h, rho_t), (w, p, v, z_h, z_t))
        iteration += CHECK_EVERY
        sparse = with_exact_zeros(problem, w, ~np.any(z_t != 0.0, axis=1))
        value = surface_objective(problem, sparse, lam1)
        enough = value - max(tolerance[0] * value, tolerance[1])
        converged = surface_bound(problem, sparse, p, v, lam1, everything, enough)[0] >= enough
        if converged or iteration >= max_iter:
            return sparse, p, v, iteration, (rho_h, rho_t), bool(converged)
        if changes < CHANGES and (primal > APART * moved or moved > APART * primal):
            factor_of_change = STEP if primal > moved else 1.0 / STEP
            rho_h, rho_t = factor_of_change * rho_h, factor_of_change * rho_t
            system, changes = None, changes + 1


def _advance(
    system: Floats | tuple[Floats, Cholesky],
    problem: SurfaceProblem,
    groups: Ints,
    radius: float,
    penalties: tuple[float, float],
    point: tuple[Floats, Floats, Floats, Floats, Floats],
) -> tuple[float, float]:
    """Take `CHECK_EVERY` steps with the inverse or the factor of their matrix; results as in `_split`.

    `point` is w, p, v, z_h and z_t, updated in place.
    """
    w, p, v, z_h, z_t = point
    b, Zp, c_p = problem.b, problem.Zp, problem.c_p
    if isinstance(system, np.ndarray):
        return _iterate(system, b, Zp, c_p, groups, radius, *penalties, w, p, v, z_h, z_t, CHECK_EVERY)
    d, factor = system
    residuals = (0.0, 0.0)
    for _ in range(CHECK_EVERY):
        rhs = _pull(b, Zp, groups, *penalties, p, v, z_h, z_t)
        w[:] = d * cho_solve(factor, d * rhs, overwrite_b=True, check_finite=False)
        residuals = _split(Zp, c_p, groups, radius, *penalties, w, p, v, z_h, z_t)
    return residuals
