"""Elastic kernel-free GLPUAL by alternating directions that split only hinges and groups.

The quadratic terms stay in the matrix A of `pucli.solvers.surface.problem`, so an iteration takes one product with the
inverse of A + rho_h Zp'Zp + rho_t D'D and two with the labelled rows. Steps are over-relaxed (Eckstein and Bertsekas
1992). Both penalties change by a common factor when the two residuals drift apart (He, Yang and Wang 2000).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import cho_solve

from pucli.arrays import Floats, Ints
from pucli.kernels.quadratic_surface import surface_groups
from pucli.solvers.surface.problem import (
    SurfaceProblem,
    scaled_cholesky,
    surface_bound,
    surface_objective,
    with_exact_zeros,
)

RELAXATION = 1.6
CHECK_EVERY = 20
# If the residuals differ by more than this factor, the penalties change by `STEP`, at most `CHANGES` times.
APART = 4.0
STEP = 5.0
CHANGES = 8


@njit(cache=True)
def _iterate(
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
    """Take `n_iter` steps, in place in w, p, v, z_h and z_t; return the last primal residual and the last move of z."""
    n_p = Zp.shape[0]
    m, width = groups.shape
    rhs = np.empty_like(w)
    y = np.empty(width)
    primal = 0.0
    moved = 0.0
    for _ in range(n_iter):
        rhs[:] = np.dot(rho_h * (1.0 + z_h) - p, Zp) - b
        for j in range(m):
            for k in range(width):
                rhs[groups[j, k]] += rho_t * z_t[j, k] - v[j, k]
        w[:] = np.dot(inverse, rhs)
        t = np.dot(Zp, w)
        primal = 0.0
        moved = 0.0
        for i in range(n_p):
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
    return np.sqrt(primal), np.sqrt(moved)


def alternate(
    problem: SurfaceProblem,
    lam1: float,
    tol: float,
    max_iter: int,
    w: Floats,
    p: Floats,
    v: Floats,
    penalties: tuple[float, float],
) -> tuple[Floats, Floats, Floats, int, tuple[float, float], bool]:
    """Take steps until the relative gap is within a tolerance.

    Parameters
    ----------
    problem : SurfaceProblem
        The problem.
    lam1 : float
        Group penalty.
    tol : float
        Gap at which to stop, relative to the objective.
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
    n_iter : int
        Number of iterations.
    penalties : tuple of float
        The final rho_h and rho_t.
    converged : bool
        Whether the tolerance was reached.
    """
    everything = np.ones(problem.m, dtype=bool)
    groups, radius = surface_groups(problem.m), 0.5 * lam1
    owners = np.append(np.bincount(groups.ravel(), minlength=len(problem.b) - 1), 0.0)
    ZZ = problem.Zp.T @ problem.Zp
    rho_h, rho_t = penalties
    w, p, v = w.copy(), p.copy(), v.copy()
    z_h, z_t = problem.Zp @ w - 1.0, w[groups]
    inverse, changes, iteration = None, 0, 0
    while True:
        if inverse is None:
            H = problem.A + rho_h * ZZ
            H[np.diag_indices(len(w))] += rho_t * owners
            d, factor = scaled_cholesky(H)
            inverse = d[:, None] * cho_solve(factor, np.diag(d), check_finite=False)
        primal, moved = _iterate(
            inverse, problem.b, problem.Zp, problem.c_p, groups, radius, rho_h, rho_t, w, p, v, z_h, z_t, CHECK_EVERY
        )
        iteration += CHECK_EVERY
        sparse = with_exact_zeros(problem, w, ~np.any(z_t != 0.0, axis=1))
        value = surface_objective(problem, sparse, lam1)
        converged = value - surface_bound(problem, sparse, p, v, lam1, everything)[0] <= tol * value
        if converged or iteration >= max_iter:
            return sparse, p, v, iteration, (rho_h, rho_t), bool(converged)
        if changes < CHANGES and (primal > APART * moved or moved > APART * primal):
            factor_of_change = STEP if primal > moved else 1.0 / STEP
            rho_h, rho_t = factor_of_change * rho_h, factor_of_change * rho_t
            inverse, changes = None, changes + 1
