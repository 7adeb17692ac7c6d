"""AUC of two groups of scores, that of labelled against unlabeled rows, and what pure noise reaches.

Under random labelling the AUC of labelled against unlabeled rows is an increasing function of the true one,
AUC_PU = prior / 2 + (1 - prior) AUC (Menon et al. 2015; Jain, White, Radivojac 2017). Models can therefore be compared
by it without knowing the prior.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats

# One-sided 95 % quantile of the normal distribution.
QUANTILE = 1.645
# Quantile times how much wider cross-validated results spread on pure noise than they would if the folds were
# independent (measured: 1.26 to 1.45).
CHANCE = QUANTILE * 1.3


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


def pu_auc(scores: np.ndarray, labelled: np.ndarray) -> float:
    """Return the share of pairs of a labelled and an unlabeled row in which the labelled row has the larger score.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Scores. Ties count half.
    labelled : ndarray of bool of shape (n,)
        True for labelled positives.
    """
    return auc(scores[labelled], scores[~labelled])


def chance_limit(labelled: int, unlabeled: int) -> float:
    """Return the PU-AUC that held-out scores of pure noise exceed in about one of twenty cases."""
    return noise_limit(labelled, unlabeled, quantile=CHANCE)


def true_auc(pu: float | np.ndarray, prior: float | np.ndarray) -> float | np.ndarray:
    """Return the AUC of positives against negatives for a PU-AUC and a prior, within [0, 1]."""
    return np.clip((pu - 0.5 * prior) / np.maximum(1.0 - prior, 1e-12), 0.0, 1.0)
