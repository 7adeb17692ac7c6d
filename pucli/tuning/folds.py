"""Folds for positive-unlabeled rows, stratified by labeled and unlabeled rows."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError, by_interface
from pucli.core.seeding import stream
from pucli.solvers.ensemble.copies import copied_rows, groups_of_copies
from pucli.solvers.folds import stratified_folds

Fold = tuple[Ints, Ints]
COPIES = "copies"


def pu_folds(s: AnyArray, n_folds: int, seed: int, repeats: int = 1, groups: Ints | None = None) -> list[list[Fold]]:
    """Return, for each repeat, `n_folds` pairs (training rows, validation rows) of sorted row numbers.

    Labeled and unlabeled rows are shuffled and assigned to the folds in turn, so their counts differ by at most one.
    """
    labeled, unlabeled = np.flatnonzero(s == 1), np.flatnonzero(s != 1)
    for rows, kind in ((labeled, "labeled"), (unlabeled, "unlabeled")):
        if len(rows) < n_folds:
            raise UsageError(
                f"{len(rows)} {kind} rows cannot fill {n_folds} folds: each fold needs one. "
                f"Use fewer folds ({by_interface('cv=', '`pucli tune` with --cv ')}{max(len(rows), 2)}) or more "
                f"{kind} rows."
            )
    result = []
    for repeat in range(repeats):
        rng = stream(seed, "folds", repeat)
        if groups is not None:
            home = _grouped(s == 1, n_folds, rng, groups)
        else:
            home = np.empty(len(s), dtype=np.int64)
            home[rng.permutation(labeled)] = np.arange(len(labeled)) % n_folds
            home[rng.permutation(unlabeled)] = np.arange(len(unlabeled)) % n_folds
        result.append([(np.flatnonzero(home != fold), np.flatnonzero(home == fold)) for fold in range(n_folds)])
    return result


def copies_together(X: Floats, labeled: Bools, n_folds: int) -> tuple[Ints | None, list[str]]:
    """Return groups (n,) that keep copies of a labeled row in one fold, and notes for the user.

    A held-out copy of a training row is no evidence: the score would favor models that remember rows.
    """
    groups = None if issparse(X) else groups_of_copies(X, labeled)
    if groups is None:
        return None, []
    said = f"{copied_rows(groups, labeled)} of {np.count_nonzero(labeled)} labeled rows are copies of others, or nearly"
    if min(len(np.unique(groups[kind])) for kind in (labeled, ~labeled)) < n_folds:
        return None, [f"{said}; too few are different to keep copies in one fold, so the score is too good."]
    return groups, [
        f"{said}: copies were kept in one fold. If rows belong together in other ways, give "
        f"{by_interface('groups', '--groups COLUMN')}."
    ]


def _grouped(labeled: Bools, n_folds: int, rng: np.random.Generator, groups: Ints) -> Ints:
    """Return the fold of each row (n,), the same within a group; each fold has rows of both kinds."""
    home = stratified_folds(labeled, n_folds, rng, np.unique(groups, return_inverse=True)[1]).astype(np.int64)
    for kind, what in ((labeled, "labeled"), (~labeled, "unlabeled")):
        filled = len(np.unique(home[kind]))
        if filled < n_folds:
            raise UsageError(
                f"the groups of the {what} rows fill {filled} of {n_folds} folds, and each fold needs one. "
                f"Use fewer folds ({by_interface('cv', '`pucli tune` with --cv')} {max(filled, 2)}) or smaller groups."
            )
    return home
