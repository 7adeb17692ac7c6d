"""AUC of two groups of scores, and what pure noise reaches."""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats

# One-sided 95 % quantile of the normal distribution.
QUANTILE = 1.645


def auc(upper: Floats, lower: Floats) -> float:
    """Return the share of pairs in which the value of `upper` is above that of `lower`; ties count half."""
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, upper, side="left") + np.searchsorted(ordered, upper, side="right")
    return float(below.sum() / (2.0 * len(upper) * len(lower)))


def noise_limit(positive: int, other: int, *, quantile: float = QUANTILE, inflation: float = 1.0) -> float:
    """Return the AUC that scores of pure noise exceed in about one of twenty cases.

    Parameters
    ----------
    positive, other : int
        Number of rows of each group.
    quantile : float
        Quantile of the normal distribution, times any factor on the standard deviation.
    inflation : float
        Factor on the variance.
    """
    variance = (positive + other + 1) / (12 * positive * other)
    return 0.5 + quantile * float(np.sqrt(inflation * variance))
