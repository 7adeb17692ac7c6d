"""The similarity graph of GLLC and GLPUAL: mutual K nearest neighbors (Wang 2024, eq. 2.6 and 2.7).

W_ij = exp(-|x_i - x_j|^2 / sigma) where i and j are among each other's K nearest rows, else 0, and R = (D - W) / n.
The graph and its distances do not depend on sigma: build them once, then compute the weights for each sigma.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit

from pucli.core.arrays import Floats, Ints
from pucli.solvers.kernels.neighbors import nearest

# Up to this many rows the neighbors are found by brute force, with ties in distance broken by row number.
BRUTE_FORCE_ROWS = 5000
# Number of pairs of rows whose distances are computed at once.
_PAIRS = 100_000

# Edges of R, each once: row i (n_edges,), row j (n_edges,) and weight (n_edges,).
Edges: TypeAlias = tuple[Ints, Ints, Floats]


class NeighborGraph(NamedTuple):
    """The mutual K-NN graph, each edge once with i < j."""

    # (n_edges,), rows that an edge joins
    i: Ints
    j: Ints
    squared_distance: Floats  # (n_edges,), squared Euclidean distance between them
    n_rows: int  # number of rows of the data
    recall: float = 1.0  # share of the true neighbors that were found, measured on a sample; 1 if they are exact

    def edges(self, sigma: float) -> Edges:
        """Return the edges of R for one sigma: i, j and the weight exp(-d^2 / sigma) / n."""
        return self.i, self.j, edge_weights(self, sigma)


NO_EDGES: Edges = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


@njit(cache=True)
def squared_distances(X: Floats) -> Floats:
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
def squared_distances_between(X: Floats, Y: Floats) -> Floats:
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
def _nearest(D: Floats, rows: Ints, k: int) -> Ints:
    """Return the positions in `rows` of each row's k nearest others, shape (len(rows), k).

    Ties go to the earlier position.
    """
    n = rows.shape[0]
    neighbors = np.empty((n, k), np.int64)
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
                neighbors[a, place] = neighbors[a, place - 1]
                place -= 1
            best[place] = d
            neighbors[a, place] = b
            if found < k:
                found += 1
    return neighbors


@njit(cache=True)
def _mutual(neighbors: Ints) -> tuple[Ints, Ints]:
    """Return the pairs i < j of rows that are among each other's neighbors."""
    n, k = neighbors.shape
    first = np.empty(n * k, np.int64)
    second = np.empty(n * k, np.int64)
    count = 0
    for a in range(n):
        for p in range(k):
            b = neighbors[a, p]
            if b <= a:
                continue
            for q in range(k):
                if neighbors[b, q] == a:
                    first[count] = a
                    second[count] = b
                    count += 1
                    break
    return first[:count].copy(), second[:count].copy()


def mutual_knn(X: Floats, n_neighbors: int = 5) -> NeighborGraph:
    """Build the mutual K-NN graph of some rows.

    Up to `BRUTE_FORCE_ROWS` rows, ties in distance go to the earlier row. Above, they are broken as scikit-learn's
    search does. With more rows than `pucli.solvers.kernels.neighbors` searches exactly, some true neighbors are
    missing. If a row has fewer than `n_neighbors` others, ValueError is raised.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli.solvers.kernels.graph import mutual_knn
    >>> graph = mutual_knn(np.array([[0.0], [1.0], [5.0], [7.0]]), n_neighbors=1)
    >>> graph.i.tolist(), graph.j.tolist(), graph.squared_distance.tolist()
    ([0, 2], [1, 3], [1.0, 4.0])
    """
    n = len(X)
    _check_n_neighbors(n, n_neighbors)
    if n <= BRUTE_FORCE_ROWS:
        return graph_from_distances(squared_distances(X), np.arange(n), n_neighbors)
    neighbors = nearest(X, n_neighbors)
    i, j = _mutual(neighbors.rows)
    return NeighborGraph(i, j, _squared_lengths(X, i, j), n, neighbors.recall)


def _squared_lengths(X: Floats, i: Ints, j: Ints) -> Floats:
    """Return the squared distance of each pair of rows (i, j)."""
    starts = range(0, len(i), _PAIRS)
    parts = [((X[i[a : a + _PAIRS]] - X[j[a : a + _PAIRS]]) ** 2).sum(axis=1) for a in starts]
    return np.concatenate([np.zeros(0), *parts])


@njit(cache=True)
def _within(neighbors: Ints, part: Ints, n: int, k: int) -> Ints:
    """Return the first k neighbors of each row of `part` that are in `part`, by their places there; -1 where none is.

    `neighbors` (n, more than k) has the nearest first.
    """
    place = np.full(n, -1, np.int64)
    for a in range(part.shape[0]):
        place[part[a]] = a
    out = np.full((part.shape[0], k), -1, np.int64)
    for a in range(part.shape[0]):
        found = 0
        for q in range(neighbors.shape[1]):
            b = place[neighbors[part[a], q]]
            if b >= 0 and found < k:
                out[a, found] = b
                found += 1
    return out


def graph_of_part(X: Floats, neighbors: Ints, part: Ints, n_neighbors: int) -> NeighborGraph:
    """Build the mutual K-NN graph of some rows from their neighbors among all rows, found once for all folds."""
    i, j = _mutual(_within(neighbors, part, len(X), n_neighbors))
    return NeighborGraph(i, j, _squared_lengths(X, part[i], part[j]), len(part))


def graph_from_distances(D: Floats, rows: Ints, n_neighbors: int) -> NeighborGraph:
    """Build the mutual K-NN graph of some rows from a matrix of all distances; ties go to the row earlier in `rows`."""
    _check_n_neighbors(len(rows), n_neighbors)
    i, j = _mutual(_nearest(D, rows, n_neighbors))
    return NeighborGraph(i, j, D[rows[i], rows[j]], len(rows))


def _check_n_neighbors(n_rows: int, n_neighbors: int) -> None:
    """Raise ValueError unless each of `n_rows` rows has `n_neighbors` others."""
    if not 1 <= n_neighbors < n_rows:
        raise ValueError(
            f"n_neighbors={n_neighbors} needs at least {n_neighbors + 1} training rows and a value of at least 1; "
            f"there are {n_rows} rows. Lower n_neighbors or give more rows."
        )


def edge_weights(graph: NeighborGraph, sigma: float) -> Floats:
    """Return R's weight of each edge, exp(-d^2 / sigma) / n, shape (n_edges,)."""
    return np.exp(-graph.squared_distance / sigma) / graph.n_rows


@njit(cache=True)
def laplacian_product(i: Ints, j: Ints, weight: Floats, Z: Floats) -> Floats:
    """Return R Z, shape (n, m): each edge adds weight (z_i - z_j) to row i and subtracts it from row j."""
    n, m = Z.shape
    out = np.zeros((n, m))
    for e in range(i.shape[0]):
        a, b, w = i[e], j[e], weight[e]
        for k in range(m):
            difference = w * (Z[a, k] - Z[b, k])
            out[a, k] += difference
            out[b, k] -= difference
    return out


def similarity_form(Z: Floats, edges: Edges) -> Floats:
    """Return 2 Z'RZ (m, m): twice the similarity term f'Rf of f = Z w, Z (n, m), as a quadratic form in w."""
    i, j, weight = edges
    return 2.0 * (Z.T @ laplacian_product(i, j, weight, np.ascontiguousarray(Z)))
