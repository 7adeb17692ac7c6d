"""The options that say where the automatic classifier cuts its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from pucli.errors import UsageError

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
class CutOptions:
    """At most one of them; without any, F1 is what the cut is made for."""

    goal: Goal = ""
    recall: Recall = None
    precision: Precision = None
    share: Share = None
    top: Top = None

    @property
    def chosen(self) -> tuple[str, float | None] | None:
        """The goal and the wanted value; None if no option is given."""
        wanted = {name: getattr(self, name) for name in ("recall", "precision", "share", "top")}
        given = [(name, value) for name, value in wanted.items() if value is not None]
        if self.goal:
            if self.goal != "f1":
                raise UsageError(
                    f"--for {self.goal}: only f1; for others give --recall, --precision, --share or --top."
                )
            given.append(("f1", None))
        if len(given) > 1:
            raise UsageError(f"--{given[0][0]} and --{given[1][0]} both say where to cut; keep one.")
        return given[0] if given else None
