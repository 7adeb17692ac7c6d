"""GLLC (Wang 2024, eq. 2.5): one linear system, A + 2 c_p Zp'Zp, with A as in `pucli.solvers.glpual.problem`."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from pucli.solvers.glpual.problem import DIFFERENCE, GlobalLocalProblem, refined
from pucli.solvers.kernels.cholesky import nearest_factor
from pucli.solvers.kernels.intercept import offset_rounding, rise_of_squares, with_offset
from pucli.solvers.result import CLOSED_FORM, Solution


def solve_gllc(problem: GlobalLocalProblem) -> Solution:
    """Minimize GLLC's objective (2.5)."""
    problem, center = problem.near_origin()
    A, b = problem.quadratic_part()
    Zp, c_p = problem.Zp, problem.c_p
    factor, definite = nearest_factor(A + 2.0 * c_p * (Zp.T @ Zp))
    rhs = 2.0 * c_p * Zp.sum(axis=0) - b
    w = cho_solve(factor, rhs, check_finite=False)
    a = 2.0 * c_p * (1.0 - Zp @ w)
    gradient = A @ w + b - Zp.T @ a
    w = w - cho_solve(factor, gradient, check_finite=False)  # one step of iterative refinement
    a = 2.0 * c_p * (1.0 - Zp @ w)
    gradient = A @ w + b - Zp.T @ a
    gap = 0.5 * float(gradient @ cho_solve(factor, gradient, check_finite=False))
    value = float(0.5 * (w @ A @ w) + b @ w + problem.constant + c_p * np.sum((1.0 - Zp @ w) ** 2))
    gap = max(gap, 0.0)
    exact = problem.objective(w, squared=True)
    if abs(exact - value) > DIFFERENCE * exact:
        w, gap = refined(w, None, problem, factor)
        value = problem.objective(w, squared=True)
        a = 2.0 * c_p * (1.0 - Zp @ w)
    if shift := offset_rounding(w, center):
        rise = rise_of_squares(1.0 - Zp @ w, -shift, c_p) + rise_of_squares(1.0 + problem.Zu @ w, shift, problem.c_u)
        value, gap = value + max(rise, 0.0), gap + max(rise, 0.0)
    gap = gap if definite else np.inf
    converged = bool(gap <= CLOSED_FORM * value)
    return Solution(coef=with_offset(w, center), dual=a, objective=value, gap=gap, n_iter=1, converged=converged)
