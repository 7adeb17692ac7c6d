"""Categories of a table whose levels are features: trees take each category as one feature, and divide its levels.

A tree of one-hot features needs several splits to divide the levels in two. The best division by gain is among those of
the levels in the order of their mean gradient (Fisher 1958).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.saved_state import Array, Nested, Scalar, State, StateError
from pucli.solvers.ensemble.trees import Forest

# The most levels of a category; with "none of them" they are the bits of a whole number.
MOST_LEVELS = 60


@dataclass(frozen=True)
class Categories:
    """Which features are levels of a category."""

    # (m,), number of the category whose level the feature is, from 0 without gaps; -1 for other features
    category: Ints
    present: AnyArray  # (m,), bin of the feature in rows with this level
    saved_state: ClassVar[State] = {
        "category": Array("m", dtype="i8", low=-1),
        "present": Array("m", dtype="u1", high=1),
    }

    @property
    def count(self) -> int:
        """The number of categories."""
        return int(self.category.max(initial=-1)) + 1

    @property
    def coded(self) -> Bools:
        """Which columns of `of` are categories: the last ones."""
        others = int(np.count_nonzero(self.category < 0))
        return np.arange(others + self.count) >= others

    def _check_saved(self, where: str, sizes: Mapping[str, int]) -> None:
        """Raise StateError unless each category has levels, and not too many."""
        levels = np.bincount(self.category[self.category >= 0])
        if len(levels) and not 0 < levels.min() <= levels.max() <= MOST_LEVELS:
            raise StateError(f"{where}.category has a category without levels, or with more than {MOST_LEVELS}")

    def of(self, bins: AnyArray) -> AnyArray:
        """Return binned rows (n, m) with each category as one column: 0, or the number of the level from 1."""
        columns = [bins[:, self.category < 0]]
        for number in range(self.count):
            levels = self.category == number
            there = bins[:, levels] == self.present[levels]
            columns.append(np.where(there.any(axis=1), there.argmax(axis=1) + 1, 0).astype(np.uint8)[:, None])
        return np.ascontiguousarray(np.hstack(columns))


def find_categories(X: Floats, signs: Floats, order: Ints | None = None) -> Categories | None:
    """Return the categories among the features of X (n, m).

    A category is a run of features with two values each, of which every row has the larger one exactly once; features
    with one value do not count. Those of more than `MOST_LEVELS` levels become several.
    """
    m = X.shape[1]
    order = np.arange(m) if order is None else order
    larger = [_larger(column) for column in X.T]
    runs, j = [], 0
    while j < m:
        run = _category_from(larger, j)
        runs += [run[k : k + MOST_LEVELS] for k in range(0, len(run), MOST_LEVELS)]
        j = run[-1] + 1 if run else j + 1
    category, place = np.full(m, -1), np.argsort(order)
    for number, run in enumerate(sorted(runs, key=lambda run: int(place[run].min()))):
        category[run] = number
    return Categories(category[order], (signs[order] > 0.0).astype(np.uint8)) if runs else None


def _larger(column: Floats) -> Bools | None:
    """Return which rows (n,) have the larger of two values, no row if there is one; None if there are more."""
    low, high = column.min(), column.max()
    there: Bools = column == high
    if not (there | (column == low)).all():
        return None
    there &= low < high
    return there


def _category_from(larger: list[Bools | None], first: int) -> list[int]:
    """Return the features of the category that begins with one of them, none if there is none."""
    run: list[int] = []
    taken: Bools | None = None
    for j, there in enumerate(larger[first:], start=first):
        if there is None or (taken is not None and (taken & there).any()):
            return []
        if there.any():
            run.append(j)
            taken = there if taken is None else taken | there
        if taken is not None and taken.all():
            return run
    return []


@dataclass
class CategoryTrees:
    """A sum of trees times `scale`, on rows with categories."""

    categories: Categories  # among the features
    forest: Forest  # its features are the columns of `categories.of`
    # (nodes,), levels that go to the left child, one bit each, where the split is on a category; otherwise 0
    levels: Ints
    scale: float
    saved_state: ClassVar[State] = {
        "categories": Nested("Categories"),
        "forest": Nested("Forest"),
        "levels": Array("nodes", dtype="i8", low=0),
        "scale": Scalar(),
    }

    def _check_saved(self, where: str, sizes: Mapping[str, int]) -> None:
        """Raise StateError unless every feature is a column, and levels are divided where there are some."""
        if len(self.levels) != len(self.forest.feature):
            raise StateError(f"{where}.levels is not that of {len(self.forest.feature)} nodes")
        if self.forest.feature.max(initial=-1) >= len(self.categories.coded):
            raise StateError(f"{where}.forest has a feature beyond the last")
        divided = self.levels != 0
        if (self.forest.feature[divided] < 0).any() or not self.categories.coded[self.forest.feature[divided]].all():
            raise StateError(f"{where}.levels divides the levels of what is no category")

    def score(self, bins: AnyArray) -> Floats:
        """Return the scores (n,) of rows given by their bins (n, m)."""
        return self.scale * self.forest.sum(self.categories.of(bins), levels=self.levels)
