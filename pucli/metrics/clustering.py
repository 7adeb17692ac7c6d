"""Metrics of clusterings."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike

from pucli.metrics import inputs


def nmi(truth: ArrayLike, clusters: ArrayLike) -> float:
    """Return the normalized mutual information of classes and clusters, in [0, 1]."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(inputs.labels(truth, "truth"), inputs.labels(clusters, "clusters")))


def in_group_proportion(X: ArrayLike, clusters: ArrayLike) -> dict[Hashable, float]:
    """Return the in-group proportion (IGP) of each cluster, in [0, 1].

    It is the share of the rows of a cluster whose nearest other row is in the same cluster. The rows are those of a
    validation set, and each has the cluster of the nearest centroid of the clusters found before (Kapp and Tibshirani
    2007; table 2.2 of Sansone 2018).

    Parameters
    ----------
    X : array-like of shape (n, m)
        At least two rows; of several nearest ones the first counts.
    clusters : array-like of shape (n,)
        Their clusters.

    Raises
    ------
    ValueError
        If there are fewer than two rows, a value is missing, or the lengths differ.

    Examples
    --------
    >>> in_group_proportion([[0.0], [1.0], [5.0], [6.1], [6.4]], ["a", "a", "a", "b", "b"])
    {'a': 0.6666666666666666, 'b': 1.0}
    """
    from sklearn.metrics import pairwise_distances

    rows, names = inputs.as_floats(X, "X"), inputs.labels(clusters, "clusters")
    if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise ValueError(f"X takes at least two rows of finite numbers, of shape (n, m); got shape {rows.shape}.")
    inputs.same_length(rows, names, ("X", "clusters"))
    distances = pairwise_distances(rows)
    np.fill_diagonal(distances, np.inf)
    same = names[np.argmin(distances, axis=1)] == names
    return {name: float(same[names == name].mean()) for name in inputs.distinct(names)}
