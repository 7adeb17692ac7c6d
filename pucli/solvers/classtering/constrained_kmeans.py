"""One sweep of pairwise-constrained k-means (Basu, Banerjee, Mooney 2004)."""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.core.arrays import Floats, Ints


@njit(cache=True)
def assign_rows(
    X: Floats,
    centres: Floats,
    labels: Ints,
    start: Ints,
    other: Ints,
    sign: Floats,
    unit: float,
    order: Ints,
) -> int:
    """Move each row, in `order`, to its cheapest cluster.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    centres : ndarray of shape (k, d)
        Centres of the clusters.
    labels : ndarray of shape (n,)
        Cluster of each row; updated in place.
    start, other, sign : ndarray
        Row i is paired with rows other[start[i] : start[i + 1]]; sign is 1 for a must-link, -1 for a cannot-link.
    unit : float
        Cost of a broken constraint.
    order : ndarray of shape (n,)
        The rows, in the order in which they move.

    Returns
    -------
    int
        Number of rows that moved.
    """
    moved = 0
    for i in order:
        best = np.inf
        choice = labels[i]
        for k in range(centres.shape[0]):
            cost = 0.0
            for j in range(X.shape[1]):
                cost += (X[i, j] - centres[k, j]) ** 2
            for p in range(start[i], start[i + 1]):
                same = labels[other[p]] == k
                if same != (sign[p] > 0.0):
                    cost += unit
            if cost < best - 1e-12:
                best = cost
                choice = k
        if choice != labels[i]:
            labels[i] = choice
            moved += 1
    return moved
