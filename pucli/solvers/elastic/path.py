"""The whole grid of E-GLPUAL on few features, in one compiled loop (see `pucli.solvers.elastic.dual`).

Wang's (2024) Table 4.1 takes 1.6 million fits per data set at six features. What depends on sigma, lam2 and c_u (the
quadratic and its inverse) is shared along lam1, which only moves the box of the dual: each fit there is a few sweeps
from its neighbour's solution.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.solvers.rows.box import ascend


@njit(cache=True)
def elastic_path(Z, labelled, edge_i, edge_j, squared_distance, Z_valid, labelled_valid, table, tol, max_iter):
    """Fit every row of `table` and count validation rows with f > 0.

    Z : (n, r) training rows with a last column of ones; table : (n_points, 5) of sigma, lam2, c_u, c_p, lam1, sorted
    so that equal values of the first four stand together. Returns (n_points, 2) int64: labelled and unlabeled
    validation rows predicted positive.
    """
    n, r = Z.shape
    m = r - 1
    Zp = Z[labelled]
    Zu = Z[~labelled]
    n_p = Zp.shape[0]
    G_u = np.dot(Zu.T, Zu)
    s_u = Zu.sum(axis=0)
    G_r = np.zeros((r, r))
    positive = np.zeros((table.shape[0], 2), np.int64)
    kink = np.zeros(n_p + m)
    kink[:n_p] = 1.0
    lower = np.zeros(n_p + m)
    upper = np.zeros(n_p + m)
    p = np.zeros(n_p + m)
    V = np.zeros((n_p + m, r))
    inverse = np.zeros((r, r))
    half_b = np.zeros(r)
    w = np.zeros(r)
    difference = np.empty(r)
    sigma = np.nan
    lam2 = np.nan
    c_u = np.nan
    c_p = np.nan
    for point in range(table.shape[0]):
        if table[point, 0] != sigma:
            sigma = table[point, 0]
            G_r[:] = 0.0
            for e in range(edge_i.shape[0]):
                weight = 2.0 * np.exp(-squared_distance[e] / sigma) / n
                for k in range(r):
                    difference[k] = Z[edge_i[e], k] - Z[edge_j[e], k]
                for k in range(r):
                    for q in range(r):
                        G_r[k, q] += weight * difference[k] * difference[q]
            lam2 = np.nan
        if table[point, 1] != lam2 or table[point, 2] != c_u or table[point, 3] != c_p:
            lam2, c_u, c_p = table[point, 1], table[point, 2], table[point, 3]
            A = 2.0 * c_u * G_u + G_r
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
        for k in range(r):
            w[k] = 0.0
            for q in range(r):
                w[k] -= 2.0 * inverse[k, q] * half_b[q]
        for i in range(n_p + m):
            p[i] = min(max(p[i], lower[i]), upper[i])
            if p[i] != 0.0:
                for k in range(r):
                    w[k] -= p[i] * V[i, k]
        ascend(Zp, V, w, p, lower, upper, kink, half_b, c_u * (n - n_p), tol, max_iter)
        for i in range(Z_valid.shape[0]):
            f = 0.0
            for k in range(r):
                f += Z_valid[i, k] * w[k]
            if f > 0.0:
                positive[point, 0 if labelled_valid[i] else 1] += 1
    return positive
