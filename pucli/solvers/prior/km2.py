"""KM2: the class prior by kernel mean embedding (Ramaswamy, Scott and Tewari 2016).

The unlabeled rows are a sample of the mixture F = (1 - k) G + k H, where H is the distribution of the positives and k
the prior. In the feature space of an RBF kernel, let d(l) be the distance of l F + (1 - l) H to the convex hull of all
rows. It is zero for l <= 1 / (1 - k) and increases above, so the corner of d gives the prior. The corner is taken as
the point at which the slope of d reaches 1 / sqrt(rows of the smaller sample).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pucli.core.arrays import Floats
from pucli.solvers.kernels.graph import squared_distances

# Candidates for the RBF width, as multiples of the median distance; the width that best separates the samples is used.
WIDTHS = np.logspace(-1, 1, 5)
# Search interval of l = 1 / (1 - prior): the published 8 would cap the prior at 0.875.
LARGEST_L = 20.0
RESOLUTION = 0.01
# No slope exceeds the distance of the samples: for small samples the threshold is capped at this share of it.
SLOPE_SHARE = 0.95


class HullDistance(NamedTuple):
    """Distance d(l) of a point to the convex hull of the rows."""

    distance: float  # d(l)
    slope: float  # derivative of d at l
    weights: Floats  # (n,), the nearest point of the hull: one weight per row, non-negative and with sum one


@njit(cache=True)
def _nearest_in_hull(K: Floats, target: Floats, v: Floats, tol: float, max_iter: int) -> tuple[float, float]:
    """Minimize (v - target)'K(v - target) over the simplex, for K (n, n) and target (n,), in place from v (n,).

    At each step the row with the steepest descent takes weight from the row with the largest cost, until the
    Frank-Wolfe gap, a bound on the suboptimality, is at most `tol`. Returns the value and the gap at the last point.
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


def _hull_distance(K: Floats, n_u: int, multiple: float, start: Floats, tol: float = 1e-6) -> HullDistance:
    """Return d(multiple), from hull weights `start` (n,), with an error of d^2 of at most `tol`.

    The rows of K (n, n) are the `n_u` unlabeled ones and then the labeled ones.
    """
    n_p = len(K) - n_u
    direction = np.concatenate([np.full(n_u, 1.0 / n_u), np.full(n_p, -1.0 / n_p)])
    target = multiple * direction
    target[n_u:] += 1.0 / n_p
    v = start.copy()
    value, _ = _nearest_in_hull(K, target, v, tol, 200 * len(K))
    distance = float(np.sqrt(value))
    # d^2 has the derivative 2 (target - v)'K direction; the hull weights are optimal, so they do not contribute
    slope = float((target - v) @ (K @ direction)) / distance if distance > 0 else 0.0
    return HullDistance(distance, slope, v)


def _best_rbf(X_u: Floats, X_p: Floats) -> tuple[Floats, float]:
    """Return the kernel matrix of the stacked rows and the distance of the samples, for the width that maximizes it."""
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


def km2(X_u: Floats, X_p: Floats) -> float:
    """Return KM2's estimate of the share of positives among the unlabeled rows X_u (n_u, m), between 0 and 0.95.

    X_p (n_p, m) are the labeled positives. Memory: (n_u + n_p)^2 numbers.
    """
    K, apart = _best_rbf(X_u, X_p)
    n_u, n_p = len(X_u), len(X_p)
    v = np.concatenate([np.full(n_u, 1.0 / n_u), np.zeros(n_p)])
    threshold = min(1.0 / np.sqrt(min(n_u, n_p)), SLOPE_SHARE * apart)
    low, high = 1.0, LARGEST_L
    while 1.0 / low - 1.0 / high > RESOLUTION:
        middle = 2.0 / (1.0 / low + 1.0 / high)  # halves the interval of priors, 1 - 1/l
        found = _hull_distance(K, n_u, middle, v)
        v = found.weights
        if found.slope > threshold:
            high = middle
        else:
            low = middle
    return 1.0 - 0.5 * (1.0 / low + 1.0 / high)
