"""Scores of binary predictions: those that need true labels, and the PUF score, which does not.

PUF is the criterion of Lee and Liu (ICML 2003) for positive-unlabeled data; Wang 2024, eq. 3.14.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

# Metrics that are fractions: tables show them in per cent. irrelevant_zeroed: of the features known to be irrelevant,
# those that a model leaves out.
FRACTIONS = frozenset({"f1", "precision", "recall", "accuracy", "auc", "irrelevant_zeroed"})
# Metrics of which more is better. Of others a table says only whether a published figure is reproduced.
HIGHER_IS_BETTER = FRACTIONS | {"puf"}


def classification_scores(
    y_true: ArrayLike, y_pred: ArrayLike, decision: ArrayLike | None = None, *, positive: object = None
) -> dict[str, float]:
    """Return the scores of one prediction, as fractions, and the confusion counts.

    Parameters
    ----------
    y_true, y_pred : labels, shape (n,).
    decision : decision values, shape (n,); greater means more positive. Needed for the AUC.
    positive : the positive label; the greatest label seen in `y_true` and `y_pred` when omitted.

    Returns
    -------
    dict with f1, precision, recall, accuracy, auc, tp, fp, fn, tn.
        Precision and F1 are 0 where nothing is predicted positive. Without a positive row in `y_true`, recall and F1
        are NaN. The AUC is NaN without `decision`, or where `y_true` has one class only.

    Raises
    ------
    ValueError
        When the inputs are empty or of different lengths.
    """
    y_true, y_pred = np.asarray(y_true).ravel(), np.asarray(y_pred).ravel()
    if len(y_true) == 0 or len(y_true) != len(y_pred):
        raise ValueError(f"y_true and y_pred need the same length above zero, got {len(y_true)} and {len(y_pred)}.")
    if positive is None:
        positive = max(y_true.max(), y_pred.max())
    truth, said = y_true == positive, y_pred == positive
    tp, fp = int(np.sum(truth & said)), int(np.sum(~truth & said))
    fn, tn = int(np.sum(truth & ~said)), int(np.sum(~truth & ~said))
    some = tp + fn > 0
    return {
        "f1": 2 * tp / (2 * tp + fp + fn) if some else math.nan,
        "precision": tp / (tp + fp) if tp + fp else 0.0,
        "recall": tp / (tp + fn) if some else math.nan,
        "accuracy": (tp + tn) / len(truth),
        "auc": _auc(truth, decision),
        "tp": float(tp),
        "fp": float(fp),
        "fn": float(fn),
        "tn": float(tn),
    }


def _auc(truth: np.ndarray, decision: ArrayLike | None) -> float:
    """Probability that a positive row ranks above a negative one, ties counted half (Mann-Whitney)."""
    if decision is None or truth.all() or not truth.any():
        return math.nan
    from scipy.stats import rankdata

    values = np.asarray(decision, dtype=float).ravel()
    if len(values) != len(truth):
        raise ValueError(f"decision needs the length of y_true, got {len(values)} and {len(truth)}.")
    if not np.isfinite(values).all():
        return math.nan
    n_pos = int(truth.sum())
    rank_sum = float(rankdata(values)[truth].sum())
    return (rank_sum - n_pos * (n_pos + 1) / 2) / (n_pos * (len(truth) - n_pos))


def puf(recall_labelled: float, p_positive: float) -> float:
    """Return PUF = recall^2 / P(predicted positive), eq. 3.14; 0 where nothing is predicted positive.

    Parameters
    ----------
    recall_labelled : fraction of labelled positives that are predicted positive.
    p_positive : fraction of rows predicted positive: of the unlabeled ones (case-control), of all (single training
        set).
    """
    return recall_labelled**2 / p_positive if p_positive > 0 else 0.0
