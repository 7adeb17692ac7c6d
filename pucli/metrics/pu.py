"""Metrics from labeled positives and unlabeled rows, without true classes.

Those of predictions are functions of four counts: labeled rows predicted positive, labeled rows, unlabeled rows
predicted positive, unlabeled rows. Tuning has such counts for every grid point, repeat and fold at once; the functions
are vectorized.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Floats, Ints
from pucli.metrics import inputs
from pucli.metrics.top import rows_at

Denominator = Literal["unlabeled", "all"]


def pu_counts(labeled: ArrayLike, predictions: ArrayLike, positive: object) -> Ints:
    """Return the four counts of one prediction.

    Parameters
    ----------
    labeled : array-like of bool, shape (n,)
        True for labeled positives; the other rows are unlabeled.
    predictions : array-like of shape (n,)
        Predicted classes.
    positive : object
        The positive class.

    Returns
    -------
    ndarray of int, shape (4,)
        Labeled rows predicted positive, labeled rows, unlabeled rows predicted positive, unlabeled rows.

    Raises
    ------
    ValueError
        If `labeled` has other values than true and false, a prediction is missing, the lengths differ, or `positive`
        is a word and the predictions are none.
    """
    mask, predicted = inputs.labeled_mask(labeled), inputs.labels(predictions, "predictions")
    inputs.same_length(mask, predicted, ("labeled", "predictions"), least=0)
    if len(predicted):
        inputs.refuse_other_kind(positive, predicted)
    found = predicted == positive
    return np.array([(mask & found).sum(), mask.sum(), (~mask & found).sum(), (~mask).sum()], dtype=np.int64)


def puf(counts: ArrayLike, denominator: Denominator) -> Floats:
    """Return PUF = recall^2 / P(predicted positive), the criterion of Lee and Liu (2003); Wang 2024, eq. 3.14.

    Parameters
    ----------
    counts : array-like of shape (..., 4)
        As `pu_counts` returns them.
    denominator : {"unlabeled", "all"}
        The rows over which P(predicted positive) is taken: unlabeled ones (case-control) or all (single training set).

    Returns
    -------
    ndarray of float, shape (...)
        0 where no row of the denominator is predicted positive: a model that finds no positives is useless, whatever
        its recall of labeled rows. NaN where there is no labeled row, or none in the denominator.

    Raises
    ------
    ValueError
        If the last axis does not have four counts, or the denominator is another word.
    """
    recall, share = _rates(_counts(counts, denominator), denominator)
    with np.errstate(invalid="ignore", divide="ignore"):
        score = recall**2 / share
    unknown = np.isnan(recall) | np.isnan(share)
    return np.asarray(np.where(unknown, np.nan, np.where(share > 0, score, 0.0)), dtype=np.float64)


def recall_labeled(counts: ArrayLike) -> Floats:
    """Return the fraction of labeled rows that are predicted positive, shape (...); NaN without any."""
    return _rates(_counts(counts), "all")[0]


def predicted_positive(counts: ArrayLike) -> Floats:
    """Return the fraction of all rows that are predicted positive, shape (...); NaN without any."""
    return _rates(_counts(counts), "all")[1]


def proxy_accuracy(counts: ArrayLike, denominator: Denominator, prior: float) -> Floats:
    """Return the accuracy that follows from recall, class prior and the share predicted negative, shape (...).

    It is 2 prior recall + P(predicted negative) - prior, the accuracy if labeled rows are a random sample of the
    positives and the prior is right. Sampling may put it outside of [0, 1].

    Notes
    -----
    PU-Bench selects models by it without the term -prior, which changes no order.
    """
    four = _counts(counts, denominator)
    inputs.refuse_prior(prior)
    with np.errstate(invalid="ignore"):
        gained = 2.0 * prior * four[0] / four[1]
    return np.asarray(gained + 1.0 - _rates(four, denominator)[1] - prior, dtype=np.float64)


def recall_labeled_at(labeled: ArrayLike, decision: ArrayLike, denominator: Denominator, place: str) -> float:
    """Return the share of the labeled rows that rank as high as the first rows of the population.

    It estimates the recall there if labeled rows are a random sample of the positives, without the class prior.
    """
    marked, scores = inputs.marked_scores(labeled, decision)
    inputs.refuse_denominator(denominator)
    population = np.sort(scores if denominator == "all" else scores[~marked])[::-1]
    count = rows_at(place, len(population)) if len(population) else math.nan
    if not marked.any() or not math.isfinite(count) or not np.isfinite(scores).all():
        return math.nan
    last = population[int(count) - 1]
    above, level = np.sum(population > last), np.sum(population == last)
    return float(np.mean(scores[marked] > last) + (count - above) / level * np.mean(scores[marked] == last))


def lift_labeled_at(labeled: ArrayLike, decision: ArrayLike, denominator: Denominator, place: str) -> float:
    """Return how many times more labeled rows rank as high as the first rows of the population than by chance.

    It estimates the lift there if labeled rows are a random sample of the positives, without the class prior.
    """
    marked, _ = inputs.marked_scores(labeled, decision)
    n = len(marked) if denominator == "all" else int((~marked).sum())
    recall = recall_labeled_at(labeled, decision, denominator, place)
    return recall * n / rows_at(place, n) if math.isfinite(recall) else math.nan


def _rates(four: Floats, denominator: Denominator) -> tuple[Floats, Floats]:
    """Return recall and P(predicted positive), (...) each, of the four counts (4, ...); NaN without any row."""
    tp, n_labeled, found, n_unlabeled = four
    with np.errstate(invalid="ignore"):
        share = found / n_unlabeled if denominator == "unlabeled" else (tp + found) / (n_labeled + n_unlabeled)
        return np.asarray(tp / n_labeled), np.asarray(share)


def _counts(counts: ArrayLike, denominator: Denominator = "unlabeled") -> Floats:
    """Return the four counts (4, ...) of an array (..., 4)."""
    values = np.asarray(counts)
    if values.shape[-1:] != (4,) or values.dtype.kind not in "iufb":
        raise ValueError(
            "counts takes the four numbers that pu_counts(labeled, predictions, positive) returns, of shape (..., 4); "
            f"got {values.dtype.name} of shape {values.shape}. For labels take puf_score(y_true, y_pred)."
        )
    inputs.refuse_denominator(denominator)
    tp, n_labeled, found, n_unlabeled = numbers = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    if np.any(numbers < 0.0) or np.any(tp > n_labeled) or np.any(found > n_unlabeled):
        raise ValueError("counts has more rows predicted positive than rows of their kind, or a number below zero.")
    return numbers
