"""Laplacian support vector machine (Belkin, Niyogi, Sindhwani 2006; Melacci and Belkin 2011).

With f(x) = sum_j alpha_j k(x_j, x) + b over the n labeled and unlabeled rows, minimizes

    J = 1/l sum_labeled [1 - y_i f_i]_+^2 + gamma_a |f|_K^2 + gamma_i / n^2 f' L f.

J is stationary where (gamma_a I + gamma_i / n^2 L K) alpha is zero but on the l labeled rows, so alpha = M beta with
one column of M for each of them (the kernel that Sindhwani, Niyogi and Belkin 2005 deform by the graph). With
H = M'K, at the labeled rows, J is the objective of a support vector machine on l rows,

    1/l sum [1 - y_i ((H beta)_i + b)]_+^2 + beta' H beta,

which Newton's method solves in l unknowns. The matrix that M needs does not depend on y, and on the weights by
their ratio alone: it is factorized once for all machines, and for all labels of the same rows.

With b at its optimum, J is 2 gamma_a strongly convex in f in the norm of the kernel's space, so J - J* is at most
|gradient|^2 / (4 gamma_a), with the gradient's norm in that space: a certificate that costs one product with K. It is
computed for alpha, so that it holds whatever the errors in M and H.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import lu_factor, lu_solve, solve

from pucli.core.arrays import Floats, Ints
from pucli.solvers.result import Solution

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix: TypeAlias = Floats | csr_array

# Rounding below this share of the objective is not part of the gap.
LEAST_ROUNDING = 1e-11


@dataclass(frozen=True, kw_only=True)
class LaplacianSolution(Solution):
    """A Laplacian SVM; `coef` (n,) is alpha, and `n_iter` counts Newton steps."""

    offset: float  # b


def best_offset(y: Floats, g: Floats) -> float:
    """Return the b that minimizes sum_i [1 - y_i (g_i + b)]_+^2 for y in {-1, 1}, g both (l,)."""
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


class GraphKernel(NamedTuple):
    """The kernel, the graph, and the factors of I + gamma_i / (n^2 gamma_a) L K."""

    K: Floats  # (n, n), kernel matrix of all rows
    L: Matrix  # (n, n), graph Laplacian
    ratio: float  # gamma_i / gamma_a
    factors: tuple[Floats, Ints]  # of `scipy.linalg.lu_factor`


def graph_kernel(K: Floats, L: Matrix, ratio: float) -> GraphKernel:
    """Return the factors that all Laplacian SVMs on the same rows share, for one kernel and ratio of the weights."""
    n = len(K)
    matrix = np.asfortranarray(L @ K)
    matrix *= ratio / n**2
    matrix[np.diag_indices(n)] += 1.0
    return GraphKernel(K, L, ratio, lu_factor(matrix, overwrite_a=True, check_finite=False))


def solve_laplacian_svms(
    graph: GraphKernel, machines: Sequence[Ints], gamma_a: float, tol: float, max_iter: int
) -> list[LaplacianSolution]:
    """Minimize J to a proven relative gap, for several machines on the same labeled rows."""
    labeled = np.flatnonzero(machines[0])
    places = np.zeros((len(graph.K), len(labeled)))
    places[labeled, np.arange(len(labeled))] = 1.0 / gamma_a
    factors, pivots = graph.factors
    # LAPACK's wrapper counts the pivots from one while it runs, and other threads may use the same ones
    M = lu_solve((factors, pivots.copy()), places, overwrite_b=True, check_finite=False)
    H = graph.K[labeled] @ M
    H = 0.5 * (H + H.T)
    if not np.isfinite(H).all():
        raise ValueError("the kernel matrix of these rows overflows with these weights; scale the rows.")
    found = []
    for y in machines:
        target = y[labeled].astype(float)
        best, steps = _certified(graph, labeled, target, np.zeros(len(y)), gamma_a, tol), 0
        for beta in _newton(H, target, max_iter):
            steps += 1
            point = _certified(graph, labeled, target, M @ beta, gamma_a, tol)
            if point.converged or point.objective < best.objective:
                best = point
            if point.converged:
                break
        found.append(replace(best, n_iter=steps))
    return found


def _newton(H: Floats, target: Floats, max_iter: int) -> Iterator[Floats]:
    """Yield beta (l,) after each step, until none is possible."""
    beta, f = np.zeros(len(target)), np.zeros(len(target))
    offset = best_offset(target, f)
    for _ in range(max_iter):
        before = beta
        try:
            beta, offset, f = _newton_step(H, target, beta, offset, f)
        except np.linalg.LinAlgError:  # features or weights of very different size
            return
        if np.array_equal(beta, before):
            return
        yield beta


def _certified(
    graph: GraphKernel,
    labeled: Ints,
    target: Floats,
    alpha: Floats,
    gamma_a: float,
    tol: float,
) -> LaplacianSolution:
    """Return a point with its best offset, the objective and the gap; the steps are counted by the caller."""
    K, count, smooth = graph.K, len(labeled), graph.ratio * gamma_a / len(alpha) ** 2
    f = K @ alpha
    offset = best_offset(target, f[labeled])
    margin = np.maximum(1.0 - target * (f[labeled] + offset), 0.0)
    Lf = graph.L @ f
    objective = float(np.mean(margin**2) + gamma_a * alpha @ f + smooth * f @ Lf)
    # the gradient in the kernel's space is sum_j g_j k(x_j, .)
    g = 2.0 * gamma_a * alpha + 2.0 * smooth * Lf
    g[labeled] -= 2.0 / count * target * margin
    gap = max(float(g @ (K @ g)), 0.0) / (4.0 * gamma_a)
    cost = _rounding(K, alpha, 2.0 / count, smooth, float(np.sqrt(gap * gamma_a)), gamma_a)
    if cost > LEAST_ROUNDING * objective:
        gap += cost
    return LaplacianSolution(
        coef=alpha,
        offset=offset,
        objective=objective,
        gap=gap,
        n_iter=0,
        converged=bool(gap <= tol * objective),
    )


def _rounding(K: Floats, alpha: Floats, weight: float, smooth: float, norm: float, gamma_a: float) -> float:
    """Return a bound on the effect of rounding in K alpha on the objective and the gap, for rows of any length.

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


def _newton_step(H: Floats, target: Floats, beta: Floats, offset: float, f: Floats) -> tuple[Floats, float, Floats]:
    """Return (beta, b, H beta) of the minimizer of the current quadratic piece, or of a point toward it that lowers J.

    Stationarity: beta_i = (y_i - f_i - b) / l on the rows within the margin and zero elsewhere, and the sum of beta is
    zero.
    """
    count = len(beta)
    active = np.flatnonzero(target * (f + offset) < 1.0)
    matrix = np.zeros((len(active) + 1, len(active) + 1))
    matrix[:-1, :-1] = H[np.ix_(active, active)]
    matrix[np.arange(len(active)), np.arange(len(active))] += count
    matrix[:-1, -1] = matrix[-1, :-1] = 1.0
    solved = solve(matrix, np.append(target[active], 0.0), check_finite=False)[:-1]
    direction = -beta
    direction[active] += solved
    f_direction = H @ direction
    objective = _reduced(target, beta, f, offset)
    step = 1.0
    while True:
        new_beta, new_f = beta + step * direction, f + step * f_direction
        new_offset = best_offset(target, new_f)
        if _reduced(target, new_beta, new_f, new_offset) < objective or step < 1e-8:
            return new_beta, new_offset, new_f
        step *= 0.5


def _reduced(target: Floats, beta: Floats, f: Floats, offset: float) -> float:
    margin = np.maximum(1.0 - target * (f + offset), 0.0)
    return float(np.mean(margin**2) + beta @ f)
