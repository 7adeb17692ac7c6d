"""Pairwise-constrained k-means: the baseline of the clustering comparison (Sansone 2018, section 2.4.1).

The comparison gives the competitors must-link and cannot-link pairs that are made from the labels. The thesis runs
metric pairwise-constrained k-means (MPCK); this is its form without the learned metric (Basu, Banerjee, Mooney 2004).
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from pucli.core.arrays import Floats, Ints
from pucli.core.memory import check_memory
from pucli.core.saved_state import Array, State
from pucli.estimators.base.certificate import Certified
from pucli.estimators.base.input_rows import dense_rows, validated
from pucli.estimators.base.parameters import FROM_ONE, NOT_NEGATIVE, Constraints, RandomState
from pucli.estimators.base.semi_supervised import check_no_missing_label, class_labels, unlabeled_rows
from pucli.solvers.classtering.constrained_kmeans import assign_rows
from pucli.solvers.result import Certificate


def pairwise_constraints(y: ArrayLike, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return must-link and cannot-link pairs, both (m, 2) row numbers, from labels y (n,), -1 = unlabeled.

    Every pair of labeled rows of the same class is a must-link. As many pairs of rows of different classes (or all of
    them, if there are fewer), drawn without replacement, are cannot-links.
    """
    labels = column_or_1d(class_labels(y))
    check_no_missing_label(labels)
    labeled = np.flatnonzero(~unlabeled_rows(labels))
    codes = np.unique(labels[labeled].astype(str), return_inverse=True)[1]
    check_memory(40.0 * len(labeled) ** 2, f"the pairs of {len(labeled)} labeled rows", "give must and cannot")
    first, second = np.triu_indices(len(labeled), 1)
    same = codes[first] == codes[second]
    pairs = np.column_stack([labeled[first], labeled[second]])
    must, cannot = pairs[same], pairs[~same]
    if len(cannot) > len(must):
        cannot = cannot[np.sort(rng.choice(len(cannot), len(must), replace=False))]
    return must, cannot


class ConstrainedKMeans(Certified, ClusterMixin, BaseEstimator):
    """k-means with a penalty for each broken constraint (PCKMeans).

    Minimizes sum_i |x_i - c_{l_i}|^2 + weight * v * (broken must-links + broken cannot-links), where v is the mean
    squared distance of the rows to their mean, by sweeps that assign one row at a time.

    Parameters
    ----------
    n_clusters : int, default=2
    weight : float, default=1.0
        Weight of a broken constraint, in units of v.
    max_iter : int, default=100
        Largest number of sweeps.
    random_state : int, RandomState or None, default=None
        Seed of the order of rows, and of the first centers that the must-links do not determine.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, d)
    labels_ : ndarray of shape (n,)
        Cluster of each training row.
    objective_ : float
        The sum above.
    dual_gap_ : float
        NaN: the problem is not convex.
    residual_ : float
        Share of the rows that changed their cluster in the last sweep.
    n_iter_ : int
        Number of sweeps.
    converged_ : bool
        Whether no row changed its cluster in the last sweep.

    References
    ----------
    S. Basu, A. Banerjee, R. J. Mooney, Active semi-supervision for pairwise constrained clustering, SDM 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import ConstrainedKMeans
    >>> X, _ = make_blobs(60, centers=[[0, 0], [4, 0], [0, 4], [4, 4]], random_state=0)
    >>> model = ConstrainedKMeans(4, random_state=0).fit(X, must=[[0, 1]], cannot=[[2, 3]])
    >>> bool(model.labels_[0] == model.labels_[1])
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [FROM_ONE],
        "weight": [NOT_NEGATIVE],
        "max_iter": [FROM_ONE],
        "random_state": ["random_state"],
    }

    saved_state: ClassVar[State] = {
        "cluster_centers_": Array("clusters", "m"),
        "labels_": Array("n", dtype="i4 i8", low=0),
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        weight: float = 1.0,
        max_iter: int = 100,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weight = weight
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        must: ArrayLike | None = None,
        cannot: ArrayLike | None = None,
    ) -> Self:
        """Cluster rows, given pairs that must or cannot be in the same cluster.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.
        y : array-like of shape (n,) or None, default=None
            Labels, -1 for unlabeled rows. Pairs that are not given are made from them by `pairwise_constraints`.
        must, cannot : array-like of shape (m, 2) or None, default=None
            Pairs of row numbers; may be empty.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If there are more clusters than rows, if pairs have another shape, or if a row number does not exist.
        """
        self._validate_params()
        rows = dense_rows(self, validated(self, X))
        random_state = check_random_state(self.random_state)
        if self.n_clusters > len(rows):
            raise ValueError(f"n_samples={len(rows)} should be >= n_clusters={self.n_clusters}.")
        if must is None and cannot is None and y is not None:
            check_consistent_length(rows, y)
            must, cannot = pairwise_constraints(y, np.random.default_rng(random_state.randint(2**31)))
        linked, parted = _pairs("must", must, len(rows)), _pairs("cannot", cannot, len(rows))
        unit = self.weight * float(((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean())
        pairs = np.vstack([linked, parted])
        sign = np.repeat([1.0, -1.0], [len(linked), len(parted)])
        # each pair is stored twice, sorted by row: the neighbors of row i are other[start[i] : start[i + 1]]
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        by_row = np.argsort(ends[:, 0], kind="stable")
        other, sign = ends[by_row, 1], np.concatenate([sign, sign])[by_row]
        start = np.searchsorted(ends[by_row, 0], np.arange(len(rows) + 1))
        centers = self._first_centers(rows, linked, random_state)
        labels = ((rows[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        sweeps, moved = 0, len(rows)
        while moved and sweeps < self.max_iter:
            sweeps += 1
            moved = assign_rows(rows, centers, labels, start, other, sign, unit, random_state.permutation(len(rows)))
            for k in range(self.n_clusters):
                if (labels == k).any():
                    centers[k] = rows[labels == k].mean(axis=0)
        self.cluster_centers_, self.labels_ = centers, labels
        broken = np.sum(labels[linked[:, 0]] != labels[linked[:, 1]])
        broken += np.sum(labels[parted[:, 0]] == labels[parted[:, 1]])
        objective = float(((rows - centers[labels]) ** 2).sum() + unit * broken)
        self._keep_certificate(
            Certificate(objective=objective, residual=moved / len(rows), n_iter=sweeps, converged=not moved)
        )
        return self

    def _first_centers(self, X: Floats, must: Ints, random_state: np.random.RandomState) -> Floats:
        """Return the means of the largest groups that the must-links connect, and k-means++ centers for the rest."""
        n = len(X)
        graph = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n, n))
        group = connected_components(graph, directed=False)[1]
        sizes = np.bincount(group)
        largest = [g for g in np.argsort(-sizes, kind="stable")[: self.n_clusters] if sizes[g] > 1]
        centers = [X[group == g].mean(axis=0) for g in largest]
        missing = self.n_clusters - len(centers)
        if missing:
            centers += list(kmeans_plusplus(X, missing, random_state=random_state.randint(2**31 - 1))[0])
        return np.array(centers)

    def predict(self, X: ArrayLike) -> Ints:
        """Return the nearest center of each row of X (n, d), shape (n,)."""
        check_is_fitted(self)
        rows = dense_rows(self, validated(self, X, reset=False))
        nearest: Ints = ((rows[:, None] - self.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)
        return nearest


def _pairs(name: str, given: Any, n: int) -> Ints:
    """Return pairs of row numbers (m, 2); raise ValueError for other values."""
    pairs = np.asarray([] if given is None else given)
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be pairs of row numbers, shape (m, 2); got {pairs.dtype} values of shape {pairs.shape}."
        )
    if pairs.min() < 0 or pairs.max() >= n:
        raise ValueError(f"{name} has a row number outside 0 to {n - 1}.")
    return pairs.astype(np.int64)
