"""Estimates without true labels, with intervals, and how they change if labels are not random.

They assume that the labeled rows are a random sample of the positives (`pucli.solvers.ensemble.joint`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from pucli.core.saved_state import STATEMENT, State, TextValue
from pucli.solvers.prior.estimate import FOLD, WIDEST
from pucli.solvers.prior.labeling_odds import odds_between, with_odds

# With fewer labeled rows the prior is often too low.
FEW_LABELED = 50
# The estimates that are computed from the prior.
FROM_PRIOR = frozenset({"precision", "f1", "auc"})
# Odds ratio of labeling at which it is said how the estimates change.
ODDS_RATIO = 2.0


# Rows of which an estimate speaks: those of the population at hand, or new ones of the same kind.
THESE, NEW = "these rows", "new rows"


@dataclass
class Estimate:
    """A value with its 90 % interval, and the rows of which it speaks."""

    value: float
    low: float
    high: float
    rows: str = THESE
    saved_state: ClassVar[State] = {
        "value": STATEMENT,
        "low": STATEMENT,
        "high": STATEMENT,
        "rows": TextValue(THESE, NEW),
    }

    def times(self, factor: float) -> Estimate:
        """Return the estimate of so many times the value."""
        return Estimate(factor * self.value, factor * self.low, factor * self.high, self.rows)

    def with_odds_ratio(self, ratio: float) -> Estimate:
        """Return a recall whose interval allows for an odds ratio of labeling; below 1, that of a smaller ratio."""
        return replace(self, low=with_odds(self.low, 1.0 / ratio), high=with_odds(self.high, ratio))

    @property
    def narrow(self) -> bool:
        """Whether the interval is narrow enough to be useful if the value is not small."""
        return self.high - self.low <= WIDEST

    @property
    def known(self) -> bool:
        """Whether the interval is narrow enough to be useful, whatever the value."""
        return self.narrow and self.high <= FOLD * self.low


def f1_of(recall: float, share: float, prior: float) -> float:
    """Return the F1 of a set of predicted positives."""
    return min(1.0, 2.0 * prior * recall / (share + prior)) if share + prior > 0 else 0.0


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
        moved.times(1.0 / share.value) if share.value > 0.0 else None,
        Estimate(precision.value, min(ends[0], precision.value), max(ends[1], precision.value)),
        odds_between(recall.low, 0.5),
        odds_between(recall.low, share.value),
    )


@dataclass
class FirstRows:
    """What the rows with the highest scores hold: their number, and the positives, precision, recall and lift."""

    rows: int
    positives: Estimate
    precision: Estimate
    recall: Estimate
    lift: Estimate
