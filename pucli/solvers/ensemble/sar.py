"""Labeling that depends on the features (SAR): a model of the propensity, and the estimates under it.

A row is positive with probability f(x) and, if positive, labeled with probability e(x), its propensity. The rows
determine the product alone: any larger f with a smaller e fits them as well (Bekker et al. 2019), so something must be
assumed. Here a clearer positive is labeled more readily, e(x) = c f(x)^2 (He et al. 2018 and Kato et al. 2019 assume
the order alone). Under random labeling the product is c times the usual probability p, so f is the cube root of p: the
order of the rows stays, and there are more positives. The exponent was chosen on the design half of the tasks of
benchmark `quality`; exponents of 1 and 3 give the ends of the prior's interval. Alternating fits of f and e that
increase the likelihood of the labels (SAR-EM, `benchmarks.common.sar_em`) were worse there than random labeling.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pucli.solvers.ensemble.hidden_share import PriorWithDraws
from pucli.solvers.prior.binormal import Binormal, binormal

# Exponent of f in the propensity, and the range in which it may lie.
EXPONENT, LEAST_EXPONENT, LARGEST_EXPONENT = 2.0, 1.0, 3.0
# With fewer unlabeled rows than this, labeled rows that crowd at the top may tell of biased labels as well as of rare
# positives. Not so where few positives need be hidden: no doubtful rows lie between the kinds, as the PU-AUC (its lower
# end) is above APART, or there are more labeled rows than this share of the unlabeled ones.
MOST_ROWS, APART, MANY_LABELED = 1000, 0.98, 0.4
# If positives were rare, at most this share of them would be labeled; more were probably labeled as they are clear.
MOST_KNOWN = 0.7
# Odds ratio of labeling that the interval of the recall allows for.
ODDS_RATIO = 4.0


def rare_or_biased(law: Binormal) -> bool:
    """Return whether positives of a small table seem rare, which biased labels would make them seem as well.

    Labeled rows that rank far above nearly all unlabeled ones mean either that few positives are hidden, or that the
    hidden ones are less clear; the scores cannot tell which. Of a thousand rows and more the first is taken for true.
    """
    return law.rare and law.rows < MOST_ROWS and law.labeled <= MANY_LABELED * law.rows and law.ranking <= APART


def clear_ones_first(positive: np.ndarray, unlabeled: np.ndarray) -> bool:
    """Return whether the clear positives of a small table were probably labeled first.

    They were if positives seem rare (`rare_or_biased`), and so rare that most of them would be labeled.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clear, doubtful, negative = rng.normal(3.5, 1, 50), rng.normal(2, 1, 150), rng.normal(0, 1, 300)
    >>> rows = np.r_[doubtful, negative]
    >>> clear_ones_first(clear, rows), clear_ones_first(doubtful[:50], rows)
    (True, False)
    """
    law = binormal(np.sort(positive), np.sort(unlabeled))
    return rare_or_biased(law) and law.labeled > MOST_KNOWN * (law.labeled + law.mean * law.rows)


def probabilities_if_biased(probabilities: np.ndarray, exponent: float = EXPONENT) -> np.ndarray:
    """Return the probability of a positive (n,) from that under random labeling (n,), for e(x) = c f(x)^exponent.

    Examples
    --------
    >>> probabilities_if_biased(np.array([0.0, 0.125, 1.0]))
    array([0. , 0.5, 1. ])
    """
    result: np.ndarray = np.power(probabilities, 1.0 / (1.0 + exponent))
    return result


def relative_propensities(probabilities: np.ndarray, exponent: float = EXPONENT) -> np.ndarray:
    """Return the propensity of each row relative to that of the clearest positive, from f (n,)."""
    result: np.ndarray = np.power(probabilities, exponent)
    return result


def positive_scores(scores: np.ndarray, probabilities: np.ndarray, count: int) -> np.ndarray:
    """Return scores that stand for a random sample of the positives in a population.

    They are the quantiles of the scores weighted with the probabilities, in ascending order.
    """
    order = np.argsort(scores, kind="stable")
    total = np.cumsum(probabilities[order])
    wanted = (np.arange(count) + 0.5) / count * total[-1]
    result: np.ndarray = scores[order][np.minimum(np.searchsorted(total, wanted), len(scores) - 1)]
    return result


def auc_and_recall(scores: np.ndarray, probabilities: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Return the expected AUC of scores and the expected recall of predictions."""
    order = np.argsort(scores, kind="stable")
    _, first, ties = np.unique(scores[order], return_index=True, return_counts=True)
    negative = (1.0 - probabilities)[order]
    below = np.concatenate([[0.0], np.cumsum(negative)])
    middle = np.repeat(0.5 * (below[first] + below[first + ties]), ties)
    pairs = max(float(probabilities.sum() * negative.sum()), 1e-300)
    recall = float(probabilities[predicted].sum() / max(float(probabilities.sum()), 1e-300))
    return float(probabilities[order] @ middle) / pairs, recall


def widened(prior: PriorWithDraws, probabilities: np.ndarray, rng: np.random.Generator) -> PriorWithDraws:
    """Return the estimate with an interval that includes the estimates with the other exponents."""
    middle, *ends = (
        float(probabilities_if_biased(probabilities, exponent).mean())
        for exponent in (EXPONENT, LEAST_EXPONENT, LARGEST_EXPONENT)
    )
    down, up = ends[0] - middle, ends[1] - middle
    least = 0.5 / len(probabilities)
    draws = np.clip(prior.draws + rng.uniform(down, up, len(prior.draws)), least, 1.0)
    return replace(prior, low=max(least, prior.low + down), high=min(1.0, prior.high + up), draws=draws)
