"""Elastic GLPUAL by the five-block alternating direction method of Wang 2024, section 4.2 (eq. 4.3-4.21).

All terms are split: h = 1 - f on labeled rows, a = 1 + f on unlabeled rows, t = beta and b = f. An iteration costs one
product with all rows and one sparse solve with 2R + mu I. The method is kept for comparison:
`pucli.solvers.elastic.dual` minimizes the same objective without a penalty to choose. One penalty `mu` replaces the
four of the text.
"""

from __future__ import annotations

from collections.abc import Callable

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
    """Return the factorized sparse matrix 2R + mu I of (4.21)."""
    i, j, weight = edges
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([i, j, j, i])
    R = coo_array((np.concatenate([weight, weight, -weight, -weight]), (rows, columns)), shape=(n, n))
    return splu(csc_array(2.0 * R + mu * eye_array(n)))


class RowSplitting:
    """The copies h, a and b of (4.3), their multipliers u_h, u_a and q, and the rows' part of the system for w.

    Parameters
    ----------
    rows : GlobalLocalProblem
        Rows (n, r), with a last column of ones.
    mu : float
        Penalty of the splitting, positive.
    smooth : callable
        Solves (2R + mu I) b = its argument (n,), (4.21).
    copies : tuple of two float
        First values of h and a, and of b.
    multipliers : float
        First value of u_h, u_a and q.
    """

    def __init__(
        self,
        rows: GlobalLocalProblem,
        mu: float,
        smooth: Callable[[Floats], Floats],
        copies: tuple[float, float] = (1.0, 0.0),
        multipliers: float = 0.0,
    ) -> None:
        self.rows, self.mu, self.smooth, self.Zp, self.Zu = rows, mu, smooth, rows.Zp, rows.Zu
        n_p, n_u, n = len(self.Zp), len(self.Zu), len(rows.Z)
        self.system = mu * (self.Zp.T @ self.Zp + self.Zu.T @ self.Zu + rows.Z.T @ rows.Z)
        self.h, self.a, self.b = np.full(n_p, copies[0]), np.full(n_u, copies[0]), np.full(n, copies[1])
        self.u_h, self.u_a, self.q = (np.full(size, multipliers) for size in (n_p, n_u, n))

    def pulls(self) -> tuple[Floats, Floats]:
        """Return the parts (r,) of the right-hand side for w that come from h and a, and from b."""
        mu = self.mu
        of_losses = self.Zp.T @ (self.u_h + mu * (1.0 - self.h)) - self.Zu.T @ (self.u_a + mu * (1.0 - self.a))
        return of_losses, self.rows.Z.T @ (mu * self.b - self.q)

    def follow(self, w: Floats) -> None:
        """Update the copies and the multipliers, given w (r,)."""
        mu, (Z, labeled, _, _, c_p, c_u) = self.mu, self.rows
        f = Z @ w
        f_p, f_u = f[labeled], f[~labeled]
        self.h = shrink_hinge(1.0 + self.u_h / mu - f_p, c_p / mu)  # (4.14), (4.33)
        self.a = (self.u_a + mu * (1.0 + f_u)) / (2.0 * c_u + mu)  # (4.17), (4.35)
        self.b = self.smooth(self.q + mu * f)  # (4.21), (4.37)
        self.u_h = self.u_h + mu * (1.0 - f_p - self.h)
        self.u_a = self.u_a + mu * (1.0 + f_u - self.a)
        self.q = self.q + mu * (f - self.b)


def solve_elastic_admm(
    problem: GlobalLocalProblem,
    lam1: float,
    mu: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 50000,
) -> Solution:
    """Minimize E-GLPUAL's objective (4.1) by the printed updates (4.8); the result is that of `solve_elastic`.

    The coefficients are t, whose zeros are exact, and the intercept is that of the last update.
    """
    problem, center = problem.near_origin()
    n, r = problem.Z.shape
    A, b_linear = problem.quadratic_part()
    split = RowSplitting(problem, mu, shifted_laplacian(problem.edges, n, mu).solve)
    split.system[np.diag_indices(r - 1)] += mu + problem.lam
    factor = cho_factor(split.system, lower=True, check_finite=False)
    inverse_quadratic = cho_factor(A, lower=True, check_finite=False)
    Zp, t, v = split.Zp, np.zeros(r), np.zeros(r)
    w, p, value, gap, iteration = np.zeros(r), np.zeros(len(Zp) + r - 1), np.inf, np.inf, 0
    while iteration < max_iter:
        iteration += 1
        of_losses, of_copies = split.pulls()
        solution = cho_solve(factor, of_losses - v + of_copies + mu * t, check_finite=False)  # (4.10)
        t[:-1] = soft_threshold(solution[:-1] + v[:-1] / mu, 0.5 * lam1 / mu)  # (4.19)
        v[:-1] += mu * (solution[:-1] - t[:-1])
        split.follow(solution)
        if iteration % CHECK_EVERY == 0 or iteration == max_iter:
            w = np.append(t[:-1], solution[-1])
            p = np.concatenate([-np.clip(split.u_h, 0.0, problem.c_p), np.clip(v[:-1], -0.5 * lam1, 0.5 * lam1)])
            value = elastic_objective(w, problem, lam1)
            gap = value - elastic_bound(p, inverse_quadratic, b_linear, Zp, problem.constant)
            if gap <= tol * value:
                break
    gap = max(float(gap), 0.0)
    converged = within(gap, value, tol)
    return Solution(
        coef=with_offset(w, center), dual=p, objective=value, gap=gap, n_iter=iteration, converged=converged
    )
