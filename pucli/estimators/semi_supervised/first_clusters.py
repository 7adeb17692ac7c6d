"""The start of Classtering: the scale of the rows, and their clusters by k-means."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from pucli.core.arrays import Floats, Ints

# Features whose deviations differ by more than this factor are scaled one by one.
UNLIKE = 300.0


def scale_of(X: Floats) -> Any:
    """Return the scale of centred rows X (n, d): one number, or one for each feature if they differ much."""
    own = np.sqrt((X**2).mean(axis=0))
    varied = own[own > 0.0]
    if len(varied) and varied.max() > UNLIKE * varied.min():
        return np.where(own > 0.0, own, 1.0)
    return float(np.sqrt((X**2).mean())) or 1.0


def k_means(X: Floats, k: int, random_state: np.random.RandomState) -> Ints:
    """Return the cluster of each row, shape (n,); there may be fewer than `k` if rows coincide.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    k : int
        Number of clusters.
    random_state : RandomState
        Draws the first centres.
    """
    if k == 1:
        return np.zeros(len(X), dtype=int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # raised if there are fewer than k distinct rows
        labels: Ints = KMeans(k, n_init=1, random_state=random_state).fit(X).labels_
        return labels
