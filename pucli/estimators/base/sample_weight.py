"""Weights of rows, for objectives that are sums of losses and nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from pucli.core.arrays import Bools, Floats


def rows_of_weight(X: Floats, labelled: Bools, sample_weight: ArrayLike | None) -> tuple[Floats, Bools, Floats | None]:
    """Return the rows and marks whose weight is not zero, and their weights (n,), None where none are given.

    Parameters
    ----------
    X, labelled : ndarray of shape (n, m) and (n,)
        Checked rows, and marks of the labelled positives.
    sample_weight : array-like of shape (n,) or None
        Non-negative factors of the losses of rows.

    Raises
    ------
    ValueError
        All rows of a kind have the weight zero.
    """
    if sample_weight is None:
        return X, labelled, None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    kept = weights > 0.0
    X, labelled, weights = X[kept], labelled[kept], weights[kept]
    if labelled.all() or not labelled.any():
        raise ValueError("sample_weight leaves one class: it is zero for all labelled or for all unlabeled rows.")
    return X, labelled, weights
