"""The gains curve of held-out scores: its sampling error, its simultaneous band, and the class prior that it allows.

The gains curve is the share R(k) of the positives among the first k of n rows by score. Labeled rows and hidden
positives are two samples of the positives, so that the curve of h hidden ones differs from that of m labeled ones as if
m h / (m + h) rows were labeled. The positives among the first k rows are at most k: prior R(k) <= k / n for every k.
The smallest of the noisy k / (n R(k)) lies below the true prior in most samples; the bound here is the largest prior at
which none of the first counts is improbable. If j labeled rows lie above a threshold, the number of hidden positives
there has the negative hypergeometric distribution, whatever the distribution of the scores.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats

# Chance that the bound is below the true prior, and that each side of the simultaneous band misses the curve.
BOUND, SIDE = 0.07, 0.05
# Where positives differ among themselves, models follow the accidents of the labeled ones and rank many of them above
# hidden ones: the bound leaves out this share of the labeled rows, the first. It rests on at most so many others.
FIRST, MOST_POSITIONS = 0.7, 200


def effective(labeled: int, hidden: Floats | float, *, whole: bool = False) -> Floats:
    """Return the number of labeled rows whose sampling error equals the one between both samples of positives.

    With `whole`, the curve is that of labeled and hidden rows together.

    Examples
    --------
    >>> float(effective(100, 100.0)), float(effective(100, 100.0, whole=True))
    (50.0, 200.0)
    """
    hidden = np.maximum(hidden, 1.0)
    result: Floats = labeled * ((labeled + hidden) / hidden if whole else hidden / (labeled + hidden))
    return result


def local_level(rows: float, chance: float) -> float:
    """Return the level of each of the pointwise bounds that together fail with a chance of at most `chance`.

    `rows` is the effective number of labeled rows. The form was fitted to 600 samples each of 10 to 4,000 positives.
    """
    return float(0.5 * chance / max(1.0, np.log(rows)) ** 1.5)


def greatest_prior(positive: Floats, population: Floats, *, whole: bool = False) -> float:
    """Return the largest class prior that the gains curve allows, from sorted held-out scores.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hidden, negative = rng.normal(5, 1, 100), rng.normal(0, 1, 900)
    >>> 0.1 < greatest_prior(np.sort(rng.normal(5, 1, 200)), np.sort(np.r_[hidden, negative])) < 0.12
    True
    """
    from scipy.stats import hypergeom

    m, n = len(positive), len(population)
    j = np.unique(np.linspace(max(1.0, np.ceil(FIRST * m)), m, MOST_POSITIONS).astype(int))
    rows = n - np.searchsorted(population, positive[m - j])
    rows = rows - j if whole else rows

    def fits(hidden: int) -> bool:
        level = local_level(float(effective(m, float(hidden))), BOUND)
        among = hypergeom.sf(j - 1, m + hidden, m, np.clip(j + rows, 0, m + hidden))
        return bool(np.all(among >= level))

    low, high = 0, n - m if whole else n
    if not fits(max(high, 1)):
        while high - low > max(1, low // 1000):
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        high = max(low, 1)
    return min(1.0, (high + m) / n) if whole else high / n
