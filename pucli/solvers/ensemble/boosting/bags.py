"""Bags of boosted trees with many leaves, grown best first, for tables with enough labelled rows.

Each model learns from all labelled rows outside of a fold and a few times as many unlabeled ones, drawn anew for each
model (bagging of Mordelet and Vert 2014, with all labelled rows in each bag).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.solvers.ensemble.boosting.best_first import grow_best_first, sparse_bins
from pucli.solvers.ensemble.boosting.categories import Categories, CategoryTrees, sum_of_trees
from pucli.solvers.ensemble.forests import TreeSum
from pucli.solvers.ensemble.rows import balanced_weights
from pucli.solvers.ensemble.trees import Forest, Tree, join

# A tree, and the levels of categories that go to the left child of each of its nodes.
Grown: TypeAlias = tuple[Tree, Ints]

# The most rows of a bag.
BAG_ROWS = 30_000


@dataclass(frozen=True)
class BagKind:
    """Growth of bags of boosted trees.

    Attributes
    ----------
    leaves : int
        Most leaves of a tree.
    bags : int
        Number of models that leave out the same fold.
    fewest, rounds : int
        Fewest and most trees in each model.
    stage : int
        Number of trees after which it may end.
    rate : float
        Learning rate.
    least : int
        Fewest rows of a leaf.
    ridge : float
        Added to the sum of weights in the value of a leaf.
    features : float
        Share of the features tried in a tree.
    unlabeled : float
        Number of unlabeled rows in a bag for each labelled row.
    """

    leaves: int = 31
    bags: int = 2
    fewest: int = 45
    rounds: int = 180
    stage: int = 15
    rate: float = 0.05
    least: int = 20
    ridge: float = 1.0
    features: float = 0.7
    unlabeled: float = 4.0


def fit_bags(
    bins: AnyArray,
    labelled: Bools,
    folds: AnyArray,
    kind: BagKind,
    rng: np.random.Generator,
    categories: Categories | None = None,
) -> tuple[TreeSum | CategoryTrees, Floats, int]:
    """Return the mean of boosted models that leave out one fold each, the held-out scores, and the number of rounds.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n, m)
        Rows, given by the bins of their features.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    folds : ndarray of int8 of shape (repeats, n)
        Fold of each row in each division; bags use the divisions in turn.
    kind : BagKind
        Number and kind of the trees.
    rng : numpy.random.Generator
        Draws the rows of each bag, at most `BAG_ROWS`, and the features of the trees.
    categories : Categories, optional
        Categories among the features.

    Returns
    -------
    model : TreeSum or CategoryTrees
        Mean of all models.
    held_out : ndarray of shape (n,)
        Scores of each row by the models that leave out its fold.
    rounds : int
        Number of trees of each model: that with the least logistic loss on the rows that the first bags leave out.
    """
    columns = bins if categories is None else categories.of(bins)
    coded = np.zeros(columns.shape[1], bool) if categories is None else categories.coded
    n_folds, rounds = int(folds.max()) + 1, kind.rounds
    grown: list[list[Grown]] = []
    held_out = np.zeros(len(bins))
    for bag in range(kind.bags):
        fold = folds[bag % len(folds)]
        steps = np.zeros((len(range(0, rounds, kind.stage)), len(bins)))
        for b in range(n_folds):
            kept = fold != b
            rows = _bag(np.flatnonzero(kept & labelled), np.flatnonzero(kept & ~labelled), kind, rng)
            grown.append(boost(columns[rows], labelled[rows], coded, replace(kind, rounds=rounds), rng))
            for k, stage in enumerate(range(0, rounds, kind.stage)):
                steps[k, ~kept] = sum_of_trees(columns[~kept], *_joined(grown[-1][stage : stage + kind.stage]))
        scores = kind.rate * np.cumsum(steps, axis=0)
        if bag == 0:
            weights = balanced_weights(labelled)
            loss = [np.average(np.logaddexp(0.0, np.where(labelled, -one, one)), weights=weights) for one in scores]
            fewest = min(kind.fewest // kind.stage, len(loss)) - 1
            best = fewest + int(np.argmin(loss[fewest:]))
            rounds, scores = min(rounds, (best + 1) * kind.stage), scores[: best + 1]
            grown = [trees[:rounds] for trees in grown]
        held_out += scores[-1]
    forest, levels = _joined([one for trees in grown for one in trees])
    scale = kind.rate / (n_folds * kind.bags)
    model = TreeSum(forest, scale) if categories is None else CategoryTrees(categories, forest, levels, scale)
    return model, held_out / kind.bags, rounds


def _joined(trees: list[Grown]) -> tuple[Forest, Ints]:
    """Return the forest of some trees, and the levels of its nodes."""
    return join([tree for tree, _ in trees]), np.concatenate([levels for _, levels in trees])


def _bag(marked: Ints, rest: Ints, kind: BagKind, rng: np.random.Generator) -> Ints:
    """Return the rows of a bag: all labelled ones, unless there are too many, and some unlabeled ones."""
    n_marked = min(len(marked), int(BAG_ROWS / (1.0 + kind.unlabeled)))
    n_rest = min(len(rest), max(round(kind.unlabeled * n_marked), 1))
    parts = (marked, n_marked), (rest, n_rest)
    return np.concatenate([np.sort(rng.choice(part, size, replace=False, shuffle=False)) for part, size in parts])


def boost(bins: AnyArray, labelled: Bools, coded: Bools, kind: BagKind, rng: np.random.Generator) -> list[Grown]:
    """Return trees boosted on the logistic loss of class-balanced rows.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n, m)
        Rows, given by the bins of their features.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    coded : ndarray of bool of shape (m,)
        Features that are categories.
    kind : BagKind
        Number and kind of the trees.
    rng : numpy.random.Generator
        Draws the features of the trees.
    """
    sparse = sparse_bins(bins)
    weights, targets = balanced_weights(labelled), labelled.astype(np.float64)
    scores = np.zeros(len(bins))
    histograms = np.empty((kind.leaves, int(sparse.offset[-1]), 3))
    tried = max(1, round(kind.features * bins.shape[1]))
    trees = []
    for _ in range(kind.rounds):
        p = 1.0 / (1.0 + np.exp(-scores))
        derivatives = np.column_stack([weights * (targets - p), weights * p * (1.0 - p)])
        seed = np.uint64(rng.integers(0, 2**63))
        tree, levels, steps = grow_best_first(
            bins, *sparse, derivatives, coded, histograms, kind.leaves, kind.least, kind.ridge, tried, seed
        )
        scores += kind.rate * steps
        trees.append((tree, levels))
    return trees
