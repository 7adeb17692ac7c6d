"""The whole grid of GLPUAL or GLLC on few features, in one compiled loop (see `pucli.solvers.glpual.dual`).

Wang's (2024) Table 3.1 takes 80,000 fits per data set and method at two features, each some ten microseconds.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.solvers.glpual.dual import box_ascent


@njit(cache=True)
def _cholesky(A):
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
def _forward(C, x):
    """Overwrite x with the solution of C x = x, C lower triangular."""
    for i in range(C.shape[0]):
        for k in range(i):
            x[i] -= C[i, k] * x[k]
        x[i] /= C[i, i]


@njit(cache=True)
def _backward(C, x):
    """Overwrite x with the solution of C'x = x, C lower triangular."""
    for i in range(C.shape[0] - 1, -1, -1):
        for k in range(i + 1, C.shape[0]):
            x[i] -= C[k, i] * x[k]
        x[i] /= C[i, i]


@njit(cache=True)
def linear_path(Z, labelled, edge_i, edge_j, squared_distance, Z_valid, labelled_valid, table, squared, tol, max_iter):
    """Fit every row of `table` and count validation rows with f > 0.

    Z : (n, r) training rows with a last column of ones; table : (n_points, 4) of sigma, lam, c_u, c_p, sorted so that
    equal sigma, then equal lam, stand together: the dual is warm-started along c_u. Returns (n_points, 2) int64:
    labelled and unlabeled validation rows predicted positive.
    """
    n, r = Z.shape
    n_p = 0
    for i in range(n):
        if labelled[i]:
            n_p += 1
    Zp = np.empty((n_p, r))
    G_u = np.zeros((r, r))
    G_p = np.zeros((r, r))
    s_u = np.zeros(r)
    s_p = np.zeros(r)
    row = 0
    for i in range(n):
        if labelled[i]:
            Zp[row] = Z[i]
            row += 1
        for k in range(r):
            if labelled[i]:
                s_p[k] += Z[i, k]
            else:
                s_u[k] += Z[i, k]
            for q in range(r):
                if labelled[i]:
                    G_p[k, q] += Z[i, k] * Z[i, q]
                else:
                    G_u[k, q] += Z[i, k] * Z[i, q]
    positive = np.zeros((table.shape[0], 2), np.int64)
    G_r = np.zeros((r, r))
    A = np.empty((r, r))
    Y = np.empty((n_p, r))
    a = np.zeros(n_p)
    w = np.empty(r)
    difference = np.empty(r)
    half_b = np.empty(r)
    sigma = -1.0
    lam = -1.0
    for point in range(table.shape[0]):
        if table[point, 0] != sigma:
            sigma = table[point, 0]
            lam = -1.0
            G_r[:] = 0.0
            for e in range(edge_i.shape[0]):
                weight = np.exp(-squared_distance[e] / sigma) / n
                for k in range(r):
                    difference[k] = Z[edge_i[e], k] - Z[edge_j[e], k]
                for k in range(r):
                    for q in range(r):
                        G_r[k, q] += weight * difference[k] * difference[q]
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
            _forward(A, half_b)
            for k in range(r):
                w[k] = -2.0 * half_b[k]
            for i in range(n_p):
                a[i] = min(a[i], c_p)
                for k in range(r):
                    Y[i, k] = Zp[i, k]
                _forward(A, Y[i])
                for k in range(r):
                    w[k] += a[i] * Y[i, k]
            box_ascent(Y, w, a, c_p, c_u * (n - n_p), half_b, tol, max_iter)
        _backward(A, w)
        for i in range(Z_valid.shape[0]):
            f = 0.0
            for k in range(r):
                f += Z_valid[i, k] * w[k]
            if f > 0.0:
                positive[point, 0 if labelled_valid[i] else 1] += 1
    return positive
