"""Estimates of prior, share, recall, precision, F1 and AUC without true labels, with intervals.

They assume that the labelled rows are a random sample of the positives. The recall is the share of held-out labelled
scores above the cut. The other estimates follow from it, the share of the population above the cut, and the prior.
The intervals come from bootstrap samples, each with its own draw of the prior; the recall refers to the positives among
the rows of the sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pucli.auto.prior import PriorEstimate, resampled
from pucli.auto.ranking import auc, true_auc

# Standard deviation of the recall's error from choosing the models and the cut on the same labelled rows.
LASTING_ERROR = 0.06
# An estimate with a wider interval counts as unknown, and so does one whose ends are more than FOLD times apart.
WIDE, FOLD = 0.3, 4.0
# If the AUC that follows from an estimate of the prior is lower, the classes overlap so much that the estimate is only
# an upper bound: no part of the space holds positives alone, as best bin estimation needs.
OVERLAP = 0.92
# With fewer labelled rows the prior is often too low.
FEW_LABELLED = 50
# The estimates that are computed from the prior.
FROM_PRIOR = frozenset({"precision", "f1", "auc"})


@dataclass
class Estimate:
    """A value with its 90 % interval."""

    value: float
    low: float
    high: float

    @property
    def narrow(self) -> bool:
        """Whether the interval is narrow enough to be of use where the value is not small."""
        return self.high - self.low <= WIDE

    @property
    def known(self) -> bool:
        """Whether the interval is narrow enough to be of use, whatever the value."""
        return self.narrow and self.high <= FOLD * self.low


def estimates(
    positive: np.ndarray, population: np.ndarray, cut: float, prior: PriorEstimate, rng: np.random.Generator
) -> dict[str, Estimate]:
    """Return the estimates at a cut, from the held-out scores of labelled rows (p,) and of the population (n,)."""
    value = _at(positive, population, cut, prior.value)
    plain = prior.with_overlap(float(auc(positive, population)))
    prior = plain.with_few_labelled(positive, population)
    draws = ends = [_draws(positive, population, cut, plain.draws, rng)]
    if prior.high > plain.high:
        ends = [_draws(positive, population, cut, prior.draws, rng)]
    if value["auc"] < OVERLAP:
        prior = replace(prior, low=max(0.5 / len(population), min(prior.labelled, prior.value)))
        # what follows from the prior may lie anywhere between what follows from its ends
        same = np.ones(len(prior.draws))
        ends = [_draws(positive, population, cut, end * same, rng) for end in (prior.low, prior.high)]
    found = {"prior": Estimate(prior.value, prior.low, prior.high)}
    for name, middle in value.items():
        sets = ends if name in FROM_PRIOR else draws
        low, high = np.quantile([[draw[name] for draw in some] for some in sets], [0.05, 0.95], axis=1)
        found[name] = Estimate(middle, min(float(low.min()), middle), max(float(high.max()), middle))
    return found


def _draws(
    positive: np.ndarray, population: np.ndarray, cut: float, priors: np.ndarray, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Return the estimates from bootstrap samples, one for each of `priors`."""
    samples = resampled(positive, population, rng, len(priors))
    return [_drawn(_at(p, u, cut, float(a)), float(a), len(u), rng) for (p, u), a in zip(samples, priors, strict=True)]


def f1_of(recall: float, share: float, prior: float) -> float:
    """Return the F1 if a share `share` of the population is predicted positive with this recall."""
    return min(1.0, 2.0 * prior * recall / (share + prior)) if share + prior > 0 else 0.0


def _drawn(found: dict[str, float], prior: float, n: int, rng: np.random.Generator) -> dict[str, float]:
    """Return the estimates of a bootstrap sample, with a recall drawn for the positives expected among n rows."""
    hidden = max(1, round(prior * n))
    recall = float(rng.binomial(hidden, found["recall"])) / hidden + LASTING_ERROR * float(rng.standard_normal())
    return {**found, "recall": min(1.0, max(0.0, recall))}


def _at(positive: np.ndarray, population: np.ndarray, cut: float, prior: float) -> dict[str, float]:
    recall, share = float(np.mean(positive > cut)), float(np.mean(population > cut))
    precision = min(1.0, prior * recall / share) if share > 0 else 0.0
    f1 = f1_of(recall, share, prior)
    ranking = float(true_auc(auc(positive, population), prior))
    return {"share": share, "recall": recall, "precision": precision, "f1": f1, "auc": ranking}
