"""Regression trees on binned features, applied by compiled code and stored as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.saved_state import Array, State, StateError, check_ascending, check_starts
from pucli.solvers.ensemble.boosting.grow import Tree

MOST_BINS = 255
# Rows that go through all trees together, so that they stay in the cache.
TOGETHER = 1024


@dataclass
class Forest:
    """Trees, one after the other in arrays of nodes."""

    start: np.ndarray  # (trees + 1,), first node of each tree, then the number of all nodes
    feature: np.ndarray  # (nodes,), feature of the split; -1 in a leaf
    cut: np.ndarray  # (nodes,), rows with a bin up to the cut go to the left child
    child: np.ndarray  # (nodes,), left child, numbered within the tree; the right child follows it
    value: np.ndarray  # (nodes,), value of a leaf
    saved_state: ClassVar[State] = {
        "start": Array("trees", dtype="i8", low=0),
        "feature": Array("nodes", dtype="i4", low=-1),
        "cut": Array("nodes", dtype="u1"),
        "child": Array("nodes", dtype="i4", low=0),
        "value": Array("nodes"),
    }

    def _check_saved(self, where: str, sizes: Mapping[str, int]) -> None:
        """Raise StateError unless every child lies later in the tree of its parent, and every feature is there."""
        check_starts(self.start, len(self.feature), f"{where}.start")
        if (np.diff(self.start) < 1).any():
            raise StateError(f"{where}.start has a tree without a node")
        nodes = np.arange(len(self.feature))
        tree = np.searchsorted(self.start, nodes, side="right") - 1
        inner = self.feature >= 0
        child = self.child.astype(np.int64)
        size, place = (self.start[1:] - self.start[:-1])[tree], nodes - self.start[tree]
        if (inner & ((child <= place) | (child + 1 >= size))).any():
            raise StateError(f"{where}.child has a child that is not later in its tree than its parent")
        if len(self.feature) and self.feature.max() >= sizes.get("m", 0):
            raise StateError(f"{where}.feature has a feature beyond the last")

    def only(self, trees: Ints) -> tuple[Forest, Ints]:
        """Return the trees numbered in `trees` alone, and the indices of their nodes."""
        nodes = np.concatenate([np.arange(self.start[tree], self.start[tree + 1]) for tree in trees])
        start = np.concatenate([[0], np.cumsum(np.diff(self.start)[trees])])
        return Forest(start, self.feature[nodes], self.cut[nodes], self.child[nodes], self.value[nodes]), nodes

    def sum(self, bins: np.ndarray, trees: Ints | None = None, levels: Ints | None = None) -> np.ndarray:
        """Return the sum of the values over all trees, or over those numbered in `trees`, shape (n,).

        levels : (nodes,), levels of a category that go to the left child, one bit each, or 0 where bins are compared
        """
        chosen = np.arange(len(self.start) - 1) if trees is None else trees
        levels = np.zeros(len(self.feature), np.int64) if levels is None else levels
        return sum_of_trees(bins, chosen, self.start, self.feature, self.cut, self.child, self.value, levels)


@dataclass
class Bins:
    """Borders between the bins of each feature: values up to border k lie in bins 0 to k."""

    borders: np.ndarray  # (all borders,), borders of all features, ascending within a feature
    start: np.ndarray  # (m + 1,), first border of each feature, then the number of all borders
    saved_state: ClassVar[State] = {
        "borders": Array("borders"),
        "start": Array("starts", dtype="i8", low=0),
    }

    def _check_saved(self, where: str, sizes: Mapping[str, int]) -> None:
        """Raise StateError unless each feature has ascending borders, not more than a byte can tell apart."""
        check_starts(self.start, len(self.borders), f"{where}.start")
        if sizes["starts"] != sizes["m"] + 1:
            raise StateError(f"{where}.start is not that of {sizes['m']} features")
        if (np.diff(self.start) > MOST_BINS).any():
            raise StateError(f"{where} has more than {MOST_BINS} borders of a feature")
        check_ascending(self.borders, self.start, f"{where}.borders")

    def of(self, X: np.ndarray) -> np.ndarray:
        """Return the bins of the rows of X (n, m), shape (n, m)."""
        bins = np.empty(X.shape, np.uint8)
        for j in range(X.shape[1]):
            bins[:, j] = np.searchsorted(self.borders[self.start[j] : self.start[j + 1]], X[:, j], side="left")
        return bins


def make_bins(X: np.ndarray) -> Bins:
    """Return at most `MOST_BINS` bins of equal count for each feature of X (n, m), one for each of a few values."""
    parts = []
    for column in X.T:
        values = np.unique(column)
        if len(values) > MOST_BINS:
            values = np.unique(np.quantile(column, np.linspace(0.0, 1.0, MOST_BINS)))
        parts.append(values[:-1] + 0.5 * np.diff(values))
    start = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return Bins(np.concatenate(parts), start)


def join(trees: list[Tree]) -> Forest:
    """Return the forest of the trees, which come from `grow`."""
    start = np.concatenate([[0], np.cumsum([len(tree[0]) for tree in trees])])
    return Forest(start, *(np.concatenate([tree[k] for tree in trees]) for k in range(4)))


@njit(cache=True, nogil=True)
def sum_of_trees(
    bins: AnyArray, trees: Ints, start: Ints, feature: AnyArray, cut: AnyArray, child: AnyArray, value: Floats,
    levels: Ints,
) -> Floats:  # fmt: skip
    """Return the sum of the values of rows over trees, as `Forest.sum` has them."""
    out = np.zeros(len(bins))
    for first in range(0, len(bins), TOGETHER):
        for tree in trees:
            root = start[tree]
            for i in range(first, min(first + TOGETHER, len(bins))):
                node = root
                while feature[node] >= 0:
                    node = root + child[node] + goes_right(bins[i, feature[node]], cut[node], levels[node])
                out[i] += value[node]
    return out


@njit(cache=True, nogil=True)
def goes_right(at: int, cut: int, levels: int) -> int:
    """Return 1 if a row with this bin or level goes to the right child, else 0."""
    if levels == 0:
        return int(at > cut)
    return int((levels >> np.int64(at)) & 1 == 0)
