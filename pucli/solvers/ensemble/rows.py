"""The training rows of the automatic classifier: their order and their scaling.

Before any random draw, rows and columns are put in an order that follows from the cells alone, so that the result does
not depend on their order in the input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.saved_state import Array, State, StateError, check_ascending, check_starts

# Number of quantiles of a feature that are kept to map new values to Gaussian ranks.
MOST_QUANTILES = 1000
# Means of a standardized feature that differ by less count as equal.
EQUAL = 1e-9


def varying_columns(X: np.ndarray) -> np.ndarray:
    """Return the indices of the columns of X (n, m) with two values or more; the first column if there are none."""
    varies = X.min(axis=0) < X.max(axis=0)
    varies[0] |= not varies.any()
    return np.flatnonzero(varies)


def feature_signs(X: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """Return the sign (m,) with which each feature is larger on labeled rows on average.

    With it, the classifier does not depend on the sign that a feature comes with. If both means are equal, the feature
    is turned so that it has its long tail above.
    """
    signs = np.ones(X.shape[1])
    for j, column in enumerate(X.T):
        deviation = column - column.mean()
        spread = float(deviation.std())
        if spread > 0.0:
            z = deviation / spread
            first, third = float(z[labeled].mean() - z[~labeled].mean()), float((z**3).mean())
            signs[j] = -1.0 if (first if abs(first) > EQUAL else third) < -EQUAL else 1.0
    return signs


def canonical_order(X: Floats, kind: Ints, signs: Floats) -> tuple[Ints, Ints]:
    """Return an order of the rows and one of the columns that follow from the ranks of the cells in their columns.

    Neither depends on the order in which rows and columns come, nor on the units of the columns.
    """
    ranks = (np.unique(column, return_inverse=True)[1] for column in (X * signs).T)
    return _order([mixed(rank.astype(np.uint64)) for rank in ranks], kind)


def row_order(X: Floats, labeled: AnyArray) -> Ints:
    """Return an order of the rows (n,) of X (n, m), labeled ones last, that follows from the cells alone.

    It takes less time than `canonical_order`; random draws of rows begin with it.
    """
    cells = np.asarray(X, dtype=np.float64).T + 0.0  # -0.0 is 0.0
    return _order([mixed(np.ascontiguousarray(column).view(np.uint64)) for column in cells], labeled)[0]


def _order(columns: list[AnyArray], kind: AnyArray) -> tuple[Ints, Ints]:
    """Return orders of rows and columns by sums of hashes, which do not depend on the order of the terms.

    The hash of a row is made of its cells and the hashes of their columns, and that of a column of its cells and the
    hashes of their rows, in turn: columns with the same cells in other rows differ the second time.

    columns : hashes of the cells (n,), one array for each column.
    """
    of_kind = mixed(np.asarray(kind).astype(np.uint64) + np.uint64(1))
    rows = of_kind
    for _ in range(2):
        keys = np.array([mixed(cells + rows).sum() for cells in columns], dtype=np.uint64)
        rows = of_kind.copy()
        for cells, key in zip(columns, keys, strict=True):
            rows += mixed(cells ^ key)
    return np.lexsort((rows, np.asarray(kind) % 2)), np.argsort(keys, kind="stable")


def mixed(words: AnyArray) -> AnyArray:
    """Return 64-bit words that are scrambled one to one (the finalizer of SplitMix64, Steele and others 2014)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: AnyArray = words ^ (words >> np.uint64(31))
    return found


def balanced_weights(labeled: np.ndarray) -> np.ndarray:
    """Return weights (n,) with mean one; the labeled rows have half of the total weight."""
    n, n_labeled = len(labeled), np.count_nonzero(labeled)
    return np.where(labeled, 0.5 * n / n_labeled, 0.5 * n / (n - n_labeled))


@dataclass
class Standardize:
    """Scaling to zero mean and unit variance; constant features become zero."""

    # (m,), subtracted from, and divided into, each feature
    mean: np.ndarray
    scale: np.ndarray
    saved_state: ClassVar[State] = {
        "mean": Array("m"),
        "scale": Array("m", low=0.0),
    }

    def of(self, X: np.ndarray) -> np.ndarray:
        """Return the standardized rows of X (n, m)."""
        result: np.ndarray = (X - self.mean) * self.scale
        return result


def make_standardize(X: np.ndarray) -> Standardize:
    """Return the standardization of the features of X (n, m)."""
    mean = X.mean(axis=0)
    deviation = X.std(axis=0)
    varies = deviation > 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return Standardize(mean, np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0))


@dataclass
class GaussianRanks:
    """Map of features to Gaussian quantiles of their ranks (ties get their mean rank), then standardized.

    The map is linear between values and constant beyond them.
    """

    values: np.ndarray  # (distinct values,), distinct values of all features, ascending within a feature
    normal: np.ndarray  # (distinct values,), their Gaussian quantiles
    start: np.ndarray  # (m + 1,), first value of each feature, then the number of all values
    saved_state: ClassVar[State] = {
        "values": Array("values"),
        "normal": Array("values"),
        "start": Array("starts", dtype="i8", low=0),
    }

    def _check_saved(self, where: str, sizes: Mapping[str, int]) -> None:
        """Raise StateError unless each feature has ascending values."""
        check_starts(self.start, len(self.values), f"{where}.start")
        if sizes["starts"] != sizes["m"] + 1 or (np.diff(self.start) < 1).any():
            raise StateError(f"{where}.start is not that of {sizes['m']} features")
        check_ascending(self.values, self.start, f"{where}.values")

    def of(self, X: np.ndarray) -> np.ndarray:
        """Return the mapped rows of X (n, m)."""
        out = np.empty_like(X)
        for j in range(X.shape[1]):
            part = slice(self.start[j], self.start[j + 1])
            out[:, j] = np.interp(X[:, j], self.values[part], self.normal[part])
        return out


def make_gaussian_ranks(X: np.ndarray) -> GaussianRanks:
    """Return the map to Gaussian ranks of the features of X (n, m)."""
    from scipy.special import ndtri

    values, normal = [], []
    for column in X.T:
        distinct, count = np.unique(column, return_counts=True)
        quantile = ndtri((np.cumsum(count) - 0.5 * count) / len(column))
        mean = np.average(quantile, weights=count)
        deviation = np.sqrt(np.average((quantile - mean) ** 2, weights=count))
        quantile = (quantile - mean) / deviation if deviation > 0 else np.zeros_like(quantile)
        if len(distinct) > MOST_QUANTILES:
            kept = np.unique(np.linspace(0, len(distinct) - 1, MOST_QUANTILES).round().astype(int))
            distinct, quantile = distinct[kept], quantile[kept]
        values.append(distinct)
        normal.append(quantile)
    start = np.concatenate([[0], np.cumsum([len(part) for part in values])])
    return GaussianRanks(np.concatenate(values), np.concatenate(normal), start)
