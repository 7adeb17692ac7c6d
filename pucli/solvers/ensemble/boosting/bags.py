"""Bags of boosted trees with many leaves, grown best first, for tables with enough labelled rows.

Each model learns from all labelled rows outside of a fold and a few times as many unlabeled ones, drawn anew for each
model (bagging of Mordelet and Vert 2014, with all labelled rows in each bag).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.solvers.ensemble.boosting.best_first import grow_best_first, sparse_bins
from pucli.solvers.ensemble.forests import TreeSum
from pucli.solvers.ensemble.rows import balanced_weights
from pucli.solvers.ensemble.trees import Tree, join

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
    rounds : int
        Number of trees in each model.
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
    rounds: int = 100
    rate: float = 0.1
    least: int = 20
    ridge: float = 1.0
    features: float = 0.7
    unlabeled: float = 4.0


def fit_bags(
    bins: AnyArray, labelled: Bools, folds: AnyArray, kind: BagKind, rng: np.random.Generator
) -> tuple[TreeSum, Floats]:
    """Return the mean of the boosted models that leave out one fold each, and the held-out scores.

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

    Returns
    -------
    model : TreeSum
        Mean of all models.
    held_out : ndarray of shape (n,)
        Scores of each row by the models that leave out its fold.
    """
    n_folds = int(folds.max()) + 1
    trees: list[Tree] = []
    held_out = np.zeros(len(bins))
    for bag in range(kind.bags):
        fold = folds[bag % len(folds)]
        for b in range(n_folds):
            kept = fold != b
            rows = _bag(np.flatnonzero(kept & labelled), np.flatnonzero(kept & ~labelled), kind, rng)
            grown = boost(bins[rows], labelled[rows], kind, rng)
            held_out[~kept] += join(grown).sum(bins[~kept])
            trees += grown
    return TreeSum(join(trees), kind.rate / (n_folds * kind.bags)), held_out * (kind.rate / kind.bags)


def _bag(marked: Ints, rest: Ints, kind: BagKind, rng: np.random.Generator) -> Ints:
    """Return the rows of a bag: all labelled ones, unless there are too many, and some unlabeled ones."""
    n_marked = min(len(marked), int(BAG_ROWS / (1.0 + kind.unlabeled)))
    n_rest = min(len(rest), max(round(kind.unlabeled * n_marked), 1))
    parts = (marked, n_marked), (rest, n_rest)
    return np.concatenate([np.sort(rng.choice(part, size, replace=False, shuffle=False)) for part, size in parts])


def boost(bins: AnyArray, labelled: Bools, kind: BagKind, rng: np.random.Generator) -> list[Tree]:
    """Return trees boosted on the logistic loss of class-balanced rows.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n, m)
        Rows, given by the bins of their features.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
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
        tree, steps = grow_best_first(
            bins, *sparse, derivatives, histograms, kind.leaves, kind.least, kind.ridge, tried, seed
        )
        scores += kind.rate * steps
        trees.append(tree)
    return trees
