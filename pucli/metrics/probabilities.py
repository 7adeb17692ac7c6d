"""Metrics of probabilities: the Brier score and the expected calibration error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Bools, Floats
from pucli.metrics import inputs

BINS = 10


def brier(truth: ArrayLike, probability: ArrayLike, positive: object) -> float:
    """Return the mean squared difference of probability and class (1 or 0)."""
    marked, p = _checked(truth, probability, positive)
    return float(np.mean((p - marked) ** 2))


def calibration_error(truth: ArrayLike, probability: ArrayLike, positive: object) -> float:
    """Return the expected calibration error: mean difference of probability and share of positives over ten bins.

    Notes
    -----
    The bins of the probability are (0, 0.1], ..., (0.9, 1], the first one with 0, and count by their rows (Naeini,
    Cooper, Hauskrecht 2015).
    """
    marked, p = _checked(truth, probability, positive)
    if not np.isfinite(p).all():
        return float("nan")
    bins = np.clip(np.ceil(p * BINS).astype(int) - 1, 0, BINS - 1)
    excess = np.bincount(bins, weights=p - marked, minlength=BINS)
    return float(np.abs(excess).sum() / len(p))


def _checked(truth: ArrayLike, probability: ArrayLike, positive: object) -> tuple[Bools, Floats]:
    marked, p = inputs.positive_and_numbers(truth, probability, positive, "probability")
    return marked, inputs.probabilities(p)
