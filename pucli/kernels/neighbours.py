"""The nearest rows of each row, exact as far as that is affordable, and approximate beyond with its recall measured.

Brute force takes the square of the rows: at 20 columns 20 seconds at 1e5 rows, half an hour at 1e6. Above
`EXACT_ROWS`, where a tree does not help either, neighbours come from a nearest-neighbour descent (pynndescent, the
extra `scale`), which is asked for many more of them than are used.
"""

from __future__ import annotations

import importlib.util
import warnings
from typing import NamedTuple

import numpy as np

from pucli.arrays import Floats, Ints

# Up to so many rows, or so few columns, neighbours are exact.
EXACT_ROWS, TREE_COLUMNS = 100_000, 6
# Neighbours that the descent is asked for, and rows whose true neighbours are found to measure what it missed.
ASKED = 30
MEASURED_ROWS = 400
# Below this recall the search is repeated with twice the neighbours, once.
LEAST_RECALL = 0.95
# Columns of distances at once when the recall is measured: 200 MB.
_BLOCK = 60_000


class Neighbours(NamedTuple):
    """Nearest rows.

    Attributes
    ----------
    rows : ndarray of shape (n, k)
        Of each row the k nearest others, the nearest first.
    recall : float
        Share of the true neighbours that are among them, measured on a sample; 1 where they are exact.
    """

    rows: Ints
    recall: float


def nearest(X: Floats, k: int) -> Neighbours:
    """Find the k nearest others of each row.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Rows.
    k : int
        Neighbours of each row, not counting itself.

    Returns
    -------
    Neighbours

    Examples
    --------
    >>> import numpy as np
    >>> found = nearest(np.array([[0.0], [1.0], [10.0], [12.0]]), 1)
    >>> found.rows[:, 0].tolist(), found.recall
    ([1, 0, 3, 2], 1.0)
    """
    n, m = X.shape
    if n > EXACT_ROWS and m > TREE_COLUMNS:
        if importlib.util.find_spec("pynndescent") is not None:
            return _descent(X, k)
        warnings.warn(
            f"exact neighbours of {n} rows in {m} columns take hours; `pip install 'pucli[scale]'` finds nearly all of "
            "them in minutes",
            stacklevel=2,
        )
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    return Neighbours(found.astype(np.int64), 1.0)


def _descent(X: Floats, k: int) -> Neighbours:
    """Return approximate neighbours; where too many are missed, those of a wider search."""
    from pynndescent import NNDescent

    single = np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float32)
    asked = max(ASKED, 3 * k)
    for attempt in range(2):
        found, _ = NNDescent(single, n_neighbors=asked << attempt, random_state=0).neighbor_graph
        rows = _others(found, k)
        recall = measured_recall(X, rows)
        if recall >= LEAST_RECALL:
            break
    return Neighbours(rows, recall)


def _others(found: Ints, k: int) -> Ints:
    """Return the first k of each row's neighbours (n, more than k) that are not the row itself."""
    own = found == np.arange(len(found))[:, None]
    order = np.argsort(own[:, : k + 1], axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found[:, : k + 1], order, axis=1).astype(np.int64)


def measured_recall(X: Floats, neighbours: Ints) -> float:
    """Return the share of the true neighbours of some rows that are among `neighbours` (n, k).

    A neighbour as near as the k-th true one counts as true, so that ties cost nothing.
    """
    n, k = neighbours.shape
    some = np.linspace(0, n - 1, min(n, MEASURED_ROWS)).astype(np.int64)
    centred = X[some]
    best = np.full((len(some), k), np.inf)
    for start in range(0, n, _BLOCK):
        block = X[start : start + _BLOCK]
        D = (centred**2).sum(axis=1)[:, None] + (block**2).sum(axis=1) - 2.0 * centred @ block.T
        inside = (some >= start) & (some < start + len(block))
        D[np.flatnonzero(inside), some[inside] - start] = np.inf
        best = np.partition(np.hstack([best, D]), k - 1, axis=1)[:, :k]
    limit = best.max(axis=1)
    found = ((X[neighbours[some]] - centred[:, None]) ** 2).sum(axis=2)
    return float(np.mean(found <= (limit * (1.0 + 1e-9) + 1e-12)[:, None]))
