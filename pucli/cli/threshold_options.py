"""Options for the decision threshold of the automatic classifier, and the warnings of its commands."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli.terminal import span
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    from pucli.cli.output import Output
    from pucli.models.saved import SavedModel
    from pucli.solvers.ensemble.estimates import Estimate

Goal = Annotated[str, typer.Option("--for", help="Aim of the threshold: f1 (largest F1).")]
Recall = Annotated[
    float | None,
    typer.Option(
        "--recall", help="Find at least this share of the positives, with 90% confidence if labels are random."
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(
        "--precision", help="Reach this share of positives among the flagged rows, by estimates; not guaranteed."
    ),
]
Share = Annotated[float | None, typer.Option("--share", help="Flag this share of the rows.")]
Top = Annotated[
    int | None,
    typer.Option("--top", help="Flag the N top rows; no precision is guaranteed.", min=1),
]


def option_of(goal: str) -> str:
    """Return the option that sets a goal of the threshold, as it is typed."""
    return "--for f1" if goal == "f1" else f"--{goal}"


@dataclass(frozen=True)
class ThresholdGoals:
    """Goals of the threshold, of which at most one may be given."""

    recall: Recall = None
    precision: Precision = None
    share: Share = None

    @property
    def chosen(self) -> tuple[str, float | None] | None:
        """Return the goal and its value, or None if no option is given."""
        wanted = {name: getattr(self, name, None) for name in ("recall", "precision", "share", "top")}
        given = [(name, value) for name, value in wanted.items() if value is not None]
        if goal := getattr(self, "goal", ""):
            if goal != "f1":
                raise UsageError(f"--for {goal}: the only value is f1; use another option for another objective.")
            given.append(("f1", None))
        if len(given) > 1:
            first, second = (option_of(name) for name, _ in given[:2])
            raise UsageError(f"{first} and {second} both set the threshold; keep one.")
        for name, value in given:
            if name in ("recall", "precision", "share") and not 0 < (value or 0.0) <= 1:
                raise UsageError(f"--{name} {value:g}: must be above 0 and at most 1, e.g. 0.9 for 90%.")
        return given[0] if given else None


@dataclass(frozen=True)
class MovedThreshold(ThresholdGoals):
    """Options that move the threshold of a model; without any, it is kept."""

    goal: Goal = ""

    def moved(self, saved: SavedModel) -> SavedModel:
        """Return the model of `pucli auto` with the requested threshold."""
        if self.chosen is None:
            return saved
        if saved.method != "auto":
            raise UsageError(
                f"only models of `pucli auto` have a threshold that can be moved; this is a model of {saved.method}."
            )
        from sklearn.pipeline import Pipeline

        name, model = saved.pipeline.steps[-1]
        steps = [*saved.pipeline.steps[:-1], (name, model.with_threshold(*self.chosen))]
        return replace(saved, pipeline=Pipeline(steps))


def unkept_recall(threshold: ThresholdGoals, model: Any) -> str:
    """Return why the requested recall cannot be guaranteed and which can, or "" if it can or none is requested."""
    if threshold.recall is None:
        return ""
    import numpy as np

    from pucli.solvers.ensemble.threshold import CONFIDENCE, threshold_for_recall

    count = len(model._positive)
    if math.isfinite(threshold_for_recall(np.arange(count), threshold.recall)):
        return ""
    # the least of the held-out scores of p labeled rows keeps a recall r with confidence 1 - r**p
    most = math.floor(1000 * (1 - CONFIDENCE) ** (1 / count)) / 1000
    enough = f"{math.ceil(math.log(1 - CONFIDENCE) / math.log(threshold.recall)):,}" if threshold.recall < 1 else ""
    more = f"or train with at least {enough} labeled rows" if enough else "since no number of rows guarantees 1"
    return (
        f"a recall of {threshold.recall:g} cannot be guaranteed, so every row is flagged: with "
        f"{100 * CONFIDENCE:g}% confidence, {count} labeled rows guarantee at most {most:g}. Ask for less recall, "
        f"{more}."
    )


@dataclass(frozen=True)
class ThresholdOptions(ThresholdGoals):
    """Options that set the threshold, including a number of rows."""

    top: Top = None


def warn_of_findings(out: Output, saved: SavedModel) -> None:
    """Warn about the findings of training: a column that may leak the label, or results that may be chance."""
    if saved.metadata.get("doubt"):
        out.warn(f"found in training: {saved.metadata['doubt']}.")
    leaks = saved.metadata.get("leaks", ())
    if leaks:
        more = f" ({len(leaks) - 1} more columns too)" if len(leaks) > 1 else ""
        out.warn(
            f"the model may only repeat who was labeled, not who is positive: in training, {leaks[0]}{more}. Train "
            "again without it."
        )


def warn_of_unknown_prior(out: Output, model: Any) -> None:
    """Warn if the probabilities of a model of `pucli auto` rest on a class prior that its rows cannot tell."""
    if (prior := getattr(model, "estimates_", {}).get("prior")) is not None:
        out.warn(unknown_prior(prior, model.ranks_))


def unknown_prior(prior: Estimate, ranks: bool) -> str:
    """Return the warning of probabilities whose class prior the training rows cannot tell, or ""."""
    if prior.known:
        return ""
    return (
        f"the probabilities rest on an unknown class prior, between {span(prior.low, prior.high, 'and')} by the "
        "training rows (see probability_low and probability_high). Their "
        + ("order can be used." if ranks else "order could be chance.")
    )
