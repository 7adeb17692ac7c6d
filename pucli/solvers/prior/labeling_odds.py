"""Bounds on recall and class prior if some positives were labeled more readily than others (after Rosenbaum 2002).

Labeled rows are a random sample of the positives if all positives have the same odds of being labeled. Let the odds
of any two differ by a factor of at most G, the odds ratio of labeling. A labeled row i then stands for w_i positives,
where w_i is the inverse of its odds, up to a factor in [1 / sqrt(G), sqrt(G)], and the recall is

    sum of w_i over labeled rows above the threshold / sum of w_i over all labeled rows.

It is monotone in each weight, so it is greatest with the weight sqrt(G) above the threshold and 1 / sqrt(G) below, and
least the other way round. These weights are monotone in the score: clear positives were labeled less readily, or more.
So labels that depend on the score have the same bounds as any others: the odds of the recall times or divided by G.

The odds are those of a hidden positive, so that the bounds hold exactly for the recall of the unlabeled positives; the
recall of all positives lies within them, as probabilities differ by less than odds.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from pucli.core.arrays import Floats

Share = TypeVar("Share", float, Floats)


def with_odds(share: Share, ratio: float) -> Share:
    """Return a share between 0 and 1 whose odds are multiplied by a ratio above 0.

    Examples
    --------
    >>> round(with_odds(0.5, 2.0), 3), round(with_odds(0.5, 0.5), 3)
    (0.667, 0.333)
    """
    return ratio * share / (ratio * share + (1.0 - share))


def odds_between(share: float, other: float) -> float | None:
    """Return the ratio of the odds of two shares, at least 1: at this odds ratio of labeling `share` may be `other`.

    `share` holds under random labeling, such as the lower end of the recall, and at `other`, which is smaller, a
    conclusion changes. The ratio is 1 if `share` is not above `other`, and None if none is large enough.

    Examples
    --------
    >>> round(odds_between(0.8, 0.5), 3), odds_between(0.4, 0.5), odds_between(1.0, 0.5)
    (4.0, 1.0, None)
    """
    if share <= other:
        return 1.0
    if share >= 1.0 or other <= 0.0:
        return None
    return float(share * (1.0 - other) / ((1.0 - share) * other))


def ahead_of(probabilities: Floats, threshold: float, ratio: float) -> np.ndarray:
    """Return which rows stay ahead of all rows below a threshold, (n,).

    Scores rank rows by the chance to be positive and labeled. Two rows can change places only if their probabilities
    of being positive differ by a factor of at most the odds ratio of labeling.
    """
    return np.asarray(probabilities) > ratio * threshold
