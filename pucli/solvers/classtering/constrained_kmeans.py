"""One sweep of pairwise-constrained k-means (Basu, Banerjee, Mooney 2004)."""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.core.arrays import Floats, Ints


@njit(cache=True)
def assign_rows(
    X: Floats,
    centers: Floats,
    labels: Ints,
    start: Ints,
    other: Ints,
    sign: Floats,
    unit: float,
    order: Ints,
) -> int:
    """Move each row, in `order`, to its cheapest cluster."""
    moved = 0
    for i in order:
        best = np.inf
        choice = labels[i]
        for k in range(centers.shape[0]):
            cost = 0.0
            for j in range(X.shape[1]):
                cost += (X[i, j] - centers[k, j]) ** 2
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
