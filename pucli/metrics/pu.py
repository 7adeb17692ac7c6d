"""Metrics from labelled positives and unlabeled rows, without true classes.

They are functions of four counts: labelled rows predicted positive, labelled rows, unlabeled rows predicted positive,
unlabeled rows. Tuning has such counts for every grid point, repeat and fold at once; the functions are vectorised.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Floats, Ints

Denominator = Literal["unlabeled", "all"]


def pu_counts(labelled: ArrayLike, predictions: ArrayLike, positive: object) -> Ints:
    """Return the four counts of one prediction.

    Parameters
    ----------
    labelled : array-like of bool, shape (n,)
        True for labelled positives; the other rows are unlabeled.
    predictions : array-like of shape (n,)
        Predicted classes.
    positive : object
        The positive class.

    Returns
    -------
    ndarray of int, shape (4,)
        Labelled rows predicted positive, labelled rows, unlabeled rows predicted positive, unlabeled rows.
    """
    mask = np.asarray(labelled, dtype=bool).ravel()
    found = np.asarray(predictions).ravel() == positive
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
        its recall of labelled rows. NaN where there is no labelled row, or none in the denominator.
    """
    tp, n_labelled, found, n_unlabeled = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = found / n_unlabeled if denominator == "unlabeled" else (tp + found) / (n_labelled + n_unlabeled)
        score = (tp / n_labelled) ** 2 / share
    unknown = (n_labelled == 0) | np.isnan(share)
    return np.asarray(np.where(unknown, np.nan, np.where(share > 0, score, 0.0)), dtype=np.float64)


def recall_labelled(counts: ArrayLike) -> Floats:
    """Return the fraction of labelled rows that are predicted positive, shape (...); NaN without any."""
    tp, n_labelled, _, _ = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    with np.errstate(invalid="ignore"):
        return np.asarray(tp / n_labelled, dtype=np.float64)


def predicted_positive(counts: ArrayLike) -> Floats:
    """Return the fraction of all rows that are predicted positive, shape (...); NaN without any."""
    tp, n_labelled, found, n_unlabeled = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    with np.errstate(invalid="ignore"):
        return np.asarray((tp + found) / (n_labelled + n_unlabeled), dtype=np.float64)
