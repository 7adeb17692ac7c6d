"""Estimates of the class prior on the held-out scores of the automatic classifier's ensemble.

The scores are those of the first fit (`pucli.solvers.ensemble.first_fit`). "auto" is the estimate of `AutoPU`, from
best bins and from groups of scores; "best-bin" and "density-ratio" use one idea each. `pucli.solvers.prior.estimate`
has estimators that need no ensemble.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from pucli.core.arrays import AnyArray, Floats
from pucli.core.seeding import sample_of_each_kind, seed_of, stream
from pucli.metrics.ranking import auc, true_auc
from pucli.solvers.ensemble.calibration import make_calibration
from pucli.solvers.ensemble.estimates import IfOdds, if_odds
from pucli.solvers.ensemble.first_fit import first_fit
from pucli.solvers.ensemble.hidden_share import PriorWithDraws, estimate_prior, rare_prior
from pucli.solvers.ensemble.joint import joint_estimate
from pucli.solvers.ensemble.members import MEMBERS
from pucli.solvers.ensemble.rows import row_order, varying_columns
from pucli.solvers.ensemble.sar import rare_or_biased, widened
from pucli.solvers.ensemble.threshold import expected_f1, recall_curve, threshold_for
from pucli.solvers.folds import number_of_folds
from pucli.solvers.prior import estimate as without_ensemble
from pucli.solvers.prior.best_bin import BOOTSTRAPS, best_bin, resampled
from pucli.solvers.prior.binormal import NORMAL_90, binormal
from pucli.solvers.prior.density_ratio import density_ratio
from pucli.solvers.prior.estimate import PriorEstimate, PriorReport, Scored
from pucli.solvers.prior.known_negatives import with_negatives
from pucli.solvers.prior.labeling_odds import ahead_of
from pucli.solvers.prior.two_gaussians import GAUSSIAN_ERROR, gaussian_share

# Raised when the estimate "auto" changes, and with it the results of methods whose class prior is not given.
VERSION = 16
ENSEMBLE_METHODS = ("auto", "best-bin", "density-ratio")
ALL_METHODS = (*ENSEMBLE_METHODS, *without_ensemble.PRIOR_METHODS)
# The most rows of each kind, drawn at random, and the most cells of the table that they make.
MOST_ROWS, MOST_CELLS = 2000, 1_000_000
# With more features, the estimate that is taken if none is given is not that of the ensemble, which would take minutes.
MOST_FEATURES = 1000
_OF_SCORES = {"best-bin": best_bin, "density-ratio": density_ratio}


class OutOfFoldScores(NamedTuple):
    """Scores of rows by models that were trained without them."""

    # (p,) and (n,), scores of labeled rows and of the population, in ascending order
    positive: Floats
    population: Floats
    labeled: float  # share of the population that is labeled
    seed: int  # seed of bootstrap samples
    grouped: Floats | None = None  # (trees, n), as in `estimate_prior`

    @property
    def ranking(self) -> float:
        """The AUC of labeled rows against the population."""
        return float(auc(self.positive, self.population))


def class_priors(
    held: OutOfFoldScores,
    *,
    random: bool = True,
    if_random: Floats | None = None,
    gaussian: float | None = None,
    negative: Floats | None = None,
) -> tuple[PriorWithDraws, PriorWithDraws]:
    """Return the class prior, and the one that the threshold for F1 takes: before the overlap is taken off."""
    positive, population = held.positive, held.population
    found = estimate_prior(positive, population, stream(held.seed, "prior"), held.grouped)
    if if_random is not None:
        found = widened(found, if_random, stream(held.seed, "labelling"))
    rare = None
    if random and not rare_or_biased(binormal(positive, population, held.labeled)):
        rare = rare_prior(positive, population, held.labeled)
    prior = of_threshold = replace(rare or found, labeled=held.labeled)
    if random and rare is None:
        prior = prior.less_overlap(held.ranking)
        if gaussian is not None:
            prior = prior.at(gaussian, GAUSSIAN_ERROR)
    if negative is not None:
        spread = float(prior.draws.std())
        prior = prior.at(*with_negatives(prior.value, spread, positive, population, np.asarray(negative)))
    return prior, of_threshold


def estimate_priors(
    X: AnyArray,
    labeled: AnyArray,
    methods: Sequence[str] = ALL_METHODS,
    *,
    replicates: int = 50,
    confidence: float = 0.9,
    random_state: int | np.random.RandomState | None = 0,
    progress: Callable[[int, int], object] | None = None,
    groups: AnyArray | None = None,
) -> PriorReport:
    """Estimate the share of positives among unlabeled rows by several methods, with and without the ensemble.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Rows.
    labeled : ndarray of bool, shape (n,)
        Which rows are labeled positives.
    methods : sequence of str, optional
        Names of estimators, as of `pucli prior --estimator`.
    replicates : int, default=50
        Number of bootstrap samples.
    confidence : float, default=0.9
        Of the intervals.
    random_state : int, RandomState or None, default=0
        Seed of folds and samples.
    progress : callable, optional
        Called as ``progress(done, total)``.
    groups : ndarray of shape (n,), optional
        Group of each row: folds and samples do not divide one.

    Returns
    -------
    PriorReport
        The estimates with their intervals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(3, 1, (160, 2)), rng.normal(-3, 1, (140, 2))]
    >>> report = estimate_priors(X, np.arange(300) < 60, ["auto"])
    >>> 0.35 < report.estimates[0].prior < 0.5  # 100 of 240
    True
    """
    ensemble = [name for name in methods if name in ENSEMBLE_METHODS]
    others = [name for name in methods if name not in ENSEMBLE_METHODS]
    found: dict[str, PriorEstimate] = {}
    separation, held_out = float("nan"), None
    without_ensemble.check_settings(others, replicates, confidence)
    if ensemble:
        seed = seed_of(random_state)
        of_scores, separation, held_out = _of_the_ensemble(X, labeled, ensemble, replicates, confidence, seed, groups)
        found |= of_scores
        if progress is not None:
            progress(len(ensemble), len(methods))
    if others:
        report = without_ensemble.estimate_priors(
            X,
            labeled,
            others,
            replicates=replicates,
            confidence=confidence,
            random_state=random_state,
            progress=None if progress is None else lambda done, _: progress(len(ensemble) + done, len(methods)),
            groups=groups,
        )
        found |= {estimate.method: estimate for estimate in report.estimates}
        separation = separation if ensemble else report.separation
    return without_ensemble.make_report([found[name] for name in methods], separation)._replace(held_out=held_out)


@dataclass
class AtPrior:
    """What follows from a class prior at the threshold for the largest F1."""

    # class prior, share of the unlabeled rows that are called positive, and the estimates for them
    prior: float
    share: float
    recall: float
    precision: float
    bounds: IfOdds  # how these change if some positives were labeled more readily
    ahead: float  # share of the unlabeled rows that then stay ahead of all rows that are not called


def at_prior(held_out: tuple[Floats, Floats], prior: float, random_state: int = 0) -> AtPrior:
    """Return what follows from a class prior, as `pucli.AutoPU.with_prior` has it."""
    positive, population = held_out
    seed = seed_of(random_state)
    known = PriorWithDraws(prior, prior, prior, np.full(BOOTSTRAPS, prior))
    calibration = make_calibration(positive, population, prior, stream(seed, "calibration"))
    curve = recall_curve(calibration.of(population))
    f1 = expected_f1(positive, population, known.draws, stream(seed, "expected F1"))
    ranking = float(true_auc(float(auc(positive, population)), prior))
    chosen = threshold_for("f1", None, positive, population, prior, curve, f1, ranking, calibration.even())
    found = joint_estimate(positive, population, known, curve, known_prior=True).at(chosen.value)
    bounds = if_odds(found)
    threshold = float(calibration.of(np.array([chosen.value]))[0])
    ahead = float(ahead_of(calibration.of(population), threshold, bounds.odds_ratio).mean())
    called, recall, precision = (found[name].value for name in ("share", "recall", "precision"))
    return AtPrior(prior, called, recall, precision, bounds, min(ahead, called))


def rows_of_each_kind(features: int) -> int:
    """Return the most labeled and the most unlabeled rows of an estimate from rows with so many features."""
    return max(2, min(MOST_ROWS, MOST_CELLS // (2 * features)))


def recommended(labeled: AnyArray, features: int) -> str:
    """Return the name of the default estimator for rows of which `labeled` (n,) are labeled positives.

    It is "auto", or "half-bbe" with a single row of a kind, which an ensemble cannot hold out, or with more than
    `MOST_FEATURES` features.
    """
    few = min(np.count_nonzero(labeled), np.count_nonzero(~np.asarray(labeled, dtype=bool))) < 2
    return "half-bbe" if few or features > MOST_FEATURES else "auto"


def hidden_share_of(
    X: AnyArray,
    labeled: AnyArray,
    random_state: int | np.random.RandomState | None,
    groups: AnyArray | None = None,
) -> PriorEstimate:
    """Return the default estimate of the share of positives among unlabeled rows, with its 90 % interval.

    The estimator is that of `recommended`.
    """
    name = recommended(labeled, X.shape[1])
    return estimate_priors(X, labeled, (name,), replicates=1, random_state=random_state, groups=groups).estimates[0]


def _of_the_ensemble(
    X: AnyArray,
    labeled: AnyArray,
    methods: Sequence[str],
    replicates: int,
    confidence: float,
    seed: int,
    groups: AnyArray | None = None,
) -> tuple[dict[str, PriorEstimate], float, tuple[Floats, Floats]]:
    """Return the estimate of each of `methods`, the AUC that the scores and "auto" imply, and the held-out scores."""
    rows, s = without_ensemble.checked_rows(X, labeled)
    rows = rows[:, varying_columns(rows)]
    order = row_order(rows, s)
    few = order[sample_of_each_kind(s[order], stream(seed, "rows"), rows_of_each_kind(rows.shape[1]))]
    rows, s = rows[few], s[few]
    if groups is not None:
        groups = np.unique(np.asarray(groups)[few], return_inverse=True)[1]
        groups = groups if number_of_folds(s, groups) > 1 else None
    if min(np.count_nonzero(s), np.count_nonzero(~s)) < 2:
        raise ValueError(
            "estimates by an ensemble need two labeled and two unlabeled rows; half-bbe needs one of each."
        )
    with threadpool_limits(1):
        first = first_fit(rows, s, "case-control", MEMBERS, seed, groups=groups)
    positive, population = np.sort(first.held_out[first.labeled]), np.sort(first.held_out[first.population])
    held = OutOfFoldScores(positive, population, 0.0, seed, first.grouped)
    prior, _ = class_priors(held, gaussian=gaussian_share(first.X, first.labeled))
    rare = binormal(positive, population)
    found = joint_estimate(
        positive, population, prior, law=rare if rare.rare and not rare_or_biased(rare) else None
    ).prior
    wider = NormalDist().inv_cdf(0.5 + 0.5 * confidence) / NORMAL_90
    low, high = found.value - wider * (found.value - found.low), found.value + wider * (found.high - found.value)
    ranking = held.ranking
    result = {"auto": _estimate("auto", found.value, (max(low, 0.0), min(high, 1.0)), confidence, replicates)}
    separation = Scored(np.array([found.value]), found.value, ranking).separation(found.value)
    asked = [name for name in _OF_SCORES if name in methods]
    samples = list(resampled(positive, population, stream(seed, "resampled"))) if asked else []
    for name in asked:
        of = _OF_SCORES[name]
        scored = Scored(np.array([of(p, u) for p, u in samples]), of(positive, population), ranking)
        value = scored.prior if name == "best-bin" else scored.whole
        top, variance = max(value, scored.whole), float(scored.drawn.var())
        ends = without_ensemble.interval(name, value, top, variance, scored, confidence)
        result[name] = _estimate(name, value, ends, confidence, replicates)
    return result, separation, (positive, population)


def _estimate(name: str, value: float, ends: tuple[float, float], confidence: float, replicates: int) -> PriorEstimate:
    low, high = ends if replicates else (value, value)
    return PriorEstimate(value, low, high, confidence, name, replicates)
