"""Estimates of the class prior, with a bootstrap interval."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from pucli.arrays import AnyArray, Floats
from pucli.solvers.prior.km2 import km2
from pucli.solvers.prior.tice import tice, unlabeled_prior

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None

PRIOR_METHODS = ("km2", "tice")
# Rows of each kind that an estimate uses at most, drawn at random: KM2 takes the square of that in memory.
LARGEST_SAMPLE = 800


class PriorEstimate(NamedTuple):
    """An estimate of the share of positives among the unlabeled rows.

    Attributes
    ----------
    prior : float
        The estimate.
    low, high : float
        Bootstrap interval; both equal `prior` without replicates. Two intervals are computed, one from the percentiles
        of the replicates and one from the same mirrored at the estimate; this one covers both.
    confidence : float
        Of each of the two intervals.
    method : {"km2", "tice"}
        The estimator.
    replicates : int
        Number of bootstrap estimates.
    """

    prior: float
    low: float
    high: float
    confidence: float
    method: str
    replicates: int


def estimate_prior(
    X: AnyArray,
    labelled: AnyArray,
    method: str = "km2",
    *,
    replicates: int = 0,
    confidence: float = 0.95,
    random_state: RandomState = None,
) -> PriorEstimate:
    """Estimate the share of positives among unlabeled rows.

    Parameters
    ----------
    X : array of shape (n, m)
        Rows. Features are standardised first.
    labelled : array of bool, shape (n,)
        True for labelled positives, False for unlabeled rows.
    method : {"km2", "tice"}
        Kernel mean embedding (Ramaswamy et al. 2016) or tree induction (Bekker and Davis 2018). The latter tends to be
        too high with many rows and may err either way with few.
    replicates : int
        Number of bootstrap estimates behind the interval. Labelled and unlabeled rows are resampled separately.
    confidence : float
        Of the interval.
    random_state : int, RandomState, Generator or None
        Seeds the bootstrap, TIcE's folds, and the sample that is drawn where there are more than 800 rows of a kind.

    Returns
    -------
    PriorEstimate

    Raises
    ------
    ValueError
        Unknown method, no labelled or no unlabeled row, no feature that varies, negative `replicates`, or a
        `confidence` outside (0, 1).
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


def _generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    return np.random.default_rng(random_state)


def _at_most(rows: Floats, rng: np.random.Generator) -> Floats:
    return rows if len(rows) <= LARGEST_SAMPLE else rows[np.sort(rng.permutation(len(rows))[:LARGEST_SAMPLE])]


def _resampled(rows: Floats, rng: np.random.Generator) -> Floats:
    return rows[rng.integers(0, len(rows), len(rows))]


def _estimate(positive: Floats, unlabeled: Floats, method: str, rng: np.random.Generator) -> float:
    if method == "km2":
        return km2(unlabeled, positive)
    rows = np.vstack([positive, unlabeled])
    labelled = np.arange(len(rows)) < len(positive)
    return unlabeled_prior(tice(rows, labelled, rng), len(positive), len(unlabeled))
