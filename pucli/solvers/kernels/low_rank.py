"""Exact low-rank features of a kernel: pivoted Cholesky K = L L' (Harbrecht, Peters, Schneider 2012).

The rows of L are features of the training rows: a linear model on them is the kernel model. The factorization stops
when no residual diagonal entry exceeds 1e-10, so the trace error is at most 1e-10 n. A rank cap makes it a Nystrom
approximation on the rows chosen so far. The features of new rows take one triangular solve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from pucli.core.arrays import Floats, Ints
from pucli.solvers.kernels.graph import squared_distances, squared_distances_between

RESIDUAL = 1e-10
# Above this many rows the n x n kernel matrix is not computed.
DENSE_ROWS = 4000
DEFAULT_MAX_RANK = 2000
# Number of rows among which `landmark_map` chooses, and of rows whose features it computes at once.
LANDMARK_ROWS = 5000
BLOCK_ROWS = 8192


class LowRankMap(NamedTuple):
    """Features of an RBF kernel."""

    L: Floats  # (n, r), features of the training rows
    pivots: Ints  # (r,), rows that span the features
    factor: Floats  # (r, r), features of the pivots, lower triangular
    residual: float  # largest entry on the diagonal of K - L L'


def rbf_from_distances(D: Floats, width: float) -> Floats:
    """Return exp(-d^2 / (2 width^2)) for a matrix of squared distances."""
    return np.exp(D * (-0.5 / width**2))


def pivoted_cholesky(K: Floats, max_rank: int | None = None) -> LowRankMap:
    """Factorize a kernel matrix K (n, n), its diagonal of order one, by LAPACK's dpstrf; `max_rank` caps the rank."""
    n = len(K)
    C, pivots, rank, _ = dpstrf(K, lower=1, tol=RESIDUAL)
    pivots = pivots.astype(np.int64) - 1
    if max_rank is not None:
        rank = min(rank, max_rank)
    C = np.tril(C)[:, :rank]
    L = np.empty((n, rank))
    L[pivots] = C
    residual = float(np.max(np.diagonal(K) - (L * L).sum(axis=1), initial=0.0))
    return LowRankMap(L, pivots[:rank].copy(), np.ascontiguousarray(C[:rank]), max(residual, 0.0))


@njit(cache=True)
def _pivoted_cholesky_rbf(X: Floats, gamma: float, max_rank: int, tolerance: float) -> tuple[Floats, Ints, float]:
    """Factorize the RBF kernel exp(-gamma d^2), computing its columns as they are needed: memory n times rank.

    Returns L' (r, n), pivots and residual of `LowRankMap`.
    """
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


def rbf_map(X: Floats, width: float, max_rank: int | None = None) -> LowRankMap:
    """Compute low-rank features of the RBF kernel exp(-d^2 / (2 width^2)).

    Up to `DENSE_ROWS` rows they come from the kernel matrix, above from one column of it at a time.
    """
    n = len(X)
    if n <= DENSE_ROWS:
        return pivoted_cholesky(rbf_from_distances(squared_distances(X), width), max_rank)
    cap = min(n, max_rank or DEFAULT_MAX_RANK)
    L, pivots, residual = _pivoted_cholesky_rbf(X, 0.5 / width**2, cap, RESIDUAL)
    L = np.ascontiguousarray(L.T)
    return LowRankMap(L, pivots, np.tril(L[pivots]), float(residual))


class Landmarks(NamedTuple):
    """Rows whose kernel functions span the model: their numbers (r,) and the `factor` of `LowRankMap`."""

    pivots: Ints
    factor: Floats


def landmarks_of(X: Floats, width: float, rank: int) -> Landmarks:
    """Return landmarks of an RBF kernel: the first pivots among `LANDMARK_ROWS` evenly spaced rows."""
    some = np.linspace(0, len(X) - 1, min(len(X), LANDMARK_ROWS)).astype(np.int64)
    L, pivots, _ = _pivoted_cholesky_rbf(X[some], 0.5 / width**2, min(rank, len(some)), RESIDUAL)
    return Landmarks(some[pivots], np.tril(L.T[pivots]))


def landmark_map(X: Floats, width: float, rank: int) -> LowRankMap:
    """Compute features of the RBF kernel from the rows of `landmarks_of`: time n rank^2, memory n rank.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(9000, 2))
    >>> found = landmark_map(X, width=2.0, rank=60)
    >>> found.L.shape, bool(found.residual < 0.1)
    ((9000, 60), True)
    """
    landmarks, factor = landmarks_of(X, width, rank)
    features = np.empty((len(X), len(landmarks)))
    left = 0.0
    for start in range(0, len(X), BLOCK_ROWS):
        block = rbf_features(X[start : start + BLOCK_ROWS], X[landmarks], factor, width)
        features[start : start + BLOCK_ROWS] = block
        left = max(left, float(1.0 - (block * block).sum(axis=1).min()))
    return LowRankMap(features, landmarks, factor, left)


def rbf_features(X: Floats, landmarks: Floats, factor: Floats, width: float) -> Floats:
    """Return the features (n, r) of new rows."""
    K = rbf_from_distances(squared_distances_between(X, landmarks), width)
    features: Floats = solve_triangular(factor, K.T, lower=True, check_finite=False).T
    return features
