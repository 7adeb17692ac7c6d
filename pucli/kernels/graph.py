"""The similarity graph of GLLC and GLPUAL: mutual K nearest neighbours (Wang 2024, eq. 2.6 and 2.7).

W_ij = exp(-|x_i - x_j|^2 / sigma) where i and j are among each other's K nearest rows, else 0, and R = (D - W) / n.
The graph and its distances do not depend on sigma: build them once, then weigh the edges for each sigma.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

# Up to this many rows neighbours are searched by brute force, ties in distance broken by row number.
BRUTE_FORCE_ROWS = 5000


class Graph(NamedTuple):
    """Edges of the mutual K-NN graph, each once, i < j.

    i, j : (n_edges,) row numbers; squared_distance : (n_edges,); n_rows : number of rows.
    """

    i: np.ndarray
    j: np.ndarray
    squared_distance: np.ndarray
    n_rows: int


@njit(cache=True)
def squared_distances(X):
    """Return the (n, n) matrix of squared Euclidean distances; equal rows are at exactly zero."""
    n, m = X.shape
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            total = 0.0
            for k in range(m):
                difference = X[i, k] - X[j, k]
                total += difference * difference
            D[i, j] = total
            D[j, i] = total
    return D


@njit(cache=True)
def squared_distances_between(X, Y):
    """Return the (n, p) matrix of squared Euclidean distances of the rows of X (n, m) to those of Y (p, m)."""
    n, m = X.shape
    p = Y.shape[0]
    D = np.empty((n, p))
    for i in range(n):
        for j in range(p):
            total = 0.0
            for k in range(m):
                difference = X[i, k] - Y[j, k]
                total += difference * difference
            D[i, j] = total
    return D


@njit(cache=True)
def _nearest(D, rows, k):
    """Return (len(rows), k) positions in `rows` of each row's k nearest others; ties go to the earlier position."""
    n = rows.shape[0]
    neighbours = np.empty((n, k), np.int64)
    best = np.empty(k)
    for a in range(n):
        found = 0
        for b in range(n):
            if a == b:
                continue
            d = D[rows[a], rows[b]]
            if found == k and d >= best[k - 1]:
                continue
            place = found if found < k else k - 1
            while place > 0 and best[place - 1] > d:
                best[place] = best[place - 1]
                neighbours[a, place] = neighbours[a, place - 1]
                place -= 1
            best[place] = d
            neighbours[a, place] = b
            if found < k:
                found += 1
    return neighbours


@njit(cache=True)
def _mutual(neighbours):
    """Return the pairs (i < j) that are among each other's neighbours."""
    n, k = neighbours.shape
    first = np.empty(n * k, np.int64)
    second = np.empty(n * k, np.int64)
    count = 0
    for a in range(n):
        for p in range(k):
            b = neighbours[a, p]
            if b <= a:
                continue
            for q in range(k):
                if neighbours[b, q] == a:
                    first[count] = a
                    second[count] = b
                    count += 1
                    break
    return first[:count].copy(), second[:count].copy()


def mutual_knn(X: np.ndarray, n_neighbors: int = 5) -> Graph:
    """Build the mutual K-NN graph of the rows of X (n, m).

    Exact for any n. Up to `BRUTE_FORCE_ROWS` rows, ties in distance go to the earlier row; above, scikit-learn's
    search decides. Raises ValueError where n <= n_neighbors.
    """
    n = len(X)
    check_n_neighbors(n, n_neighbors)
    if n <= BRUTE_FORCE_ROWS:
        return graph_from_distances(squared_distances(X), np.arange(n), n_neighbors)
    from sklearn.neighbors import NearestNeighbors

    neighbours = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors(return_distance=False)
    i, j = _mutual(neighbours.astype(np.int64))
    return Graph(i, j, ((X[i] - X[j]) ** 2).sum(axis=1), n)


def graph_from_distances(D: np.ndarray, rows: np.ndarray, n_neighbors: int) -> Graph:
    """Build the mutual K-NN graph of the chosen `rows` of a matrix D (N, N) of squared distances."""
    check_n_neighbors(len(rows), n_neighbors)
    i, j = _mutual(_nearest(D, rows, n_neighbors))
    return Graph(i, j, D[rows[i], rows[j]], len(rows))


def check_n_neighbors(n_rows: int, n_neighbors: int) -> None:
    """Raise ValueError unless each of `n_rows` rows has `n_neighbors` others."""
    if not 1 <= n_neighbors < n_rows:
        raise ValueError(
            f"n_neighbors={n_neighbors} needs at least {n_neighbors + 1} training rows and a value of at least 1; "
            f"there are {n_rows} rows. Lower n_neighbors or give more rows."
        )


def edge_weights(graph: Graph, sigma: float) -> np.ndarray:
    """Return R's weight of each edge, exp(-d^2 / sigma) / n, shape (n_edges,)."""
    return np.exp(-graph.squared_distance / sigma) / graph.n_rows


@njit(cache=True)
def laplacian_product(i, j, weight, Z):
    """Return R Z for Z (n, m): sum over edges of weight (z_i - z_j), added to row i and taken from row j."""
    n, m = Z.shape
    out = np.zeros((n, m))
    for e in range(i.shape[0]):
        a, b, w = i[e], j[e], weight[e]
        for k in range(m):
            difference = w * (Z[a, k] - Z[b, k])
            out[a, k] += difference
            out[b, k] -= difference
    return out
