"""The class prior from the ratio of two densities of scores, as in DEDPUL (Ivanov 2020).

With the densities f_p of the positives' scores and f of the population's, prior f_p <= f everywhere. So
min(1, a f_p / f) has the mean a over the population for every a up to the prior, and a smaller mean above it, where
a f_p would be larger than f somewhere. The estimate is the largest a whose mean falls short of it by at most
`SHORTFALL`. The densities are Gaussian kernel densities of the scores' normal quantiles in the population, and their
ratio is made to increase with the score.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from pucli.core.arrays import Floats

# Chosen on the design half of the tasks of benchmark `quality`.
SHORTFALL = 0.005
# Places of the densities, and the values of the prior that are tried.
PLACES = 300
PRIORS = np.linspace(0.01, 1.0, 100)
# Least width of a kernel.
LEAST_WIDTH = 1e-3


def density_ratio(positive: Floats, population: Floats) -> float:
    """Return the density-ratio estimate of the prior, between 0.01 and 1.

    `positive` (p,) are held-out scores of labeled rows, and `population` (n,) those of the population, the unlabeled
    rows in the case-control scenario.
    """
    z_p, z = _quantiles(positive, population), _quantiles(population, population)
    places = np.linspace(min(z_p.min(), z.min()), max(z_p.max(), z.max()), PLACES)
    f_p, f = _density(z_p, places), np.maximum(_density(z, places), 1e-12)
    ratio = np.interp(z, places, isotonic_regression(f_p / f, weights=f).x)
    if not ratio.any():  # no row of the population has a score like those of labeled rows
        return float(PRIORS[0])
    ratio /= ratio.mean()
    means = np.array([np.minimum(1.0, a * ratio).mean() for a in PRIORS])
    return float(PRIORS[np.flatnonzero(PRIORS - means <= SHORTFALL).max(initial=0)])


def _quantiles(scores: Floats, population: Floats) -> Floats:
    """Return the normal quantiles of the ranks that scores have in the population; ties get their middle rank."""
    ordered = np.sort(population)
    below = np.searchsorted(ordered, scores, side="left") + np.searchsorted(ordered, scores, side="right")
    result: Floats = ndtri((0.5 * below + 0.5) / (len(ordered) + 1.0))
    return result


def _density(z: Floats, places: Floats) -> Floats:
    """Return the kernel density of values (k,) at places (p,), with the width of Silverman's rule (1986, eq. 3.31)."""
    low, high = np.quantile(z, [0.25, 0.75])
    width = 1.06 * max(min(float(z.std()), float(high - low) / 1.34), LEAST_WIDTH) * len(z) ** -0.2
    result: Floats = np.exp(-0.5 * ((places[:, None] - z) / width) ** 2).mean(axis=1) / width
    return result
