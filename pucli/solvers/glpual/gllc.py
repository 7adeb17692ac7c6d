"""GLLC (Wang 2024, eq. 2.5): one linear system, A + 2 c_p Zp'Zp, with A as in `pucli.solvers.glpual.problem`."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Bools, Floats
from pucli.solvers.glpual.problem import DIFFERENCE, glpual_objective, quadratic_part, refined
from pucli.solvers.kernels.graph import Edges
from pucli.solvers.kernels.intercept import offset_rounding, rise_of_squares, with_offset, without_offset
from pucli.solvers.result import CLOSED_FORM, Solution


def solve_gllc(Z: Floats, labelled: Bools, edges: Edges, lam: float, c_p: float = 1.0, c_u: float = 0.1) -> Solution:
    """Minimise GLLC's objective (2.5).

    Parameters
    ----------
    Z : ndarray of shape (n, m + 1)
        Rows with a last column of ones.
    labelled : ndarray of shape (n,)
        Which rows are labelled positives.
    edges : tuple of ndarray
        Edges of R (`pucli.solvers.kernels.graph`).
    lam : float
        Ridge, positive.
    c_p, c_u : float
        Weight of each labelled and of each unlabeled row, positive.

    Returns
    -------
    Solution
        `coef` (m + 1,) with the intercept last, `dual` (n_p,) the slopes 2 c_p (1 - f_i). The gap is half the squared
        gradient in the metric of the inverse Hessian: what rounding leaves.
    """
    Z, centre = without_offset(Z)
    A, b = quadratic_part(Z, labelled, edges, lam, c_u)
    Zp = Z[labelled]
    factor = cho_factor(A + 2.0 * c_p * (Zp.T @ Zp), lower=True, check_finite=False)
    rhs = 2.0 * c_p * Zp.sum(axis=0) - b
    w = cho_solve(factor, rhs, check_finite=False)
    a = 2.0 * c_p * (1.0 - Zp @ w)
    gradient = A @ w + b - Zp.T @ a
    w = w - cho_solve(factor, gradient, check_finite=False)  # one step of iterative refinement
    a = 2.0 * c_p * (1.0 - Zp @ w)
    gradient = A @ w + b - Zp.T @ a
    gap = 0.5 * float(gradient @ cho_solve(factor, gradient, check_finite=False))
    value = float(0.5 * (w @ A @ w) + b @ w + c_u * (len(Z) - len(Zp)) + c_p * np.sum((1.0 - Zp @ w) ** 2))
    gap = max(gap, 0.0)
    exact = glpual_objective(w, Z, labelled, edges, lam, c_p, c_u, squared=True)
    if abs(exact - value) > DIFFERENCE * exact:
        w, gap = refined(w, None, Z, labelled, edges, (lam, c_p, c_u), factor)
        value = glpual_objective(w, Z, labelled, edges, lam, c_p, c_u, squared=True)
        a = 2.0 * c_p * (1.0 - Zp @ w)
    if shift := offset_rounding(w, centre):
        rise = rise_of_squares(1.0 - Zp @ w, -shift, c_p) + rise_of_squares(1.0 + Z[~labelled] @ w, shift, c_u)
        value, gap = value + max(rise, 0.0), gap + max(rise, 0.0)
    converged = bool(gap <= CLOSED_FORM * value)
    return Solution(coef=with_offset(w, centre), dual=a, objective=value, gap=gap, n_iter=1, converged=converged)
