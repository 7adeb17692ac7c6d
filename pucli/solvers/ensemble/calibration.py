"""Probabilities from scores: the prior times the ratio of the positives' density to the population's, at most one.

The ratio is isotonic in the score. It is averaged over bootstrap samples, so that it is smooth and few rows alone
cannot make a probability one. A factor makes the mean probability over the population equal to the prior, also after
the averaging. What users see is never zero: `Calibration.least` adds at most prior / (p + 1) to that mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pucli.core.arrays import Floats
from pucli.core.lru_cache import KEPT
from pucli.core.saved_state import Array, State
from pucli.core.seeding import stream
from pucli.solvers.ensemble.hidden_share import estimate_prior, isotonic_ratio
from pucli.solvers.prior.best_bin import MOST_SCORES, resampled

# Least distance of two knots, as a share of the largest score.
NEAREST = 1e-6
KNOTS = 200
# The mean of bootstrap curves is raised to the prior by at most this factor: more would make probabilities one where
# the scores contradict the prior.
LARGEST_FACTOR = 1.25


@dataclass
class Calibration:
    """Probabilities (knots,) at scores (knots,), linear between the knots and constant beyond them."""

    scores: np.ndarray
    probabilities: np.ndarray
    saved_state: ClassVar[State] = {
        "scores": Array("knots"),
        "probabilities": Array("knots", low=0.0, high=1.0 + 1e-9),
    }

    def of(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of a positive at each score, between 0 and 1."""
        result: np.ndarray = np.interp(scores, self.scores, self.probabilities)
        return result

    def even(self) -> float:
        """Return the score at which the probability crosses one half; the largest score if it stays below."""
        above = np.flatnonzero(self.probabilities > 0.5)
        if len(above) == 0:
            return float(self.scores[-1])
        k = int(above[0])
        if k == 0:
            return float(np.nextafter(self.scores[0], -np.inf))
        low, high = self.probabilities[k - 1], self.probabilities[k]
        return float(self.scores[k - 1] + (0.5 - low) / (high - low) * (self.scores[k] - self.scores[k - 1]))

    def least(self, positive: np.ndarray, population: np.ndarray, prior: float) -> float:
        """Return a lower bound for the probability of any row, so that no row has probability zero.

        It is the expected probability of rows below every labeled row, or the probability of the lowest labeled row
        if that is less.
        """
        return min(probability_below_all(positive, population, prior), float(self.of(positive[:1])[0]))

    def scaled(
        self, probabilities: np.ndarray, population: np.ndarray, prior: float, others: Sequence[float], least: float
    ) -> list[np.ndarray]:
        """Return the probabilities that other values of the class prior would give.

        For each value, all probabilities have a common factor that makes their mean over the population equal to it.
        Probabilities up to `least` rest on the number of labeled rows alone and rise at most in proportion to the
        prior.
        """
        lowest, found = probabilities <= least, []
        for other in others:
            factor = factor_for(self.of(_some(population)), other)
            found.append(
                np.minimum(1.0, np.where(lowest, min(factor, other / max(prior, 1e-12)), factor) * probabilities)
            )
        return found


def make_calibration(
    positive: np.ndarray, population: np.ndarray, prior: float, rng: np.random.Generator
) -> Calibration:
    """Return the calibration from held-out scores, averaged over bootstrap samples."""
    return averaged(*calibration_curves(positive, population, prior, rng), population, prior)


def averaged(knots: np.ndarray, curves: np.ndarray, population: np.ndarray, prior: float) -> Calibration:
    """Return the mean of curves from `calibration_curves`, times a factor that makes its mean the prior, if it can."""
    mean = Calibration(knots, np.mean(curves, axis=0))
    factor = min(factor_for(mean.of(_some(population)), prior), LARGEST_FACTOR)
    return Calibration(knots, np.minimum(1.0, factor * mean.probabilities))


def _some(population: np.ndarray) -> np.ndarray:
    """Return at most `MOST_SCORES` of sorted scores, evenly spread."""
    found: np.ndarray = population[np.linspace(0, len(population) - 1, min(len(population), MOST_SCORES)).astype(int)]
    return found


def calibration_curves(
    positive: np.ndarray, population: np.ndarray, prior: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the calibration of each bootstrap sample at common scores."""
    knots = np.unique(np.quantile(np.concatenate([positive, population]), np.linspace(0.0, 1.0, KNOTS)))
    curves = []
    for p, u in resampled(positive, population, rng):
        scores = np.sort(np.concatenate([p, u]))
        ratio = isotonic_ratio(p, u, scores)
        factor = factor_for(np.interp(u, scores, ratio), prior)
        curves.append(np.minimum(1.0, factor * np.interp(knots, scores, ratio)))
    return knots, np.array(curves)


def probability_below_all(positive: np.ndarray, population: np.ndarray, prior: float) -> float:
    """Return the expected probability of rows with lower scores than every labeled row, 0 if there are none.

    A new positive is as likely to be the lowest of all as each of the p labeled rows: with probability 1 / (p + 1).
    """
    rows = float(np.mean(population < positive.min()))
    return min(1.0, prior / ((len(positive) + 1) * rows)) if rows > 0.0 else 0.0


def least_end(positive: np.ndarray, population: np.ndarray, prior: float) -> float:
    """Return an upper end (95 %) of the probability of rows with the lowest scores, where there may be no labeled row.

    If probabilities rise with the score, the probability of the lowest rows is at most the mean up to any score: the
    prior times the share of positives up to there (its upper end, by Clopper and Pearson) over the share of rows.
    """
    from scipy.special import betaincinv

    shares = np.linspace(0.0, 1.0, KNOTS + 1)[1:]
    places = population[np.ceil(shares * len(population)).astype(int) - 1]
    rows = np.searchsorted(population, places, side="right") / len(population)
    below = np.searchsorted(positive, places, side="right").astype(float)
    most = np.where(below < len(positive), betaincinv(below + 1.0, np.maximum(len(positive) - below, 1.0), 0.95), 1.0)
    return float(min(1.0, prior * (most / rows).min()))


def greatest_end(positive: np.ndarray, population: np.ndarray, prior: float) -> float:
    """Return a lower end of the probability of rows with the highest scores, where no negative is labeled.

    As in `least_end`: the probability of the highest rows is at least the mean from any score on, the prior times the
    share of positives there (lower end, 98 %) over the share of rows (upper end, 95 %).
    """
    from scipy.special import betaincinv

    n, p = len(population), len(positive)
    places = population[np.floor(np.linspace(0.0, 1.0, KNOTS + 1)[:-1] * n).astype(int)]
    rows = n - np.searchsorted(population, places).astype(float)
    above = p - np.searchsorted(positive, places).astype(float)
    most = np.where(rows < n, betaincinv(rows + 1.0, np.maximum(n - rows, 1.0), 0.95), 1.0)
    least = np.where(above > 0, betaincinv(np.maximum(above, 1.0), p - above + 1.0, 0.02), 0.0)
    return float(min(1.0, prior * (least / most).max()))


def factor_for(ratio: np.ndarray, prior: float) -> float:
    """Return the factor a for which mean min(1, a ratio) is the prior, by bisection."""
    low, high = 0.0, 1.0
    while np.minimum(1.0, high * ratio).mean() < prior and high < 1e6:
        low, high = high, 2.0 * high
    for _ in range(40):
        middle = 0.5 * (low + high)
        if np.minimum(1.0, middle * ratio).mean() < prior:
            low = middle
        else:
            high = middle
    return high


def curve_of_scores(positive: Floats, population: Floats, prior: float | None) -> Calibration:
    """Return the probability of a positive by score, from the scores of training rows."""

    def curve() -> Calibration:
        share = estimate_prior(positive, population, stream(0, "prior")).value if prior is None else prior
        found = make_calibration(positive, population, share, stream(0, "calibration"))
        least = found.least(positive, population, share)
        # Knots nearer to each other would let the rounding of a score show.
        step = NEAREST * max(float(np.abs(both).max()), 1e-300)
        knots, places = np.unique(np.round(found.scores / step) * step, return_index=True)
        return Calibration(knots, np.clip(found.probabilities[places], least, 1.0))

    both = np.concatenate([positive, population])
    return KEPT.get(("probability", len(positive), prior), both, 400, curve)
