"""Class prior of a user's rows: the estimates, and what follows from them for the called rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pucli.data.rows.training_rows import TrainingRows
from pucli.solvers.ensemble.class_prior import ENSEMBLE_METHODS, at_prior, estimate_priors, rows_of_each_kind
from pucli.solvers.ensemble.estimates import Estimate, IfPrior, OddsEffects
from pucli.solvers.prior.best_bin import prior_factors
from pucli.solvers.prior.estimate import LARGEST_SAMPLE, PriorEstimate, PriorReport


@dataclass
class GivenPrior(IfPrior):
    """What follows from a known number of positives, and whether it lies in the interval of the estimate."""

    expected: int
    fits: bool | None


@dataclass(frozen=True)
class Priors:
    """Estimates of the class prior; `share_in_test_set` is the truth where the data set declares it."""

    data: dict[str, Any]
    labeled: int
    unlabeled: int
    estimates: tuple[PriorEstimate, ...]
    disagreement: float
    reliable: bool
    if_prior: list[IfPrior]  # with the class prior at either end of its interval
    if_odds: OddsEffects | None
    given: GivenPrior | None
    share_in_test_set: float | None
    labeled_used: int
    unlabeled_used: int


@dataclass(frozen=True)
class Found:
    """The answer, and the report of the estimators."""

    answer: Priors
    report: PriorReport


def estimate_of(
    rows: TrainingRows,
    names: tuple[str, ...],
    replicates: int,
    expected: int | None,
    seed: int,
    progress: Callable[..., object] | None = None,
) -> Found:
    """Estimate the class prior of the unlabeled rows."""
    labeled = rows.n_labeled
    unlabeled = len(rows.X) - labeled
    report = estimate_priors(
        rows.X, rows.labeled, names, replicates=replicates, random_state=seed, progress=progress, groups=rows.groups
    )
    most = rows_of_each_kind(rows.X.shape[1]) if names[0] in ENSEMBLE_METHODS else LARGEST_SAMPLE
    # the unlabeled rows of the test set are a sample of the same population
    truth = rows.y_test if rows.about.get("scenario") == "case-control" else None
    answer = Priors(
        data=rows.about,
        labeled=labeled,
        unlabeled=unlabeled,
        estimates=report.estimates,
        disagreement=report.disagreement,
        reliable=report.reliable,
        if_prior=[],
        if_odds=None,
        given=None,
        share_in_test_set=None if truth is None else float((truth == 1).mean()),
        labeled_used=min(labeled, most),
        unlabeled_used=min(unlabeled, most),
    )
    return Found(_with_effects(answer, report, expected, seed), report)


def _with_effects(answer: Priors, report: PriorReport, expected: int | None, seed: int) -> Priors:
    """Return the answer with what follows from the class prior at either end, if labels were biased, and if given."""
    first, scores, unlabeled = report.estimates[0], report.held_out, answer.unlabeled
    if scores is None:
        return answer

    def at(prior: float) -> tuple[IfPrior, OddsEffects]:
        of = at_prior(scores, min(max(prior, 0.5 / len(scores[1])), 1.0 - 1e-6), seed)
        called = round(of.share * unlabeled)
        odds = OddsEffects(**vars(of.bounds), prior=None, ahead=round(of.ahead * unlabeled), called=called)
        return IfPrior(prior, called, of.recall, of.precision), odds

    ends = [at(end)[0] for end in (first.low, first.high)] if first.high > first.low and expected is None else []
    chosen, odds = at(first.prior if expected is None else expected / unlabeled)
    if expected is not None:
        fits = first.low <= chosen.prior <= first.high if first.high > first.low else None
        given = GivenPrior(**vars(chosen), expected=expected, fits=fits)
        return replace(answer, if_odds=odds if odds.called else None, given=given)
    if odds.called:
        low, high = prior_factors(*scores, odds.odds_ratio)
        odds.prior = Estimate(first.prior, low * first.low, min(1.0, high * first.high))
    return replace(answer, if_prior=ends, if_odds=odds if odds.called else None)
