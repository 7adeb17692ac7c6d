"""Laplacian support vector machine in the primal (Belkin, Niyogi, Sindhwani 2006; Melacci and Belkin 2011).

With f(x) = sum_j alpha_j k(x_j, x) + b over labelled and unlabeled rows, minimises

    J = 1/l sum_labelled [1 - y_i f_i]_+^2 + gamma_a |f|_K^2 + gamma_i / n^2 f' L f

by Newton's method: J is piecewise quadratic, and its Hessian changes only with the set of rows within the margin. With
b at its optimum, J is 2 gamma_a strongly convex in f in the norm of the kernel's space, so J - J* is at most
|gradient|^2 / (4 gamma_a), with the gradient's norm in that space: a certificate that costs one product with K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.linalg import solve

from pucli.arrays import Bools, Floats, Ints
from pucli.solvers.result import Solution

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix: TypeAlias = Floats | csr_array

# Rounding below this share of the objective is not told.
LEAST_ROUNDING = 1e-11


@dataclass(frozen=True, kw_only=True)
class LaplacianSolution(Solution):
    """A Laplacian SVM; `coef` (n,) is alpha, and `n_iter` counts Newton steps.

    Attributes
    ----------
    offset : float
        b.
    """

    offset: float


def best_offset(y: Floats, g: Floats) -> float:
    """Return the b that minimises sum_i [1 - y_i (g_i + b)]_+^2 for y in {-1, 1}, g both (l,)."""
    # rows with y = 1 count below b = 1 - g, rows with y = -1 above b = -1 - g; the slope is piecewise linear in b
    knots = np.unique(y - g)

    def slope(b: Floats) -> Floats:
        slopes: Floats = -2.0 * (y * np.maximum(1.0 - y * (g + np.asarray(b)[:, None]), 0.0)).sum(axis=1)
        return slopes

    at = slope(knots)
    right = int(np.searchsorted(at, 0.0))
    if right == 0:
        return float(knots[0])
    if right == len(knots):
        return float(knots[-1])
    low, high = knots[right - 1], knots[right]
    return float(low - at[right - 1] * (high - low) / (at[right] - at[right - 1]))


def solve_laplacian_svm(
    K: Floats, L: Matrix, y: Ints, gamma_a: float, gamma_i: float, tol: float, max_iter: int
) -> LaplacianSolution:
    """Minimise J to a proven relative gap.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix of all rows.
    L : ndarray or sparse array of shape (n, n)
        Graph Laplacian.
    y : ndarray of shape (n,)
        1 and -1 for labelled rows, 0 for unlabeled ones.
    gamma_a, gamma_i : float
        Weights of the norm of f, positive, and of its roughness on the graph.
    tol : float
        Gap at which to stop, relative to the objective.
    max_iter : int
        Largest number of Newton steps.

    Returns
    -------
    LaplacianSolution
        The last point.
    """
    n = len(y)
    labelled = np.flatnonzero(y)
    target = y[labelled].astype(float)
    smooth = gamma_i / n**2
    LK = L @ K
    f = np.zeros(n)
    alpha = np.zeros(n)
    b = best_offset(target, f[labelled])
    stuck = False
    for n_iter in range(max_iter + 1):
        margin = np.maximum(1.0 - target * (f[labelled] + b), 0.0)
        Lf = LK @ alpha
        objective = float(np.mean(margin**2) + gamma_a * alpha @ f + smooth * f @ Lf)
        # the gradient in the kernel's space is sum_j g_j k(x_j, .)
        g = 2.0 * gamma_a * alpha + 2.0 * smooth * Lf
        g[labelled] -= 2.0 / len(labelled) * target * margin
        gap = max(float(g @ (K @ g)), 0.0) / (4.0 * gamma_a)
        if gap <= tol * objective or n_iter == max_iter or stuck:
            cost = _rounding(K, alpha, 2.0 / len(labelled), smooth, float(np.sqrt(gap * gamma_a)), gamma_a)
            if cost > LEAST_ROUNDING * objective:
                gap += cost
            return LaplacianSolution(
                coef=alpha,
                offset=b,
                objective=objective,
                gap=gap,
                n_iter=n_iter,
                converged=bool(gap <= tol * objective),
            )
        try:
            alpha, b, f = _newton_step(K, LK, labelled, target, margin > 0.0, gamma_a, smooth, alpha, f, objective)
        except np.linalg.LinAlgError:  # features or weights of very different size
            stuck = True
    raise AssertionError("unreachable")


def _rounding(K: Floats, alpha: Floats, weight: float, smooth: float, norm: float, gamma_a: float) -> float:
    """Return what rounding of K alpha may add to the objective and to the gap, for rows of very different length.

    `weight` is the slope of a loss at a margin of one, and `norm` half the norm of the gradient.
    """
    length = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    reach = float(np.abs(alpha) @ length)
    f_error = 8.0 * np.finfo(float).eps * length * reach
    of_gradient = float(length @ f_error) * (weight + 4.0 * smooth) + 2.0 * gamma_a * float(np.abs(alpha) @ f_error)
    of_objective = float(f_error.sum()) * weight + (gamma_a + 4.0 * smooth * float(length.max())) * reach * float(
        f_error.max()
    )
    return of_objective + of_gradient * (norm + of_gradient) / gamma_a


def _newton_step(
    K: Floats,
    LK: Floats,
    labelled: Ints,
    target: Floats,
    active: Bools,
    gamma_a: float,
    smooth: float,
    alpha: Floats,
    f: Floats,
    objective: float,
) -> tuple[Floats, float, Floats]:
    """Return (alpha, b, f) of the minimiser of the current quadratic piece, or of a point towards it that lowers J."""
    n, count = len(alpha), len(labelled)
    rows = labelled[active]
    # stationarity in alpha, after division by K: gamma_a alpha + smooth L K alpha + (f + b - y) / l on active rows = 0
    matrix = np.zeros((n + 1, n + 1))
    matrix[:n, :n] = smooth * LK
    matrix[np.arange(n), np.arange(n)] += gamma_a
    matrix[rows, :n] += K[rows] / count
    matrix[rows, n] = 1.0 / count
    matrix[n, :n] = K[rows].sum(axis=0) / count
    matrix[n, n] = len(rows) / count
    right = np.zeros(n + 1)
    right[rows] = target[active] / count
    right[n] = target[active].sum() / count
    found = solve(matrix, right)
    direction = found[:n] - alpha
    f_direction = K @ direction
    step = 1.0
    while True:
        new_alpha, new_f = alpha + step * direction, f + step * f_direction
        new_b = best_offset(target, new_f[labelled])
        margin = np.maximum(1.0 - target * (new_f[labelled] + new_b), 0.0)
        value = np.mean(margin**2) + gamma_a * new_alpha @ new_f + smooth * new_f @ (LK @ new_alpha)
        if value < objective or step < 1e-8:
            return new_alpha, new_b, new_f
        step *= 0.5
