"""Elastic GLPUAL (Wang 2024, eq. 4.1): GLPUAL with an L1 penalty, whose irrelevant features get a coefficient of zero.

    J(w) = lam1/2 |beta|_1 + lam2/2 |beta|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf,    f = Z w

In the dual each labelled row has a variable in a box, and so has each coefficient: J is `pucli.solvers.glpual.dual`'s
quadratic plus one kinked loss per labelled row and per feature (`pucli.solvers.rows.box`). A coefficient whose dual
variable lies strictly inside its box is zero at the optimum: it is set to zero exactly, and the gap is measured there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.solvers.glpual.problem import glpual_objective, quadratic_part
from pucli.solvers.rows.box import ascend

# Times the gap of the ascent is asked to be ten times smaller, where setting coefficients to zero opens it again.
REFINEMENTS = 6


class ElasticFit(NamedTuple):
    """A sparse linear model and its certificate.

    w : (m + 1,) coefficients, intercept last, zeros exact; dual : (n_p + m,) slopes of the hinges, in [-c_p, 0], then
    of the L1 terms, in [-lam1/2, lam1/2]; objective : J(w); gap : proven bound on J(w) minus the optimum.
    """

    w: np.ndarray
    dual: np.ndarray
    objective: float
    gap: float
    n_iter: int
    converged: bool


def elastic_objective(w, Z, labelled, edges, lam1, lam2, c_p, c_u):
    """Return J(w) from its definition (4.1)."""
    return 0.5 * lam1 * float(np.abs(w[:-1]).sum()) + glpual_objective(w, Z, labelled, edges, lam2, c_p, c_u)


def lam1_max(Z, labelled, c_p=1.0, c_u=0.1):
    """Return a lam1 from which on all coefficients are zero; the smallest one, where the hinges leave one dual point.

    With beta = 0 the intercept is min(1, c_p n_p / (2 c_u n_u) - 1), and the gradient there must lie in the box.
    """
    _, a, pull = _intercept_only(Z, labelled, c_p, c_u)
    return 2.0 * float(np.max(np.abs(pull - Z[labelled].T @ a)[:-1], initial=0.0))


def _intercept_only(Z, labelled, c_p, c_u):
    """Return the best constant f, hinge weights a (n_p,) that certify it, and the gradient (m + 1,) of c_u's term."""
    n_p, n_u = np.count_nonzero(labelled), np.count_nonzero(~labelled)
    intercept = min(1.0, c_p * n_p / (2.0 * c_u * n_u) - 1.0)
    pull = 2.0 * c_u * (1.0 + intercept) * Z[~labelled].sum(axis=0)
    return intercept, np.full(n_p, pull[-1] / n_p), pull


def solve_elastic(Z, labelled, edges, lam1, lam2, c_p=1.0, c_u=0.1, tol=1e-6, max_iter=2000, dual=None) -> ElasticFit:
    """Minimise E-GLPUAL's objective (4.1) to a proven relative gap.

    Parameters
    ----------
    Z : (n, m + 1) rows with a last column of ones.
    labelled : (n,) bool, True for labelled positives.
    edges : (i, j, weight), the edges of R (`pucli.kernels.graph`).
    lam1, lam2, c_p, c_u : penalties and per-row weights, all positive (lam1 may be zero).
    tol : stop when the gap is below tol times the objective.
    max_iter : sweeps over labelled rows and features.
    dual : (n_p + m,) where to start, e.g. the `dual` of a fit at a neighbouring lam1.
    """
    A, b = quadratic_part(Z, labelled, edges, lam2, c_u)
    Zp = np.ascontiguousarray(Z[labelled])
    n_p, m = len(Zp), Z.shape[1] - 1
    factor = cho_factor(A, lower=True, check_finite=False)
    inverse = cho_solve(factor, np.eye(m + 1), check_finite=False)
    V = np.vstack([Zp @ inverse, inverse[:m]])
    lower = np.concatenate([np.full(n_p, -c_p), np.full(m, -0.5 * lam1)])
    upper = np.concatenate([np.zeros(n_p), np.full(m, 0.5 * lam1)])
    kink = np.concatenate([np.ones(n_p), np.zeros(m)])
    constant = c_u * float(np.count_nonzero(~labelled))
    p = np.zeros(n_p + m) if dual is None else np.clip(dual, lower, upper)
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
    value = elastic_objective(w, Z, labelled, edges, lam1, lam2, c_p, c_u)
    gap = max(value - bound, 0.0)
    return ElasticFit(w, p, value, gap, n_iter, bool(gap <= tol * value * 1.01 + 1e-12))


def _slope(p, b, Zp):
    """Return b + (rows)'p, which A w = -slope turns into coefficients."""
    return b + Zp.T @ p[: len(Zp)] + np.append(p[len(Zp) :], 0.0)


def elastic_bound(p, factor, b, Zp, constant):
    """Return the dual value at slopes p within their boxes, a lower bound on J; factor: `cho_factor` of A."""
    slope = _slope(p, b, Zp)
    return -0.5 * float(slope @ cho_solve(factor, slope, check_finite=False)) - float(p[: len(Zp)].sum()) + constant


def _value(w, A, b, Zp, lam1, c_p):
    return (
        0.5 * float(w @ A @ w)
        + float(b @ w)
        + c_p * float(np.maximum(1.0 - Zp @ w, 0.0).sum())
        + 0.5 * lam1 * float(np.abs(w[:-1]).sum())
    )


def best_intercept(w, A, b, Zp, c_p):
    """Return the intercept that minimises the objective at fixed coefficients.

    Its derivative A_00 x + q - c_p (number of rows with x below their kink) rises in x: walk the kinks.
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
