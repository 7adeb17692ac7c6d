"""Bags of boosted trees with many leaves, grown best first, for tables with enough labeled rows.

Each model learns from all labeled rows outside of a fold and a few times as many unlabeled ones, drawn anew for each
model (bagging of Mordelet and Vert 2014, with all labeled rows in each bag). Many models of few trees rank better than
few models of many, in the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.boosting.best_first import feature_columns, grow_best_first
from pucli.solvers.ensemble.boosting.categories import Categories, CategoryTrees
from pucli.solvers.ensemble.boosting.grow import Tree
from pucli.solvers.ensemble.forests import TreeSum
from pucli.solvers.ensemble.rows import balanced_weights
from pucli.solvers.ensemble.trees import Forest, join

# A tree, and the levels of categories that go to the left child of each of its nodes.
Grown: TypeAlias = tuple[Tree, Ints]
# The most rows of a bag, and the most features tried in a tree. A feature is drawn with a weight: what the splits on it
# have gained so far and the mean of all features, to the power `GREED`.
BAG_ROWS, MOST_TRIED, GREED = 30_000, 32, 0.75
# The most held-out rows of each kind that say when a model ends.
WATCHED_ROWS = 20_000
# A model ends with the stage after which the PU-AUC of the held-out rows rises by no more.
LEAST_RISE = 5e-4


@dataclass(frozen=True)
class BagKind:
    """Growth of bags of boosted trees."""

    leaves: int = 31  # most leaves of a tree
    bags: int = 8  # number of models that leave out the same fold
    rounds: int = 60  # most trees in each model
    stage: int = 15  # number of trees after which it may end
    rate: float = 0.2  # learning rate
    least: int = 10  # fewest rows of a leaf
    ridge: float = 1.0  # added to the sum of weights in the value of a leaf
    features: float = 0.7  # share of the features tried in a tree
    unlabeled: float = 4.0  # number of unlabeled rows in a bag for each labeled row


def fit_bags(
    bins: AnyArray,
    labeled: Bools,
    folds: AnyArray,
    kind: BagKind,
    rng: np.random.Generator,
    categories: Categories | None = None,
) -> tuple[TreeSum | CategoryTrees, Floats, int]:
    """Return the mean of boosted models that leave out one fold each, the held-out scores, and the number of rounds."""
    columns = bins if categories is None else categories.of(bins)
    coded = np.zeros(columns.shape[1], bool) if categories is None else categories.coded
    n_folds, rounds = int(folds.max()) + 1, kind.rounds
    trees: list[Grown] = []
    held_out = np.zeros(len(bins))
    for bag in range(kind.bags):
        fold = folds[bag % len(folds)]
        models = []
        for b in range(n_folds):
            kept = fold != b
            rows = _bag(np.flatnonzero(kept & labeled), np.flatnonzero(kept & ~labeled), kind, rng)
            models.append(Boosted(columns[rows], labeled[rows], coded, kind, rng.spawn(1)[0]))
        if bag == 0:
            rounds = _rounds(models, columns, labeled, fold)
        for b, boosted in enumerate(models):
            boosted.grow(rounds - len(boosted.trees))
            grown, out = boosted.trees[:rounds], fold == b
            trees += grown
            held_out[out] += kind.rate * _sum(grown, columns[out])
    forest, levels = _joined(trees)
    scale = kind.rate / (n_folds * kind.bags)
    model = TreeSum(forest, scale) if categories is None else CategoryTrees(categories, forest, levels, scale)
    return model, held_out / kind.bags, rounds


def _rounds(models: list[Boosted], columns: AnyArray, labeled: Bools, fold: AnyArray) -> int:
    """Grow trees until held-out rows, each left out by the model of its fold, are ranked no better; return how many."""
    kind = models[0].kind
    watched = np.concatenate([_spread(np.flatnonzero(labeled == side)) for side in (False, True)])
    columns, labeled, fold = columns[watched], labeled[watched], fold[watched]
    scores, highest, rounds, grown = np.zeros(len(watched)), -1.0, 0, 0
    while grown < kind.rounds:
        count = min(kind.stage, kind.rounds - grown)
        for b, model in enumerate(models):
            out = fold == b
            scores[out] += _sum(model.grow(count), columns[out])
        grown += count
        found = pu_auc(scores, labeled)
        if found <= highest + LEAST_RISE:
            break
        highest, rounds = found, grown
    return rounds


def _spread(rows: Ints) -> Ints:
    """Return at most `WATCHED_ROWS` of some rows, evenly spread."""
    found: Ints = rows[np.linspace(0, len(rows) - 1, min(len(rows), WATCHED_ROWS)).astype(int)]
    return found


def _sum(trees: list[Grown], columns: AnyArray) -> Floats:
    """Return the sum of the values of rows over trees, shape (n,)."""
    forest, levels = _joined(trees)
    return forest.sum(columns, levels=levels)


def _joined(trees: list[Grown]) -> tuple[Forest, Ints]:
    """Return the forest of some trees, and the levels of its nodes."""
    return join([tree for tree, _ in trees]), np.concatenate([levels for _, levels in trees])


def _bag(marked: Ints, rest: Ints, kind: BagKind, rng: np.random.Generator) -> Ints:
    """Return the rows of a bag: all labeled ones, unless there are too many, and some unlabeled ones."""
    n_marked = min(len(marked), int(BAG_ROWS / (1.0 + kind.unlabeled)))
    n_rest = min(len(rest), max(round(kind.unlabeled * n_marked), 1))
    parts = (marked, n_marked), (rest, n_rest)
    return np.concatenate([np.sort(rng.choice(part, size, replace=False, shuffle=False)) for part, size in parts])


class Boosted:
    """Trees boosted on the logistic loss of class-balanced rows.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n, m)
        Rows, given by the bins of their features.
    labeled : ndarray of bool of shape (n,)
        True for labeled positives.
    coded : ndarray of bool of shape (m,)
        Features that are categories.
    kind : BagKind
        Kind of the trees.
    rng : numpy.random.Generator
        Draws the features of the trees.

    Attributes
    ----------
    kind : BagKind
        Kind of the trees.
    trees : list
        The trees so far.
    """

    def __init__(self, bins: AnyArray, labeled: Bools, coded: Bools, kind: BagKind, rng: np.random.Generator) -> None:
        self.trees: list[Grown] = []
        self._columns = feature_columns(bins, coded)
        self.kind, self._rng = kind, rng
        self._weights, self._targets = balanced_weights(labeled), labeled.astype(np.float64)
        self._scores, self._gains = np.zeros(len(bins)), np.zeros(bins.shape[1])

    def grow(self, count: int) -> list[Grown]:
        """Add `count` trees, and return them."""
        kind, m = self.kind, len(self._columns.bins)
        tried = min(max(1, round(kind.features * m)), MOST_TRIED)
        histograms = np.empty((kind.leaves, int(np.sort(self._columns.sizes)[-tried:].sum())), np.int64)
        derivatives = np.empty((len(self._scores), 2))
        for _ in range(count):
            p = 1.0 / (1.0 + np.exp(-self._scores))
            derivatives[:, 0] = self._weights * (self._targets - p)
            derivatives[:, 1] = self._weights * p * (1.0 - p)
            likely = (self._gains + self._gains.mean() + 1e-300) ** GREED
            features = np.argsort(self._rng.exponential(size=m) / likely)[:tried]
            tree, levels, steps, gains = grow_best_first(
                self._columns, derivatives, features, histograms, kind.least, kind.ridge
            )
            self._gains[features] += gains
            self._scores += kind.rate * steps
            self.trees.append((tree, levels))
        return self.trees[len(self.trees) - count :]
