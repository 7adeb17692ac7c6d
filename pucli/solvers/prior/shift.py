"""Prior shift: the class prior of new rows from probabilities, and whether only the prior has changed.

If only the share of positives changes, the density of new rows is theta p(x | 1) + (1 - theta) p(x | 0), and the class
prior theta of largest likelihood follows from calibrated probabilities of the old population alone (Saerens, Latinne,
Decaestecker 2002). The same mixture holds for each single feature, which is what `changed_features` tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Floats
from pucli.metrics.ranking import QUANTILE

# Number of bins in which probabilities are counted: the estimate changes by less than 1e-3.
BINS = 1000
HALVINGS = 30
BOOTSTRAPS = 200
LEVELS = (0.05, 0.95)
# Standard deviation of the error of calibrated probabilities that more new rows do not reduce, with up to MANY labeled
# rows; more rows reduce it as a square root.
CALIBRATION_ERROR, MANY = 0.04, 50
# Priors and probabilities are kept this far from 0 and 1.
EDGE = 1e-4
# A feature with a smaller p-value contradicts a mixture.
LEVEL = 0.05
# Weights of the labeled rows in the mixture that the test of features tries, and rows that a bin needs.
GRID, FEWEST = 61, 8.0


@dataclass(frozen=True)
class NewPrior:
    """The share of positives in new rows, with its 90 % interval."""

    value: float
    low: float
    high: float


def adapted(probabilities: Floats, prior: float, new: float) -> Floats:
    """Return the probabilities of rows of a population with another share of positives (eq. 2.4 of Saerens et al.).

    Parameters
    ----------
    probabilities : ndarray of shape (n,)
        Probabilities with the class prior `prior`.
    prior, new : float
        Shares of positives in the population of training, and in the new one.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities with the class prior `new`.
    """
    if not (0.0 <= prior <= 1.0 and 0.0 <= new <= 1.0):
        raise ValueError(f"prior {prior} and new {new} must be shares, between 0 and 1.")
    prior, p = _inside(prior), np.clip(probabilities, 0.0, 1.0)
    up, down = p * new / prior, (1.0 - p) * (1.0 - new) / (1.0 - prior)
    total = up + down
    return np.divide(up, total, out=np.array(p, dtype=np.float64), where=total > 0.0)


def new_prior(
    probabilities: Floats, prior: float, ends: tuple[float, float], labeled: int, rng: np.random.Generator
) -> NewPrior:
    """Return the share of positives in new rows.

    The interval comes from bootstrap samples of the new rows. Each draws a prior from its interval, scales the
    probabilities in proportion, and adds an error of the calibration.
    """
    n = len(probabilities)
    counts = np.bincount(np.minimum((np.clip(probabilities, 0.0, 1.0) * BINS).astype(int), BINS - 1), minlength=BINS)
    middles = (np.arange(BINS) + 0.5) / BINS
    there = counts > 0
    counts, p = counts[there], middles[there]
    value = float(_most_likely(counts[None].astype(float), p[None], np.array([prior]))[0])
    drawn = rng.multinomial(n, counts / n, size=BOOTSTRAPS).astype(float)
    low, high = min(ends[0], prior), max(ends[1], prior)
    below, above = (abs(end - prior) / QUANTILE for end in (low, high))
    z = rng.normal(size=BOOTSTRAPS)
    priors = np.clip(prior + np.where(z < 0.0, below, above) * z, low, high)
    factor = np.clip(priors, EDGE, None) / _inside(prior)
    found = _most_likely(drawn, np.minimum(p[None] * factor[:, None], 1.0), priors)
    found += CALIBRATION_ERROR * np.sqrt(min(1.0, MANY / max(labeled, 1))) * rng.normal(size=BOOTSTRAPS)
    least, most = np.clip(np.quantile(found, LEVELS), 0.0, 1.0)
    return NewPrior(value, min(float(least), value), max(float(most), value))


def _most_likely(counts: Floats, p: Floats, prior: Floats) -> Floats:
    """Return the most likely share of positives for each row of counts (b, k) of probabilities (b, k), shape (b,).

    The likelihood is concave in the share: its derivative is halved to zero, where EM arrives, too.
    """
    prior = np.clip(prior, EDGE, 1.0 - EDGE)[:, None]
    p = np.clip(p, EDGE, 1.0 - EDGE)
    up, down = p / prior, (1.0 - p) / (1.0 - prior)

    def slope(share: Floats) -> Floats:
        found: Floats = np.sum(counts * (up - down) / (share[:, None] * up + (1.0 - share[:, None]) * down), axis=1)
        return found

    return halved(slope, np.zeros(len(counts)), np.ones(len(counts)))


def halved(slope: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Return where falling functions are zero (b,), each between its ends `low` and `high` (b,), by `HALVINGS`."""
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        rising = slope(middle) > 0.0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return 0.5 * (low + high)


class FeatureShares(NamedTuple):
    """Shares of rows in each bin of each of k features, (k, bins), and the number of rows."""

    shares: Floats
    rows: int


def changed_features(
    labeled: FeatureShares, population: FeatureShares, new: FeatureShares, *, any_prior: bool
) -> tuple[float, Floats]:
    """Return the p-value of new rows being from the old population, and that of each feature."""
    from scipy.stats import f

    fewest = min(population.rows, new.rows, 2 * labeled.rows if any_prior else new.rows)
    samples = _with_enough_rows((labeled, population, new), fewest)
    found = []
    for a in np.linspace(-1.0, 1.0, GRID).tolist() if any_prior else [0.0]:
        statistic, degrees = _distance(samples, a)
        d, of = np.maximum(degrees, 1), _degrees_of_freedom(samples, a)
        rest = np.maximum(of - d + 1.0, 1.0)
        p = np.where(degrees > 0, f.sf(statistic * rest / (of * d), d, rest), 1.0)
        found.append(np.minimum(1.0, p * len(p)))
    agreed = max(found, key=lambda p: (int(np.sum(p > LEVEL)), float(p.sum())))
    return max(float(p.min()) for p in found), agreed


def _degrees_of_freedom(samples: list[FeatureShares], a: float) -> float:
    """Return those of the covariance of new rows and mixture (Satterthwaite), of Hotelling's test for few rows."""
    parts = [weight**2 / sample.rows for sample, weight in zip(samples, (a, 1.0 - a, 1.0), strict=True)]
    return sum(parts) ** 2 / sum(v**2 / max(sample.rows - 1, 1) for v, sample in zip(parts, samples, strict=True))


def _with_enough_rows(samples: tuple[FeatureShares, ...], rows: int) -> list[FeatureShares]:
    """Return the samples with bins merged until `rows` rows of population and new rows expect `FEWEST` in each."""
    _, population, new = samples
    pooled = (population.shares * population.rows + new.shares * new.rows) / (population.rows + new.rows)
    place = np.zeros(pooled.shape, dtype=int)
    for k, shares in enumerate(pooled * rows):
        at, full = 0, 0.0
        for j, expected in enumerate(shares):
            place[k, j] = at
            full += expected
            if full >= FEWEST and shares[j + 1 :].sum() >= FEWEST:
                at, full = at + 1, 0.0
    merged = []
    for sample in samples:
        shares = np.zeros(pooled.shape)
        np.add.at(shares, (np.arange(len(pooled))[:, None], place), sample.shares)
        merged.append(FeatureShares(shares, sample.rows))
    return merged


def _distance(samples: list[FeatureShares], a: float) -> tuple[Floats, np.ndarray]:
    """Return the Wald statistics (k,) of new = a labeled + (1 - a) population, and their degrees of freedom."""
    labeled, population, new = samples
    expected = a * labeled.shares + (1.0 - a) * population.shares
    gap = new.shares - expected
    # the shares of new rows if the mixture is true
    both = (new.rows * new.shares + population.rows * np.maximum(expected, 0.0)) / (new.rows + population.rows)
    both = both / both.sum(axis=1, keepdims=True)
    old = both if a == 0.0 else (population.shares * population.rows + both) / (population.rows + 1.0)
    known = (labeled.shares * labeled.rows + both) / (labeled.rows + 1.0)
    covariance = sum(
        weight**2 / sample.rows * (p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :])
        for sample, p, weight in ((new, both, 1.0), (population, old, 1.0 - a), (labeled, known, a))
    )
    inverse = np.linalg.pinv(covariance, rcond=1e-9, hermitian=True)
    statistic = np.einsum("ki,kij,kj->k", gap, inverse, gap)
    return np.maximum(statistic, 0.0), np.maximum((both > 0.0).sum(axis=1) - 1, 0)


def _inside(prior: float) -> float:
    return min(max(prior, EDGE), 1.0 - EDGE)
