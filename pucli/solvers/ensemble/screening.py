"""Wide tables, with more columns than rows: screening of the columns, and shrunken centroids.

The columns whose means differ most between labeled and unlabeled rows are kept (sure independence screening, Fan and Lv
2008). Each model screens with its own training rows: columns chosen with held-out rows make held-out scores too good
(Ambroise and McLachlan 2002). The number of columns is chosen by PU-AUC. Shrunken centroids (Tibshirani and others
2002) weight each column by the difference of its means, beyond that of the first column left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.least_squares.linear import Linear
from pucli.solvers.ensemble.rows import balanced_weights

# Tables with more columns, and more of them than rows, are wide.
WIDE_COLUMNS = 1000
# Numbers of columns that are tried, by trees and by centroids.
TREE_COLUMNS, CENTROID_COLUMNS = (20, 200, 2000), (5, 20, 100, 500, 2500, 12_500)
# Digits of differences: rounding errors must not order equal columns.
DIGITS = 9


def is_wide(n: int, m: int) -> bool:
    """Return whether a table of n rows and m columns is wide."""
    return m > max(WIDE_COLUMNS, n)


class Screening:
    """Screens the columns of rows X (n, m) by targets (n,), at most `size` of them with some of the rows."""

    def __init__(self, X: AnyArray, labeled: Bools, targets: Floats, size: int) -> None:
        self._X, self._labeled, self._targets, self._size = X, labeled, targets, size
        self._deviation = X.std(axis=0)

    def by(self, rows: Ints) -> Ints:
        """Return the columns with the largest differences on some rows, ascending."""
        found = np.abs(_differences(self._X[rows], self._labeled[rows], self._targets[rows])) / self._deviation
        return np.sort(np.argsort(-np.round(found, DIGITS), kind="stable")[: self._size])


def _differences(X: AnyArray, labeled: Bools, targets: Floats) -> Floats:
    """Return the covariance (m,) of each column with the targets, with balanced weights."""
    weights = balanced_weights(labeled)
    found: Floats = (weights * (targets - np.average(targets, weights=weights))) @ X / len(X)
    return found


def best_size(
    fit: Callable[[int | None], tuple[Any, Floats]], X: AnyArray, labeled: Bools
) -> tuple[Any, Floats, dict[str, int]]:
    """Return the model with the number of columns of the largest PU-AUC, if X is wide, and its held-out scores."""
    if not is_wide(*X.shape):
        return *fit(None), {}
    found = [(*fit(size), {"columns": size}) for size in TREE_COLUMNS]
    return max(found, key=lambda one: pu_auc(one[1], labeled))


def centroid_weights(X: Floats, labeled: Bools, sizes: tuple[int, ...]) -> Floats:
    """Return the weights (m, k) of the columns of rows X (n, m), of length one, for each number of columns kept."""
    difference = np.round(_differences(X, labeled, np.where(labeled, 1.0, -1.0)), DIGITS)
    size = np.abs(difference)
    descending = np.append(np.sort(size)[::-1], 0.0)
    borders = descending[np.minimum(sizes, len(size))]
    weights = np.sign(difference)[:, None] * np.maximum(size[:, None] - borders, 0.0)
    length = np.sqrt((weights**2).sum(axis=0))
    result: Floats = weights / np.where(length > 0.0, length, 1.0)
    return result


def fit_centroids(X: Floats, labeled: Bools, folds: AnyArray) -> tuple[Linear, Floats, dict[str, int]]:
    """Return the mean of shrunken centroids that leave out one fold each, with the best number of columns kept."""
    held_out = np.zeros((len(CENTROID_COLUMNS), len(X)))
    total = np.zeros((X.shape[1], len(CENTROID_COLUMNS)))
    for fold in folds:
        for b in range(int(fold.max()) + 1):
            out = fold == b
            weights = centroid_weights(X[~out], labeled[~out], CENTROID_COLUMNS)
            held_out[:, out] += (X[out] @ weights).T
            total += weights
    scores = np.round(held_out / len(folds), DIGITS)
    best = int(np.argmax([pu_auc(one, labeled) for one in scores]))
    weights = total[:, best] / (len(folds) * (int(folds.max()) + 1))
    return Linear(weights, 0.0), scores[best], {"columns": CENTROID_COLUMNS[best]}
