"""AUC of two groups of scores, that of labeled against unlabeled rows, and what pure noise reaches.

Under random labeling the AUC of labeled against unlabeled rows is an increasing function of the true one,
AUC_PU = prior / 2 + (1 - prior) AUC (Menon et al. 2015; Jain, White, Radivojac 2017). Models can therefore be compared
by it without knowing the prior.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Floats
from pucli.metrics import inputs

# One-sided 95 % quantile of the normal distribution.
QUANTILE = 1.645
# Quantile times how much wider cross-validated results spread on pure noise than they would if the folds were
# independent (measured: 1.26 to 1.45).
CHANCE = QUANTILE * 1.3


def auc(upper: Floats, lower: Floats) -> float:
    """Return the share of pairs in which the value of `upper` is above that of `lower`; ties count half."""
    ordered, sought = np.sort(lower), np.sort(upper)
    below = np.searchsorted(ordered, sought, side="left") + np.searchsorted(ordered, sought, side="right")
    return float(below.sum() / (2.0 * len(upper) * len(lower)))


def noise_limit(positive: int, other: int, *, quantile: float = QUANTILE, inflation: float = 1.0) -> float:
    """Return the AUC that scores of pure noise exceed in about one of twenty cases."""
    variance = (positive + other + 1) / (12 * positive * other)
    return 0.5 + quantile * float(np.sqrt(inflation * variance))


def pu_auc(scores: np.ndarray, labeled: np.ndarray) -> float:
    """Return the share of pairs of a labeled and an unlabeled row in which the labeled row has the larger score."""
    return auc(scores[labeled], scores[~labeled])


def labeled_auc(labeled: ArrayLike, decision: ArrayLike) -> float:
    """Return the PU-AUC, or NaN where there is one kind of rows only or a score is not finite.

    It orders models as the true AUC does if labeled rows are a random sample of the positives.
    """
    marked, scores = inputs.marked_scores(labeled, decision)
    if marked.all() or not marked.any() or not np.isfinite(scores).all():
        return float("nan")
    return pu_auc(scores, marked)


def likely_negative_auc(labeled: ArrayLike, decision: ArrayLike, reference: ArrayLike, prior: float) -> float:
    """Return the AUC of labeled rows against likely negatives, the unlabeled rows that a reference ranks last.

    It is free of the noise that the hidden positives among the unlabeled rows add to the PU-AUC. It assumes that
    labeled rows are a random sample of the positives, and that the reference is better than chance and does not favor
    a model: the mean rank over all models that are compared. Scores that are their own reference rank too high.
    """
    marked, scores = inputs.marked_scores(labeled, decision)
    inputs.refuse_prior(prior)
    ordered = inputs.numbers(reference, "reference")
    inputs.same_length(scores, ordered, ("decision", "reference"), least=0)
    if marked.all() or not marked.any() or not np.isfinite([scores, ordered]).all():
        return float("nan")
    low = ~marked & (ordered <= np.quantile(ordered[~marked], 1.0 - prior))
    return auc(scores[marked], scores[low])


def chance_limit(labeled: int, unlabeled: int) -> float:
    """Return the PU-AUC that held-out scores of pure noise exceed in about one of twenty cases."""
    return noise_limit(labeled, unlabeled, quantile=CHANCE)


def true_auc(pu: float | np.ndarray, prior: float | np.ndarray) -> float | np.ndarray:
    """Return the AUC of positives against negatives for a PU-AUC and a prior, within [0, 1]."""
    return np.clip((pu - 0.5 * prior) / np.maximum(1.0 - prior, 1e-12), 0.0, 1.0)
