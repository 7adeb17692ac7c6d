"""All points tried by tuning, stored by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from pucli.core.arrays import AnyArray
from pucli.tuning.evidence import Evidence
from pucli.tuning.routes import Point
from pucli.tuning.scorers import RANKING, Rule, estimated_f1

# Of the grid, of the refinement, and of the grid but eliminated early; stored trials hold the positions.
STAGES = ("grid", "greedy", "screen")


@dataclass(frozen=True)
class Trials(Sequence[dict[str, Any]]):
    """All points tried; iteration gives one dict per trial.

    Attributes
    ----------
    columns : dict of ndarray
        stage (index in `STAGES`), the parameters, score, score_se, the four counts summed over folds, constant; where
        the rule moves the threshold, also the threshold and the estimated F1 at it.
    parameters : tuple of str
        Names of the columns that are parameters.
    """

    columns: dict[str, AnyArray] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()

    @classmethod
    def of(cls, points: Sequence[Point], found: Evidence, stage: str, rule: Rule) -> Trials:
        """Return the trials of `points` at a stage of `STAGES`.

        Parameters
        ----------
        points : sequence of mappings
            Parameters of each point; all have the same names.
        found : Evidence
            Evidence on the points, in the same order.
        stage : str
            One of `STAGES`.
        rule : Rule
            Rule by which the points are scored.
        """
        scores, counts = found.scores(rule), found.counts
        pooled, known = counts.sum(axis=(1, 2)), counts[0, ..., 0].size > 1 or rule.name == RANKING
        names = tuple(points[0])
        columns: dict[str, AnyArray] = {
            "stage": np.full(len(points), STAGES.index(stage), dtype=np.int8),
            **{name: np.array([point[name] for point in points]) for name in names},
            "score": scores.score,
            "score_se": scores.standard_error if known else np.full(len(points), np.nan),
            "positive_labeled": pooled[:, 0],
            "n_labeled": pooled[:, 1],
            "positive_unlabeled": pooled[:, 2],
            "n_unlabeled": pooled[:, 3],
            "constant": scores.constant,
        }
        if rule.moves_threshold:
            columns |= {"threshold": found.threshold, "f1": estimated_f1(pooled, rule)}
        return cls(columns, names)

    @classmethod
    def joined(cls, parts: Sequence[Trials]) -> Trials:
        """Return the trials of all parts, in their order."""
        first = parts[0]
        columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in first.columns}
        return cls(columns, first.parameters)

    def __len__(self) -> int:
        return len(self.columns.get("score", ()))

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = {k: v[index].item() if hasattr(v[index], "item") else v[index] for k, v in self.columns.items()}
        return {"stage": STAGES[row.pop("stage")], "params": {k: row.pop(k) for k in self.parameters}, **row}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))
