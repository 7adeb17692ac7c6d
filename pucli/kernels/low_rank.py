"""Exact low-rank features of a kernel: pivoted Cholesky K = L L' (Harbrecht, Peters, Schneider 2012).

The rows of L are features of the training rows: a linear model on them is the kernel model. It stops when no
residual diagonal entry exceeds 1e-10, so the trace error is at most 1e-10 n; a rank cap makes it a Nystrom
approximation on the rows chosen so far. Features of new rows come by one triangular solve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from pucli.kernels.graph import squared_distances, squared_distances_between

RESIDUAL = 1e-10
# Above this many rows the n x n kernel matrix is not formed.
DENSE_ROWS = 4000
DEFAULT_MAX_RANK = 2000


class LowRankMap(NamedTuple):
    """Features of an RBF kernel.

    L : (n, r) features of the training rows; pivots : (r,) the rows that span them; factor : (r, r) lower
    triangular, the features of the pivots; residual : largest kernel diagonal entry that L L' misses.
    """

    L: np.ndarray
    pivots: np.ndarray
    factor: np.ndarray
    residual: float


def rbf_from_distances(D: np.ndarray, width: float) -> np.ndarray:
    """Return exp(-d^2 / (2 width^2)) for a matrix of squared distances."""
    return np.exp(D * (-0.5 / width**2))


def pivoted_cholesky(K: np.ndarray, max_rank: int | None = None) -> LowRankMap:
    """Factorise a positive semi-definite matrix K (n, n) with diagonal of order one by LAPACK's dpstrf."""
    n = len(K)
    C, pivots, rank, _ = dpstrf(K, lower=1, tol=RESIDUAL)
    pivots = pivots - 1
    if max_rank is not None:
        rank = min(rank, max_rank)
    C = np.tril(C)[:, :rank]
    L = np.empty((n, rank))
    L[pivots] = C
    residual = float(np.max(np.diagonal(K) - (L * L).sum(axis=1), initial=0.0))
    return LowRankMap(L, pivots[:rank].copy(), np.ascontiguousarray(C[:rank]), max(residual, 0.0))


@njit(cache=True)
def _pivoted_cholesky_rbf(X, gamma, max_rank, tolerance):
    """Pivoted Cholesky of the RBF kernel, kernel columns made as needed: memory n times rank."""
    n, m = X.shape
    L = np.zeros((max_rank, n))
    residual = np.ones(n)
    pivots = np.empty(max_rank, np.int64)
    for r in range(max_rank):
        p = np.argmax(residual)
        if residual[p] <= tolerance:
            return L[:r], pivots[:r], residual[p]
        pivots[r] = p
        column = -np.dot(np.ascontiguousarray(L[:r, p]), L[:r])
        scale = 1.0 / np.sqrt(residual[p])
        for i in range(n):
            d = 0.0
            for k in range(m):
                difference = X[i, k] - X[p, k]
                d += difference * difference
            value = (column[i] + np.exp(-gamma * d)) * scale
            if residual[i] == 0.0:
                value = 0.0
            L[r, i] = value
            residual[i] = max(residual[i] - value * value, 0.0)
        residual[p] = 0.0
    return L, pivots, residual.max()


def rbf_map(X: np.ndarray, width: float, max_rank: int | None = None) -> LowRankMap:
    """Return low-rank features of the RBF kernel exp(-d^2 / (2 width^2)) on the rows of X (n, m).

    Up to `DENSE_ROWS` rows the kernel matrix is formed; above, its columns are made one at a time and the rank is
    capped at `max_rank` (default 2000).
    """
    n = len(X)
    if n <= DENSE_ROWS:
        return pivoted_cholesky(rbf_from_distances(squared_distances(X), width), max_rank)
    cap = min(n, max_rank or DEFAULT_MAX_RANK)
    L, pivots, residual = _pivoted_cholesky_rbf(X, 0.5 / width**2, cap, RESIDUAL)
    L = np.ascontiguousarray(L.T)
    return LowRankMap(L, pivots, np.tril(L[pivots]), float(residual))


def rbf_features(X: np.ndarray, landmarks: np.ndarray, factor: np.ndarray, width: float) -> np.ndarray:
    """Return the features (n, r) of new rows X, given the pivot rows `landmarks` (r, m) and their `factor` (r, r)."""
    K = rbf_from_distances(squared_distances_between(X, landmarks), width)
    return solve_triangular(factor, K.T, lower=True, check_finite=False).T
