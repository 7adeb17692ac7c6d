"""Class prior and gains curve as one estimate, from which recall, precision, lift and F1 follow at any threshold.

The share of labeled rows above a threshold estimates the recall; where few are, it is mostly the recall expected from
calibrated probabilities. No estimate contradicts another: the first k of n rows hold at most k positives, the others at
most n - k, so that prior R(k) <= k / n and prior (1 - R(k)) <= 1 - k / n. The prior is at most `greatest_prior`;
otherwise the curve yields. No interval holds a value that all values of another one rule out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betaincinv, ndtri

from pucli.core.arrays import Floats, Ints
from pucli.metrics.ranking import auc, true_auc
from pucli.solvers.ensemble.estimates import NEW, ODDS_RATIO, THESE, Estimate, FirstRows, f1_of
from pucli.solvers.ensemble.hidden_share import PriorWithDraws
from pucli.solvers.ensemble.threshold import recall_of
from pucli.solvers.prior.binormal import NORMAL_90, Binormal
from pucli.solvers.prior.gains import SIDE, effective, greatest_prior, local_level

ENDS = np.array([0.05, 0.95])
# Models and threshold are chosen on the same labeled rows, and those for new rows learn from more rows than held-out
# ones: sampling variances of recall and share are multiplied by these factors. Log interval below the value, where
# positives are rare, in units of that of the law, which no table follows exactly. All were chosen on 240 generated
# tables like those of the benchmark `coverage`.
OF_THESE, OF_NEW, OF_SHARE, LAW = 1.5, 2.0, 1.5, 2.0
# Shares of the rows at which groups by score begin and end.
GROUPS = np.array([0.0, 0.005, 0.01, 0.02, 0.05, *np.arange(1, 11) / 10])
# Draws are a Kronecker sequence in five dimensions (Roberts 2018): multiples of powers of the root of x^6 = x + 1.
DRAWS, _ROOT = 1024, 1.1347241384015194
_LEVELS: Floats = (0.5 + np.arange(1, DRAWS + 1) * _ROOT ** -np.arange(1.0, 6.0)[:, None]) % 1.0


@dataclass(frozen=True)
class GainsCurve:
    """Share of the positives among the first rows by score, with a simultaneous 90 % band, each (k,)."""

    shares: Floats
    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class JointEstimate:
    """Class prior and gains curve of a population (n,), from held-out scores in ascending order."""

    positive: Floats  # (m,)
    population: Floats  # (n,)
    expected: Floats | None  # recall expected at `SHARES`
    prior: Estimate
    priors: Floats  # (DRAWS,)
    bound: float  # the greatest prior that the gains curve allows
    contradicted: bool  # it is below the whole interval of the prior, which speaks against random labels
    whole: bool = False  # whether the labeled rows are among the population
    law: Binormal | None = None  # of the scores, where positives are rare

    def at(self, threshold: float) -> dict[str, Estimate]:
        """Return the estimates at a threshold; no lift if no row is flagged."""
        share = float(np.mean(self.population > threshold))
        return self._at(share, int(np.count_nonzero(self.positive > threshold)))

    def first(self, rows: int) -> FirstRows:
        """Return what the first rows by score hold."""
        share = rows / len(self.population)
        found = self._at(share, int(self._labeled_among(np.array([share]))[0]))
        precision, recall = found["precision"], found["recall"]
        return FirstRows(rows, precision.times(rows), precision, recall, found["lift"])

    def gains(self, shares: Floats) -> GainsCurve:
        """Return the gains curve at shares of the rows, in ascending order."""
        recall = self._recall(shares, self._labeled_among(shares))
        low, high = self._ends(recall, shares, local_level(self._effective, SIDE), self._effective, self._step)
        return GainsCurve(shares, recall, np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high))

    def in_groups(self) -> tuple[Ints, Floats, Floats]:
        """Return the first rows of groups by descending score, and ends of the share of positives in each group.

        It falls with the score, so that it is at most the mean down to the group from any place, and at least the mean
        from the group on.
        """
        n = len(self.population)
        first = np.unique(np.round(GROUPS * n)).astype(int)
        shares, places = first / n, np.arange(len(first))
        recall = self._recall(shares, self._labeled_among(shares))
        inside, each = (np.maximum(one[None] - one[:, None], 0.0) for one in (recall, shares))
        low, high = _ends_of(inside, self._effective / OF_THESE, float(ENDS[0]))
        low, high = np.maximum(low - self._step, 0.0), high + self._step
        later = places[:, None] < places
        low, high = (np.divide(end, each, where=later, out=np.zeros_like(end)) for end in (low, high))
        low = self.prior.low * np.where(later, low, 0.0).max(axis=1)[:-1]
        high = self.prior.high * np.where(later, high, np.inf).min(axis=0)[1:]
        return first, np.minimum(low, 1.0), np.minimum(high, 1.0)

    def _at(self, share: float, above: int) -> dict[str, Estimate]:
        """Return the estimates for a share of the rows that is flagged, with `above` of the labeled rows."""
        prior, a, n, rows = self.prior.value, self.priors, len(self.population), self._effective / OF_THESE
        shares, flagged = np.array([share]), max(share, 1e-300)
        (recall,) = self._recall(shares, np.array([above]))
        (low,), (high,) = self._ends(np.array([recall]), shares, float(ENDS[0]), rows)
        these = Estimate(float(recall), float(low), float(high))
        draws = _possible(_beta(float(recall), rows, self._recall_levels(share)), share, a)
        ranking, error = self._ranking
        areas = np.asarray(true_auc(np.clip(ranking + error * ndtri(_LEVELS[4]), 0.0, 1.0), a))
        found = {
            "prior": self.prior,
            "share": Estimate(share, share, share),
            "recall": these,
            "recall_odds_2": these.with_odds_ratio(ODDS_RATIO),
            "precision": _quantiles(min(1.0, prior * these.value / flagged), np.minimum(1.0, a * draws / flagged)),
            "f1": _quantiles(f1_of(these.value, share, prior), np.minimum(1.0, 2.0 * a * draws / (share + a))),
            "auc": _quantiles(float(true_auc(ranking, prior)), areas),
        }
        new, of_new = np.full(DRAWS, share), np.full(DRAWS, share)
        if 0.0 < share < 1.0:
            new = _beta(these.value, len(self.positive) / OF_NEW, _LEVELS[2])
            of_new = _beta(share, n / OF_SHARE, _LEVELS[3])
        found |= {"new_share": _quantiles(share, of_new, NEW), "new_recall": _quantiles(these.value, new, NEW)}
        if share > 0.0:
            found["lift"] = these.times(1.0 / share)
            found["new_lift"] = _quantiles(found["lift"].value, np.minimum(new / of_new, 1.0 / self.prior.low), NEW)
        return found

    @property
    def _step(self) -> float:
        """Half a positive, as a share of all: those of these rows are a whole number."""
        return 0.5 / max(1.0, self.prior.value * len(self.population))

    @cached_property
    def _ranking(self) -> tuple[float, float]:
        """The AUC of labeled rows against the population, and its standard error."""
        places = np.searchsorted(self.population, self.positive) / len(self.population)
        return float(auc(self.positive, self.population)), float(places.std()) / float(np.sqrt(len(places)))

    @cached_property
    def _effective(self) -> float:
        """The number of labeled rows whose sampling error is that of the gains curve of these rows."""
        m, hidden = len(self.positive), self.prior.value * len(self.population)
        return float(effective(m, hidden - m if self.whole else hidden, whole=self.whole))

    @cached_property
    def _least(self) -> Floats:
        """The recall just before the next labeled row, by the number above (m,): from there on it is no smaller."""
        m, n = len(self.positive), len(self.population)
        shares = 1.0 - np.searchsorted(self.population, self.positive[::-1], side="right") / n
        result: Floats = np.maximum.accumulate(recall_of(np.arange(m), m, shares, self.expected))
        return result

    def _labeled_among(self, shares: Floats) -> Ints:
        """Return the number of labeled rows that rank among the first rows by score."""
        n = len(self.population)
        first = n - np.round(shares * n).astype(int)
        padded = np.concatenate([[-np.inf], self.population, [np.inf]])
        at = np.where(first == 0, -np.inf, 0.5 * (padded[first] + padded[first + 1]))
        above: Ints = len(self.positive) - np.searchsorted(self.positive, at, side="right")
        return above

    def _recall(self, shares: Floats, above: Ints) -> Floats:
        """Return the recall of the rows flagged, `above` of the labeled ones among them; it agrees with the prior."""
        found = recall_of(above, len(self.positive), shares, self.expected)
        return _possible(np.maximum(found, np.append(0.0, self._least)[above]), shares, self.prior.value)

    def _ends(
        self, recall: Floats, shares: Floats, level: float, rows: float, step: float = 0.0
    ) -> tuple[Floats, Floats]:
        """Return ends of the recall of these rows; each is possible with one of the ends of the prior."""
        most, least = self.prior.high, self.prior.low
        low, high = _ends_of(recall, rows, level)
        low, high = np.minimum(low - step, shares / most), np.maximum(high + step, 1.0 - (1.0 - shares) / most)
        low, high = _possible(low, shares, least), _possible(high, shares, least)
        return np.minimum(low, recall), np.maximum(high, recall)

    def _recall_levels(self, share: float) -> Floats:
        """Return the levels of draws of the recall: if positives are rare, they follow the law of the scores."""
        levels: Floats = _LEVELS[1].copy()
        if self.law is not None:
            order = np.lexsort((levels, self.law.recalls(_LEVELS[0], share)))
            levels[order] = (np.arange(DRAWS) + 0.5) / DRAWS
        return levels


def joint_estimate(
    positive: Floats,
    population: Floats,
    prior: PriorWithDraws,
    expected: Floats | None = None,
    *,
    whole: bool = False,
    random: bool = True,
    known_prior: bool = False,
    law: Binormal | None = None,
) -> JointEstimate:
    """Return the joint estimate, given the class prior as it was estimated alone, or as it is known.

    The upper end is the greatest prior that the gains curve allows, if labels are random; the lower end allows for
    classes that overlap. Where positives are rare, draws are those of the law of the scores.
    """
    n, law = len(population), None if known_prior else law
    bound = greatest_prior(positive, population, whole=whole) if random else 1.0
    low, high = prior.low, prior.high if known_prior or not random else bound
    if law is not None:
        low = max(0.5 / n, prior.labeled, prior.value * (low / prior.value) ** LAW)
    elif not known_prior:
        low = prior.lower_end(float(auc(positive, population)), n)
    contradicted = low > bound + 1e-12
    low = min(max(low, min(0.5 / n, prior.value)), high)
    value, levels = min(max(prior.value, low), high), ndtri(_LEVELS[0]) / NORMAL_90
    if law is None:
        priors = value + levels * np.where(levels < 0.0, value - low, high - value)
    else:
        priors = value * np.exp(levels * np.log(np.where(levels < 0.0, value / low, high / value)))
    least = max(1e-12, min(low, max(0.5 / n, prior.labeled)))
    priors = np.clip(priors, least, high if high == bound else 1.0)
    return JointEstimate(
        positive, population, expected, Estimate(value, low, high), priors, bound, contradicted, whole, law
    )


def _possible(recall: Floats, shares: Floats | float, prior: Floats | float) -> Floats:
    """Return recalls as near as possible at which no share of positives, above or below, exceeds one."""
    result: Floats = np.clip(recall, 1.0 - (1.0 - shares) / prior, np.minimum(1.0, shares / prior))
    return result


def _ends_of(shares: Floats, rows: float, level: float) -> tuple[Floats, Floats]:
    """Return the intervals of Clopper and Pearson for shares of so many rows, with `level` on each side."""
    above, below = np.maximum(shares * rows, 1e-9), np.maximum((1.0 - shares) * rows, 1e-9)
    low: Floats = betaincinv(above, below + 1.0, level)
    high: Floats = betaincinv(above + 1.0, below, 1.0 - level)
    return low, high


def _beta(share: float, rows: float, levels: Floats) -> Floats:
    """Return quantiles of a share that was found among so many rows: in turn of Clopper and Pearson's two laws."""
    upper = np.arange(DRAWS) % 2
    result: Floats = betaincinv(max(share * rows, 1e-9) + upper, max((1.0 - share) * rows, 1e-9) + 1 - upper, levels)
    return result


def _quantiles(value: float, draws: Floats, rows: str = THESE) -> Estimate:
    low, high = np.quantile(draws, ENDS)
    return Estimate(value, min(value, float(low)), max(value, float(high)), rows)
