"""The ranking of a user's rows: the model, what was found about it, its estimates, the scored rows and the reasons."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from pucli.core.arrays import Ints
from pucli.core.errors import UsageError, warn_user
from pucli.data.features import shape
from pucli.data.rows.training_rows import TrainingRows
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.estimators.auto.chance import FEWEST as FEWEST_KNOWN
from pucli.estimators.auto.random_labeling import labeling_of
from pucli.estimators.auto.ranking import training_probabilities
from pucli.models.auto.summary import (
    Findings,
    ShownRow,
    Summary,
    likeliest_first,
    scored_rows,
    summary,
    unlabeled_of,
)
from pucli.models.fitting import Fitted, fit
from pucli.models.reasons import (
    Explainer,
    RowReasons,
    encoder_of,
    explained_rows,
    explainer_of,
    in_columns,
    reasons_of_training_rows,
)
from pucli.solvers.ensemble.estimates import Estimate
from pucli.solvers.ensemble.threshold import Threshold
from pucli.solvers.prior.known_negatives import FEWEST

if TYPE_CHECKING:
    import pandas as pd

# Rows to look at: of the top, and of the other lists.
TOP_ROWS, OTHER_ROWS = 15, 8


@dataclass(frozen=True)
class Options:
    """Options of a ranking.

    Parameters
    ----------
    labeling : {"scar", "sar"}, default="scar"
        Whether labels are random, or clear positives were labeled first.
    goal : {"f1", "recall", "precision", "share", "top"}, default="f1"
        What the threshold is chosen for.
    wanted : float, optional
        The recall, precision, share or number of rows that is wanted.
    negatives : {"biased", "random"}, default="biased"
        Whether known negatives are a random sample of the negatives, which gives the class prior.
    expected : int, optional
        Number of positives among the unlabeled rows, if known.
    seed : int, default=0
        Seed of the ensemble and of the test of random labeling.
    n_jobs : int, default=1
        Worker processes.
    """

    labeling: str = "scar"
    goal: str = "f1"
    wanted: float | None = None
    negatives: str = "biased"
    expected: int | None = None
    seed: int = 0
    n_jobs: int = 1

    @property
    def params(self) -> dict[str, Any]:
        """Return the options as parameters of `AutoPU`."""
        negatives = {} if self.negatives == "biased" else {"negatives": self.negatives}
        given = {"labeling": self.labeling, "goal": self.goal, "wanted": self.wanted, "random_state": self.seed}
        return given | negatives


@dataclass(frozen=True)
class Ranking:
    """A fitted ensemble and everything that follows from it.

    Attributes
    ----------
    fitted : Fitted
        The model with its training rows.
    findings : Findings
        Test of random labeling, leaking columns and repeated rows.
    summary : Summary
        Threshold, estimates and members.
    scored : DataFrame
        Held-out prediction of each training row, unlabeled rows first, each kind by descending score.
    explained : DataFrame
        The scored rows with the columns why and most_like, for the first of each kind.
    shown : list of ShownRow
        The rows to look at: top unlabeled rows, borderline ones if the class prior is known, and labeled ones with the
        lowest scores.
    """

    fitted: Fitted
    findings: Findings

    @property
    def model(self) -> AutoPU:
        """Return the fitted ensemble."""
        return self.findings.model

    @property
    def rows(self) -> TrainingRows:
        """Return the training rows."""
        return self.fitted.rows

    @cached_property
    def summary(self) -> Summary:
        """Return threshold, estimates, members and the test of random labeling."""
        return summary(self.findings, self.rows.feature_names)

    @cached_property
    def _explainer(self) -> tuple[Explainer, Ints]:
        return explainer_of(self.model, self.rows)

    def reasons(self, rows: Ints) -> list[RowReasons]:
        """Return the reasons for the scores of the training rows with these numbers, from 0."""
        return reasons_of_training_rows(*self._explainer, self.rows.X, rows)

    @cached_property
    def places(self) -> dict[str, Ints]:
        """Return the numbers of the rows to look at, from 0, by their list."""
        scores, marked = self.model.held_out_, np.flatnonzero(self.rows.labeled)
        unlabeled = np.flatnonzero(unlabeled_of(self.rows))
        unsure = np.abs(training_probabilities(self.model, self.rows.labeled)[0][unlabeled] - 0.5)
        borderline = unlabeled[np.argsort(unsure, kind="stable")][: OTHER_ROWS * self.findings.known["prior"]]
        return {
            "top": likeliest_first(self.model, self.rows)[:TOP_ROWS],
            "borderline": borderline,  # none without a class prior, on which probabilities rest
            "double-check": marked[np.argsort(scores[marked], kind="stable")][:OTHER_ROWS],
        }

    @cached_property
    def shown(self) -> list[ShownRow]:
        """Return the rows to look at, with the reasons for their scores."""
        marks, found = self.rows.marks, []
        ends = training_probabilities(self.model, self.rows.labeled)
        most = explained_rows(encoder_of(self.rows))
        for name, places in self.places.items():
            reasons = [*self.reasons(places[:most]), *[RowReasons([], [])] * max(len(places) - most, 0)]
            for i, why in zip(places.tolist(), reasons, strict=True):
                cells = {"row": i + 1} if marks is None else marks.iloc[i].to_dict()
                named = {str(key): str(value) for key, value in cells.items() if key != "row"}
                p, low, high = (float(end[i]) for end in ends)
                found.append(ShownRow(name, int(cells["row"]), named, p, low, high, why.columns, why.most_like))
        return found

    @cached_property
    def scored(self) -> pd.DataFrame:
        """Return the held-out prediction of each training row, without the reasons."""
        rows = self.rows
        return scored_rows(self.findings, rows.labeled, rows.words, rows.marks, rows.negative)

    @property
    def explained(self) -> pd.DataFrame:
        """Return the scored rows, the first unlabeled and labeled ones with the reasons for their scores."""
        most, scored = explained_rows(encoder_of(self.rows)), self.scored
        kinds = [scored.index[scored["labeled"] == kind][:most] for kind in (0, 1)]
        rows = np.concatenate(kinds)
        columns = in_columns(self.reasons(rows), rows, len(scored))
        return scored.assign(**{name: column[scored.index] for name, column in columns.items()})

    @property
    def duplicate_rows(self) -> int:
        """Return the number of training rows that equal an earlier one."""
        return shape(self.rows.X, self.rows.feature_names).duplicate_rows


class PrecisionOutOfReach(UsageError):
    """No threshold reaches the wanted precision; `fitted` has the threshold for F1."""

    def __init__(self, message: str, fitted: Fitted) -> None:
        super().__init__(message)
        self.fitted = fitted


def rank(rows: TrainingRows, options: Options, progress: Callable[[str, int, int], object] | None = None) -> Ranking:
    """Rank unlabeled rows by how likely they are positive, and estimate how good the ranking is."""
    _check_top(options, rows)
    known = 0 if rows.negative is None else int(rows.negative.sum())
    if why := why_only_train(options.negatives, known, options.labeling):
        warn_user(why)
    prior = None if options.expected is None else _prior(options.expected, rows)
    scenario = "single-training-set" if rows.denominator == "all" else "case-control"
    params = {**options.params, "n_jobs": options.n_jobs, "scenario": scenario, "callback": progress}
    if options.goal == "precision":  # the threshold for F1 until it is known that the precision can be reached
        params |= {"goal": "f1", "wanted": None}
    fitted = fit("auto", params, rows, standardize=False)
    fitted.estimator.set_params(callback=None)
    if options.goal == "f1" and rows.n_labeled < FEWEST_KNOWN:
        fitted = _with(fitted, flagging_none(fitted.estimator))
    if prior is not None:
        fitted = _with(fitted, fitted.estimator.with_prior(prior))
    if options.goal == "precision":
        try:
            moved = fitted.estimator.with_threshold("precision", options.wanted)
        except UsageError as error:
            raise PrecisionOutOfReach(str(error), ranking_of(fitted, options.seed).fitted) from error
        fitted = _with(fitted, moved)
    return ranking_of(fitted, options.seed)


def why_only_train(negatives: str, known: int, labeling: str) -> str:
    """Return why known negatives that are a random sample do not give the class prior, "" if they do or are none."""
    if negatives != "random" or (known >= FEWEST and labeling == "scar"):
        return ""
    needed = "labels at random" if known >= FEWEST else f"{FEWEST} known negatives"
    there = "--labeling sar" if known >= FEWEST else f"{known}"
    return f"--negatives-are random needs {needed} to give the class prior; with {there} they only train"


def _check_top(options: Options, rows: TrainingRows) -> None:
    """Raise UsageError if more rows are to be predicted positive than there are in the population."""
    single = rows.denominator == "all"
    most = len(rows.X) if single else int(unlabeled_of(rows).sum())
    if options.goal == "top" and (options.wanted or 0) > most:
        raise UsageError(
            f"--top {options.wanted}: {rows.title} has only {most:,} {'' if single else 'unlabeled '}rows."
        )


def _prior(expected: int, rows: TrainingRows) -> float:
    """Return the class prior with `expected` positives among the unlabeled rows."""
    unlabeled = int(unlabeled_of(rows).sum())
    if expected >= unlabeled:
        raise UsageError(f"--expected {expected}: must be below the {unlabeled:,} unlabeled rows of {rows.title}.")
    single = rows.denominator == "all"
    return (expected + rows.n_labeled) / len(rows.X) if single else expected / unlabeled


def flagging_none(model: AutoPU) -> AutoPU:
    """Return the model with a threshold above all scores: so few labeled rows give an order and no more."""
    scores = model.held_out_
    moved = copy.copy(model)
    moved.threshold_ = float(2.0 * scores.max() - scores.min())
    moved.chosen_threshold_ = Threshold(moved.threshold_, 0.0, "f1")
    unknown = dict.fromkeys(("recall", "precision", "f1"), Estimate(0.0, 0.0, 1.0))
    moved.estimates_ = {**model.estimates_, "share": Estimate(0.0, 0.0, 0.0), **unknown}
    return moved


def _with(fitted: Fitted, moved: AutoPU) -> Fitted:
    """Return the fitted model with another class prior or threshold."""
    steps = fitted.pipeline.steps
    return replace(fitted, pipeline=Pipeline([*steps[:-1], (steps[-1][0], moved)]))


def ranking_of(fitted: Fitted, seed: int) -> Ranking:
    """Return the ranking by a fitted model, after the test of random labeling, which leaves out known negatives."""
    rows, model = fitted.rows, fitted.estimator
    kept = rows.labeled | True if rows.negative is None else ~rows.negative
    groups = None if rows.groups is None else rows.groups[kept]
    test = labeling_of(model, rows.X[kept], rows.labeled[kept], seed, groups)
    found = Findings.of(model, rows.labeled, test, rows.leaks, rows.repeated, rows.negative)
    unlikely = test.doubt if model.labeling_ == "scar" else ""
    return Ranking(replace(fitted, doubt=rows.repeated or unlikely), found)
