"""Elastic GLPUAL by the five-block alternating direction method of Wang 2024, section 4.2 (eq. 4.3-4.21).

All terms are split: h = 1 - f on labelled rows, a = 1 + f on unlabeled rows, t = beta and b = f. An iteration costs one
product with all rows and one sparse solve with 2R + mu I. The method is kept for comparison:
`pucli.solvers.elastic.dual` minimises the same objective without a penalty to choose. One penalty `mu` replaces the
four of the text.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array, csc_array, eye_array
from scipy.sparse.linalg import SuperLU, splu

from pucli.core.arrays import Floats
from pucli.solvers.elastic.dual import elastic_bound, elastic_objective
from pucli.solvers.glpual.admm import shrink_hinge
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.graph import Edges
from pucli.solvers.kernels.intercept import with_offset
from pucli.solvers.result import Solution, within

# Iterations between computations of the gap.
CHECK_EVERY = 20


def soft_threshold(d: Floats, c: float | Floats) -> Floats:
    """Return argmin_t c |t| + (t - d)^2 / 2, elementwise (4.19)."""
    return np.sign(d) * np.maximum(np.abs(d) - c, 0.0)


def shifted_laplacian(edges: Edges, n: int, mu: float) -> SuperLU:
    """Return the factorised sparse matrix 2R + mu I of (4.21).

    Parameters
    ----------
    edges : Edges
        Ends and weights of the edges of the graph.
    n : int
        Number of rows.
    mu : float
        Penalty of the splitting, positive.
    """
    i, j, weight = edges
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([i, j, j, i])
    R = coo_array((np.concatenate([weight, weight, -weight, -weight]), (rows, columns)), shape=(n, n))
    return splu(csc_array(2.0 * R + mu * eye_array(n)))


def solve_elastic_admm(
    problem: GlobalLocalProblem,
    lam1: float,
    mu: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 50000,
) -> Solution:
    """Minimise E-GLPUAL's objective (4.1) by the printed updates (4.8); the result is that of `solve_elastic`.

    The coefficients are t, whose zeros are exact, and the intercept is that of the last update.

    Parameters
    ----------
    problem : GlobalLocalProblem
        Features, labels, graph and weights; its ridge is lam2.
    lam1 : float
        Weight of the L1 penalty, as in `pucli.solvers.elastic.dual.solve_elastic`.
    mu : float, default 1.0
        Penalty, positive.
    tol : float, default 1e-6
        Gap at which to stop, relative to the objective. It is that of the multipliers, clipped to their bounds.
    max_iter : int, default 50000
        Largest number of iterations.
    """
    problem, centre = problem.near_origin()
    Z, labelled, edges, lam2, c_p, c_u = problem
    n, r = Z.shape
    Zp, Zu = problem.Zp, problem.Zu
    A, b_linear = problem.quadratic_part()
    laplacian = shifted_laplacian(edges, n, mu)
    system = mu * (Zp.T @ Zp + Zu.T @ Zu + Z.T @ Z)
    system[np.diag_indices(r - 1)] += mu + lam2
    factor = cho_factor(system, lower=True, check_finite=False)
    inverse_quadratic = cho_factor(A, lower=True, check_finite=False)
    h, a, t, b = np.ones(len(Zp)), np.ones(len(Zu)), np.zeros(r), np.zeros(n)
    u_h, u_a, v, q = np.zeros(len(Zp)), np.zeros(len(Zu)), np.zeros(r), np.zeros(n)
    w, p, value, gap, iteration = np.zeros(r), np.zeros(len(Zp) + r - 1), np.inf, np.inf, 0
    while iteration < max_iter:
        iteration += 1
        rhs = Zp.T @ (u_h + mu * (1.0 - h)) - Zu.T @ (u_a + mu * (1.0 - a)) - v + Z.T @ (mu * b - q) + mu * t
        solution = cho_solve(factor, rhs, check_finite=False)  # (4.10)
        f = Z @ solution
        f_p, f_u = f[labelled], f[~labelled]
        h = shrink_hinge(1.0 + u_h / mu - f_p, c_p / mu)  # (4.14)
        a = (u_a + mu * (1.0 + f_u)) / (2.0 * c_u + mu)  # (4.17)
        t[:-1] = soft_threshold(solution[:-1] + v[:-1] / mu, 0.5 * lam1 / mu)  # (4.19)
        b = laplacian.solve(q + mu * f)  # (4.21)
        u_h = u_h + mu * (1.0 - f_p - h)
        u_a = u_a + mu * (1.0 + f_u - a)
        v[:-1] += mu * (solution[:-1] - t[:-1])
        q = q + mu * (f - b)
        if iteration % CHECK_EVERY == 0 or iteration == max_iter:
            w = np.append(t[:-1], solution[-1])
            p = np.concatenate([-np.clip(u_h, 0.0, c_p), np.clip(v[:-1], -0.5 * lam1, 0.5 * lam1)])
            value = elastic_objective(w, problem, lam1)
            gap = value - elastic_bound(p, inverse_quadratic, b_linear, Zp, problem.constant)
            if gap <= tol * value:
                break
    gap = max(float(gap), 0.0)
    converged = within(gap, value, tol)
    return Solution(
        coef=with_offset(w, centre), dual=p, objective=value, gap=gap, n_iter=iteration, converged=converged
    )
