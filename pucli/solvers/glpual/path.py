"""A whole grid of GLPUAL or GLLC on few features, in one compiled loop (see `pucli.solvers.glpual.dual`).

Table 3.1 of Wang 2024 takes 80,000 fits with two features, of some ten microseconds each, per data set and method.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.core.arrays import Bools, Floats, Ints
from pucli.solvers.glpual.ascent import box_ascent


@njit(cache=True)
def _cholesky(A: Floats) -> None:
    """Overwrite the lower triangle of A (r, r) with its Cholesky factor."""
    r = A.shape[0]
    for j in range(r):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        A[j, j] = np.sqrt(A[j, j])
        for i in range(j + 1, r):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]


@njit(cache=True)
def _forward(C: Floats, x: Floats) -> None:
    """Replace x by the solution y of C y = x, C lower triangular."""
    for i in range(C.shape[0]):
        for k in range(i):
            x[i] -= C[i, k] * x[k]
        x[i] /= C[i, i]


@njit(cache=True)
def _backward(C: Floats, x: Floats) -> None:
    """Replace x by the solution y of C'y = x, C lower triangular."""
    for i in range(C.shape[0] - 1, -1, -1):
        for k in range(i + 1, C.shape[0]):
            x[i] -= C[k, i] * x[k]
        x[i] /= C[i, i]


@njit(cache=True)
def _group_sums(Z: Floats, labeled: Bools) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return the labeled rows Zp, Zp'Zp, Zu'Zu, and the sums of the labeled and of the unlabeled rows."""
    n, r = Z.shape
    n_p = 0
    for i in range(n):
        if labeled[i]:
            n_p += 1
    Zp = np.empty((n_p, r))
    G_p = np.zeros((r, r))
    G_u = np.zeros((r, r))
    s_p = np.zeros(r)
    s_u = np.zeros(r)
    row = 0
    for i in range(n):
        if labeled[i]:
            Zp[row] = Z[i]
            row += 1
        for k in range(r):
            if labeled[i]:
                s_p[k] += Z[i, k]
            else:
                s_u[k] += Z[i, k]
            for q in range(r):
                if labeled[i]:
                    G_p[k, q] += Z[i, k] * Z[i, q]
                else:
                    G_u[k, q] += Z[i, k] * Z[i, q]
    return Zp, G_p, G_u, s_p, s_u


@njit(cache=True)
def similarity_product(
    Z: Floats, edge_i: Ints, edge_j: Ints, squared_distance: Floats, sigma: float, G_r: Floats
) -> None:
    """Write Z'RZ for one sigma to `G_r`."""
    n, r = Z.shape
    difference = np.empty(r)
    G_r[:] = 0.0
    for e in range(edge_i.shape[0]):
        weight = np.exp(-squared_distance[e] / sigma) / n
        for k in range(r):
            difference[k] = Z[edge_i[e], k] - Z[edge_j[e], k]
        for k in range(r):
            for q in range(r):
                G_r[k, q] += weight * difference[k] * difference[q]


@njit(cache=True)
def count_predicted(Z_valid: Floats, labeled_valid: Bools, w: Floats, point: int, counts: Ints, scores: Floats) -> None:
    """Count the labeled and the unlabeled validation rows with f > 0."""
    for i in range(Z_valid.shape[0]):
        f = 0.0
        for k in range(w.shape[0]):
            f += Z_valid[i, k] * w[k]
        if scores.shape[0] > 0:
            scores[point, i] = f
        if f > 0.0:
            counts[point, 0 if labeled_valid[i] else 1] += 1


@njit(cache=True)
def _start(C: Floats, Zp: Floats, half_b: Floats, a: Floats, c_p: float, Y: Floats, v: Floats) -> None:
    """Express the dual in the coordinates of A = C C': fill Y = Zp C^-T and v from a, clipped into its box.

    half_b is overwritten with C^-1 half_b.
    """
    r = v.shape[0]
    _forward(C, half_b)
    for k in range(r):
        v[k] = -2.0 * half_b[k]
    for i in range(Zp.shape[0]):
        a[i] = min(a[i], c_p)
        for k in range(r):
            Y[i, k] = Zp[i, k]
        _forward(C, Y[i])
        for k in range(r):
            v[k] += a[i] * Y[i, k]


@njit(cache=True)
def linear_path(  # noqa: PLR0913
    Z: Floats,
    labeled: Bools,
    edge_i: Ints,
    edge_j: Ints,
    squared_distance: Floats,
    Z_valid: Floats,
    labeled_valid: Bools,
    table: Floats,
    squared: bool,
    tol: float,
    max_iter: int,
    scores: Floats,
) -> Ints:
    """Fit every point of a grid; return the labeled and the unlabeled validation rows with f > 0, (n_points, 2)."""
    n, r = Z.shape
    Zp, G_p, G_u, s_p, s_u = _group_sums(Z, labeled)
    n_p = Zp.shape[0]
    counts = np.zeros((table.shape[0], 2), np.int64)
    G_r = np.zeros((r, r))
    A = np.empty((r, r))
    Y = np.empty((n_p, r))
    a = np.zeros(n_p)
    w = np.empty(r)
    half_b = np.empty(r)
    sigma = -1.0
    lam = -1.0
    for point in range(table.shape[0]):
        if table[point, 0] != sigma:
            sigma = table[point, 0]
            lam = -1.0
            similarity_product(Z, edge_i, edge_j, squared_distance, sigma, G_r)
        if table[point, 1] != lam:
            lam = table[point, 1]
            a[:] = 0.0
        c_u = table[point, 2]
        c_p = table[point, 3]
        for k in range(r):
            half_b[k] = c_u * s_u[k]
            for q in range(r):
                A[k, q] = 2.0 * c_u * G_u[k, q] + 2.0 * G_r[k, q]
                if squared:
                    A[k, q] += 2.0 * c_p * G_p[k, q]
            if k < r - 1:
                A[k, k] += lam
        _cholesky(A)
        if squared:
            for k in range(r):
                w[k] = 2.0 * c_p * s_p[k] - 2.0 * half_b[k]
            _forward(A, w)
        else:
            _start(A, Zp, half_b, a, c_p, Y, w)
            box_ascent(Y, w, a, c_p, c_u * (n - n_p), half_b, tol, max_iter)
        _backward(A, w)
        count_predicted(Z_valid, labeled_valid, w, point, counts, scores)
    return counts
