"""The share of positives in the population, from held-out scores alone.

The scores of labeled rows are a sample of the positives. Those of the population (the unlabeled rows in the
case-control setting, all rows of a single training set) are a sample of the mixture. If shares q_p of the positives and
q_u of the population lie above a threshold, then prior q_p <= q_u, so the prior is at most q_u / q_p. Best bin
estimation (Garg et al. 2021, eq. 4) takes the threshold that minimizes this ratio plus a confidence term. Where the
classes are apart, the population's scores form two groups, and the share of the upper one is a second estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pucli.core.saved_state import PORTION, Array, State
from pucli.metrics.ranking import true_auc
from pucli.solvers.prior.best_bin import BOOTSTRAPS, bootstrapped_best_bins
from pucli.solvers.prior.binormal import NORMAL_90, binormal

# Separation of two groups (`two_groups`) at which they count as apart, and that of scores that form one heap: a little
# below 2 / pi, which a normal distribution has. The share of the upper group of one heap is too large by OVERLAP_BIAS
# and off by OVERLAP_ERROR; both decrease in proportion as the groups move apart.
APART, ONE_HEAP, OVERLAP_BIAS, OVERLAP_ERROR, LEAST_ERROR = 0.85, 0.62, 0.12, 0.17, 0.02
RECALL = 0.9
# Standard deviation of the error of best bins that bootstrap samples do not show, with up to MANY_LABELED labeled
# rows; more rows reduce it in proportion. Standard deviation of the error of the prior that more rows do not reduce.
BIN_ERROR, MANY_LABELED, LASTING_ERROR = 0.05, 200, 0.05
# Standard deviation of the error that only overlapping classes make, in units of 1 - AUC of positives against negatives
# (as in `pucli.solvers.prior.estimate`), and the number of times that the lower end is computed anew with its AUC.
OVERLAP_UNSEEN, PASSES = 0.75, 2
# If classes overlap, negatives count as positives: an estimate is too high by about this factor times itself times the
# share of negatives times 1 - AUC of positives against negatives. The factor, 1 or 1.5, and the share of negatives were
# chosen on the design half of the tasks of benchmark `quality`: mean absolute error .053, without that share .053.
OVERLAP_TAKEN = 1.0
# If the AUC that follows from an estimate of the prior is lower, the classes overlap so much that the estimate is only
# an upper bound: no part of the space holds positives alone, as best bin estimation needs. Where they are apart, the
# standard deviation of the error that more rows do not reduce is smaller than LASTING_ERROR.
OVERLAP, APART_ERROR = 0.92, 0.02


def isotonic_ratio(positive: np.ndarray, population: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the ratio of the positives' density to the population's, isotonic in the score.

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


@dataclass
class PriorWithDraws:
    """The class prior with its 90 % interval."""

    # estimate and the ends of its interval
    value: float
    low: float
    high: float
    draws: np.ndarray  # (bootstraps,), draws of the prior, for estimates that depend on it
    # share of the population that is labeled, which the prior cannot be below; 0 in the case-control setting
    labeled: float = 0.0
    saved_state: ClassVar[State] = {
        "value": PORTION,
        "low": PORTION,
        "high": PORTION,
        "draws": Array("draws", low=0.0, high=1.0 + 1e-9),
        "labeled": PORTION,
    }

    def less_overlap(self, ranking: float) -> PriorWithDraws:
        """Return the estimate minus its mean bias from overlapping classes, given the PU-AUC.

        The upper end stays: the classes may be apart although the scores overlap, for want of labeled rows, and then
        the original estimate is right.
        """
        overlap = 1.0 - float(true_auc(ranking, self.value))
        value = self.value * (1.0 - OVERLAP_TAKEN * (1.0 - self.value) * overlap)
        value = max(value, min(self.labeled, self.value))
        deviation = (self.value - self.low) / NORMAL_90
        longer = float(np.hypot(deviation, self.value - value)) / max(deviation, 1e-12)
        beyond = self.draws - self.value
        draws = np.clip(value + np.where(beyond > 0.0, longer, 1.0) * beyond, max(self.labeled, 1e-12), 1.0)
        return replace(self, value=value, low=max(0.0, value - NORMAL_90 * deviation), draws=draws)

    def at(self, value: float, error: float) -> PriorWithDraws:
        """Return the estimate with this value and with `error` as its standard deviation."""
        value = max(value, self.labeled)
        spread = float(self.draws.std()) or 1.0
        draws = np.clip(value + error / spread * (self.draws - self.draws.mean()), max(self.labeled, 1e-12), 1.0)
        low, high = max(value - NORMAL_90 * error, self.labeled, 0.0), min(value + NORMAL_90 * error, 1.0)
        return replace(self, value=value, low=low, high=high, draws=draws)

    def lower_end(self, ranking: float, rows: int) -> float:
        """Return the lower end for a population of so many rows, which allows for classes that overlap.

        If they overlap, negatives count as positives, and the estimate is too high by an amount that grows with 1 - AUC
        of positives against negatives, given the PU-AUC. This AUC depends on the prior; its value at the lower end is
        used. Below `OVERLAP`, the estimate is only an upper bound.
        """
        least = min(max(0.5 / rows, self.labeled), self.value)
        if float(true_auc(ranking, self.value)) < OVERLAP:
            return least
        deviation = (self.value - self.low) / NORMAL_90
        deviation = float(np.sqrt(max(deviation**2 - LASTING_ERROR**2, 0.0) + APART_ERROR**2))
        low = self.value
        for _ in range(PASSES):
            unseen = OVERLAP_UNSEEN * (1.0 - float(true_auc(ranking, low)))
            low = max(least, min(low, self.value - NORMAL_90 * float(np.hypot(deviation, unseen))))
        return low


def hidden_share(prior: float, labeled: np.ndarray, scenario: str) -> float:
    """Return the share of positives among the unlabeled rows, from the share in the population."""
    if scenario == "case-control":
        return prior
    n, p = len(labeled), np.count_nonzero(labeled)
    return float(np.clip((prior * n - p) / (n - p), 0.0, 1.0))


def two_groups(scores: np.ndarray) -> tuple[float, float]:
    """Return the share of the upper of two groups of scores, and their separation.

    The groups are those with the largest variance between them (Otsu 1979); the separation is the share of that
    variance in the whole: 1 for two values, 2 / pi for a normal distribution.
    """
    ordered = np.sort(scores)
    n, below = len(ordered), np.cumsum(ordered)
    count = np.arange(1, n)
    upper = (below[-1] - below[:-1]) / (n - count)
    between = count * (n - count) / n**2 * (upper - below[:-1] / count) ** 2
    whole = float(ordered.var())
    if whole <= 1e-24 * max(1.0, float(np.abs(ordered).max())) ** 2:
        return 0.5, 0.0
    best = int(np.argmax(between))
    return float(1.0 - count[best] / n), float(between[best] / whole)


def estimate_prior(
    positive: np.ndarray, population: np.ndarray, rng: np.random.Generator, grouped: np.ndarray | None = None
) -> PriorWithDraws:
    """Return the prior: best bin estimation and the share of the upper of two groups, weighted by their precision.

    Best bin estimation, the median over bootstrap samples, is unreliable with few labeled rows, and the groups are
    unreliable if the classes overlap. The weights are the inverse squares of their standard errors. The groups' share
    is cut to the bound q_u / q_p at the threshold above which `RECALL` of the labeled rows lie.
    """
    found = bootstrapped_best_bins(positive, population, rng)
    bin_error = BIN_ERROR * min(1.0, MANY_LABELED / len(positive))
    bins, variance = float(np.median(found)), float(found.var()) + bin_error**2
    share, separation = np.mean([two_groups(u) for u in (population[None] if grouped is None else grouped)], axis=0)
    share = min(share, float(np.mean(population >= np.quantile(positive, 1.0 - RECALL))) / RECALL)
    overlap = (APART - separation) / (APART - ONE_HEAP)
    error = max(LEAST_ERROR, OVERLAP_ERROR * overlap)
    weight = variance / (variance + error**2)
    value = bins + weight * (share - max(0.0, OVERLAP_BIAS * overlap) - bins)
    deviation = float(np.sqrt(weight**2 * error**2 + (1.0 - weight) ** 2 * variance + LASTING_ERROR**2))
    least = 0.5 / len(population)
    draws = np.clip(value + deviation * rng.standard_normal(len(found)), least, 1.0)
    low, high = np.clip([value - NORMAL_90 * deviation, value + NORMAL_90 * deviation], least, 1.0)
    return PriorWithDraws(float(np.clip(value, least, 1.0)), float(low), float(high), draws)


def rare_prior(positive: np.ndarray, population: np.ndarray, labeled: float = 0.0) -> PriorWithDraws | None:
    """Return the prior by the binormal law of the scores if positives are rare, otherwise None.

    `estimate_prior` is off by `LASTING_ERROR`, which is more than a small prior. The estimate is the posterior's mean,
    and the draws are evenly spaced quantiles.
    """
    law = binormal(positive, population, labeled)
    if not law.rare:
        return None
    low, high = law.quantiles(np.array([0.05, 0.95]))
    draws = law.quantiles((np.arange(BOOTSTRAPS) + 0.5) / BOOTSTRAPS)
    return PriorWithDraws(float(np.clip(law.mean, low, high)), float(low), float(high), draws, labeled)
