"""Elastic kernel-free GLPUAL by the five-block alternating direction method of Wang 2024, section 4.4 (eq. 4.27-4.43).

All terms are split: h = 1 - f on labelled rows, a = 1 + f on unlabeled rows, t = D alpha and b = f. An iteration costs
products with all rows. The threshold of (4.33) is c_p / mu, as derived, not the printed c_p. The method is kept for
comparison with `pucli.solvers.surface.working_set`. One penalty `mu` replaces the four of the text.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Floats
from pucli.solvers.elastic.admm import CHECK_EVERY, shifted_laplacian
from pucli.solvers.glpual.admm import shrink_hinge
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.quadratic_surface import surface_groups
from pucli.solvers.surface.problem import (
    SurfaceSolution,
    surface_bound,
    surface_objective,
    surface_problem,
    with_exact_zeros,
)


def shrink_groups(d: Floats, c: float) -> Floats:
    """Return argmin_t c sum_j |t_j| + |t - d|^2 / 2 for the rows t_j (4.42)."""
    norms = np.linalg.norm(d, axis=1, keepdims=True)
    t: Floats = np.maximum(1.0 - c / np.maximum(norms, 1e-300), 0.0) * d
    return t


def solve_surface_admm(
    rows: GlobalLocalProblem,
    G: Floats,
    lam1: float,
    mu: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 20000,
) -> SurfaceSolution:
    """Minimise EKF-GLPUAL's objective (4.26) by the printed updates (4.28).

    Parameters
    ----------
    rows : GlobalLocalProblem
        Surface features of the rows (n, r), with a last column of ones; the ridge is lam2, on the gradients of f.
    G : ndarray of shape (r - 1, r - 1)
        Matrix of `pucli.solvers.kernels.quadratic_surface.surface_ridge`.
    lam1 : float
        Group penalty, positive.
    mu : float, default 1.0
        Penalty of the splitting, positive.
    tol : float, default 1e-6
        Gap at which to stop, relative to the objective.
    max_iter : int, default 20000
        Largest number of iterations, at least 1.

    Returns
    -------
    SurfaceSolution
        The coefficients of the last update (4.30), with those groups set to zero that are zero in t.
    """
    problem = surface_problem(rows, G)
    Z, labelled, edges, lam2, c_p, c_u = rows
    groups = surface_groups(problem.m)
    n, r = Z.shape
    Zp, Zu = rows.Zp, rows.Zu
    laplacian = shifted_laplacian(edges, n, mu)
    system = mu * (Zp.T @ Zp + Zu.T @ Zu + Z.T @ Z)
    system[:-1, :-1] += lam2 * G
    system[np.diag_indices(r - 1)] += mu * np.bincount(groups.ravel(), minlength=r - 1)
    factor = cho_factor(system, lower=True, check_finite=False)
    h, a, t, b = np.ones(len(Zp)), np.ones(len(Zu)), np.zeros(groups.shape), np.zeros(n)
    u_h, u_a, v, q = np.zeros(len(Zp)), np.zeros(len(Zu)), np.zeros(groups.shape), np.zeros(n)
    best: SurfaceSolution | None = None
    iteration = 0
    while iteration < max_iter:
        iteration += 1
        rhs = Zp.T @ (u_h + mu * (1.0 - h)) - Zu.T @ (u_a + mu * (1.0 - a)) + Z.T @ (mu * b - q)
        np.add.at(rhs, groups.ravel(), (mu * t - v).ravel())
        w = cho_solve(factor, rhs, check_finite=False)  # (4.30)
        f = Z @ w
        f_p, f_u = f[labelled], f[~labelled]
        h = shrink_hinge(1.0 + u_h / mu - f_p, c_p / mu)  # (4.33)
        a = (u_a + mu * (1.0 + f_u)) / (2.0 * c_u + mu)  # (4.35)
        b = laplacian.solve(q + mu * f)  # (4.37)
        t = shrink_groups(w[groups] + v / mu, 0.5 * lam1 / mu)  # (4.43)
        u_h = u_h + mu * (1.0 - f_p - h)
        u_a = u_a + mu * (1.0 + f_u - a)
        v = v + mu * (w[groups] - t)
        q = q + mu * (f - b)
        if iteration % CHECK_EVERY == 0 or iteration == max_iter:
            zero = ~np.any(t != 0.0, axis=1)
            sparse = with_exact_zeros(problem, w, zero)
            p = -np.clip(u_h, 0.0, c_p)
            value = surface_objective(problem, sparse, lam1)
            bound, _, multipliers = surface_bound(problem, sparse, p, v, lam1, ~zero)
            gap = max(value - bound, 0.0)
            best = SurfaceSolution(
                coef=sparse,
                dual=p,
                multipliers=multipliers,
                objective=value,
                gap=gap,
                n_iter=iteration,
                converged=bool(gap <= tol * value),
            )
            if best.converged:
                break
    assert best is not None
    return best
