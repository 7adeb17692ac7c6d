"""Folds with the same share of the labeled and of the unlabeled rows, which keep groups of rows together.

Only with equal shares do labeled positives and positives among the unlabeled rows have held-out scores with the same
distribution.
"""

from __future__ import annotations

import numpy as np

FOLDS = 5


def stratified_folds(
    labeled: np.ndarray, n_folds: int, rng: np.random.Generator, groups: np.ndarray | None = None
) -> np.ndarray:
    """Return the fold of each row; labeled and unlabeled rows are dealt to the folds separately.

    The labeled rows go to the folds in ascending order, the unlabeled rows in descending order.
    """
    if groups is not None:
        return _grouped_folds(labeled, n_folds, rng, groups)
    fold = np.empty(len(labeled), np.int8)
    for rows, step in ((np.flatnonzero(labeled), 1), (np.flatnonzero(~labeled), -1)):
        fold[rng.permutation(rows)] = (step * np.arange(len(rows))) % n_folds
    return fold


def _grouped_folds(labeled: np.ndarray, n_folds: int, rng: np.random.Generator, groups: np.ndarray) -> np.ndarray:
    counts = np.column_stack([np.bincount(groups, weights=kind) for kind in (labeled, ~labeled)])
    shares = counts / np.maximum(counts.sum(axis=0), 1.0)
    order = rng.permutation(len(counts))
    order = order[np.argsort(-shares[order].sum(axis=1), kind="stable")]
    filled, home = np.zeros((n_folds, 2)), np.empty(len(counts), np.int8)
    for group in order:
        there = filled @ (shares[group] > 0.0)  # the kinds of rows that the group has
        home[group] = np.argmin(there)
        filled[home[group]] += shares[group]
    found: np.ndarray = home[groups]
    return found


def number_of_folds(labeled: np.ndarray, groups: np.ndarray | None = None) -> int:
    """Return `FOLDS`, or fewer if otherwise a fold would have no labeled or no unlabeled row."""
    if groups is not None:
        return min(FOLDS, *(len(np.unique(groups[kind])) for kind in (labeled, ~labeled)))
    n_labeled = int(np.sum(labeled))
    return min(FOLDS, n_labeled, len(labeled) - n_labeled)
