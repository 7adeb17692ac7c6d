"""A whole grid of E-GLPUAL on few features, in one compiled loop (see `pucli.solvers.elastic.dual`).

Table 4.1 of Wang 2024 takes 1.6 million fits with six features for each data set. The quadratic and its inverse depend
on sigma, lam2 and c_u. They are shared along lam1, which only changes the box of the dual: each fit starts from its
neighbor's solution and takes a few sweeps.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.core.arrays import Bools, Floats, Ints
from pucli.solvers.glpual.path import count_predicted, similarity_product
from pucli.solvers.row_losses.box import ascend


@njit(cache=True)
def _start(inverse: Floats, V: Floats, half_b: Floats, lower: Floats, upper: Floats, p: Floats, w: Floats) -> None:
    """Clip the dual variables p into their box, and fill w = -A^-1 (b + Z'p); V holds the rows of Z times A^-1."""
    r = w.shape[0]
    for k in range(r):
        w[k] = 0.0
        for q in range(r):
            w[k] -= 2.0 * inverse[k, q] * half_b[q]
    for i in range(p.shape[0]):
        p[i] = min(max(p[i], lower[i]), upper[i])
        if p[i] != 0.0:
            for k in range(r):
                w[k] -= p[i] * V[i, k]


@njit(cache=True)
def elastic_path(  # noqa: PLR0913
    Z: Floats,
    labeled: Bools,
    edge_i: Ints,
    edge_j: Ints,
    squared_distance: Floats,
    Z_valid: Floats,
    labeled_valid: Bools,
    table: Floats,
    tol: float,
    max_iter: int,
    scores: Floats,
) -> Ints:
    """Fit every point of a grid; return the labeled and the unlabeled validation rows with f > 0, (n_points, 2)."""
    n, r = Z.shape
    m = r - 1
    Zp = Z[labeled]
    Zu = Z[~labeled]
    n_p = Zp.shape[0]
    G_u = np.dot(Zu.T, Zu)
    s_u = Zu.sum(axis=0)
    G_r = np.zeros((r, r))
    counts = np.zeros((table.shape[0], 2), np.int64)
    kink = np.zeros(n_p + m)
    kink[:n_p] = 1.0
    lower = np.zeros(n_p + m)
    upper = np.zeros(n_p + m)
    p = np.zeros(n_p + m)
    V = np.zeros((n_p + m, r))
    inverse = np.zeros((r, r))
    half_b = np.zeros(r)
    w = np.zeros(r)
    sigma, lam2, c_u, c_p = np.nan, np.nan, np.nan, np.nan
    for point in range(table.shape[0]):
        if table[point, 0] != sigma:
            sigma = table[point, 0]
            similarity_product(Z, edge_i, edge_j, squared_distance, sigma, G_r)
            lam2 = np.nan
        if table[point, 1] != lam2 or table[point, 2] != c_u or table[point, 3] != c_p:
            lam2, c_u, c_p = table[point, 1], table[point, 2], table[point, 3]
            A = 2.0 * c_u * G_u + 2.0 * G_r
            for k in range(m):
                A[k, k] += lam2
            inverse = np.linalg.inv(A)
            V[:n_p] = np.dot(Zp, inverse)
            V[n_p:] = inverse[:m]
            half_b = c_u * s_u
            lower[:n_p] = -c_p
        half_lam1 = 0.5 * table[point, 4]
        lower[n_p:] = -half_lam1
        upper[n_p:] = half_lam1
        _start(inverse, V, half_b, lower, upper, p, w)
        ascend(Zp, V, w, p, lower, upper, kink, half_b, c_u * (n - n_p), tol, max_iter)
        count_predicted(Z_valid, labeled_valid, w, point, counts, scores)
    return counts
