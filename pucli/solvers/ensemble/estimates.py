"""Estimates of prior, share, recall, precision, F1 and AUC without true labels, with intervals.

They assume that the labeled rows are a random sample of the positives. The recall is the share of held-out labeled
scores above the threshold; if few are, it is mostly the recall expected from calibrated probabilities. The other
estimates follow from it, the share of the population above the threshold, and the prior. The intervals come from
bootstrap samples, each with its own draws of the prior and of the recall; the recall refers to the positives among the
rows of the sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pucli.core.saved_state import STATEMENT, State
from pucli.metrics.ranking import auc, true_auc
from pucli.solvers.ensemble.hidden_share import PriorWithDraws
from pucli.solvers.ensemble.threshold import recall_above
from pucli.solvers.prior.best_bin import resampled
from pucli.solvers.prior.binormal import Binormal
from pucli.solvers.prior.estimate import FOLD, WIDEST
from pucli.solvers.prior.labeling_odds import odds_between, with_odds

# Standard deviation of the recall's error from choosing the models and the threshold on the same labeled rows, with up
# to `CHOSEN_ON` of them; with more it falls as their square root grows. On five tables with 109 to 2,131 labeled rows
# the whole error, sampling included, was at most .045.
LASTING_ERROR, CHOSEN_ON = 0.07, 100
# If the AUC that follows from an estimate of the prior is lower, the classes overlap so much that the estimate is only
# an upper bound: no part of the space holds positives alone, as best bin estimation needs.
OVERLAP = 0.92
# With fewer labeled rows the prior is often too low.
FEW_LABELED = 50
# The estimates that are computed from the prior.
FROM_PRIOR = frozenset({"precision", "f1", "auc"})
# Odds ratio of labeling at which it is said how the estimates change.
ODDS_RATIO = 2.0


@dataclass
class Estimate:
    """A value with its 90 % interval."""

    value: float
    low: float
    high: float
    saved_state: ClassVar[State] = {
        "value": STATEMENT,
        "low": STATEMENT,
        "high": STATEMENT,
    }

    def with_odds_ratio(self, ratio: float) -> Estimate:
        """Return a recall whose interval allows for an odds ratio of labeling; below 1, that of a smaller ratio."""
        return Estimate(self.value, with_odds(self.low, 1.0 / ratio), with_odds(self.high, ratio))

    @property
    def narrow(self) -> bool:
        """Whether the interval is narrow enough to be useful if the value is not small."""
        return self.high - self.low <= WIDEST

    @property
    def known(self) -> bool:
        """Whether the interval is narrow enough to be useful, whatever the value."""
        return self.narrow and self.high <= FOLD * self.low


def estimates(
    positive: np.ndarray,
    population: np.ndarray,
    threshold: float,
    prior: PriorWithDraws,
    rng: np.random.Generator,
    curve: np.ndarray | None = None,
    *,
    known_prior: bool = False,
) -> dict[str, Estimate]:
    """Return the estimates at a threshold, from held-out scores."""
    recall = float(np.mean(positive > threshold))
    if curve is not None:
        recall = recall_above(positive, float(np.mean(population > threshold)), threshold, curve)
    value = _at(positive, population, threshold, prior.value, recall)
    plain = prior if known_prior else prior.with_overlap(float(auc(positive, population)))
    prior = plain if known_prior else plain.with_few_labeled(positive, population)
    draws = ends = [_draws(positive, population, threshold, plain.draws, rng)]
    if prior.high > plain.high:
        ends = [_draws(positive, population, threshold, prior.draws, rng)]
    if value["auc"] < OVERLAP and not known_prior:
        prior = replace(prior, low=max(0.5 / len(population), min(prior.labeled, prior.value)))
        # estimates that depend on the prior may lie anywhere between their values at its ends
        same = np.ones(len(prior.draws))
        ends = [_draws(positive, population, threshold, end * same, rng) for end in (prior.low, prior.high)]
    found = {"prior": Estimate(prior.value, prior.low, prior.high)}
    for name, middle in value.items():
        sets = ends if name in FROM_PRIOR else draws
        low, high = np.quantile([[draw[name] for draw in some] for some in sets], [0.05, 0.95], axis=1)
        found[name] = Estimate(middle, min(float(low.min()), middle), max(float(high.max()), middle))
    return found


def _draws(
    positive: np.ndarray, population: np.ndarray, threshold: float, priors: np.ndarray, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Return the estimates from bootstrap samples, one for each of `priors`."""
    samples = resampled(positive, population, rng, len(priors))
    recalls = np.ones(len(priors))
    if np.any(population <= threshold):
        recalls = _recalls(int(np.count_nonzero(positive > threshold)), len(positive), len(priors), rng)
    lasting = LASTING_ERROR * min(1.0, float(np.sqrt(CHOSEN_ON / len(positive))))
    return [
        _drawn(_at(p, u, threshold, float(a), float(r)), float(a), len(u), lasting, rng)
        for (p, u), a, r in zip(samples, priors, recalls, strict=True)
    ]


def _recalls(above: int, p: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return draws (count,) of the recall, if `above` of p labeled rows are above the threshold.

    They are in turn from the two Beta distributions whose quantiles are the ends of Clopper and Pearson's interval.
    Bootstrap samples of a few labeled rows would all have the same recall if all are above the threshold, or none.
    """
    low = rng.beta(above, p - above + 1, count) if above > 0 else np.zeros(count)
    high = rng.beta(above + 1, p - above, count) if above < p else np.ones(count)
    return np.where(np.arange(count) % 2 == 0, low, high)


def f1_of(recall: float, share: float, prior: float) -> float:
    """Return the F1 of a set of predicted positives."""
    return min(1.0, 2.0 * prior * recall / (share + prior)) if share + prior > 0 else 0.0


def _drawn(found: dict[str, float], prior: float, n: int, lasting: float, rng: np.random.Generator) -> dict[str, float]:
    """Return the estimates of a bootstrap sample, with a recall drawn for the positives expected among n rows."""
    hidden = max(1, round(prior * n))
    recall = float(rng.binomial(hidden, found["recall"])) / hidden + lasting * float(rng.standard_normal())
    recall = min(1.0, max(0.0, recall)) if found["share"] < 1.0 else 1.0  # exactly, where every row is called
    return {**found, "recall": recall, "f1": f1_of(recall, found["share"], prior)}


def _at(
    positive: np.ndarray, population: np.ndarray, threshold: float, prior: float, recall: float
) -> dict[str, float]:
    share = float(np.mean(population > threshold))
    precision = min(1.0, prior * recall / share) if share > 0 else 0.0
    f1 = f1_of(recall, share, prior)
    ranking = float(true_auc(auc(positive, population), prior))
    return {"share": share, "recall": recall, "precision": precision, "f1": f1, "auc": ranking}


def lift_of(recall: Estimate, share: Estimate) -> Estimate | None:
    """Return recall over share called, with both intervals at their far ends; None if no row is called.

    It needs random labels and not the class prior: how many times as many positives the called rows hold as equally
    many random rows of the population. Its interval is for new rows, of which another share may be called, so that
    it may exceed one over the share of these rows.
    """
    if min(share.value, share.low) <= 0.0:
        return None
    return Estimate(recall.value / share.value, recall.low / share.high, recall.high / share.low)


@dataclass
class IfOdds:
    """Estimates if the odds of being labeled differ between positives by a factor of at most `odds_ratio`."""

    odds_ratio: float  # odds ratio of labeling
    # values under random labeling, and the ends of their 90 % intervals moved as far as the odds ratio allows; the
    # precision at the same class prior. The lift is None if no row is called
    recall: Estimate
    lift: Estimate | None
    precision: Estimate
    # tipping points: least odds ratios at which the lower end of the recall is one half and that of the lift one; 1 if
    # it is below even with random labels, None if no odds ratio is large enough
    recall_half: float | None
    lift_one: float | None


@dataclass
class OddsEffects(IfOdds):
    """Estimates of a model if the odds of being labeled differ, and its called rows."""

    prior: Estimate | None  # class prior; None if it is given
    ahead: int  # number of called rows that stay ahead of all others
    called: int


@dataclass
class IfPrior:
    """Unlabeled rows called, recall and precision with a class prior."""

    prior: float
    called: int
    recall: float
    precision: float


def if_odds(found: Mapping[str, Estimate], odds_ratio: float = ODDS_RATIO) -> IfOdds:
    """Return how estimates change if labeling depends on the rows (`pucli.solvers.prior.labeling_odds`).

    Examples
    --------
    >>> one = Estimate(0.8, 0.7, 0.9)
    >>> bounds = if_odds({"recall": one, "share": Estimate(0.2, 0.2, 0.2), "precision": one, "prior": one})
    >>> round(bounds.recall.low, 3), round(bounds.recall_half, 3)
    (0.538, 2.333)
    """
    recall, share, precision = found["recall"], found["share"], found["precision"]
    moved = recall.with_odds_ratio(odds_ratio)
    low, high = moved.low, moved.high
    prior = found["prior"].value
    ends = [min(1.0, prior * end / share.value) if share.value > 0.0 else 0.0 for end in (low, high)]
    return IfOdds(
        odds_ratio,
        moved,
        lift_of(moved, share),
        Estimate(precision.value, min(ends[0], precision.value), max(ends[1], precision.value)),
        odds_between(recall.low, 0.5),
        odds_between(recall.low, share.high),
    )


@dataclass
class FirstRows:
    """What the rows with the highest scores hold: their number, and the positives, precision, recall and lift."""

    rows: int
    positives: Estimate
    precision: Estimate
    recall: Estimate
    lift: Estimate


def first_rows(law: Binormal, first: int, rows: int, rng: np.random.Generator) -> FirstRows:
    """Return what the first rows by score hold where positives are rare, with 90 % intervals."""
    positives, recall = law.among_first(first, rows, rng)
    of = {"positives": positives, "precision": positives / first, "recall": recall, "lift": recall * rows / first}
    found = {}
    for name, draws in of.items():
        known = draws[~np.isnan(draws)]
        low, high = np.quantile(known, [0.05, 0.95]) if len(known) else (0.0, float(name == "recall"))
        value = float(np.median(known)) if len(known) else low
        found[name] = Estimate(float(value), float(low), float(high))
    return FirstRows(first, **found)
