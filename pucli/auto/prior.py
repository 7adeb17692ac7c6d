"""The share of positives in the population, from held-out scores alone.

The scores of labelled rows are a sample of the positives. Those of the population (the unlabeled rows in the
case-control setting, all rows of a single training set) are a sample of the mixture. If shares q_p of the positives and
q_u of the population lie above a threshold, then prior q_p <= q_u, so the prior is at most q_u / q_p. Best bin
estimation (Garg et al. 2021, eq. 4) takes the threshold that minimises this ratio plus a confidence term.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pucli.solvers.prior.best_bin import best_bin


def isotonic_ratio(positive: np.ndarray, population: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the ratio of the positives' density to the population's at the scores `at`, which must be in a sample.

    The isotonic regression is that of the share of positives in the joint sample, in which both samples have the same
    total weight.
    """
    from scipy.optimize import isotonic_regression

    p, n = len(positive), len(population)
    scores = np.concatenate([positive, population])
    is_positive = np.arange(p + n) < p
    weights = np.where(is_positive, 1.0 / p, 1.0 / n)
    values, where = np.unique(scores, return_inverse=True)
    total = np.bincount(where, weights)
    share = isotonic_regression(np.bincount(where, weights * is_positive) / total, weights=total).x
    share = np.minimum(share, 1.0 - 1e-12)[np.searchsorted(values, at)]
    result: np.ndarray = share / (1.0 - share)
    return result


# Number of bootstrap samples, and the most scores in each.
BOOTSTRAPS, MOST_SCORES = 40, 20_000
# Mean and standard deviation of the belief about the prior before any score is seen; it matters only if the bootstrap
# deviation is of the same size. The last is the standard deviation of the error that more rows do not reduce.
BELIEF, BELIEF_DEVIATION, LASTING_ERROR = 0.3, 0.1, 0.04
NORMAL_90 = 1.6448536269514722


@dataclass
class PriorEstimate:
    """The prior with its 90 % interval. draws : (bootstraps,) draws of the prior, for estimates that depend on it."""

    value: float
    low: float
    high: float
    draws: np.ndarray


def resampled(
    positive: np.ndarray, population: np.ndarray, rng: np.random.Generator, count: int = BOOTSTRAPS
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield `count` bootstrap samples of both kinds of scores, each of at most `MOST_SCORES`."""
    sizes = [min(len(sample), MOST_SCORES) for sample in (positive, population)]
    for _ in range(count):
        yield (
            positive[rng.integers(0, len(positive), sizes[0])],
            population[rng.integers(0, len(population), sizes[1])],
        )


def hidden_share(prior: float, labelled: np.ndarray, scenario: str) -> float:
    """Return the share of positives among the unlabeled rows, from that in the population."""
    if scenario == "case-control":
        return prior
    n, p = len(labelled), np.count_nonzero(labelled)
    return float(np.clip((prior * n - p) / (n - p), 0.0, 1.0))


def estimate_prior(positive: np.ndarray, population: np.ndarray, rng: np.random.Generator) -> PriorEstimate:
    """Return the prior: the median of bootstrapped best bin estimates, shrunk towards a weak belief if they scatter.

    positive : (p,) held-out scores of labelled rows. population : (n,) of the population.
    """
    found = np.array([best_bin(p, u) for p, u in resampled(positive, population, rng)])
    variance = float(found.var())
    trust = BELIEF_DEVIATION**2 / (variance + BELIEF_DEVIATION**2)
    value = trust * float(np.median(found)) + (1.0 - trust) * BELIEF
    deviation = float(np.sqrt(variance + LASTING_ERROR**2))
    least = 0.5 / len(population)
    draws = np.clip(value + deviation * rng.standard_normal(len(found)), least, 1.0)
    low, high = np.clip([value - NORMAL_90 * deviation, value + NORMAL_90 * deviation], least, 1.0)
    return PriorEstimate(float(np.clip(value, least, 1.0)), float(low), float(high), draws)
