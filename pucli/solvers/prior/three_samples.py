"""The class prior of new rows from three samples of scores: labeled positives, the old population, and the new rows.

The densities of the scores of both classes are unknown, and the same in all samples: old and new rows are mixtures of
them with shares pi and theta. The logarithm of their ratio is taken for a quadratic function of the score, as for two
normal laws (the exponential tilt of Qin 1999), and pi has the normal law of its estimate and interval.
Expectation-maximization finds all together. So the new rows correct the ratio where the labeled ones are few, and the
prior of training as well, where calibrated probabilities alone pass on its error (`pucli.solvers.prior.shift`).
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats
from pucli.metrics.ranking import QUANTILE
from pucli.solvers.prior.shift import EDGE, LEVELS, NewPrior, halved

# Number of quantiles of each sample, between which scores are counted.
QUANTILES = 40
# Where the scores hardly determine the share, so few steps end near the prior of training: on the design half of the
# tasks of benchmark `quality`, 30, 60 and 120 have errors of .055, .054 and .055.
BOOTSTRAPS, STEPS, NEWTON, ENOUGH = 100, 60, 2, 1e-4
# Weight of the squares of the coefficients; standard deviation of the prior of training that is left if it was given.
RIDGE, LEAST_DEVIATION = 1.0, 1e-3
# More rows of the population add nothing about its prior, as no table follows the quadratic function exactly.
MOST_ROWS = 800
# Standard deviation of the error of the share that bootstrap samples do not show.
LASTING_ERROR = 0.03


def prior_of_three(
    scores: tuple[Floats, Floats, Floats], prior: float, ends: tuple[float, float], rng: np.random.Generator
) -> NewPrior:
    """Return the share of positives in new rows.

    The interval comes from bootstrap samples of all three samples, each with a prior of training drawn from its
    interval.
    """
    counts, place = _counted(scores)
    prior = min(max(prior, EDGE), 1.0 - EDGE)
    below, above = (max(abs(end - prior) / QUANTILE, LEAST_DEVIATION) for end in ends)
    deviation = 0.5 * (below + above)
    value = float(_shares(counts[:, None].astype(float), place, np.array([prior]), deviation)[0])
    drawn = np.array([rng.multinomial(c.sum(), c / c.sum(), size=BOOTSTRAPS) for c in counts], dtype=float)
    z = rng.normal(size=BOOTSTRAPS)
    priors = np.clip(prior + np.where(z < 0.0, below, above) * z, EDGE, 1.0 - EDGE)
    found = _shares(drawn, place, priors, deviation) + LASTING_ERROR * rng.normal(size=BOOTSTRAPS)
    low, high = np.clip(np.quantile(found, LEVELS), 0.0, 1.0)
    return NewPrior(value, min(float(low), value), max(float(high), value))


def _counted(scores: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the rows of each sample in each bin (3, k), and the mean score of each bin (k,) as a z-score."""
    levels = np.linspace(0.0, 1.0, QUANTILES + 1)[1:-1]
    edges = np.unique([np.quantile(sample, levels) for sample in scores])
    counts = np.array([np.bincount(np.searchsorted(edges, s), minlength=len(edges) + 1) for s in scores])
    every = np.concatenate(scores)
    sums = np.bincount(np.searchsorted(edges, every), every, minlength=len(edges) + 1)
    there = counts.sum(axis=0) > 0
    place = (sums[there] / counts[:, there].sum(axis=0) - np.median(every)) / max(float(every.std()), 1e-12)
    return counts[:, there], place


def _shares(counts: Floats, place: Floats, prior: Floats, deviation: float) -> Floats:
    """Return the share of positives of new rows (b,) for counts (3, b, k) at places (k,) and priors (b,)."""
    basis = np.stack([np.ones_like(place), place, place**2])
    rows = counts.sum(axis=2)
    # it starts with no change and larger scores of positives
    own, new = prior.copy(), prior.copy()
    beta, log_ratio = np.tile([0.0, 1.0, 0.0], (len(prior), 1)), np.tile(place, (len(prior), 1))
    for _ in range(STEPS):
        before = new
        of_old, of_new = (_posterior(log_ratio, share) for share in (own, new))
        old, fresh = counts[1] * of_old, counts[2] * of_new
        own = _most_likely(old.sum(axis=1), rows[1], prior, deviation)
        new = np.clip(fresh.sum(axis=1) / rows[2], EDGE, 1.0 - EDGE)
        positive = counts[0] + old + fresh
        beta = _fitted(basis, positive, counts.sum(axis=0), beta)
        share = positive.sum(axis=1) / rows.sum(axis=0)
        log_ratio = beta @ basis - np.log(share / (1.0 - share))[:, None]
        if np.abs(new - before).max() < ENOUGH:
            break
    return new


def _posterior(log_ratio: Floats, share: Floats) -> Floats:
    odds = np.exp(np.clip(log_ratio, -30.0, 30.0)) * (share / (1.0 - share))[:, None]
    return odds / (1.0 + odds)


def _most_likely(positive: Floats, rows: Floats, prior: Floats, deviation: float) -> Floats:
    """Return the share of positives (b,), of which `positive` (b,) of `rows` (b,) are expected, given its own law."""
    weight = np.minimum(1.0, MOST_ROWS / rows)

    def slope(share: Floats) -> Floats:
        return weight * (positive / share - (rows - positive) / (1.0 - share)) - (share - prior) / deviation**2

    return halved(slope, np.full(len(prior), EDGE), np.full(len(prior), 1.0 - EDGE))


def _fitted(basis: Floats, positive: Floats, rows: Floats, beta: Floats) -> Floats:
    """Return coefficients (b, 3) of a ridge logistic regression: `positive` (b, k) of `rows` (b, k), from `beta`."""
    ridge = np.diag([1e-9, RIDGE, RIDGE])
    for _ in range(NEWTON):
        p = 1.0 / (1.0 + np.exp(-np.clip(beta @ basis, -30.0, 30.0)))
        gradient = (positive - rows * p) @ basis.T - beta @ ridge
        weight = np.maximum(rows * p * (1.0 - p), 1e-9)
        hessian = np.einsum("ik,bk,jk->bij", basis, weight, basis, optimize=True) + ridge
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        beta = beta + np.clip(step, -3.0, 3.0)
    return beta
