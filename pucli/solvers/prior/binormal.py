"""The class prior and the best share to predict positive where positives are rare: the binormal law of the scores.

Best bins and groups of scores bound the prior from above, by about .1 at best: where one row in a hundred is positive,
that is no help. Here the scores of negatives and positives are normal after a common monotone change: N(0, 1) and
N(d, s^2), the law of most ROC curves (Metz 1986). With the prior a, a share q(z) = (1 - a) P(N > z) + a P(d + s N > z)
of the population lies above z, and the labeled rows' places in the population, v = q(z), have the density
L / (1 - a + a L), L the likelihood ratio at z, made monotone. It flattens at 1 / a: the larger the prior, the earlier
the labeled rows stop crowding toward the top. So the places alone determine the prior, the share with the largest F1,
and the number of positives among the first k rows. The posterior is computed on a grid: log-uniform in a, flat in d,
log-normal in s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from pucli.core.arrays import Floats, Ints

PRIORS = np.geomspace(2e-4, 0.95, 42)
DISTANCES, SPREADS = np.linspace(0.0, 5.0, 26), np.geomspace(0.6, 1.0 / 0.6, 5)
# Standard deviation of log s.
SPREAD = 0.5
# A 90 % interval of the normal law reaches this many standard deviations to either side.
NORMAL_90 = 1.6448536269514722
# Scores z, shares of the population at which recalls are stored, and places at which densities are.
_SCORES = np.linspace(-7.0, 10.0, 341)
SHARES = np.concatenate([np.geomspace(1e-4, 0.005, 20, endpoint=False), np.geomspace(0.005, 1.0, 80)])
_PLACES = np.concatenate([np.geomspace(1e-5, 0.5, 100), 1.0 - np.geomspace(0.5, 1e-5, 40)[1:]])
# More labeled rows count as this many: no table follows the law exactly, and with many rows the posterior would be
# overconfident.
MOST_LABELED = 100
# Positives are rare if the prior is at most RARE with this confidence, and the lower end (95 %) of the PU-AUC is at
# least RANKING: below, the prior may be anything. No table tried with a prior of .2 or more passed for rare.
RARE, CONFIDENCE, RANKING = 0.15, 0.9, 0.68


@dataclass(frozen=True)
class _Laws:
    """All laws of the grid: prior (c,), log density at `_PLACES` (c, places), recall at `SHARES` (c, shares)."""

    prior: Floats
    log_density: Floats
    recall: Floats
    log_weight: Floats


@dataclass(frozen=True)
class Binormal:
    """The posterior of the binormal law."""

    weights: Floats  # (c,), probability of each law of the grid
    ranking: float  # lower end (95 %) of the PU-AUC
    # number of labeled rows and of rows of the population
    labeled: int
    rows: int

    @property
    def mean(self) -> float:
        """The mean of the prior."""
        return float(self.weights @ _laws().prior)

    def quantiles(self, levels: Floats) -> Floats:
        """Return quantiles of the prior at some levels (q,), shape (q,)."""
        weight = self.weights.reshape(len(PRIORS), -1).sum(axis=1)
        # half of a value's probability lies on either side of it
        return np.interp(levels, np.cumsum(weight) - 0.5 * weight, PRIORS)

    @property
    def rare(self) -> bool:
        """Whether positives are rare, as `RARE` defines it."""
        return self.ranking >= RANKING and bool(self.quantiles(np.array([CONFIDENCE]))[0] <= RARE)

    def share_for_f1(self) -> float:
        """Return the share of the population to predict positive.

        It is the geometric mean of two shares: that with the largest expected F1, which large priors dominate, and that
        with the largest expected ratio of F1 to its maximum, which weights all priors alike.
        """
        laws = _laws()
        f1 = 2.0 * laws.prior[:, None] * laws.recall / (SHARES + laws.prior[:, None])
        largest = SHARES[int(np.argmax(self.weights @ f1))]
        nearest = SHARES[int(np.argmax(self.weights @ (f1 / f1.max(axis=1, keepdims=True))))]
        return float(np.sqrt(largest * nearest))

    def priors(self, levels: Floats) -> Floats:
        """Return the prior of each of the laws that levels (d,) between 0 and 1 draw, shape (d,)."""
        return _laws().prior[self._drawn(levels)]

    def recalls(self, levels: Floats, share: float) -> Floats:
        """Return the recall of a share of the rows by the laws that levels (d,) draw, shape (d,)."""
        laws, places = _laws(), np.append(0.0, SHARES)
        right = int(np.clip(np.searchsorted(places, share), 1, len(SHARES)))
        part = (share - places[right - 1]) / (places[right] - places[right - 1])
        recall = laws.recall[self._drawn(levels)]
        before = recall[:, right - 2] if right > 1 else 0.0
        result: Floats = before + part * (recall[:, right - 1] - before)
        return result

    def _drawn(self, levels: Floats) -> Ints:
        return np.minimum(np.searchsorted(np.cumsum(self.weights), levels), len(self.weights) - 1)


def binormal(positive: Floats, population: Floats, least: float = 0.0) -> Binormal:
    """Return the posterior of the binormal law, given held-out scores.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hidden, negative = rng.normal(3, 1, 100), rng.normal(0, 1, 9900)
    >>> law = binormal(np.sort(rng.normal(3, 1, 200)), np.sort(np.r_[hidden, negative]))
    >>> law.rare, 0.005 < law.mean < 0.02
    (True, True)
    """
    n, laws = len(population), _laws()
    above = n - 0.5 * (np.searchsorted(population, positive) + np.searchsorted(population, positive, side="right"))
    places = np.clip(above, 0.5, n - 0.5) / n
    at = np.interp(places, _PLACES, np.arange(len(_PLACES)))
    left = np.minimum(at.astype(int), len(_PLACES) - 2)
    part = at - left
    count = np.bincount(left, 1.0 - part, len(_PLACES)) + np.bincount(left + 1, part, len(_PLACES))
    seen = min(1.0, MOST_LABELED / len(places))
    log_weight = seen * (laws.log_density @ count) + laws.log_weight
    log_weight = np.where(laws.prior >= max(1.0 / n, min(least, PRIORS[-1])), log_weight, -np.inf)
    weights = np.exp(log_weight - log_weight.max())
    ranking = 1.0 - float(places.mean()) - NORMAL_90 * float(places.std()) / np.sqrt(len(places))
    return Binormal(weights / weights.sum(), ranking, len(positive), n)


@lru_cache(maxsize=1)
def _laws() -> _Laws:
    """Return the laws of the grid, the prior outermost."""
    widths = np.gradient(_PLACES)
    density, recall, log_weight = [], [], []
    above = ndtr(-_SCORES)
    shapes = []
    for s in SPREADS:
        for d in DISTANCES:
            z = (_SCORES - d) / s
            # at most e^40: the density is then flat for every prior of the grid
            ratio = np.exp(np.minimum(0.5 * (_SCORES**2 - z**2) - np.log(s), 40.0))
            shapes.append((s, np.maximum.accumulate(ratio), ndtr(-z)))
    for prior in PRIORS:
        for s, ratio, above_of_positives in shapes:
            share = ((1.0 - prior) * above + prior * above_of_positives)[::-1]
            at = np.interp(_PLACES, share, (ratio / (1.0 - prior + prior * ratio))[::-1])
            density.append(np.maximum(at, 1e-12) / (at @ widths))
            recall.append(np.interp(SHARES, share, above_of_positives[::-1]))
            log_weight.append(-0.5 * (np.log(s) / SPREAD) ** 2)
    return _Laws(np.repeat(PRIORS, len(shapes)), np.log(np.array(density)), np.array(recall), np.array(log_weight))
