"""The results of a fitted `AutoPU`, for the command and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.core.arrays import Bools
from pucli.core.errors import UsageError
from pucli.core.json_values import OrNaN
from pucli.data.rows.user_file import FLAGGED
from pucli.estimators.auto.chance import FEWEST, ChanceTest, chance_test
from pucli.estimators.auto.ranking import held_out_columns, ranked
from pucli.models.reasons import ColumnEffect
from pucli.solvers.ensemble.estimates import (
    FEW_LABELED,
    FROM_PRIOR,
    THESE,
    Estimate,
    FirstRows,
    IfPrior,
    OddsEffects,
    if_odds,
)
from pucli.solvers.ensemble.threshold import Threshold
from pucli.solvers.prior.best_bin import prior_factors
from pucli.solvers.prior.labeling_odds import ahead_of

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.rows.training_rows import TrainingRows
    from pucli.estimators.auto.auto_pu import AutoPU
    from pucli.estimators.auto.random_labeling import RandomLabeling


# Estimates that benchmark `labeling` found too high, mostly outside their intervals, with a model of biased labels.
UNSURE_IF_BIASED = ("recall", "auc", "lift", "new_recall", "new_lift", "recall_odds_2")
# Estimates that are known if another one is.
KNOWN_WITH = {"lift": "recall", "new_lift": "new_recall", "recall_odds_2": "recall"}
# Numbers of rows with the highest scores whose positives are estimated where positives are rare.
FIRST = (50, 200, 1000)
# A class prior is kept between these.
LEAST_PRIOR, MOST_PRIOR = 1e-6, 1.0 - 1e-6
MODELLED = "not assumed: the clearer a positive, the more readily it was labeled (--labeling sar)"


class Findings(NamedTuple):
    """A fitted model, the numbers of its training rows, and the test of random labeling."""

    model: AutoPU
    # numbers of training rows
    labeled: int
    unlabeled: int
    called_positive: int  # number of unlabeled rows whose held-out score is above the threshold
    test: RandomLabeling  # result of the test in `pucli.estimators.auto.random_labeling`
    leaks: tuple[str, ...] = ()  # warnings of columns that probably leak the label. With one, only the share is known
    # warning that labeled rows seem to repeat the same cases, or "". With it, only the share is known
    repeated: str = ""
    chance: ChanceTest | None = None  # ranks of held-out known positives; None if it was trained on blocks

    @classmethod
    def of(
        cls,
        model: AutoPU,
        labeled: np.ndarray,
        test: RandomLabeling,
        leaks: tuple[str, ...] = (),
        repeated: str = "",
        negative: np.ndarray | None = None,
    ) -> Findings:
        """Return the findings of a model whose training rows are available."""
        rest = ~labeled if negative is None else ~labeled & ~negative
        called = (model.held_out_ > model.threshold_) & rest
        counts = int(labeled.sum()), int(rest.sum()), int(called.sum())
        chance = chance_test(model.held_out_[labeled], model.held_out_[rest])
        return cls(model, *counts, test, leaks, repeated, chance)

    @property
    def sound(self) -> bool:
        """Whether no test or warning contradicts the assumptions of the estimates."""
        return (self.test.random or self.model.labeling_ == "sar") and not self.leaks and not self.repeated

    @property
    def known(self) -> dict[str, bool]:
        """Whether each estimate, and the estimates that it is computed from, are narrow enough to be useful."""
        found = self.model.estimates_
        useful = self.sound and self.model.ranks_ and found["share"].value > 0.0
        # an AUC changes little between small priors
        rests = {name: found["prior"].narrow if name == "auc" else found["prior"].known for name in FROM_PRIOR}
        return {
            name: name in ("share", "new_share")
            or (
                useful
                and found[KNOWN_WITH.get(name, name)].known
                and rests.get(name, True)
                and not (self.model.labeling_ == "sar" and name in UNSURE_IF_BIASED)
            )
            for name in found
        }

    @property
    def first(self) -> list[FirstRows]:
        """Positives among the first `FIRST` rows by score, if positives are rare and the estimates are sound."""
        most = len(self.model._population) / 2
        return self.model.among_first([k for k in FIRST if k <= most]) if self.sound and self.model.rare_ else []

    @property
    def if_prior(self) -> list[IfPrior]:
        """Unlabeled rows called, recall and precision with the class prior at either end of its interval.

        Nothing if the prior was given, or if the estimates are not sound; the order of rows needs no prior.
        """
        model, ends = self.model, self.model.prior_interval_
        single = model.scenario != "case-control"
        if not self.sound or model.labeling_ == "sar" or ends[0] == ends[1] or (single and model.n_negative_):
            return []
        least, found = max(model.prior_estimate_.labeled, LEAST_PRIOR), []
        for prior in ends:
            try:
                moved = model.with_prior(min(max(prior, least), MOST_PRIOR))
            except UsageError:  # no threshold reaches the precision that was asked for
                return []
            of = moved.estimates_
            called = of["share"].value * (self.unlabeled + (self.labeled if single else 0))
            called -= float(np.mean(moved._positive > moved.threshold_)) * self.labeled if single else 0.0
            found.append(IfPrior(prior, round(called), of["recall"].value, of["precision"].value))
        return found

    @property
    def if_odds(self) -> OddsEffects | None:
        """Estimates if the odds of being labeled differ twofold, the tipping points, and how many called rows lead.

        Nothing if a column leaks the label, labeled rows are repeated, no row is called, labels are taken for biased,
        or known negatives are among the rows of a single training set. The class prior stays in it only if it was
        given.
        """
        model = self.model
        single = model.scenario != "case-control"
        if self.leaks or self.repeated or model.labeling_ == "sar" or not self.called_positive:
            return None
        if single and model.n_negative_:
            return None
        bounds = if_odds(model.estimates_)
        p, at = (model.calibration_.of(scores) for scores in (model._population, np.array([model.threshold_])))
        ahead = ahead_of(p, float(at[0]), bounds.odds_ratio)
        rows = float(ahead.mean()) * (self.unlabeled + (self.labeled if single else 0))
        if single:
            of_labeled = ahead_of(model.calibration_.of(model._positive), float(at[0]), bounds.odds_ratio)
            rows -= float(of_labeled.mean()) * self.labeled
        prior = model.estimates_["prior"]
        low, high = (1.0, 1.0)
        if not (model._given or model._calibrates):
            low, high = prior_factors(model._positive, model._population, bounds.odds_ratio)
        least = min(model.prior_estimate_.labeled, prior.value)
        moved = Estimate(prior.value, max(least, low * prior.low), min(1.0, high * prior.high))
        stay = min(round(rows), self.called_positive)
        return OddsEffects(**vars(bounds), prior=moved, ahead=stay, called=self.called_positive)

    @property
    def why(self) -> str:
        """The goal of the threshold, as text."""
        threshold = self.model.chosen_threshold_
        rows = "unlabeled rows" if self.model.scenario == "case-control" else "rows"
        share = f"{100 * threshold.share:.1f}% of the {rows} are above the threshold"
        random = self.model.labeling_ == "scar"
        known = self.sound and random if threshold.goal == "recall" else self.known.get(threshold.goal, True)
        match threshold.goal:
            case "f1":
                return f"{'largest estimated F1' if known else 'chosen for F1; the F1 itself is unknown'}; {share}"
            case "recall":
                sure = "with 90% confidence" if random else "if labels were given just as the model of them says"
                above = "" if known else " (whether it is reached cannot be told)"
                return f"recall of {100 * (threshold.wanted or 0):g}%, {sure}{above}; {share}"
            case "precision":
                above = "" if known else " (whether it is reached cannot be told)"
                wanted = f"precision of {100 * (threshold.wanted or 0):g}%"
                return f"{wanted}, by the more cautious of two estimates{above}; {share}"
            case "share":
                return f"the wanted share; {share}"
            case _:
                return f"the {self._most_likely}"

    @property
    def goal(self) -> str:
        """The purpose of the threshold, as the end of a sentence."""
        threshold = self.model.chosen_threshold_
        wanted = threshold.wanted or 0.0
        match threshold.goal:
            case "f1" if self.called_positive == 0 and self.labeled < FEWEST:
                return f": {self.labeled} labeled rows give an order, and no more"
            case "f1":
                return ", for the largest estimated F1"
            case "recall" if self.model.labeling_ == "scar":
                return f", for a recall of {100 * wanted:g}% (90% confidence, if labeled at random)"
            case "recall":
                return f", for a recall of {100 * wanted:g}%, if the model of the labels is right"
            case "precision":
                return f", for a precision of {100 * wanted:g}%, by the more cautious of two estimates"
            case "share":
                return ", the wanted share"
            case _:
                return f", from the {self._most_likely}"

    @property
    def _most_likely(self) -> str:
        """The rows that a threshold for a number of them takes."""
        wanted = int(self.model.chosen_threshold_.wanted or 0)
        first, plural = (f"{wanted:,} most likely", "s") if wanted != 1 else ("most likely", "")
        if self.model.scenario == "case-control":
            return f"{first} unlabeled row{plural}"
        also = " and known negatives" if self.model.n_negative_ else ""
        return f"{first} row{plural}, labeled ones{also} included"

    @property
    def verdict(self) -> str:
        """Whether the labels look like a random sample of the positives, in words."""
        if self.leaks:
            return "cannot be judged: a column gives the label away"
        if self.repeated:
            return "cannot be judged: labeled rows are repeated"
        return self.test.verdict if self.model.labeling_ == "scar" else MODELLED


@dataclass(frozen=True)
class Reported:
    """An estimate; if `known` is false, the rows do not determine it: its value is a guess within a wide interval."""

    value: float
    low: float
    high: float
    known: bool
    rows: str = THESE


@dataclass(frozen=True)
class Estimates:
    """Estimates from held-out rows: shares, and AUC, of positives and negatives; without lift if no row is flagged."""

    prior: Reported
    share: Reported
    recall: Reported
    precision: Reported
    f1: Reported
    auc: Reported
    recall_odds_2: Reported | None = None
    new_share: Reported | None = None
    new_recall: Reported | None = None
    lift: Reported | None = None
    new_lift: Reported | None = None


@dataclass
class ExplainedThreshold(Threshold):
    """The threshold of the score, the share of rows above it, and what it was chosen for."""

    why: str = ""


@dataclass(frozen=True)
class DifferingColumn:
    """A column in which labeled rows differ from unlabeled rows that are ranked like them."""

    column: str
    difference: float  # of means, labeled less unlabeled, in standard errors
    p_value: float  # corrected for the number of columns


@dataclass(frozen=True)
class RandomLabels:
    """The test of whether the labeled rows are a random sample of the positives."""

    p_value: OrNaN
    random: bool
    differs_most: str  # the feature with the largest difference
    difference: OrNaN  # this difference of means, in standard errors
    differing: list[DifferingColumn]  # at most one in twenty tables with random labels has any
    verdict: str


@dataclass(frozen=True)
class ShownRow:
    """A training row to look at, with the reasons for its score."""

    kind: str  # "top" unlabeled rows, "borderline" ones, or "double-check": labeled ones with the lowest scores
    row: int  # its number in the file
    identifiers: dict[str, str]
    probability: float
    probability_low: float
    probability_high: float
    columns: list[ColumnEffect]
    most_like: list[str]  # known positives


@dataclass(frozen=True)
class Summary:
    """What is known about the ensemble and its rows."""

    rows: int
    labeled: int
    unlabeled: int
    few_labeled: bool
    known_negatives: int
    negatives: str  # "biased" or "random"
    scenario: str
    labeling: str  # "scar" or "sar"
    called_positive: int
    threshold: ExplainedThreshold
    estimates: Estimates
    first: list[FirstRows]
    if_prior: list[IfPrior]
    if_odds: OddsEffects | None
    leaderboard: list[dict[str, Any]]
    chance: ChanceTest | None
    random_labeling: RandomLabels
    leaks: list[str]
    repeated: str
    sound: bool
    ranks: bool


@dataclass(frozen=True)
class AutoAnswer(Summary):
    """The ensemble of `pucli auto`, how it was trained, and the files that were written."""

    data: dict[str, Any]
    notes: list[str]
    seconds: float
    seed: int
    expected: int | None  # number of positives among the unlabeled rows, if it was given
    model: Path | None
    report: Path | None
    scored: Path | None
    # of rows in memory: number of duplicate rows, and the command that trains the ensemble again
    duplicate_rows: int | None
    command: str | None
    # with --backend dask: number of blocks, and files of predictions
    blocks: int | None
    predictions: list[str]
    shown: list[ShownRow]  # rows to look at, with --json or --report


def summary(found: Findings, names: Sequence[str]) -> Summary:
    """Return the threshold, the estimates, the leaderboard and the test of random labeling."""
    model, test, first = found.model, found.test, found.first
    return Summary(
        rows=found.labeled + found.unlabeled + model.n_negative_,
        labeled=found.labeled,
        unlabeled=found.unlabeled,
        few_labeled=found.labeled < FEW_LABELED,
        known_negatives=model.n_negative_,
        negatives=model.negatives,
        scenario=model.scenario,
        labeling=model.labeling_,
        called_positive=found.called_positive,
        threshold=ExplainedThreshold(**vars(model.chosen_threshold_), why=found.why),
        estimates=Estimates(
            **{name: Reported(**vars(one), known=found.known[name]) for name, one in model.estimates_.items()}
        ),
        first=first,
        if_prior=found.if_prior,
        if_odds=found.if_odds,
        leaderboard=model.leaderboard_,
        chance=found.chance,
        random_labeling=RandomLabels(
            test.p_value,
            test.random,
            names[test.feature],
            test.difference,
            [DifferingColumn(names[one.feature], one.difference, one.p_value) for one in test.differing],
            found.verdict,
        ),
        leaks=list(found.leaks),
        repeated=found.repeated,
        sound=found.sound,
        ranks=model.ranks_,
    )


def behind(leaderboard: Sequence[Mapping[str, Any]], labeled: int, unlabeled: int) -> list[str]:
    """Return the lines of a leaderboard whose PU-AUC is below the largest by more than two standard errors.

    The errors are those of independent samples (Hanley and McNeil 1982). The lines share their rows, so that a smaller
    difference may be real, too.
    """

    def variance(area: float) -> float:
        one, two = area / (2.0 - area), 2.0 * area**2 / (1.0 + area)
        pairs = (labeled - 1) * (one - area**2) + (unlabeled - 1) * (two - area**2)
        return (area * (1.0 - area) + pairs) / (labeled * unlabeled)

    best = max(float(line["pu_auc"]) for line in leaderboard)
    return [
        str(line["name"])
        for line in leaderboard
        if best - line["pu_auc"] > 2.0 * np.sqrt(variance(best) + variance(line["pu_auc"]))
    ]


def unlabeled_of(rows: TrainingRows) -> Bools:
    """Return which training rows (n,) are unlabeled: neither labeled positives nor known negatives."""
    return ~rows.labeled if rows.negative is None else ~rows.labeled & ~rows.negative


def likeliest_first(model: AutoPU, rows: TrainingRows) -> np.ndarray:
    """Return the positions of the unlabeled rows, those with the highest held-out scores first."""
    unlabeled = np.flatnonzero(unlabeled_of(rows))
    return unlabeled[np.argsort(-model.held_out_[unlabeled], kind="stable")]


def scored_rows(
    found: Findings,
    labeled: np.ndarray,
    words: Mapping[str, str],
    marks: pd.DataFrame | None = None,
    negative: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return the held-out prediction of each training row, unlabeled rows first, each kind by descending score."""
    import pandas as pd

    model, scores = found.model, found.model.held_out_
    known = labeled.astype(int) if negative is None else labeled.astype(int) - negative
    named = pd.DataFrame({"row": np.arange(len(scores)) + 1}) if marks is None else marks
    flags = np.where(scores > model.threshold_, words.get("1", "1"), words.get("0", "0"))
    flagged = {FLAGGED: scores > model.threshold_} if words.get("0") == "" else {}
    columns = {"labeled": known, "prediction": flags, **flagged, **held_out_columns(model, labeled)}
    if found.leaks or found.repeated:
        columns |= {"probability_low": 0.0, "probability_high": 1.0}
    return named.reset_index(drop=True).assign(**columns).iloc[ranked(scores, known)]
