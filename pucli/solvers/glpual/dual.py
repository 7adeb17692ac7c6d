"""GLPUAL by its dual in the labeled rows (Wang 2024, eq. 3.2; A and b as in `pucli.solvers.glpual.problem`).

The dual is a box problem without an equality constraint,

    max_{0 <= a <= c_p}  -1/2 (Zp'a - b)' A^-1 (Zp'a - b) + 1'a + n_u c_u,     w = A^-1 (Zp'a - b),

solved by coordinate ascent (`pucli.solvers.glpual.ascent`). At any feasible a the objective exceeds the optimum by at
most

    gap(a) = sum_p c_p [1 - f_i]_+ - a_i (1 - f_i),

a sum of non-negative terms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_factor, solve_triangular

from pucli.core.arrays import Floats
from pucli.solvers.glpual.ascent import box_ascent, box_ascent_gram
from pucli.solvers.glpual.problem import DIFFERENCE, GlobalLocalProblem, refined
from pucli.solvers.kernels.intercept import offset_rounding, rise_of_squares, with_offset
from pucli.solvers.result import Solution, within


def solve_glpual(problem: GlobalLocalProblem, tol: float = 1e-6, max_iter: int = 1000) -> Solution:
    """Minimize GLPUAL's objective (3.2) to a proven relative gap.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli.solvers.kernels.graph import mutual_knn
    >>> from pucli.solvers.kernels.intercept import with_intercept
    >>> from pucli.solvers.glpual.dual import solve_glpual
    >>> from pucli.solvers.glpual.problem import GlobalLocalProblem
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> labeled = X[:, 0] > 0.8
    >>> edges = mutual_knn(X).edges(sigma=1.0)
    >>> found = solve_glpual(GlobalLocalProblem(with_intercept(X), labeled, edges, lam=0.1))
    >>> found.converged, found.gap <= 1e-6 * found.objective
    (True, True)
    """
    problem, center = problem.near_origin()
    A, b = problem.quadratic_part()
    Zp, c_p = problem.Zp, problem.c_p
    found = solve_quadratic_and_hinge(A, b, Zp, problem.constant, c_p, tol, max_iter)
    exact = problem.objective(found.coef)
    if abs(exact - found.objective) > DIFFERENCE * exact:
        factor = cho_factor(A, lower=True, check_finite=False)
        a = np.zeros(len(Zp)) if found.dual is None else found.dual
        w, fall = refined(found.coef, a, problem, factor)
        margin = 1.0 - Zp @ w
        fall += float((c_p * np.maximum(margin, 0.0) - a * margin).sum())
        value = problem.objective(w)
        found = replace(found, coef=w, objective=value, gap=fall, converged=within(fall, value, tol))
    value, gap = found.objective, found.gap
    if shift := offset_rounding(found.coef, center):
        margin = 1.0 - Zp @ found.coef
        rise = float(c_p * (np.maximum(margin - shift, 0.0) - np.maximum(margin, 0.0)).sum())
        rise += rise_of_squares(1.0 + problem.Zu @ found.coef, shift, problem.c_u)
        value, gap = value + max(rise, 0.0), gap + max(rise, 0.0)
    converged = found.converged and within(gap, value, tol)
    return replace(found, coef=with_offset(found.coef, center), objective=value, gap=gap, converged=converged)


def solve_quadratic_and_hinge(
    A: Floats, b: Floats, Zp: Floats, constant: float, c_p: float, tol: float = 1e-6, max_iter: int = 1000
) -> Solution:
    """Minimize 1/2 w'Aw + b'w + constant + c_p sum_p [1 - f_i]_+ with f = Zp w, as `solve_glpual` does."""
    n_p = len(Zp)
    C = cho_factor(A, lower=True, check_finite=False)[0]
    Y = solve_triangular(C, np.column_stack([Zp.T, b]), lower=True, check_finite=False)
    Yp, yb = Y[:, :-1], Y[:, -1]
    a = np.zeros(n_p)
    if n_p <= Zp.shape[1]:
        Q, q = Yp.T @ Yp, Yp.T @ yb
        n_iter = box_ascent_gram(Q, q, a, c_p, constant - 0.5 * yb @ yb, tol, max_iter)[0]
    else:
        # interpreted: to compile the function would compile both ascents once more
        n_iter = box_ascent.py_func(np.ascontiguousarray(Yp.T), -yb, a, c_p, constant, 0.5 * yb, tol, max_iter)
    v = Yp @ a - yb
    w = solve_triangular(C, v, lower=True, trans=1, check_finite=False)
    # The gap and the objective at the returned w, in the form that needs no further pass over the unlabeled rows.
    margin = 1.0 - Zp @ w
    hinge = c_p * np.maximum(margin, 0.0)
    gap = max(float(np.sum(hinge - a * margin)), 0.0)
    value = float(0.5 * v @ v + b @ w + constant + hinge.sum())
    converged = within(gap, value, tol)
    return Solution(coef=w, dual=a, objective=value, gap=gap, n_iter=int(n_iter), converged=converged)
