"""Estimates of the class prior: the share of positives among unlabeled rows, given labelled positives.

KM2 (Ramaswamy, Scott, Tewari 2016). The mixture F of unlabeled rows is (1 - k) G + k H, H the positives. In the
feature space of an RBF kernel, d(l) is the distance of l F + (1 - l) H to the hull of all rows: zero while
l <= 1 / (1 - k), then rising. Its slope passes a threshold of 1 / sqrt(rows of the smaller sample) near that corner.

TIcE (Bekker, Davis 2018). A lower bound on the label frequency c = P(labelled | positive) holds in every part of the
space, since no part has a larger share of labelled rows than c: grow a tree towards parts with many labelled rows, and
take the best bound. With many rows it bounds c from below, so the prior from above; the best of many parts of few rows
has too large a share of labelled ones by chance, which errs the other way.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numba import njit

from pucli.kernels.graph import squared_distances

# Candidates for the RBF width, as multiples of the median distance; the one that tells the samples apart most is used.
WIDTHS = np.logspace(-1, 1, 5)
# Search interval of l = 1 / (1 - prior): the published 8 would cap the prior at 0.875.
LARGEST_L = 20.0
RESOLUTION = 0.01
# No slope exceeds the distance of the samples: for small samples the threshold is capped at this share of it.
SLOPE_SHARE = 0.95
# Tree of TIcE: borders of the four pieces of a scaled feature, and the published constants.
BORDERS = (0.25, 0.5, 0.75)
SMOOTHING = 5.0
SMALLEST_PART = 10
LARGEST_TREE = 500
TICE_FOLDS = 5


class HullDistance(NamedTuple):
    """Distance of a point to the hull of the rows, its slope in l, and the hull weights (n,) that attain it."""

    distance: float
    slope: float
    weights: np.ndarray


@njit(cache=True)
def nearest_in_hull(K, target, v, tol, max_iter):
    """Minimise (v - target)'K(v - target) over the simplex by exchanging weight between two rows; v is updated.

    At each step the row with the steepest descent takes weight from the row that costs most. Stops when the
    Frank-Wolfe gap, a bound on the excess, is below `tol`. Returns (value, gap).
    """
    n = K.shape[0]
    g = np.dot(K, v - target)
    gap = np.inf
    for _ in range(max_iter):
        best = np.inf
        worst = -np.inf
        i = 0
        j = 0
        mean = 0.0
        for k in range(n):
            if g[k] < best:
                best = g[k]
                i = k
            if v[k] > 0.0:
                mean += v[k] * g[k]
                if g[k] > worst:
                    worst = g[k]
                    j = k
        gap = 2.0 * (mean - best)
        if gap <= tol:
            break
        curvature = K[i, i] + K[j, j] - 2.0 * K[i, j]
        step = v[j] if curvature <= 0.0 else min(v[j], (worst - best) / curvature)
        v[i] += step
        v[j] = 0.0 if step == v[j] else v[j] - step
        for k in range(n):
            g[k] += step * (K[i, k] - K[j, k])
    d = v - target
    return max(np.dot(d, np.dot(K, d)), 0.0), gap


def hull_distance(K, n_u, multiple, start, tol=1e-6) -> HullDistance:
    """Return d(multiple) for a kernel matrix K (n, n) whose first n_u rows are unlabeled; start (n,): hull weights."""
    n_p = len(K) - n_u
    direction = np.concatenate([np.full(n_u, 1.0 / n_u), np.full(n_p, -1.0 / n_p)])
    target = multiple * direction
    target[n_u:] += 1.0 / n_p
    v = start.copy()
    value, _ = nearest_in_hull(K, target, v, tol, 200 * len(K))
    distance = float(np.sqrt(value))
    # d^2 has the derivative 2 (target - v)'K direction: the hull weights are optimal, so they do not move it
    slope = float((target - v) @ (K @ direction)) / distance if distance > 0 else 0.0
    return HullDistance(distance, slope, v)


def best_rbf(X_u, X_p):
    """Return the kernel matrix of the stacked rows, of the width that sets the two samples farthest apart."""
    D = squared_distances(np.ascontiguousarray(np.vstack([X_u, X_p])))
    n_u, n_p = len(X_u), len(X_p)
    difference = np.concatenate([np.full(n_u, 1.0 / n_u), np.full(n_p, -1.0 / n_p)])
    median = np.median(D[D > 0]) if np.any(D > 0) else 1.0
    best, best_distance = np.ones_like(D), -1.0
    for factor in WIDTHS:
        K = np.exp(D * (-0.5 / (median * factor**2)))
        distance = float(difference @ K @ difference)
        if distance > best_distance:
            best, best_distance = K, distance
    return best, float(np.sqrt(max(best_distance, 0.0)))


def km2(X_u, X_p) -> float:
    """Return KM2's estimate of the share of positives among the rows X_u (n_u, m), given positives X_p (n_p, m).

    Between 0 and 0.95. Takes memory of (n_u + n_p)^2 numbers.
    """
    K, apart = best_rbf(X_u, X_p)
    n_u, n_p = len(X_u), len(X_p)
    v = np.concatenate([np.full(n_u, 1.0 / n_u), np.zeros(n_p)])
    threshold = min(1.0 / np.sqrt(min(n_u, n_p)), SLOPE_SHARE * apart)
    low, high = 1.0, LARGEST_L
    while 1.0 / low - 1.0 / high > RESOLUTION:
        middle = 2.0 / (1.0 / low + 1.0 / high)  # halves the interval of priors, 1 - 1/l
        found = hull_distance(K, n_u, middle, v)
        v = found.weights
        if found.slope > threshold:
            high = middle
        else:
            low = middle
    return 1.0 - 0.5 * (1.0 / low + 1.0 / high)


def tice(X, labelled, rng) -> float:
    """Return TIcE's estimate of the label frequency P(labelled | positive) over the rows X (n, m).

    labelled : (n,) bool; rng draws the folds. Twice: with c = 1/2 in the correction term, then with the first estimate.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    scaled = (X - low) / np.where(high > low, high - low, 1.0)
    pieces = np.searchsorted(BORDERS, scaled, side="right")
    fold = rng.permutation(len(X)) % TICE_FOLDS
    c = 0.5
    for _ in range(2):
        c = float(np.mean([_tree_bound(pieces, labelled, fold == k, c) for k in range(TICE_FOLDS)]))
    return c


def _lower_bound(count, positive, c, delta):
    """Return a bound that the label frequency exceeds with probability 1 - delta, from a part of `count` rows."""
    return positive / count - np.sqrt(c * (1.0 - c) * (1.0 - delta) / (delta * count))


def _tree_bound(pieces, labelled, grow, c):
    """Grow one tree on the rows `grow` and return the best bound that the other rows give to one of its parts."""
    check = ~grow
    n_check = np.count_nonzero(check)
    delta = max(0.025, 1.0 / (1.0 + 0.004 * n_check))
    best = labelled[check].mean()  # the root, whose share needs no search, hence no correction
    queue: list[tuple[float, int, np.ndarray, np.ndarray, frozenset]] = []
    heapq.heappush(queue, (0.0, 0, np.flatnonzero(grow), np.flatnonzero(check), frozenset(range(pieces.shape[1]))))
    for split in range(1, LARGEST_TREE + 1):
        if not queue:
            break
        _, _, grown, checked, features = heapq.heappop(queue)
        feature = _best_feature(pieces, labelled, grown, features)
        if feature is None:
            continue
        needed = c * (1.0 - c) * (1.0 - delta) / (delta * max(1.0 - best, 1e-12) ** 2)
        for piece in range(len(BORDERS) + 1):
            part = grown[pieces[grown, feature] == piece]
            held = checked[pieces[checked, feature] == piece]
            positive = np.count_nonzero(labelled[part])
            if len(held) >= SMALLEST_PART:
                best = max(best, _lower_bound(len(held), np.count_nonzero(labelled[held]), c, delta))
            if len(part) > SMALLEST_PART and min(needed, 1) <= positive < len(part):
                priority = -_lower_bound(len(part), positive, c, delta)
                heapq.heappush(queue, (priority, 4 * split + piece, part, held, features - {feature}))
    return float(best)


def _best_feature(pieces, labelled, rows, features):
    """Return the feature with the piece of the largest smoothed share of labelled rows; None if none splits."""
    best, chosen = 0.0, None
    for feature in sorted(features):
        count = np.bincount(pieces[rows, feature], minlength=len(BORDERS) + 1)
        if np.count_nonzero(count) < 2:
            continue
        positive = np.bincount(pieces[rows, feature], weights=labelled[rows], minlength=len(BORDERS) + 1)
        score = float(np.max(positive / (count + SMOOTHING)))
        if score > best:
            best, chosen = score, feature
    return chosen


def unlabeled_prior(label_frequency, n_p, n_u) -> float:
    """Return the share of positives among n_u unlabeled rows when n_p labelled ones are that share of all positives."""
    return float(np.clip(n_p * (1.0 / label_frequency - 1.0) / n_u, 0.0, 1.0)) if label_frequency > 0 else 1.0
