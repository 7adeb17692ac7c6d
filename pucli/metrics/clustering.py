"""Metrics of clusterings."""

from __future__ import annotations

from numpy.typing import ArrayLike


def nmi(truth: ArrayLike, clusters: ArrayLike) -> float:
    """Return the normalised mutual information of classes and clusters, in [0, 1].

    Parameters
    ----------
    truth : array-like of shape (n,)
        True classes.
    clusters : array-like of shape (n,)
        Predicted classes or clusters; their names do not matter.

    Returns
    -------
    float
        Mutual information over the arithmetic mean of the two entropies.
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(truth, clusters))
