"""Folds for positive-unlabeled rows, stratified by labelled and unlabeled rows."""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import AnyArray, Ints
from pucli.core.errors import UsageError
from pucli.core.seeding import stream

Fold = tuple[Ints, Ints]


def pu_folds(s: AnyArray, n_folds: int, seed: int, repeats: int = 1) -> list[list[Fold]]:
    """Return, for each repeat, `n_folds` pairs (training rows, validation rows) of sorted row numbers.

    Labelled and unlabeled rows are shuffled and assigned to the folds in turn, so their counts differ by at most one.

    Parameters
    ----------
    s : ndarray of shape (n,)
        1 for labelled, another value for unlabeled rows.
    n_folds : int
        Folds of one cross-validation.
    seed : int
        Seed of the shuffling; each repeat has its own random stream.
    repeats : int, default 1
        Number of cross-validations, each with new folds.

    Raises
    ------
    UsageError
        Fewer labelled (or unlabeled) rows than folds.
    """
    labelled, unlabeled = np.flatnonzero(s == 1), np.flatnonzero(s != 1)
    for rows, kind in ((labelled, "labelled"), (unlabeled, "unlabeled")):
        if len(rows) < n_folds:
            raise UsageError(
                f"{len(rows)} {kind} rows cannot fill {n_folds} folds: each fold needs one. "
                f"Use fewer folds (--cv {max(len(rows), 2)}) or more {kind} rows."
            )
    result = []
    for repeat in range(repeats):
        rng = stream(seed, "folds", repeat)
        home = np.empty(len(s), dtype=np.int64)
        home[rng.permutation(labelled)] = np.arange(len(labelled)) % n_folds
        home[rng.permutation(unlabeled)] = np.arange(len(unlabeled)) % n_folds
        result.append([(np.flatnonzero(home != fold), np.flatnonzero(home == fold)) for fold in range(n_folds)])
    return result
