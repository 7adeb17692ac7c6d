"""A user's own file of any columns: encoded features, labels, and what to say about the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pucli.arrays import Bools, Floats
from pucli.data.column_encoders import Tally
from pucli.data.columns import leaks
from pucli.data.encoding import TableEncoder
from pucli.data.formats import Table, WideTable, open_table, open_wide
from pucli.data.frames import TableError
from pucli.data.label_column import LabelColumn
from pucli.data.labels import LABEL
from pucli.data.tables import existing_column
from pucli.errors import UsageError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class ColumnChoice:
    """What a user says about the columns of a file.

    Parameters
    ----------
    kinds : dict of column name to kind
        Kinds that are not to be told from the cells.
    drop : sequence of str
        Columns that are no features.
    only : sequence of str
        If there are any: the columns that are features, in this order.
    ids : sequence of str
        Columns that name the row: no features, carried along to predictions.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    drop: Sequence[str] = ()
    only: Sequence[str] = ()
    ids: Sequence[str] = ()

    @property
    def as_text(self) -> set[str]:
        """Columns whose cells are to be read as they are written."""
        return {name for name, kind in self.kinds.items() if kind != "number"} | set(self.ids)

    @property
    def named(self) -> set[str]:
        """All columns that are named."""
        return {*self.kinds, *self.drop, *self.only, *self.ids}

    def features(self, path: Path, table: Table, label: str | None) -> list[str]:
        """Return the feature columns of a table, in order; raises UsageError for names that it does not have."""
        for name in sorted(self.named):
            existing_column(path, table, name)
        if label is not None and label in self.only:
            raise UsageError(f"{path}: {label!r} is the label column; it cannot be a feature too")
        out = {*self.drop, *self.ids, label}
        names = [name for name in self.only or table.frame.columns if name not in out]
        if not names:
            raise UsageError(f"{path} has no feature column beside the label {label!r}")
        return names


class EncodedFile(NamedTuple):
    """The rows of a user's file, ready for a method.

    X : array or sparse array of shape (n, k)
        Encoded features.
    labels : LabelColumn or None
    encoder : TableEncoder
        Fitted on these rows, or the one that was given.
    table : Table
        The file as it is.
    warnings : list of str
        What the user should look at, each about one column.
    """

    X: Floats
    labels: LabelColumn | None
    encoder: TableEncoder
    table: Table
    warnings: list[str]


def fit_file(path: Path, label: str | None, choice: ColumnChoice | None = None) -> EncodedFile:
    """Read a file to train on: its encoder is fitted on all of its rows.

    Parameters
    ----------
    path, label : Path, str or None
        The file and its label column, if it has one.
    choice : ColumnChoice, optional
        What the user says about the columns.

    Raises
    ------
    UsageError
        The file, a column, the label or a cell is missing or wrong, or no column gives a feature.
    """
    choice = choice or ColumnChoice()
    wide = open_wide(path)
    if wide is not None:
        if choice != ColumnChoice():
            raise UsageError(f"{path} is sparse with {wide.X.shape[1]} columns, which all are numbers and features")
        return _wide_file(path, wide, TableEncoder.of_sparse(wide.names), label)
    table = _opened(path, label, choice.named, choice.as_text)
    labels = None if label is None else label_column(path, table, label)
    frame = table.frame[choice.features(path, table, label)]
    kinds = {name: kind for name, kind in choice.kinds.items() if name in frame.columns}
    try:
        encoder = TableEncoder(kinds).fit(frame)
        tally = Tally(table.place)
        X = encoder.transform(frame, tally)
    except TableError as error:
        raise UsageError(f"{path}: {error}") from error
    warnings = [f"column {column.name!r} {column.warning}" for column in encoder.columns_ if column.warning]
    warnings += tally.lines()
    if X.shape[1] == 0:
        why = "; ".join(warnings) or "all are constant or empty"
        raise UsageError(f"{path}: no column gives a feature: {why}")
    return EncodedFile(X, labels, encoder, table, warnings)


def apply_file(path: Path, encoder: TableEncoder, label: str | None = None) -> EncodedFile:
    """Read a file as the encoder of a model does; its warnings name cells that are unlike anything in training.

    Raises UsageError where a column of the model, the label or a cell is missing or wrong.
    """
    if encoder.sparse_:
        wide = open_wide(path, always=True)
        assert wide is not None
        return _wide_file(path, wide, encoder, label)
    table = _opened(path, label, encoder.needed, encoder.read_as_text)
    labels = None if label is None else label_column(path, table, label)
    for name in encoder.needed:
        existing_column(path, table, name)
    tally = Tally(table.place)
    try:
        X = encoder.transform(table.frame, tally)
    except TableError as error:
        raise UsageError(f"{path}: {error}") from error
    return EncodedFile(X, labels, encoder, table, tally.lines())


def _wide_file(path: Path, wide: WideTable, encoder: TableEncoder, label: str | None) -> EncodedFile:
    import pandas as pd

    table = Table(pd.DataFrame({LABEL: wide.y}), lambda row: f"row {row + 1}", "; the rows are sparse")
    labels = None if label is None else label_column(path, table, label)
    return EncodedFile(fitted_width(wide.X, encoder.n_features_in_), labels, encoder, table, [])


def fitted_width(X: csr_array, width: int) -> csr_array:
    """Return sparse rows with `width` columns: what a file leaves out at the end is zero, what is new is ignored."""
    if X.shape[1] >= width:
        return X if X.shape[1] == width else X[:, :width]
    wider = X.copy()
    wider.resize(X.shape[0], width)
    return wider


def leak_warnings(encoded: EncodedFile, labelled: Bools) -> list[str]:
    """Return a line for each column of a training file that probably holds the label itself."""
    told = leaks(encoded.table.frame, labelled, encoded.encoder.columns_)
    return [f"column {name!r} {text}" for name, text in told.items()]


def label_column(path: Path, table: Table, label: str) -> LabelColumn:
    """Return the labels in a table."""
    column = table.frame[existing_column(path, table, label)]
    return LabelColumn.of(f"{path}: label column {label!r}", column, table.place)


def _opened(path: Path, label: str | None, known: Sequence[str] | set[str], as_text: Sequence[str] | set[str]) -> Table:
    table = open_table(path, label, known=known, as_text=as_text)
    table.frame.columns = table.frame.columns.map(str)
    if len(table.frame) == 0:
        raise UsageError(f"{path} has no data rows")
    return table
