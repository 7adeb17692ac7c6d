"""GLPUAL by the alternating direction method of multipliers of Wang 2024, section 3.3 (eq. 3.6-3.13).

It minimizes the objective of `pucli.solvers.glpual.problem`, split as h = 1 - f on the labeled rows. Its speed and
accuracy depend on the penalty mu (mu_1 in print), a parameter that `pucli.solvers.glpual.dual` does not have.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Floats
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.intercept import with_offset
from pucli.solvers.result import Solution, within


def shrink_hinge(d: Floats, c: float) -> Floats:
    """Return argmin_x c [x]_+ + (x - d)^2 / 2, elementwise (3.12)."""
    return np.where(d > c, d - c, np.minimum(d, 0.0))


def solve_glpual_admm(
    problem: GlobalLocalProblem, mu: float = 1.0, tol: float = 1e-6, max_iter: int = 20000
) -> Solution:
    """Minimize GLPUAL's objective (3.2) by the printed updates; the result is that of `solve_glpual`."""
    problem, center = problem.near_origin()
    A, b = problem.quadratic_part()
    Zp, c_p, constant = problem.Zp, problem.c_p, problem.constant
    n_p = len(Zp)
    factor = cho_factor(A + mu * (Zp.T @ Zp), lower=True, check_finite=False)
    quadratic = cho_factor(A, lower=True, check_finite=False)
    h = np.ones(n_p)
    u = np.zeros(n_p)
    w = np.zeros(Zp.shape[1])
    gap, value, iteration = np.inf, np.inf, 0
    a = np.zeros(n_p)
    while iteration < max_iter:
        iteration += 1
        w = cho_solve(factor, -b + Zp.T @ (u + mu * (1.0 - h)), check_finite=False)  # (3.9)
        residual = 1.0 - Zp @ w
        h = shrink_hinge(residual + u / mu, c_p / mu)  # (3.13)
        u = u + mu * (residual - h)  # (3.6)
        if iteration % 10 == 0 or iteration == max_iter:
            a = np.clip(u, 0.0, c_p)
            value = 0.5 * w @ A @ w + b @ w + constant + c_p * np.sum(np.maximum(residual, 0.0))
            v = Zp.T @ a - b
            gap = value - (a.sum() + constant - 0.5 * v @ cho_solve(quadratic, v, check_finite=False))
            if gap <= tol * value:
                break
    value = problem.objective(w)
    gap = max(float(gap), 0.0)
    converged = within(gap, value, tol)
    return Solution(
        coef=with_offset(w, center), dual=a, objective=value, gap=gap, n_iter=iteration, converged=converged
    )
