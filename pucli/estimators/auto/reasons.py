"""How far the score of a row changes if one column takes its usual value, and which known positives are like the row.

The change of column k is the score of the row less the score of its copy with the usual value in this column. It
explains the model, not the world: of two columns with the same information, either may count, and changes of several
columns do not add up. In trees, the copy of a column whose split sends both values the same way falls into the same
leaf, so that only the other columns on the path of a row are followed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.solvers.ensemble.boosting.categories import CategoryTrees
from pucli.solvers.ensemble.forests import TreeSum
from pucli.solvers.ensemble.refit import Refitted
from pucli.solvers.ensemble.trees import goes_right
from pucli.solvers.folds import FOLDS

if TYPE_CHECKING:
    from pucli.estimators.auto.auto_pu import AutoPU
    from pucli.solvers.ensemble.ensemble import FittedMember

# Copies of rows that are scored at once, and the most cells that they have.
COPIES, CELLS = 4000, 4_000_000
# Known positives named beside a row.
ALIKE = 3


class Effects(NamedTuple):
    """How far the scores of n rows change if one of k columns takes its usual value."""

    change: Floats  # (n, k), score of the row less that of its copy: positive if the column raises the score
    # (n, k), standard deviation over the parts of the tree members that leave out one fold each; NaN without trees
    spread: Floats


def effects(model: AutoPU, X: Floats, usual: Floats, columns: Sequence[slice] | None = None) -> Effects:
    """Return how far each column raises or lowers the scores of rows.

    Parameters
    ----------
    model : AutoPU
        Fitted ensemble.
    X : ndarray of shape (n, m)
        Rows of features, from training or new.
    usual : ndarray of shape (m,)
        Features of a row in which every column has its usual value (`usual_values`).
    columns : sequence of slice, optional
        Features of each column; None means that each is a column.

    Returns
    -------
    Effects
        Changes of the scores, and their spread over the folds.
    """
    column_of = np.arange(X.shape[1])
    for k, place in enumerate(columns or ()):
        column_of[place] = k
    count = int(column_of.max()) + 1
    used = np.arange(X.shape[1]) if model._columns is None else model._columns
    rows, ordinary, column_of = X[:, used], usual[used], column_of[used]
    folds = len(model._positive) if model._folds is None else int(model._folds.max()) + 1
    change, parts = np.zeros((len(X), count)), np.zeros((len(X), min(FOLDS, folds), count))
    ensemble = model.ensemble_.ensemble if isinstance(model.ensemble_, Refitted) else model.ensemble_
    trees = False
    with threadpool_limits(1):
        for member in ensemble.members:

            def score(Z: Floats, member: FittedMember = member) -> Floats:
                found: Floats = member.model.score(ensemble.views.one(member.view, Z)) * member.scale
                return found

            both = ensemble.views.one(member.view, np.vstack([rows, ordinary])) if _splits(member.model) else None
            coded = None if both is None else _coded(member.model, both, column_of)
            if coded is None:
                added = changes(score, rows, ordinary, column_of, count)
                parts += added[:, None, :]
            else:
                trees, added = True, _changes_of_trees(member, *coded, parts)
            change += added
        change, parts = change / len(ensemble.members), parts / len(ensemble.members)
        if isinstance(model.ensemble_, Refitted):
            raw, scale = ensemble.score(rows), model.ensemble_.scale
            parts = scale.of(raw)[:, None, None] - scale.of((raw[:, None, None] - parts).ravel()).reshape(parts.shape)
            change = scale.of(raw)[:, None] - scale.of((raw[:, None] - change).ravel()).reshape(change.shape)
    spread = parts.std(axis=1, ddof=1) if trees and parts.shape[1] > 1 else np.full_like(change, np.nan)
    return Effects(change, spread)


def changes(
    score: Callable[[Floats], Floats], X: Floats, usual: Floats, column_of: Ints, count: int | None = None
) -> Floats:
    """Return how far each of `count` columns raises the scores of rows X (n, m), by scoring their copies, (n, count).

    column_of : (m,), the column of each feature. Copies are scored together, and a usual cell changes nothing.
    """
    count = int(column_of.max()) + 1 if count is None else count
    changed = np.zeros((len(X), count))
    differing = np.zeros((count, len(X)))
    np.add.at(differing, column_of, (usual != X).T)
    row, column = np.nonzero(differing.T)
    at_once = max(1, min(COPIES, CELLS // X.shape[1]))
    if len(row):
        base = score(X)
        for first in range(0, len(row), at_once):
            i, k = row[first : first + at_once], column[first : first + at_once]
            copies = np.where(column_of == k[:, None], usual, X[i])
            changed[i, k] = base[i] - score(copies)
    return changed


def usual_values(X: Floats, unlabeled: Bools) -> Floats:
    """Return the median (m,) of each feature over the unlabeled rows of X (n, m), as a value that occurs."""
    median: Floats = np.quantile(X[unlabeled], 0.5, axis=0, method="lower")
    return median


def most_alike(rows: Floats, known: Floats, own: Ints | None = None) -> Ints:
    """Return the numbers (n, up to `ALIKE`) of the known positives whose columns change the score most alike.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        Changes of the scores of the rows (`effects`).
    known : ndarray of shape (p, k)
        Those of the known positives.
    own : ndarray of shape (n,), optional
        Number of each row among the known positives, so that none is like itself; -1 for another row.
    """
    squares = (rows**2).sum(axis=1)[:, None] - 2.0 * rows @ known.T + (known**2).sum(axis=1)
    if own is not None:
        squares[np.flatnonzero(own >= 0), own[own >= 0]] = np.inf
    return np.argsort(squares, axis=1, kind="stable")[:, : min(ALIKE, len(known) - (own is not None))]


def _splits(model: Any) -> bool:
    return isinstance(model, (TreeSum, CategoryTrees))


def _coded(
    model: TreeSum | CategoryTrees, both: AnyArray, column_of: Ints
) -> tuple[AnyArray, AnyArray, Ints, Ints] | None:
    """Return the columns that trees split on, those of the usual row, the column of each in the table, and the levels.

    None if features of several columns of the table are levels of one category.
    """
    if isinstance(model, TreeSum):
        return both[:-1], both[-1], column_of, np.zeros(len(model.forest.feature), np.int64)
    category = model.categories.category
    groups = [np.unique(column_of[category == number]) for number in range(model.categories.count)]
    if any(len(group) > 1 for group in groups):
        return None
    both = model.categories.of(both)
    return both[:-1], both[-1], np.concatenate([column_of[category < 0], *groups]), model.levels


def _changes_of_trees(
    member: FittedMember, rows: AnyArray, usual: AnyArray, column_of: Ints, levels: Ints, parts: Floats
) -> Floats:
    """Return the changes (n, k) by the trees of a member; add to parts those by its trees that leave out each fold."""
    forest, folds, size = member.model.forest, parts.shape[1], int(member.parameters.get("rounds", 1))
    models = np.arange(len(forest.start) - 1) // size
    fold = models % folds
    times = len(models) / np.maximum(np.bincount(fold, minlength=folds), 1)
    added = np.zeros_like(parts)
    _follow(
        np.ascontiguousarray(rows), usual, column_of.astype(np.int64), forest.start, forest.feature, forest.cut,
        forest.child, forest.value, levels, fold, added,
    )  # fmt: skip
    added *= member.model.scale * member.scale
    parts += added * times[:, None]
    total: Floats = added.sum(axis=1)
    return total


@njit(cache=True, nogil=True)
def _follow(  # noqa: PLR0913
    rows: AnyArray, usual: AnyArray, column_of: Ints, start: Ints, feature: AnyArray, cut: AnyArray, child: AnyArray,
    value: Floats, levels: Ints, fold: Ints, out: Floats,
) -> None:  # fmt: skip
    """Add to out (n, folds, k) the value of the leaf of each row less that of each of its copies, for every tree."""
    met, place = np.empty(256, np.int64), np.empty(256, np.int64)
    for tree in range(len(start) - 1):
        root, b = start[tree], fold[tree]
        for i in range(len(rows)):
            node, count = root, 0
            while feature[node] >= 0:
                f = feature[node]
                right = goes_right(rows[i, f], cut[node], levels[node])
                if right != goes_right(usual[f], cut[node], levels[node]):
                    known = False
                    for j in range(count):
                        known |= met[j] == column_of[f]
                    if not known:
                        met[count], place[count] = column_of[f], node
                        count += 1
                node = root + child[node] + right
            for j in range(count):
                other = place[j]
                while feature[other] >= 0:
                    f = feature[other]
                    at = usual[f] if column_of[f] == met[j] else rows[i, f]
                    other = root + child[other] + goes_right(at, cut[other], levels[other])
                out[i, b, met[j]] += value[node] - value[other]
