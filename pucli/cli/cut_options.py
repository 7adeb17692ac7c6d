"""The options that say where the automatic classifier cuts its scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from pucli.errors import UsageError

if TYPE_CHECKING:
    from pucli.persistence import SavedModel

Goal = Annotated[str, typer.Option("--for", help="What to cut the scores for: f1.", show_default=False)]
Recall = Annotated[
    float | None,
    typer.Option("--recall", help="Cut so that this share of the positives is found, with 90 % confidence."),
]
Precision = Annotated[
    float | None, typer.Option("--precision", help="Cut so that this share of the rows called positive is positive.")
]
Share = Annotated[float | None, typer.Option("--share", help="Call this share of the rows positive.")]
Top = Annotated[int | None, typer.Option("--top", help="Call this many rows positive.")]


@dataclass(frozen=True)
class MovedCut:
    """At most one of them; without any, the cut stays as it is."""

    goal: Goal = ""
    recall: Recall = None
    precision: Precision = None
    share: Share = None

    @property
    def chosen(self) -> tuple[str, float | None] | None:
        """The goal and the wanted value; None if no option is given."""
        wanted = {name: getattr(self, name, None) for name in ("recall", "precision", "share", "top")}
        given = [(name, value) for name, value in wanted.items() if value is not None]
        if self.goal:
            if self.goal != "f1":
                raise UsageError(f"--for {self.goal}: only f1; the other options give another aim and its value.")
            given.append(("f1", None))
        if len(given) > 1:
            raise UsageError(f"--{given[0][0]} and --{given[1][0]} both say where to cut; keep one.")
        return given[0] if given else None

    def moved(self, saved: SavedModel) -> SavedModel:
        """Return a model of `pucli auto` with the cut that is asked for."""
        if self.chosen is None:
            return saved
        if saved.method != "auto":
            raise UsageError(
                f"only a model of `pucli auto` has a cut that can be moved; this one was trained with {saved.method}."
            )
        from sklearn.pipeline import Pipeline

        name, model = saved.pipeline.steps[-1]
        steps = [*saved.pipeline.steps[:-1], (name, model.with_cut(*self.chosen))]
        return replace(saved, pipeline=Pipeline(steps))


@dataclass(frozen=True)
class CutOptions(MovedCut):
    """The same, and a number of rows."""

    top: Top = None
