"""Reading of (X, y) from a user's file, with errors that name the file, column, row and remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pucli.core.arrays import AnyArray, Floats
from pucli.core.errors import UsageError, did_you_mean, shell_word
from pucli.data.columns.cells import missing_columns, some_of, to_numbers
from pucli.data.files.table import Table
from pucli.data.files.tables import files_of, open_files, title_of
from pucli.data.reading import WANTED, Reading
from pucli.data.rows.label_column import LabelColumn

if TYPE_CHECKING:
    import pandas as pd

# Larger values overflow when they are squared and summed.
LARGEST = 1e150


def read_table(
    path: str | Path | Sequence[Path],
    *,
    label: str | None = None,
    positive: str | int | None = None,
    features: Sequence[str] | None = None,
    multiclass: bool = False,
    unlabeled: int | None = None,
    allow_missing: bool = False,
    how: Reading | None = None,
) -> tuple[Floats, AnyArray | None, list[str]]:
    """Read features and labels from a CSV, TSV, Parquet, XLSX, ARFF, MAT, LIBSVM or NPZ file.

    Parameters
    ----------
    path : path or sequence of Path
        The file, or several with the same columns; the format follows from the extension. Text may be separated by
        comma, semicolon, bar, tab or blanks, with or without a header line, plain or packed. Columns without names are
        numbered from 1.
    label : str, optional
        The column of the labels (MAT, NPZ: variable; LIBSVM: "label"); None if the file has no labels.
    positive : str or int, optional
        The class that counts as positive; all others, including empty label cells, are negative. By default, the column
        must hold two classes, of which the larger is positive.
    features : sequence of str, optional
        The feature columns, in order; by default all but the label.
    multiclass : bool, default=False
        Whether to return the classes themselves, of any number.
    unlabeled : int, optional
        With `multiclass`, the label of rows with an empty label cell; without it, such a cell is an error.
    allow_missing : bool, default=False
        Whether feature cells may be empty; they are NaN in X.
    how : Reading, optional
        Further options for reading, such as the sheet of a workbook.

    Returns
    -------
    X : array of float64, shape (n, m)
        Finite, or NaN if a cell is empty.
    y : array of shape (n,) or None
        Integers, +1 positive and -1 negative, or the classes, integer or text; None without `label`.
    feature_names : list of str
        The m names.

    Raises
    ------
    UsageError
        The file, a column, a class or a cell is missing or invalid.
    """
    X, labels, names = read_labeled(path, label=label, features=features, allow_missing=allow_missing, how=how)
    if labels is None:
        return X, None, names
    wanted = None if positive is None else str(positive)
    return X, labels.classes(unlabeled) if multiclass else labels.plus_minus(wanted), names


def read_labeled(
    path: str | Path | Sequence[Path],
    *,
    label: str | None = None,
    features: Sequence[str] | None = None,
    allow_missing: bool = False,
    how: Reading | None = None,
) -> tuple[Floats, LabelColumn | None, list[str]]:
    """Return the features and the labels of a user's file, with the labels as they are written."""
    files = files_of(path)
    path = Path(title_of(files))
    table = open_files(files, label, known=features or (), how=how or Reading())
    frame = table.frame
    frame.columns = frame.columns.map(str)
    names = [str(name) for name in features or ()]
    check_model_columns(path, table, names)
    check_rows(path, table)
    labels = None
    if label is not None:
        label = str(label)
        column = frame[existing_column(path, table, label)]
        labels = LabelColumn.of(f"{path}: label column {label!r}", column, table.place)
    if features is None:
        names = [name for name in frame.columns if name != label]
    if not names:
        raise UsageError(f"{path} has no columns besides the label {label!r}")
    return _matrix(path, table, names, allow_missing), labels, names


class NoRows(UsageError):
    """A file has columns but no rows."""


def check_rows(path: Path, table: Table) -> None:
    """Raise NoRows if a table has no rows."""
    if len(table.frame) == 0:
        what = "a header line but no data rows" if len(table.frame.columns) else "neither a header nor data rows"
        raise NoRows(f"{path} has {what}{table.naming}; {WANTED}")


class MissingColumn(UsageError):
    """A file has no column of a name."""

    def __init__(self, message: str, path: Path, column: str) -> None:
        super().__init__(message)
        self.path, self.column = path, column


def existing_column(path: Path, table: Table, name: str) -> str:
    """Return `name` if the table has such a column."""
    if name in table.frame.columns:
        return name
    columns = [str(column) for column in table.frame.columns]
    if name in columns:
        return name
    quoted = [column for column in columns if column.strip("'`“”„«»‘’") == name != column]
    hint = did_you_mean(name, columns) or f"columns: {some_of(columns)}"
    if quoted:
        hint = f'the quotes in {quoted[0]} belong to its name, as only double quotes (") enclose cells; replace them'
    hint = _unsplit(table, [name]) or hint
    raise MissingColumn(f"{path}: no column {name!r}; {hint}{table.naming}", path, name)


def _typed(sign: str) -> str:
    """Return a separator as it is typed in a shell; control characters as --sep takes them."""
    return shell_word(sign if sign.isprintable() else f"\\x{ord(sign):02x}")


def _unsplit(table: Table, names: Sequence[str]) -> str:
    """Return the way out for a table of one column that holds the missing names, "" for any other table."""
    columns = [str(column) for column in table.frame.columns]
    if len(columns) != 1:
        return ""
    sign, words = _sign_beside(names[0], columns[0]), [word.strip('"') for word in columns[0].split(" ") if word]
    if "," not in columns[0] and set(names) <= set(words):
        cells = {len(str(cell).split()) - len(words) for cell in table.frame.iloc[:20, 0]}
        alike = bool(cells) and cells <= {0, 1}  # row names have no name
        sign = " " if len(words) > 1 and (alike or len(names) > 1) else sign
    if sign in (",", '"') and not table.reading.separator:
        return "each line is quoted as one cell; remove the quotes around the lines"
    if sign and not sign.isascii():
        return f"the only column is {columns[0]!r}; replace {sign!r} by commas or tabs"
    return f"the only column is {columns[0]!r}; --sep {_typed(sign)} splits it" if sign else ""


def _sign_beside(name: str, line: str) -> str:
    """Return the sign that separates a name from the others in a line, "" if there is none."""
    sign = r"[^\w ]"
    found = re.search(rf"^{re.escape(name)}({sign})|({sign}){re.escape(name)}($|\2)", line)
    return (found[1] or found[2]) if found else ""


def check_model_columns(path: Path, table: Table, needed: Sequence[str], origin: str = "") -> None:
    """Raise MissingColumn if a file lacks a column that a model needs; the message names columns that may be it."""
    columns = [str(column) for column in table.frame.columns]
    there = set(columns)
    if missing := [name for name in needed if name not in there]:
        found = missing_columns(missing, columns, needed, _unsplit(table, missing))
        raise MissingColumn(f"{path}: {found}{table.naming}{origin}", path, missing[0])


def _matrix(path: Path, table: Table, names: Sequence[str], allow_missing: bool) -> Floats:
    X = np.empty((len(table.frame), len(names)))
    for position, name in enumerate(names):
        X[:, position] = _numbers(path, table, table.frame[name])
    finite = ~np.isinf(X) if allow_missing else np.isfinite(X)
    if not finite.all():
        row, position = np.argwhere(~finite)[0]
        missing, infinite = 0 if allow_missing else int(np.isnan(X).sum()), int(np.isinf(X).sum())
        kinds = [f"{missing} missing (empty or NaN)"] * (missing > 0) + [f"{infinite} infinite"] * (infinite > 0)
        raise UsageError(
            f"{path}: {' and '.join(kinds)} value{'s' * (missing + infinite > 1)}, first in column "
            f"{names[position]!r}, {table.place(int(row))}; fill them in, or leave out these rows or columns"
        )
    large = np.abs(X) > LARGEST
    if large.any():
        row, position = np.argwhere(large)[0]
        raise UsageError(
            f"{path}: column {names[position]!r}, {table.place(int(row))}: {X[row, position]:g} is too large, its "
            "square overflows in double precision; correct it or change the unit of the column"
        )
    return X


def _numbers(path: Path, table: Table, column: pd.Series) -> Floats:
    import pandas as pd

    if column.dtype.kind in "iufb":
        return column.to_numpy(dtype=np.float64)
    numbers = to_numbers(column) if column.dtype.kind not in "mMc" else pd.Series(np.nan, column.index)
    values = np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
    wrong = np.isnan(values) & column.notna().to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        more = f" ({wrong.sum()} such cells in this column)" if wrong.sum() > 1 else ""
        raise UsageError(
            f"{path}: column {column.name!r}, {table.place(row)}: {str(column.iloc[row])!r} is not a number{more}; "
            "encode the column as numbers or leave it out"
        )
    return values
