"""Reading of a user's file with any columns: encoded features, labels and warnings about the columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.core.errors import UsageError, shell_word
from pucli.data.columns.cells import TableColumns, TableError, cell_text, some_of
from pucli.data.columns.doubts import garbled, padded
from pucli.data.columns.drift import DriftCounter
from pucli.data.columns.encoder import TableEncoder
from pucli.data.columns.kinds import Column
from pucli.data.files.table import Table, WideTable
from pucli.data.files.tables import files_of, open_files, open_wide, title_of
from pucli.data.files.text.decimal_comma import NOTE
from pucli.data.files.text.layout import UNNAMED
from pucli.data.labels import LABEL
from pucli.data.reading import AS_IT_IS, Reading
from pucli.data.rows.label_column import LabelColumn
from pucli.data.rows.tables import MissingColumn, check_model_columns, check_rows, existing_column

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from pucli.data.rows.positives import Listed


# A column may identify groups if it has so many different values, and so many rows for each on average.
LEAST_VALUES, LEAST_ROWS, MOST_ROWS = 40, 1.2, 50.0
# Share of the values with a digit from which on words look like codes.
CODES = 0.9
_DIGIT = re.compile(r"\d")

FLAGGED = "flagged"
"""Column of predictions that says which rows are flagged, where the file has no word for the others."""
OWN_COLUMNS = ("row", "prediction", FLAGGED, "score", "probability", "probability_low", "probability_high", "cluster")
"""Names of the columns of predictions, without identifiers."""
_TAKEN = {*OWN_COLUMNS, "labeled"}


@dataclass(frozen=True)
class ColumnChoice:
    """The user's choice of columns of a file."""

    kinds: Mapping[str, str] = field(default_factory=dict)  # kinds that override the inferred ones
    drop: Sequence[str] = ()  # columns to leave out
    only: Sequence[str] = ()  # if not empty, the feature columns, in this order
    ids: Sequence[str] = ()  # columns that identify a row: not features, but copied to the predictions
    groups: Sequence[str] = ()  # columns whose equal cells mark rows that belong together, or blocks X,Y,WIDTH
    time: str = ""  # column with the time of each row, "" for none
    find_ids: bool = True  # whether columns that are found to be identifiers are copied as well
    group_columns: Sequence[str] = ()  # columns that `groups` are made of: not features

    @property
    def as_text(self) -> set[str]:
        """Return the columns whose cells are read as text."""
        return {name for name, kind in self.kinds.items() if kind != "number"} | {*self.ids, *self.groups}

    @property
    def as_number(self) -> set[str]:
        """Return the columns that are declared as numbers."""
        return {name for name, kind in self.kinds.items() if kind == "number"}

    @property
    def named(self) -> set[str]:
        """Return all columns that are named."""
        return {*self.kinds, *self.drop, *self.only, *self.ids, *self.group_columns, *filter(None, [self.time])}

    def features(self, path: Path, table: Table, label: str | None) -> list[str]:
        """Return the feature columns of a table, in order."""
        for name in sorted(self.named):
            existing_column(path, table, name)
        if label is not None and label in self.only:
            raise UsageError(f"{path}: {label!r} is the label column and cannot be a feature")
        if label is not None and label in self.drop:
            raise UsageError(f"{path}: {label!r} is the label column, which is no feature; leave it out of --drop")
        out = {*self.drop, *self.ids, *self.group_columns, label}
        names = [name for name in self.only or table.frame.columns if name not in out]
        if not names:
            left_out = sorted(map(str, out - {label}))
            why = f"; --drop, --id and --groups leave out {', '.join(map(repr, left_out))}" if left_out else ""
            raise UsageError(f"{path} has no columns besides the label {label!r} to learn from{why}")
        return names


class EncodedFile(NamedTuple):
    """The encoded rows of a user's file.

    X : array or sparse array of shape (n, k)
        Encoded features.
    labels : LabelColumn or None
    encoder : TableEncoder
        Fitted on these rows, or given.
    table : Table
        The content of the file.
    warnings : list of str
        Problems that the user should look at, each about one column.
    columns : TableColumns or None
        The feature columns of a training file.
    listed : Listed or None
        Which rows of the first file a second one labels; those that it adds follow them.
    """

    X: Floats
    labels: LabelColumn | None
    encoder: TableEncoder
    table: Table
    warnings: list[str]
    columns: TableColumns | None = None
    listed: Listed | None = None

    @property
    def listed_rows(self) -> Bools:
        """Return which rows (n,) a second file labels."""
        assert self.listed is not None
        return np.append(self.listed.labeled, np.ones(len(self.listed.added), dtype=bool))


def fit_file(
    path: Path | Sequence[Path],
    label: str | None,
    choice: ColumnChoice | None = None,
    how: Reading = AS_IT_IS,
    positives: Path | None = None,
) -> EncodedFile:
    """Read a training file, and one that lists its positives, and fit the encoder on all rows."""
    choice = choice or ColumnChoice()
    files = files_of(path)
    path = Path(title_of(files))
    if label is not None and Path(label).is_file() and not any(file.exists() for file in files):
        raise UsageError(f"no file {path}, but --label {label} is one; are --data and --label swapped?")
    wide = open_wide(files[0], how=how) if len(files) == 1 else None
    if wide is not None:
        if positives is not None:
            raise UsageError(f"{path} is sparse, and --positives-from needs a table; write the labels into the file")
        if choice != ColumnChoice():
            raise UsageError(f"{path} is sparse; all of its {wide.X.shape[1]} columns are numeric features")
        return _wide_file(path, wide, TableEncoder.of_sparse(wide.names), label, how)
    columns = {
        "known": choice.named,
        "as_text": choice.as_text,
        "as_number": choice.as_number,
        "keep": {*choice.ids, *choice.group_columns},
    }
    table = open_files(files, label, how=how, **columns)  # type: ignore[arg-type]
    check_rows(path, table)
    labels = None if label is None else _own_labels(path, files, table, label, choice)
    listed = None
    if positives is not None:
        from pucli.data.rows.positives import Joining, with_positives

        kept = set(choice.features(path, table, None)) | {*choice.group_columns, choice.time}
        left_out = set(table.frame.columns) - kept
        ids = list(choice.ids) or (None if choice.find_ids else [])
        table, listed = with_positives(files, str(path), table, positives, how, Joining(ids, left_out, choice.kinds))
    frame = table.frame[choice.features(path, table, label)]
    joined_by = dict.fromkeys(listed.identifiers if listed is not None else (), "identifier")
    kinds = {name: kind for name, kind in {**joined_by, **choice.kinds}.items() if name in frame.columns}
    try:
        cells = TableColumns(frame)
        encoder = TableEncoder(kinds, decimal=how.decimal).learn(cells)
        tally = DriftCounter(table.place, training=True)
        X = encoder.transform(cells, tally)
    except TableError as error:
        raise UsageError(f"{path}: {error}") from error
    encoder.columns_ = [_noted(column, table) for column in encoder.columns_]
    warnings = [f"column {column.name!r} {column.warning}" for column in encoder.columns_ if column.warning]
    if labels is not None and (text := garbled(table.frame[str(label)], labels.present, table.place)):
        warnings.append(f"column {str(label)!r} {text}")
    warnings += tally.lines() + (ids_not_copied(encoder.columns_, frame) if choice.find_ids else [])
    if X.shape[1] == 0:
        raise UsageError(f"{path}: no column can be used as a feature: {_why_unused(encoder.columns_, warnings)}")
    return EncodedFile(X, labels, encoder, table, warnings, cells, listed)


def _own_labels(path: Path, files: Sequence[Path], table: Table, label: str, choice: ColumnChoice) -> LabelColumn:
    """Return the label column of a training file."""
    again = f"{label}.1"
    if again in table.frame.columns and again not in {*choice.drop, *choice.ids} and not choice.only:
        raise UsageError(
            f"{path}: there are two columns {label!r}, the second called {again!r}; leave one out: --drop {again}, or "
            f"--label {again} --drop {label}"
        )
    try:
        return label_column(path, table, label)
    except MissingColumn as error:
        if len(files) == 1:
            raise
        raise UsageError(
            f"{error}. If one of the files holds the labeled rows, give it as --positives-from FILE in place of "
            "--data, without --label"
        ) from error


def _why_unused(columns: Sequence[Column], warnings: Sequence[str]) -> str:
    """Return why columns have no features; `warnings` say it of some."""
    found = list(warnings)
    for kind, why in (("identifier", "different in nearly every row"), ("constant", "constant or empty")):
        names = [column.name for column in columns if column.kind == kind and not column.warning]
        if names:
            found.append(f"{why}: {some_of(names)}")
    return "; ".join(found)


def _noted(column: Column, table: Table) -> Column:
    """Return the description of a column with what its text tells: decimal commas, and zeros in front of numbers."""
    more = ""
    example = table.doubtful_texts.get(column.name, "")
    if example and (column.kind == "number") != (example == "NA"):
        more = padded(example)
    elif column.values:
        more = garbled(table.frame[column.name], column.values, table.place)
    if more and more != column.warning:
        return replace(column, warning="; it ".join(filter(None, (more, column.warning))))
    if column.name not in table.decimal_commas:
        return column
    return replace(column, remark="; ".join(text for text in (NOTE, column.remark) if text))


def apply_file(
    path: Path | Sequence[Path], encoder: TableEncoder, label: str | None = None, how: Reading = AS_IT_IS
) -> EncodedFile:
    """Read a file, or several, with the encoder of a model; the warnings name cells not seen in training."""
    files = files_of(path)
    path = Path(title_of(files))
    encoder = encoder.written_with(how.decimal)
    how = replace(how, formed=encoder.formed)
    if encoder.sparse_:
        return _wide_file(path, only_wide(files, how), encoder, label, how)
    columns = {"known": encoder.needed, "as_text": encoder.read_as_text, "as_number": encoder.needed}
    table = open_files(files, label, how=how, **columns)  # type: ignore[arg-type]
    check_rows(path, table)
    labels = None if label is None else label_column(path, table, label)
    check_model_columns(path, table, encoder.needed, encoder.origin)
    tally = DriftCounter(table.place)
    try:
        X = encoder.transform(table.frame, tally)
    except TableError as error:
        raise UsageError(f"{path}: {error}") from error
    return EncodedFile(X, labels, encoder, table, tally.lines())


def _wide_file(path: Path, wide: WideTable, encoder: TableEncoder, label: str | None, how: Reading) -> EncodedFile:
    import pandas as pd

    how = replace(how, first_feature=wide.first_feature)
    frame = pd.DataFrame({LABEL: wide.y})
    table = Table(frame, lambda row: f"row {row + 1}", "; the rows are sparse", reading=how)
    labels = None if label is None else label_column(path, table, label)
    return EncodedFile(fitted_width(wide.X, encoder.n_features_in_), labels, encoder, table, [])


def only_wide(files: Sequence[Path], how: Reading) -> WideTable:
    """Return the sparse rows of one LIBSVM file, for a model of sparse rows; raise UsageError for several files."""
    if len(files) > 1:
        raise UsageError("the model was trained on sparse rows; give one LIBSVM file")
    wide = open_wide(files[0], always=True, how=how)
    assert wide is not None
    return wide


def fitted_width(X: csr_array, width: int) -> csr_array:
    """Return sparse rows with `width` columns: missing columns at the end are zero, additional ones are ignored."""
    if X.shape[1] >= width:
        return X if X.shape[1] == width else X[:, :width]
    wider = X.copy()
    wider.resize(X.shape[0], width)
    return wider


def found_ids(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the identifiers among the columns of a file, without unnamed ones and names of columns of predictions."""
    return tuple(
        one.name
        for one in columns
        if one.kind == "identifier" and one.name not in _TAKEN and not one.name.startswith(UNNAMED)
    )


def ids_not_copied(columns: Sequence[Column], frame: pd.DataFrame) -> list[str]:
    """Return a warning for each identifier with the name of a column of predictions, which may be taken for it.

    An index that begins with 0 or 1 is no loss.
    """
    return [
        f"column {one.name!r} is left out as an identifier and not copied, as predictions have a column of that name; "
        "rename it in the file"
        for one in columns
        if one.kind == "identifier" and one.name in _TAKEN and cell_text(frame[one.name].iloc[0]) not in ("0", "1")
    ]


def groups_not_given(columns: Sequence[Column], named: Collection[str]) -> list[str]:
    """Return a warning for each column that looks like an identifier, has values in several rows and was not given."""
    found = []
    for column in columns:
        n, filled = column.n_distinct or 0, column.n_filled
        if column.name in named or n < LEAST_VALUES or not LEAST_ROWS * n <= filled <= MOST_ROWS * n:
            continue
        coded = _share_with_digit(column.values) if column.kind == "category" else 0.0
        if column.kind == "identifier" or coded >= CODES:
            found.append(
                f"column {column.name!r} has {n:,} values in {filled:,} rows; if rows with the same value are alike, "
                f"results are too good: keep them together with --groups {shell_word(column.name)}"
            )
    return found


def _share_with_digit(texts: Sequence[str]) -> float:
    return sum(_DIGIT.search(text) is not None for text in texts) / max(len(texts), 1)


def label_column(path: Path, table: Table, label: str) -> LabelColumn:
    """Return the label column of a table."""
    column = table.frame[existing_column(path, table, label)]
    return LabelColumn.of(f"{path}: label column {label!r}", column, table.place)
