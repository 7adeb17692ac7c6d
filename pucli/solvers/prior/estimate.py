"""Estimates of the class prior by three methods, with intervals, and the disagreement of the methods.

An interval covers three errors. The bootstrap gives the sampling error; it does not see the other two. First, if
positives and negatives overlap, every method takes some negatives for positives, so that the estimate is too high by an
amount that grows with the overlap. The overlap is measured by the AUC of positives against negatives that the held-out
scores imply if the prior is as small as the interval allows. Second, an error remains for any number of rows. The sizes
of both were chosen on public tasks of benchmark `quality`, where the truth is known, and on simulated mixtures, and
checked on new splits and draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints, z_scores
from pucli.core.json_values import OrNaN
from pucli.metrics.ranking import auc, true_auc
from pucli.solvers.prior.best_bin import PUBLISHED, best_bin, bootstrapped_best_bins, held_out_scores
from pucli.solvers.prior.km2 import km2
from pucli.solvers.prior.tice import tice, unlabeled_prior

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None

# "bbe" is the published rule; "half-bbe", which methods take in wide tables, has half of its confidence term.
PRIOR_METHODS = ("bbe", "half-bbe", "km2", "tice")
# The most rows of each kind in an estimate, drawn at random: the memory of KM2 and BBE grows with their square.
LARGEST_SAMPLE = 800
# The same limit for a bootstrap estimate of KM2.
REPLICATE_SAMPLE = 400
# Standard deviations of the two errors that the bootstrap does not see: one in units of 1 - AUC of positives against
# negatives, which only makes estimates too high, and one that does not depend on the rows.
UNSEEN = {
    "best-bin": (0.75, 0.04),
    "density-ratio": (0.75, 0.04),
    "bbe": (1.5, 0.04),
    "half-bbe": (0.75, 0.04),
    "km2": (1.5, 0.1),
    "tice": (4.0, 0.04),
}
# Number of times that the lower end of an interval is computed, each time with the overlap that the last value implies.
PASSES = 2
# The rows determine an estimate if its 90 % interval is at most WIDEST wide and its ends are at most FOLD times apart.
# One with a narrow interval is recommended if the methods differ by at most LARGEST_DISAGREEMENT.
WIDEST, FOLD, LARGEST_DISAGREEMENT = 0.3, 4.0, 0.15
# A given prior contradicts the rows if it lies so far outside an interval of this confidence.
FAR_OUTSIDE, PLAIN_CONFIDENCE = 0.1, 0.99


@dataclass(frozen=True)
class PriorEstimate:
    """An estimate of the share of positives among the unlabeled rows."""

    prior: float
    # interval; both equal `prior` without replicates
    low: OrNaN
    high: OrNaN
    confidence: float  # confidence of the interval
    method: str  # the estimator
    replicates: int  # number of bootstrap estimates

    @property
    def narrow(self) -> bool:
        """Whether the 90 % interval, whatever the confidence of this one, would be narrow enough to be useful."""
        ratio = NormalDist().inv_cdf(0.95) / NormalDist().inv_cdf(0.5 + 0.5 * self.confidence)
        return self.replicates > 0 and ratio * (self.high - self.low) <= WIDEST


class PriorReport(NamedTuple):
    """Estimates by several methods."""

    estimates: tuple[PriorEstimate, ...]  # in the order of the given methods
    disagreement: float  # largest minus smallest estimate
    # AUC of positives against negatives that the scores and the first estimate imply, from 0.5 to 1; NaN without
    # replicates
    separation: float
    # sorted held-out scores of labeled and of unlabeled rows by the ensemble; None without an estimate by it
    held_out: tuple[Floats, Floats] | None = None

    @property
    def reliable(self) -> bool:
        """Whether the first estimate has a narrow interval, whose ends are not far apart, and the methods agree."""
        first = self.estimates[0]
        return first.narrow and first.high <= FOLD * first.low and self.disagreement <= LARGEST_DISAGREEMENT


def estimate_prior(
    X: AnyArray,
    labeled: AnyArray,
    method: str = "bbe",
    *,
    replicates: int = 0,
    confidence: float = 0.9,
    random_state: RandomState = None,
    groups: AnyArray | None = None,
) -> PriorEstimate:
    """Estimate the share of positives among unlabeled rows by one method; errors as in `estimate_priors`."""
    report = estimate_priors(
        X, labeled, (method,), replicates=replicates, confidence=confidence, random_state=random_state, groups=groups
    )
    return report.estimates[0]


def estimate_priors(
    X: AnyArray,
    labeled: AnyArray,
    methods: Sequence[str] = PRIOR_METHODS,
    *,
    replicates: int = 50,
    confidence: float = 0.9,
    random_state: RandomState = None,
    progress: Callable[[int, int], object] | None = None,
    groups: AnyArray | None = None,
) -> PriorReport:
    """Estimate the share of positives among unlabeled rows by several methods."""
    check_settings(methods, replicates, confidence)
    rng = _generator(random_state)
    positive, unlabeled, rows = _sample(X, labeled, rng)
    together = None if groups is None else np.unique(np.asarray(groups)[rows], return_inverse=True)[1]
    best_bins = {"bbe", "half-bbe"}
    scored = _scored(positive, unlabeled, rng, together) if replicates or best_bins & {*methods} else None
    found = []
    for done, method in enumerate(methods, start=1):
        if scored is not None and method in best_bins:
            prior = scored.published if method == "bbe" else scored.prior
            # the smallest bound of resampled scores is too small if the prior is large
            top, drawn = max(prior, scored.whole), scored.drawn
        else:
            prior = top = _estimate(positive, unlabeled, method, rng)
            drawn = _replicates(positive, unlabeled, method, replicates, rng)
        low = high = prior
        if scored is not None and replicates:
            low, high = interval(method, prior, top, float(np.var(drawn)), scored, confidence)
        found.append(PriorEstimate(prior, low, high, confidence, method, replicates))
        if progress is not None:
            progress(done, len(methods))
    return make_report(found, scored.separation(scored.prior) if scored is not None and replicates else np.nan)


def make_report(found: Sequence[PriorEstimate], separation: float) -> PriorReport:
    """Return a report of estimates."""
    values = [estimate.prior for estimate in found]
    return PriorReport(tuple(found), max(values) - min(values), separation)


def check_settings(methods: Sequence[str], replicates: int, confidence: float) -> None:
    """Raise ValueError if one of the settings of `estimate_priors` is out of range."""
    for method in methods:
        if method not in PRIOR_METHODS:
            raise ValueError(f"unknown prior estimator {method!r}; there are {', '.join(PRIOR_METHODS)}.")
    if replicates < 0 or not 0 < confidence < 1:
        raise ValueError(
            f"replicates must not be negative and confidence must lie in (0, 1); got {replicates}, {confidence}."
        )


def contradicted(
    prior: float,
    X: AnyArray,
    labeled: AnyArray,
    *,
    random_state: RandomState = None,
    groups: AnyArray | None = None,
) -> PriorEstimate | None:
    """Return the estimate of best bins if a given prior lies 0.1 or more outside its 99 % interval, otherwise None.

    The estimate holds if the labeled rows are a random sample of the positives.
    """
    found = estimate_prior(
        X, labeled, "half-bbe", replicates=1, confidence=PLAIN_CONFIDENCE, random_state=random_state, groups=groups
    )
    return found if prior > found.high + FAR_OUTSIDE or prior < found.low - FAR_OUTSIDE else None


class Scored(NamedTuple):
    """Estimates from resampled scores and from the scores themselves, and the PU-AUC."""

    drawn: Floats  # (samples,), best bin estimates of bootstrap samples of the held-out scores
    # best bin estimate of all held-out scores, and their PU-AUC
    whole: float
    ranking: float
    published: float = float("nan")  # the estimate with the published confidence term

    @property
    def prior(self) -> float:
        """The median of the estimates from resampled scores."""
        return float(np.median(self.drawn))

    def separation(self, prior: float) -> float:
        """Return the AUC of positives against negatives that follows from a prior."""
        return max(float(true_auc(self.ranking, prior)), 0.5)


def _scored(positive: Floats, unlabeled: Floats, rng: np.random.Generator, groups: Ints | None) -> Scored:
    """Return the best bin estimates and the PU-AUC of the held-out scores of the rows, in groups or not."""
    rows, labeled = _stacked(positive, unlabeled)
    scores = held_out_scores(rows, labeled, rng, groups)
    upper, lower = scores[labeled], scores[~labeled]
    drawn, published = bootstrapped_best_bins(upper, lower, rng), best_bin(upper, lower, factor=PUBLISHED)
    return Scored(drawn, best_bin(upper, lower), auc(upper, lower), published)


def interval(
    method: str, prior: float, top: float, variance: float, scored: Scored, confidence: float
) -> tuple[float, float]:
    """Return the ends of the interval of an estimate, within [0, 1].

    It covers sampling error, overlap of the classes, and lasting error.
    """
    z = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    overlap, lasting = UNSEEN[method]
    known = variance + lasting**2
    low, at = prior, scored.prior
    for _ in range(PASSES):
        unseen = overlap * (1.0 - scored.separation(at))
        low = max(prior - z * float(np.sqrt(known + unseen**2)), 0.0)
        at = min(low, at)
    return low, min(top + z * float(np.sqrt(known)), 1.0)


def _generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    return np.random.default_rng(random_state)


def checked_rows(X: AnyArray, labeled: AnyArray) -> tuple[Floats, Bools]:
    """Return rows as floats and labels as booleans; raise ValueError if a kind is missing or no feature varies."""
    X, labeled = np.asarray(X, dtype=np.float64), np.asarray(labeled, dtype=bool)
    if not labeled.any() or labeled.all():
        raise ValueError("estimating the class prior needs labeled positives and unlabeled rows; one kind is missing.")
    if not np.isfinite(X).all():
        row, column = (int(found[0]) for found in np.nonzero(~np.isfinite(X)))
        raise ValueError(f"row {row}, feature {column} is empty or infinite: no class prior can be estimated.")
    if not np.any(np.ptp(X, axis=0) > 0):
        raise ValueError("every feature is constant: no feature separates positives from other rows.")
    return X, labeled


def _sample(X: AnyArray, labeled: AnyArray, rng: np.random.Generator) -> tuple[Floats, Floats, Ints]:
    """Return standardized labeled and unlabeled rows, at most `LARGEST_SAMPLE` of each, and their indices."""
    X, labeled = checked_rows(X, labeled)
    X = z_scores(X)
    positive, unlabeled = [_at_most(np.flatnonzero(kind), LARGEST_SAMPLE, rng) for kind in (labeled, ~labeled)]
    return X[positive], X[unlabeled], np.concatenate([positive, unlabeled])


def _at_most(rows: AnyArray, size: int, rng: np.random.Generator) -> AnyArray:
    return rows if len(rows) <= size else rows[np.sort(rng.permutation(len(rows))[:size])]


def _stacked(positive: Floats, unlabeled: Floats) -> tuple[Floats, AnyArray]:
    """Return all rows, and which of them are labeled."""
    rows = np.vstack([positive, unlabeled])
    return rows, np.arange(len(rows)) < len(positive)


def _estimate(positive: Floats, unlabeled: Floats, method: str, rng: np.random.Generator) -> float:
    if method == "km2":
        return km2(unlabeled, positive)
    rows, labeled = _stacked(positive, unlabeled)
    return unlabeled_prior(tice(rows, labeled, rng), len(positive), len(unlabeled))


def _replicates(positive: Floats, unlabeled: Floats, method: str, count: int, rng: np.random.Generator) -> Floats:
    """Return bootstrap estimates (count,); the smaller samples of KM2 make their spread wider."""
    size = REPLICATE_SAMPLE if method == "km2" else LARGEST_SAMPLE
    positive, unlabeled = _at_most(positive, size, rng), _at_most(unlabeled, size, rng)
    return np.array(
        [_estimate(_resampled(positive, rng), _resampled(unlabeled, rng), method, rng) for _ in range(count)]
    )


def _resampled(rows: Floats, rng: np.random.Generator) -> Floats:
    return rows[rng.integers(0, len(rows), len(rows))]
