"""Reasons for the score of a row: its columns with what they change (`pucli.estimators.auto.reasons`), and its like.

Of the ensemble of `auto` the changes have a spread over the folds; of other models they are differences of scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError
from pucli.data.columns.cells import shortest
from pucli.data.columns.drift import ReferenceShares
from pucli.data.columns.encoder import TableEncoder, cell, spans, usual_cell

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import TrainingRows
    from pucli.models.saved import SavedModel

# Columns named that raise a score, and that lower it, unless they change it by less than this share of the largest one.
NAMED, LEAST = 3, 0.02
# Rows of each kind of `--scored` that are explained, and known positives that a row is compared with; of wide tables
# so many that the cells of their copies are within the budget, which may be none.
EXPLAINED, BUDGET = 500, 8_000_000
# Columns of files.
WHY = ("why", "most_like")


@dataclass(frozen=True)
class ColumnEffect:
    """A column that raises or lowers the score of a row."""

    column: str
    value: str
    usual: str  # the median of the unlabeled rows, or their most frequent value
    change: float  # score of the row less its score with the usual value
    spread: float | None  # standard deviation over the folds; None if unknown

    def __str__(self) -> str:
        spread = "" if self.spread is None else f" ± {shortest(self.spread, 1)}"
        sign = "+" if self.change > 0 else ""
        return f"{self.column} = {self.value} (usually {self.usual}): {sign}{shortest(self.change, 2)}{spread}"


@dataclass(frozen=True)
class RowReasons:
    """Columns that raise the score most, then those that lower it most, and the known positives most like the row."""

    columns: list[ColumnEffect]
    most_like: list[str]

    def __str__(self) -> str:
        return "; ".join(map(str, self.columns))


class KnownPositives(NamedTuple):
    """Some known positives: their identifiers or row numbers, and the changes (n, k) of their scores by column."""

    names: list[str]
    changes: Floats

    def record(self) -> dict[str, Any]:
        """Return them as values of a model file (`pucli.models.saved`)."""
        return {"names": self.names, "changes": self.changes.round(6).tolist()}


class Explainer:
    """Reasons for the scores of encoded rows.

    Parameters
    ----------
    model : fitted pipeline or AutoPU
        Its last step is the estimator.
    encoder : TableEncoder
        Names the columns.
    usual : ReferenceShares
        Distribution of the features of the unlabeled training rows.
    known : KnownPositives, optional
        Known positives that rows are compared with.
    """

    def __init__(
        self, model: Any, encoder: TableEncoder, usual: ReferenceShares, known: KnownPositives | None = None
    ) -> None:
        self.model, self.known, self.columns = model, known, list(spans(encoder))
        self.usual = np.concatenate([usual_cell(column, place, usual) for column, place in self.columns])

    def changes(self, X: Floats) -> tuple[Floats, Floats]:
        """Return the change of the score of each row of X by each column, and its spread, (n, k) each."""
        from pucli.estimators.auto.reasons import changes, effects
        from pucli.models.scores import decision_values

        places = [place for _, place in self.columns]
        steps = getattr(self.model, "steps", [("", self.model)])
        if len(steps) == 1 and hasattr(steps[0][1], "ensemble_"):
            return effects(steps[0][1], X, self.usual, places)
        column_of = np.repeat(np.arange(len(places)), [place.stop - place.start for place in places])
        score: Callable[[Floats], Any] = lambda rows: decision_values(self.model, rows)  # noqa: E731
        found = changes(score, X, self.usual, column_of)
        return found, np.full_like(found, np.nan)

    def of(self, X: Floats, own: Ints | None = None) -> list[RowReasons]:
        """Return the reasons of n encoded rows; `own` : (n,), their numbers among the known positives, or -1."""
        from pucli.estimators.auto.reasons import most_alike

        if not len(X):
            return []
        change, spread = self.changes(X)
        alike: Sequence[Sequence[str]] = [[]] * len(X)
        if self.known is not None:
            alike = [[self.known.names[k] for k in row] for row in most_alike(change, self.known.changes, own)]
        return [
            RowReasons([self._effect(k, *one) for k in _largest(one[1])], list(like))
            for *one, like in zip(X, change, spread, alike, strict=True)
        ]

    def _effect(self, k: int, x: Floats, change: Floats, spread: Floats) -> ColumnEffect:
        (column, place), known = self.columns[k], bool(np.isfinite(spread[k]))
        texts = cell(column, x[place]), cell(column, self.usual[place])
        return ColumnEffect(column.name, *texts, float(change[k]), float(spread[k]) if known else None)


def reasons_of_training_rows(explainer: Explainer, known: Ints, X: Floats, rows: Ints) -> list[RowReasons]:
    """Return the reasons of some rows of X (n, m), the training rows, of which `explainer` compares `known`."""
    own = np.full(len(X), -1)
    own[known] = np.arange(len(known))
    return explainer.of(X[rows], own[rows])


def in_columns(found: Sequence[RowReasons], rows: Ints, n: int, *, as_values: bool = False) -> dict[str, AnyArray]:
    """Return the reasons of some of n rows as the columns `WHY`, each (n,), empty in the other rows."""
    columns = {name: np.full(n, None if as_values else "", dtype=object) for name in WHY}
    for row, one in zip(rows.tolist(), found, strict=True):
        columns["why"][row] = [vars(effect) for effect in one.columns] if as_values else str(one)
        columns["most_like"][row] = one.most_like if as_values else "; ".join(one.most_like)
    return columns


def _largest(change: Floats) -> list[int]:
    """Return the columns that raise a score most, then those that lower it most, up to `NAMED` each."""
    order = np.argsort(-change, kind="stable")
    enough = np.abs(change) > max(LEAST * float(np.abs(change).max()), 1e-9)
    up, down = order[enough[order] & (change[order] > 0)], order[::-1][(enough & (change < 0))[order[::-1]]]
    return [*up[:NAMED].tolist(), *down[:NAMED].tolist()]


def explainer_of(model: Any, rows: TrainingRows) -> tuple[Explainer, Ints]:
    """Return the explainer of a model for its training rows, and the numbers of the known positives that it compares.

    These are all of them, or so many, evenly spaced, as the budget allows.
    """
    encoder = encoder_of(rows)
    explainer = Explainer(model, encoder, ReferenceShares.of(*without_looked_at(rows)))
    known = np.flatnonzero(rows.labeled)
    most = min(explained_rows(encoder), len(known))
    known = known[np.linspace(0, len(known) - 1, most).round().astype(int)]
    if not most:
        return explainer, known
    names = [mark_of(rows, row) for row in known.tolist()]
    explainer.known = KnownPositives(names, explainer.changes(rows.X[known])[0])
    return explainer, known


def explainer_of_saved(saved: SavedModel) -> Explainer:
    """Return the explainer of a saved model."""
    encoder, record = saved.table_encoder, saved.metadata.get("known")
    known = KnownPositives(record["names"], np.array(record["changes"], dtype=float)) if record else None
    return Explainer(saved.pipeline, encoder, reference_of(encoder), known)


def encoder_of(rows: TrainingRows) -> TableEncoder:
    """Return the encoder of the columns; the features of a declared data set or of sparse rows are numbers."""
    if rows.encoder is None or rows.encoder.sparse_:
        return TableEncoder.of_numbers(rows.feature_names)
    return rows.encoder


def without_looked_at(rows: TrainingRows) -> tuple[Any, Bools]:
    """Return the training rows and which of them are not labeled, without known negatives beside the population.

    Only in a single training set are known negatives a part of the population.
    """
    if rows.negative is None or rows.denominator == "all":
        return rows.X, ~rows.labeled
    return rows.X[~rows.negative], ~rows.labeled[~rows.negative]


def mark_of(rows: TrainingRows, row: int) -> str:
    """Return the identifiers of a training row, or its number and, of several files, the file."""
    number, *cells = [row + 1] if rows.marks is None else list(rows.marks.iloc[row])
    if cells:
        return ", ".join(map(str, cells))
    for file, count in rows.parts:
        if number <= count:
            return f"row {number} of {file}"
        number -= count
    return f"row {number}"


def explained_rows(encoder: TableEncoder) -> int:
    """Return how many rows of each kind are explained."""
    copies = len(list(spans(encoder)))
    return min(EXPLAINED, BUDGET // max(copies * len(encoder.get_feature_names_out()), 1))


def reference_of(encoder: TableEncoder) -> ReferenceShares:
    """Return the distribution of the features that a saved encoder holds."""
    if encoder.sparse_:
        raise UsageError("--why needs a table with columns; the model was trained on sparse rows.")
    found = getattr(encoder, "usual_", None)
    if found is None:
        raise UsageError("--why needs a model that holds what is usual in its columns; train it again.")
    return ReferenceShares(*found)
