"""Pairwise-constrained k-means: the baseline of the clustering comparison (Sansone 2018, section 2.4.1).

The comparison gives the competitors must-link and cannot-link pairs that are made from the labels. The thesis runs
metric pairwise-constrained k-means (MPCK); this is its form without the learnt metric (Basu, Banerjee, Mooney 2004).
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from pucli.arrays import Ints
from pucli.estimators.base.semi_supervised import unlabeled_rows


def pairwise_constraints(y, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return must-link and cannot-link pairs, both (m, 2) row numbers, from labels y (n,), -1 = unlabeled.

    Every pair of labelled rows of one class must link; as many pairs of two classes, drawn without replacement, or all
    of them if there are fewer, cannot.
    """
    labelled = np.flatnonzero(~unlabeled_rows(y))
    codes = np.unique(np.asarray(y)[labelled].astype(str), return_inverse=True)[1]
    first, second = np.triu_indices(len(labelled), 1)
    same = codes[first] == codes[second]
    pairs = np.column_stack([labelled[first], labelled[second]])
    must, cannot = pairs[same], pairs[~same]
    if len(cannot) > len(must):
        cannot = cannot[np.sort(rng.choice(len(cannot), len(must), replace=False))]
    return must, cannot


class ConstrainedKMeans(ClusterMixin, BaseEstimator):
    """k-means with a penalty for each broken pair (PCKMeans).

    Minimises sum_i |x_i - c_{l_i}|^2 + weight * v * (broken must-links + broken cannot-links), v the mean squared
    distance of the rows to their mean, by sweeps that assign one row at a time.

    Parameters
    ----------
    n_clusters : number of clusters.
    weight : of a broken pair, in units of v.
    max_iter : most sweeps.
    random_state : of the order of rows and of the first centres that the must-links do not give.

    Attributes
    ----------
    cluster_centers_ : (n_clusters, d). labels_ : (n,). objective_ : the sum above. n_iter_ : sweeps. converged_.

    References
    ----------
    S. Basu, A. Banerjee, R. J. Mooney, Active semi-supervision for pairwise constrained clustering, SDM 2004.
    """

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "weight": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_clusters=2, *, weight=1.0, max_iter=100, random_state=None):
        self.n_clusters = n_clusters
        self.weight = weight
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y=None, *, must=None, cannot=None):
        """Cluster the rows of X (n, d) under pairs of row numbers `must` and `cannot`, (m, 2) each.

        Without pairs they are made from `y` (-1 = unlabeled) by `pairwise_constraints`; without y there are none.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64)
        random_state = check_random_state(self.random_state)
        if self.n_clusters > len(X):
            raise ValueError(f"n_samples={len(X)} should be >= n_clusters={self.n_clusters}.")
        if must is None and cannot is None and y is not None:
            must, cannot = pairwise_constraints(y, np.random.default_rng(random_state.randint(2**31)))
        must, cannot = _checked_pairs("must", must, len(X)), _checked_pairs("cannot", cannot, len(X))
        unit = self.weight * float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
        pairs = np.vstack([must, cannot])
        sign = np.repeat([1.0, -1.0], [len(must), len(cannot)])
        # every pair twice, by row: neighbours of row i are other[start[i] : start[i + 1]]
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        by_row = np.argsort(ends[:, 0], kind="stable")
        other, sign = ends[by_row, 1], np.concatenate([sign, sign])[by_row]
        start = np.searchsorted(ends[by_row, 0], np.arange(len(X) + 1))
        centres = self._first_centres(X, must, random_state)
        labels = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        self.converged_ = False
        for sweep in range(1, self.max_iter + 1):
            moved = _assign(X, centres, labels, start, other, sign, unit, random_state.permutation(len(X)))
            for k in range(self.n_clusters):
                if (labels == k).any():
                    centres[k] = X[labels == k].mean(axis=0)
            self.n_iter_ = sweep
            if not moved:
                self.converged_ = True
                break
        self.cluster_centers_, self.labels_ = centres, labels
        broken = np.sum(labels[must[:, 0]] != labels[must[:, 1]]) + np.sum(labels[cannot[:, 0]] == labels[cannot[:, 1]])
        self.objective_ = float(((X - centres[labels]) ** 2).sum() + unit * broken)
        return self

    def _first_centres(self, X: np.ndarray, must: np.ndarray, random_state: np.random.RandomState) -> np.ndarray:
        """Return the means of the largest groups that the must-links connect, and k-means++ centres for the rest."""
        n = len(X)
        graph = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n, n))
        group = connected_components(graph, directed=False)[1]
        sizes = np.bincount(group)
        largest = [g for g in np.argsort(-sizes, kind="stable")[: self.n_clusters] if sizes[g] > 1]
        centres = [X[group == g].mean(axis=0) for g in largest]
        missing = self.n_clusters - len(centres)
        if missing:
            centres += list(kmeans_plusplus(X, missing, random_state=random_state.randint(2**31 - 1))[0])
        return np.array(centres)

    def predict(self, X):
        """Return the nearest centre of each row of X (n, d), shape (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return ((X[:, None] - self.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)


def _checked_pairs(name: str, pairs: ArrayLike | None, n: int) -> Ints:
    """Return pairs of row numbers as an array (m, 2); None and an empty sequence are no pairs."""
    given = np.zeros((0, 2), dtype=np.int64) if pairs is None or np.size(pairs) == 0 else np.asarray(pairs)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold pairs of row numbers, shape (m, 2); got {given.dtype} of shape {given.shape}."
        )
    if len(given) and not (given.min() >= 0 and given.max() < n):
        raise ValueError(f"{name} has a row number outside 0 to {n - 1}.")
    return given.astype(np.int64)


@njit(cache=True)
def _assign(X, centres, labels, start, other, sign, unit, order):
    """Move each row, in `order`, to its cheapest cluster; labels (n,) are updated in place. Returns moves."""
    moved = 0
    for i in order:
        best = np.inf
        choice = labels[i]
        for k in range(centres.shape[0]):
            cost = 0.0
            for j in range(X.shape[1]):
                cost += (X[i, j] - centres[k, j]) ** 2
            for p in range(start[i], start[i + 1]):
                same = labels[other[p]] == k
                if same != (sign[p] > 0.0):
                    cost += unit
            if cost < best - 1e-12:
                best = cost
                choice = k
        if choice != labels[i]:
            labels[i] = choice
            moved += 1
    return moved
