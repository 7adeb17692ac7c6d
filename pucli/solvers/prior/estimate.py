"""Estimates of the class prior, with a bootstrap interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pucli.solvers.prior.km2 import km2
from pucli.solvers.prior.tice import tice, unlabeled_prior

PRIOR_METHODS = ("km2", "tice")
# Rows of each kind that an estimate uses at most, drawn at random: KM2 takes the square of that in memory.
LARGEST_SAMPLE = 800


class PriorEstimate(NamedTuple):
    """Share of positives among the unlabeled rows.

    prior : the estimate; low, high : bootstrap interval, equal to it without replicates: from the percentiles of the
    replicates and from the same mirrored at the estimate, whichever reaches further; confidence : of each of the two,
    so the interval is on the wide side; method : "km2" or "tice"; replicates : number of bootstrap estimates.
    """

    prior: float
    low: float
    high: float
    confidence: float
    method: str
    replicates: int


def estimate_prior(X, labelled, method="km2", *, replicates=0, confidence=0.95, random_state=None) -> PriorEstimate:
    """Estimate the share of positives among unlabeled rows.

    Parameters
    ----------
    X : (n, m) rows; features are standardised first.
    labelled : (n,) bool, True for labelled positives, False for unlabeled rows.
    method : "km2" (kernel mean embedding; Ramaswamy et al. 2016) or "tice" (tree induction; Bekker and Davis 2018,
        from above if there are many rows, with few also from below).
    replicates : bootstrap estimates behind the interval; labelled and unlabeled rows are resampled apart.
    confidence : of the interval.
    random_state : int, RandomState, Generator or None: of the bootstrap, of TIcE's folds, and of the rows that are
        drawn where there are more than 800 of a kind.

    Raises
    ------
    ValueError : unknown method, no labelled or no unlabeled row, no feature that varies, replicates < 0, or confidence
        not inside (0, 1).
    """
    if method not in PRIOR_METHODS:
        raise ValueError(f"unknown prior estimator {method!r}; there are {', '.join(PRIOR_METHODS)}.")
    if replicates < 0 or not 0 < confidence < 1:
        raise ValueError(
            f"replicates must not be negative and confidence must lie in (0, 1); got {replicates}, {confidence}."
        )
    X, labelled = np.asarray(X, dtype=np.float64), np.asarray(labelled, dtype=bool)
    if not labelled.any() or labelled.all():
        raise ValueError("estimating the class prior needs labelled positives and unlabeled rows; one kind is missing.")
    if not np.any(np.ptp(X, axis=0) > 0):
        raise ValueError("every feature is constant: nothing tells positives from the rest.")
    rng = _generator(random_state)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    positive, unlabeled = _at_most(X[labelled], rng), _at_most(X[~labelled], rng)
    prior = _estimate(positive, unlabeled, method, rng)
    drawn = [_estimate(_resampled(positive, rng), _resampled(unlabeled, rng), method, rng) for _ in range(replicates)]
    tail = 0.5 * (1.0 - confidence)
    low, high = np.quantile([prior, *drawn], [tail, 1.0 - tail])
    # mirrored at the estimate as well: resampled rows repeat, which moves both estimators away from it
    low, high = min(low, 2.0 * prior - high), max(high, 2.0 * prior - low)
    return PriorEstimate(prior, max(float(low), 0.0), min(float(high), 1.0), confidence, method, replicates)


def _generator(random_state) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    return np.random.default_rng(random_state)


def _at_most(rows, rng):
    return rows if len(rows) <= LARGEST_SAMPLE else rows[np.sort(rng.permutation(len(rows))[:LARGEST_SAMPLE])]


def _resampled(rows, rng):
    return rows[rng.integers(0, len(rows), len(rows))]


def _estimate(positive, unlabeled, method, rng) -> float:
    if method == "km2":
        return km2(unlabeled, positive)
    rows = np.vstack([positive, unlabeled])
    labelled = np.arange(len(rows)) < len(positive)
    return unlabeled_prior(tice(rows, labelled, rng), len(positive), len(unlabeled))
