"""Metrics of binary predictions, given the true classes.

The F measure of one class follows Sansone, De Natale and Zhou (2019): their tables give it for the class of most
unlabeled rows, and a prediction is a sign, which is 0 on the boundary.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import AnyArray
from pucli.metrics import inputs, ranking


class Confusion(NamedTuple):
    """Counts of true and false positives, and of false and true negatives."""

    tp: int
    fp: int
    fn: int
    tn: int


def confusion(truth: ArrayLike, predictions: ArrayLike, positive: object) -> Confusion:
    """Return the confusion counts."""
    y, y_hat = _pair(truth, predictions)
    inputs.refuse_other_kind(positive, y)
    is_positive, found = y == positive, y_hat == positive
    return Confusion(
        int(np.sum(is_positive & found)),
        int(np.sum(~is_positive & found)),
        int(np.sum(is_positive & ~found)),
        int(np.sum(~is_positive & ~found)),
    )


def f1(truth: ArrayLike, predictions: ArrayLike, positive: object) -> float:
    """Return 2 tp / (2 tp + fp + fn); NaN without a positive row in `truth`."""
    tp, fp, fn, _ = confusion(truth, predictions, positive)
    return 2 * tp / (2 * tp + fp + fn) if tp + fn else math.nan


def precision(truth: ArrayLike, predictions: ArrayLike, positive: object) -> float:
    """Return tp / (tp + fp); 0 where nothing is predicted positive."""
    tp, fp, _, _ = confusion(truth, predictions, positive)
    return tp / (tp + fp) if tp + fp else 0.0


def recall(truth: ArrayLike, predictions: ArrayLike, positive: object) -> float:
    """Return tp / (tp + fn); NaN without a positive row in `truth`."""
    tp, _, fn, _ = confusion(truth, predictions, positive)
    return tp / (tp + fn) if tp + fn else math.nan


def count(which: str, truth: ArrayLike, predictions: ArrayLike, positive: object) -> float:
    """Return one of the counts of `confusion`."""
    return float(getattr(confusion(truth, predictions, positive), which))


def accuracy(truth: ArrayLike, predictions: ArrayLike) -> float:
    """Return the fraction of rows whose class is predicted; there may be more than two classes."""
    y, y_hat = _pair(truth, predictions)
    return float(np.sum(y == y_hat) / len(y))


def error_rate(truth: ArrayLike, predictions: ArrayLike) -> float:
    """Return the fraction of rows whose class is not predicted; there may be more than two classes."""
    y, y_hat = _pair(truth, predictions)
    return float(np.mean(y_hat != y))


def auc(truth: ArrayLike, decision: ArrayLike, positive: object) -> float:
    """Return the area under the ROC curve.

    It is the probability that a positive row ranks above a negative one, ties counted half (Mann-Whitney).
    """
    is_positive, values = inputs.positive_and_numbers(truth, decision, positive, "decision")
    if is_positive.all() or not is_positive.any():
        return math.nan
    if not np.isfinite(values).all():
        return math.nan
    return ranking.auc(values[is_positive], values[~is_positive])


def f_of_class(truth: ArrayLike, signs: ArrayLike, wanted: int) -> float:
    """Return the F measure of one class, 0 where none of its rows is found.

    Notes
    -----
    As in the script released with the paper, every row of the other class that is not predicted as such, a 0 included,
    counts as a false find.
    """
    y, predicted = _pair(truth, signs)
    hit = float(((y == wanted) & (predicted == wanted)).sum())
    false = float(((y != wanted) & (predicted != -wanted)).sum())
    missed = float(((y == wanted) & (predicted != wanted)).sum())
    return 2.0 * hit / (2.0 * hit + false + missed) if hit > 0 else 0.0


def majority_class(truth: ArrayLike) -> int:
    """Return the class of {-1, +1} with more rows; -1 if both have as many."""
    y = np.asarray(truth)
    return 1 if (y == 1).sum() > (y == -1).sum() else -1


def f_majority(unlabeled_truth: ArrayLike, unlabeled_signs: ArrayLike) -> float:
    """Return F of the class of most unlabeled rows, in per cent; each prediction is compared with its own class."""
    return 100.0 * f_of_class(unlabeled_truth, unlabeled_signs, majority_class(unlabeled_truth))


def f_published(unlabeled_truth: ArrayLike, signs: ArrayLike) -> float:
    """Return F as the released script of USMO computes it, in per cent.

    Notes
    -----
    The first `n_unlabeled` predictions are compared with the classes of the unlabeled rows, so that beyond the first
    labeled row the two are shifted. The published tables cannot be matched otherwise.
    """
    y = np.asarray(unlabeled_truth).ravel()
    return 100.0 * f_of_class(y, np.asarray(signs).ravel()[: len(y)], majority_class(y))


def _pair(truth: ArrayLike, predictions: ArrayLike) -> tuple[AnyArray, AnyArray]:
    return inputs.classes(truth, predictions, ("truth", "predictions"))
