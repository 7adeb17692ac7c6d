"""Elastic GLPUAL (Wang 2024, eq. 4.1): GLPUAL with an L1 penalty, which sets coefficients of weak features to zero.

    J(w) = lam1/2 |beta|_1 + lam2/2 |beta|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf,    f = Z w

J is the quadratic of `pucli.solvers.glpual.problem` plus one loss with a kink for each labeled row and each feature,
so in the dual each labeled row and each coefficient has a variable in a box (`pucli.solvers.row_losses.box`). A
coefficient whose dual variable lies strictly inside its box is zero at the optimum. It is set to exactly zero, and the
gap is computed there.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Floats
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.cholesky import Cholesky
from pucli.solvers.kernels.intercept import with_offset
from pucli.solvers.result import Solution, within
from pucli.solvers.row_losses.box import ascend

# Most times that the tolerance of the ascent is divided by ten, if setting coefficients to zero widens the gap again.
REFINEMENTS = 6


def elastic_objective(w: Floats, problem: GlobalLocalProblem, lam1: float) -> float:
    """Return J(w) from its definition (4.1)."""
    return 0.5 * lam1 * float(np.abs(w[:-1]).sum()) + problem.objective(w)


def solve_elastic(problem: GlobalLocalProblem, lam1: float, tol: float = 1e-6, max_iter: int = 2000) -> Solution:
    """Minimize E-GLPUAL's objective (4.1) to a proven relative gap."""
    problem, center = problem.near_origin()
    A, b = problem.quadratic_part()
    Zp, c_p, constant = np.ascontiguousarray(problem.Zp), problem.c_p, problem.constant
    n_p, m = len(Zp), Zp.shape[1] - 1
    factor = cho_factor(A, lower=True, check_finite=False)
    inverse = cho_solve(factor, np.eye(m + 1), check_finite=False)
    V = np.vstack([Zp @ inverse, inverse[:m]])
    lower = np.concatenate([np.full(n_p, -c_p), np.full(m, -0.5 * lam1)])
    upper = np.concatenate([np.zeros(n_p), np.full(m, 0.5 * lam1)])
    kink = np.concatenate([np.ones(n_p), np.zeros(m)])
    p: Floats = np.zeros(n_p + m)
    n_iter, target = 0, tol
    for _ in range(REFINEMENTS):
        w = -inverse @ _slope(p, b, Zp)
        sweeps, _, _ = ascend(Zp, V, w, p, lower, upper, kink, 0.5 * b, constant, target, max_iter - n_iter)
        n_iter += int(sweeps)
        w = cho_solve(factor, -_slope(p, b, Zp), check_finite=False)
        bound = elastic_bound(p, factor, b, Zp, constant)
        w[:m][(lower[n_p:] < p[n_p:]) & (p[n_p:] < upper[n_p:])] = 0.0
        w[m] = best_intercept(w, A, b, Zp, c_p)
        value = _value(w, A, b, Zp, lam1, c_p) + constant
        if value - bound <= tol * value or n_iter >= max_iter:
            break
        target *= 0.1
    value = elastic_objective(w, problem, lam1)
    gap = max(value - bound, 0.0)
    return Solution(
        coef=with_offset(w, center), dual=p, objective=value, gap=gap, n_iter=n_iter, converged=within(gap, value, tol)
    )


def _slope(p: Floats, b: Floats, Zp: Floats) -> Floats:
    """Return b + (rows)'p. The coefficients that belong to p solve A w = -slope."""
    slope: Floats = b + Zp.T @ p[: len(Zp)] + np.append(p[len(Zp) :], 0.0)
    return slope


def elastic_bound(p: Floats, factor: Cholesky, b: Floats, Zp: Floats, constant: float) -> float:
    """Return the dual value at slopes within their boxes, a lower bound on J."""
    slope = _slope(p, b, Zp)
    return -0.5 * float(slope @ cho_solve(factor, slope, check_finite=False)) - float(p[: len(Zp)].sum()) + constant


def _value(w: Floats, A: Floats, b: Floats, Zp: Floats, lam1: float, c_p: float) -> float:
    """Return J(w) without its constant."""
    return (
        0.5 * float(w @ A @ w)
        + float(b @ w)
        + c_p * float(np.maximum(1.0 - Zp @ w, 0.0).sum())
        + 0.5 * lam1 * float(np.abs(w[:-1]).sum())
    )


def best_intercept(w: Floats, A: Floats, b: Floats, Zp: Floats, c_p: float) -> float:
    """Return the intercept that minimizes the objective at fixed coefficients.

    The derivative A_00 x + q - c_p (number of rows with x below their kink) increases in x, and its root is searched
    for among the kinks and the intervals between them.
    """
    kinks = np.sort(1.0 - Zp[:, :-1] @ w[:-1])
    q = float(A[-1, :-1] @ w[:-1] + b[-1])
    above = np.arange(len(kinks), -1, -1)  # hinges still active left of each kink, and none after the last
    roots = (c_p * above - q) / A[-1, -1]
    left = np.concatenate([[-np.inf], kinks])
    right = np.concatenate([kinks, [np.inf]])
    inside = (roots > left) & (roots <= right)
    if inside.any():
        return float(roots[np.argmax(inside)])
    return float(kinks[np.argmax(roots[1:] <= kinks)])
