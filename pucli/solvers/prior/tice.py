"""TIcE: the label frequency, and from it the class prior, by tree induction (Bekker and Davis 2018).

No part of the feature space has a larger share of labeled rows than c = P(labeled | positive), so each part gives a
lower bound on c. A tree is grown toward parts with many labeled rows, and the best bound is computed on rows that
were not used to grow it. With many rows the estimate of c is too low and the prior too high. With few rows it is the
other way round, because the best of many small parts has too large a share of labeled rows by chance.
"""

from __future__ import annotations

import heapq

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints

# Borders of the four pieces of a scaled feature, and the constants of the paper.
BORDERS = (0.25, 0.5, 0.75)
SMOOTHING = 5.0
SMALLEST_PART = 10
LARGEST_TREE = 500
TICE_FOLDS = 5
# If there are more features than this, this many are drawn at random.
MOST_FEATURES = 200


def tice(X: Floats, labeled: Bools, rng: np.random.Generator) -> float:
    """Return TIcE's estimate of the label frequency P(labeled | positive).

    It runs twice: with c = 1/2 in the correction term, then with the first estimate.
    """
    if X.shape[1] > MOST_FEATURES:
        X = X[:, np.sort(rng.choice(X.shape[1], MOST_FEATURES, replace=False))]
    low, high = X.min(axis=0), X.max(axis=0)
    scaled = (X - low) / np.where(high > low, high - low, 1.0)
    pieces = np.searchsorted(BORDERS, scaled, side="right")
    fold = rng.permutation(len(X)) % TICE_FOLDS
    c = 0.5
    for _ in range(2):
        c = float(np.mean([_tree_bound(pieces, labeled, fold == k, c) for k in range(TICE_FOLDS)]))
    return c


def lower_bound(count: int, positive: int, c: float, delta: float) -> float:
    """Return a lower bound of the label frequency, from the labeled share of a part of the rows."""
    return positive / count - float(np.sqrt(c * (1.0 - c) * (1.0 - delta) / (delta * count)))


def _tree_bound(pieces: Ints, labeled: Bools, grow: Bools, c: float) -> float:
    """Grow a tree on the rows `grow`, and return the best bound of any of its parts from the other rows."""
    check = ~grow
    n_check = int(np.count_nonzero(check))
    delta = max(0.025, 1.0 / (1.0 + 0.004 * n_check))
    best = float(labeled[check].mean())  # the root needs no correction, because it is not chosen by a search
    queue: list[tuple[float, int, Ints, Ints, Ints]] = []
    heapq.heappush(queue, (0.0, 0, np.flatnonzero(grow), np.flatnonzero(check), np.arange(pieces.shape[1])))
    for split in range(1, LARGEST_TREE + 1):
        if not queue:
            break
        _, _, grown, checked, features = heapq.heappop(queue)
        feature = _best_feature(pieces, labeled, grown, features)
        if feature is None:
            continue
        needed = c * (1.0 - c) * (1.0 - delta) / (delta * max(1.0 - best, 1e-12) ** 2)
        for piece in range(len(BORDERS) + 1):
            part = grown[pieces[grown, feature] == piece]
            held = checked[pieces[checked, feature] == piece]
            positive = int(np.count_nonzero(labeled[part]))
            if len(held) >= SMALLEST_PART:
                best = max(best, lower_bound(len(held), int(np.count_nonzero(labeled[held])), c, delta))
            if len(part) > SMALLEST_PART and min(needed, 1) <= positive < len(part):
                priority = -lower_bound(len(part), positive, c, delta)
                heapq.heappush(queue, (priority, 4 * split + piece, part, held, features[features != feature]))
    return best


def _best_feature(pieces: Ints, labeled: Bools, rows: Ints, features: Ints) -> int | None:
    """Return the feature with the piece of the largest smoothed share of labeled rows; None if no feature splits."""
    if len(features) == 0:
        return None
    size = len(BORDERS) + 1
    places = pieces[np.ix_(rows, features)] + size * np.arange(len(features))
    shape = (len(features), size)
    count = np.bincount(places.ravel(), minlength=size * len(features)).reshape(shape)
    positive = np.bincount(places[labeled[rows]].ravel(), minlength=size * len(features)).reshape(shape)
    score = (positive / (count + SMOOTHING)).max(axis=1)
    score[np.count_nonzero(count, axis=1) < 2] = 0.0
    best = int(np.argmax(score))
    return int(features[best]) if score[best] > 0.0 else None


def unlabeled_prior(label_frequency: float, n_p: int, n_u: int) -> float:
    """Return the share of positives among the unlabeled rows."""
    return float(np.clip(n_p * (1.0 / label_frequency - 1.0) / n_u, 0.0, 1.0)) if label_frequency > 0 else 1.0
