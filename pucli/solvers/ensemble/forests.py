"""Forests and boosted trees with held-out scores at no extra cost: each tree leaves out a fold.

The rows are divided into folds several times, and each tree leaves out one fold of one division, in turn. So every row
is left out by the same number of trees, and its held-out score is their mean. The model consists of all trees; nothing
is fitted twice. The folds are stratified, unlike out-of-bag rows, so that the held-out scores of labeled and unlabeled
rows are comparable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pucli.core.arrays import Ints
from pucli.core.saved_state import Nested, Scalar, State
from pucli.solvers.ensemble.boosting.grow import Growth, Tree, grow
from pucli.solvers.ensemble.rows import balanced_weights
from pucli.solvers.ensemble.screening import Screening
from pucli.solvers.ensemble.trees import Forest, join

# The most rows on which a tree of a forest, and a boosted tree, is grown.
TREE_ROWS = 20_000
BOOSTED_ROWS = 30_000
# Forests on many rows: number of trees, rows of a tree for each labeled row, and the fewest rows of a tree if there
# are as many.
MANY_ROWS_TREES, PER_LABELED, LEAST_TREE_ROWS = 200, 5, 4000
EVERY_DEPTH = 60


@dataclass
class TreeSum:
    """A sum of trees times `scale`."""

    forest: Forest
    scale: float
    saved_state: ClassVar[State] = {
        "forest": Nested("Forest"),
        "scale": Scalar(),
    }

    def score(self, bins: np.ndarray) -> np.ndarray:
        """Return the scores (n,) of rows given by their bins (n, m)."""
        return self.scale * self.forest.sum(bins)


@dataclass(frozen=True)
class ForestKind:
    """Growth of the trees of a forest."""

    trees: int = 400  # number of trees
    least: int = 10  # fewest rows of a leaf
    features: float | str = "sqrt"  # share of the features tried at a node, or the root of their number
    random: bool = True  # whether thresholds are random
    bootstrap: bool = False  # whether each tree draws its rows with replacement
    rows: int = TREE_ROWS  # the most rows on which a tree is grown

    def for_many(self, labeled: int) -> ForestKind:
        """Return the kind for many rows: fewer trees, on a few times as many rows as there are labeled ones."""
        rows = min(TREE_ROWS, max(LEAST_TREE_ROWS, PER_LABELED * labeled))
        return replace(self, trees=min(self.trees, MANY_ROWS_TREES), rows=rows)


def fit_forest(
    bins: np.ndarray,
    labeled: np.ndarray,
    folds: np.ndarray,
    kind: ForestKind,
    rng: np.random.Generator,
    targets: np.ndarray | None = None,
    size: int | None = None,
) -> tuple[TreeSum, np.ndarray]:
    """Return a forest and its held-out scores; each tree takes `size` columns, screened with its rows, or all."""
    if targets is None:
        targets = np.where(labeled, 1.0, -1.0)
    screening = None if size is None else Screening(bins, labeled, targets, size)
    m = bins.shape[1] if size is None else min(size, bins.shape[1])
    growth = Growth(EVERY_DEPTH, kind.least, 0.0, _tried(kind.features, m), kind.random)
    trees, left_out = [], []
    n_folds, columns = int(folds.max()) + 1, np.ascontiguousarray(bins.T)
    screened: dict[tuple[int, int], Ints] = {}
    kinds = (np.flatnonzero(labeled), np.flatnonzero(~labeled))
    for tree in range(kind.trees):
        repeat, b = (tree // n_folds) % len(folds), tree % n_folds
        kept = [part[folds[repeat, part] != b] for part in kinds]
        rows = np.concatenate(_drawn(kept, kind.bootstrap, rng, kind.rows))
        weights = balanced_weights(labeled[rows])
        seed = np.uint64(rng.integers(0, 2**63))
        every = np.arange(len(rows))
        if screening is not None and (repeat, b) not in screened:
            screened[repeat, b] = screening.by(np.concatenate(kept))
        chosen = screened.get((repeat, b))
        part = np.take(columns if chosen is None else columns[chosen], rows, axis=1)
        trees.append(_renumbered(grow(part, every, weights * targets[rows], weights, growth, seed), chosen))
        left_out.append((repeat, b))
    forest = join(trees)
    return TreeSum(forest, 1.0 / kind.trees), _held_out(forest, bins, folds, np.array(left_out))


def _renumbered(tree: Tree, columns: Ints | None) -> Tree:
    """Return a tree that was grown on some columns, None for all, with the numbers that these have among all."""
    if columns is None:
        return tree
    feature, cut, child, value = tree
    return np.where(feature < 0, feature, columns[feature]).astype(feature.dtype), cut, child, value


def _tried(features: float | str, m: int) -> int:
    """Return the number of features, out of m, that are tried at a node."""
    return max(1, round(np.sqrt(m)) if features == "sqrt" else round(float(features) * m))


def _drawn(kinds: Sequence[np.ndarray], bootstrap: bool, rng: np.random.Generator, most: int) -> list[np.ndarray]:
    """Return the rows that a tree is drawn from, at most `most` of both kinds together."""
    sizes = [len(part) for part in kinds]
    if sum(sizes) > most:
        few = min(*sizes, most // 2)
        sizes = [few if size == min(sizes) else most - few for size in sizes]
    drawn = []
    for part, size in zip(kinds, sizes, strict=True):
        if bootstrap:
            drawn.append(part[rng.integers(0, len(part), size)])
        else:
            drawn.append(part if size == len(part) else part[rng.choice(len(part), size, replace=False, shuffle=False)])
    return drawn


def _held_out(forest: Forest, bins: np.ndarray, folds: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """Return the mean value of each row over the trees that left it out, shape (n,)."""
    total, count = np.zeros(len(bins)), np.zeros(len(bins))
    for repeat, b in np.unique(left_out, axis=0):
        rows = np.flatnonzero(folds[repeat] == b)
        chosen = np.flatnonzero((left_out == (repeat, b)).all(axis=1))
        total[rows] += forest.sum(bins[rows], chosen)
        count[rows] += len(chosen)
    return total / count


@dataclass(frozen=True)
class BoostingKind:
    """Growth of trees boosted on the logistic loss."""

    rounds: int = 100  # number of trees in each model
    rate: float = 0.05  # learning rate
    depth: int = 3  # largest depth of a tree
    least: int = 10  # fewest rows of a leaf
    ridge: float = 1.0  # added to the sum of weights in the value of a leaf
    sample: float = 0.7  # share of the rows that each tree sees
    features: float = 0.5  # share of the features tried at a node


def fit_boosting(
    bins: np.ndarray,
    labeled: np.ndarray,
    folds: np.ndarray,
    kind: BoostingKind,
    rng: np.random.Generator,
    size: int | None = None,
) -> tuple[TreeSum, np.ndarray]:
    """Return the mean of the boosted models that leave out one fold each, and the held-out scores.

    Each model takes `size` columns, screened with its rows; None means all.
    """
    screening = None if size is None else Screening(bins, labeled, labeled.astype(np.float64), size)
    n_folds = int(folds[0].max()) + 1
    trees: list[Tree] = []
    held_out = np.empty(len(bins))
    for b in range(n_folds):
        out, kept = np.flatnonzero(folds[0] == b), np.flatnonzero(folds[0] != b)
        rows = np.concatenate(_drawn((kept[labeled[kept]], kept[~labeled[kept]]), False, rng, BOOSTED_ROWS))
        chosen = None if screening is None else screening.by(kept)
        part = bins if chosen is None else bins[:, chosen]
        grown, held_out[out] = _boost(part, labeled, rows, out, kind, rng)
        trees += [_renumbered(tree, chosen) for tree in grown]
    return TreeSum(join(trees), kind.rate / n_folds), held_out


def _boost(
    bins: np.ndarray,
    labeled: np.ndarray,
    rows: np.ndarray,
    out: np.ndarray,
    kind: BoostingKind,
    rng: np.random.Generator,
) -> tuple[list[Tree], np.ndarray]:
    """Return the trees boosted on `rows`, and the scores of the rows `out`."""
    growth = Growth(kind.depth, kind.least, kind.ridge, _tried(kind.features, bins.shape[1]), False)
    inside, outside = np.zeros(len(rows)), np.zeros(len(out))
    bins_in, bins_out = bins[rows], bins[out]
    columns = np.ascontiguousarray(bins_in.T)
    s = labeled[rows]
    w, t = balanced_weights(s), s.astype(float)
    groups = [np.flatnonzero(s), np.flatnonzero(~s)]
    trees = []
    for _ in range(kind.rounds):
        p = 1.0 / (1.0 + np.exp(-inside))
        sizes = [max(1, round(kind.sample * len(group))) for group in groups]
        taken = np.concatenate([rng.permutation(group)[:size] for group, size in zip(groups, sizes, strict=True)])
        seed = np.uint64(rng.integers(0, 2**63))
        tree = grow(columns, taken, w * (t - p), w * p * (1.0 - p), growth, seed)
        trees.append(tree)
        one = join([tree])
        inside += kind.rate * one.sum(bins_in)
        outside += kind.rate * one.sum(bins_out)
    return trees, outside
