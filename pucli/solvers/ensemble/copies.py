"""Groups of rows that are copies of each other, which must not be on both sides of a fold.

After oversampling, or with several visits of one person, a held-out labeled row has its copy among the training rows,
and every estimate is too good. Equal rows are copies where equality by chance is out of the question: rows are equal
far more often than independent features would make them, or labeled rows than unlabeled ones. Labeled rows are near
copies if they lie much closer to each other than to any unlabeled row, far more often than happens by chance. Where few
labeled rows have copies, the estimates hardly change, and all rows count as different.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pucli.core.arrays import AnyArray, Bools, Floats, Ints

# Labeled rows are copies if they are equal so many times as often as unlabeled ones, as positives alone hardly are, or
# as rows with independent features.
MORE_OFTEN = 20.0
# A labeled row is near another if its distance is below this share of that to the nearest unlabeled row. Such rows are
# near copies if their share is above the first number and that of chance times the second, in so many dimensions.
NEAR, NEAR_SHARE, OVER_CHANCE, LEAST_FEATURES = 0.4, 0.3, 3.0, 3
# The most labeled and unlabeled rows that are searched for near copies.
MOST_LABELED, MOST_UNLABELED = 3000, 5000
# Near copies are kept together if no group has more than this share of the labeled rows.
LARGEST = 0.2
# Labeled rows with a copy matter above this share of all.
LEAST_COPIED = 0.05


def groups_of_copies(X: Floats, labeled: Bools) -> Ints | None:
    """Return the group of each row (n,), where copies of a labeled row share a group; None if there are no copies."""
    group = _equal_rows(X, labeled)
    near = _near_rows(X, labeled)
    if group is None and near is None:
        return None
    group = np.arange(len(X)) if group is None else group
    if near is not None:
        links = coo_array((np.ones(len(near)), (group[near[:, 0]], group[near[:, 1]])), shape=(len(X), len(X)))
        joined = np.asarray(connected_components(links, directed=False)[1][group], dtype=np.int64)
        if np.bincount(joined, weights=labeled).max() <= LARGEST * np.count_nonzero(labeled):
            group = joined
    group = np.unique(group, return_inverse=True)[1]
    return group if copied_rows(group, labeled) > LEAST_COPIED * np.count_nonzero(labeled) else None


def copied_rows(group: Ints, labeled: Bools) -> int:
    """Return the number of labeled rows that share their group with another row."""
    return int(np.count_nonzero(np.bincount(group)[group[labeled]] > 1))


def _equal_rows(X: Floats, labeled: Bools) -> Ints | None:
    """Return the group of each row (n,), None unless labeled rows are equal to others, and not by chance."""
    rows = np.ascontiguousarray(X + 0.0)  # -0.0 is 0.0
    group = np.unique(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel(), return_inverse=True)[1]
    marked = np.bincount(group, weights=labeled)
    rest = np.bincount(group, weights=~labeled)
    if not np.any((marked > 0.0) & (marked + rest > 1.0)):
        return None
    of_unlabeled = max(_pairs(rest), 1.0 / max(rest.sum(), 1.0) ** 2)
    if _pairs(marked) <= MORE_OFTEN * of_unlabeled and _pairs(marked + rest) <= MORE_OFTEN * _by_chance(X, group):
        return None
    alone = marked == 0.0
    found = np.asarray(group, dtype=np.int64)
    found[alone[group]] = len(marked) + np.arange(np.count_nonzero(alone[group]))
    return np.unique(found, return_inverse=True)[1]


def _pairs(counts: AnyArray) -> float:
    """Return the share of pairs of rows that are equal."""
    n = counts.sum()
    return float((counts * (counts - 1.0)).sum() / max(n * (n - 1.0), 1.0))


def _by_chance(X: Floats, group: Ints) -> float:
    """Return the share of pairs of rows that were equal if features were independent, as among the distinct rows."""
    distinct = X[np.unique(group, return_index=True)[1]]
    chance = 1.0
    for column in distinct.T:
        shares = np.unique(column, return_counts=True)[1] / len(distinct)
        chance *= float(shares @ shares)
    return chance


def _near_rows(X: Floats, labeled: Bools) -> Ints | None:
    """Return pairs of labeled rows that are near copies, shape (k, 2), None if they are not many."""
    deviation = X.std(axis=0)
    n_p, m = int(np.count_nonzero(labeled)), int(np.count_nonzero(deviation > 0.0))
    if not 10 <= n_p <= MOST_LABELED or m < LEAST_FEATURES:
        return None
    from sklearn.neighbors import NearestNeighbors

    Z = X[:, deviation > 0.0] / deviation[deviation > 0.0]
    rows, rest = np.flatnonzero(labeled), np.flatnonzero(~labeled)
    rest = rest[np.linspace(0, len(rest) - 1, min(len(rest), MOST_UNLABELED)).astype(int)]
    near, which = NearestNeighbors(n_neighbors=2).fit(Z[rows]).kneighbors()
    far = NearestNeighbors(n_neighbors=1).fit(Z[rest]).kneighbors(Z[rows])[0][:, 0]
    close = (near < NEAR * far[:, None]) & (near > 0.0)
    by_chance = NEAR**m * n_p / len(rest)
    if close.any(axis=1).mean() <= max(NEAR_SHARE, OVER_CHANCE * by_chance / (1.0 + by_chance)):
        return None
    pairs = np.argwhere(close)
    return np.column_stack([rows[pairs[:, 0]], rows[which[pairs[:, 0], pairs[:, 1]]]])
