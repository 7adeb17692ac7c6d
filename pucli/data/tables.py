"""(X, y) from a user's own file, or one message that names the file, column and row, and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pucli.data.formats import Table, open_table
from pucli.data.select import class_text
from pucli.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

# Values beyond it overflow when they are squared and summed.
LARGEST = 1e150


def read_table(
    path: str | Path,
    *,
    label: str | None = None,
    positive: str | int | None = None,
    features: Sequence[str] | None = None,
    sheet: str | None = None,
    multiclass: bool = False,
    unlabeled: int | None = None,
    allow_missing: bool = False,
) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """Read features and labels from a CSV, TSV, Parquet, XLSX, ARFF, MAT, LIBSVM or NPZ file.

    Parameters
    ----------
    path : the file; its kind is told by its name. Text may be separated by comma, semicolon, tab or blanks, with or
        without a header line, plain or .gz. Without names, columns are numbered from 1.
    label : the label's column (MAT, NPZ: variable; LIBSVM: "label"); None if the file has no labels.
    positive : the class that counts as positive, all others are negative. With it, an empty label cell is negative
        too (not known to be positive). Without it the column must hold two classes, the greater one is positive.
    features : the feature columns, in order; all but the label if None.
    sheet : sheet of a spreadsheet, the first one if None.
    multiclass : return the classes themselves, any number of them.
    unlabeled : with multiclass, the label of rows whose label cell is empty; without it such a cell is an error.
    allow_missing : whether feature cells may be empty; they are NaN in X.

    Returns
    -------
    X : (n, m) float64, finite, or NaN where a cell is empty.
    y : (n,) int64, +1 positive and -1 negative (or the classes, integer or text); None without `label`.
    feature_names : m names.

    Raises
    ------
    UsageError
        The file, a column, a class or a cell is missing or wrong.
    """
    path = Path(path)
    table = open_table(path, label, sheet)
    frame = table.frame
    frame.columns = frame.columns.map(str)
    if len(frame) == 0:
        raise UsageError(f"{path} has no data rows")
    y = None
    if label is not None:
        label = str(label)
        column = frame[_existing(path, frame, label, table.naming)]
        y = _classes(path, table, column, unlabeled) if multiclass else _plus_minus(path, table, column, positive)
    if features is not None:
        names = [_existing(path, frame, str(name), table.naming) for name in features]
    else:
        names = [name for name in frame.columns if name != label]
    if not names:
        raise UsageError(f"{path} has no feature column beside the label {label!r}")
    return _matrix(path, table, names, allow_missing), y, names


def table_notes(X: np.ndarray, feature_names: Sequence[str]) -> list[str]:
    """Return what is worth mentioning about X (n, m): constant features and duplicate rows. Both are allowed."""
    notes = []
    constant = [name for name, same in zip(feature_names, (X[:1] == X).all(axis=0), strict=True) if same]
    if constant:
        shown = ", ".join(constant[:5]) + (", ..." if len(constant) > 5 else "")
        notes.append(f"{len(constant)} constant feature{'s' * (len(constant) > 1)}: {shown}")
    rows = np.ascontiguousarray(X + 0.0)  # -0.0 and 0.0 are the same value
    duplicates = len(rows) - len({row.tobytes() for row in rows})
    if duplicates:
        notes.append(f"{duplicates} duplicate row{'s' * (duplicates > 1)}")
    return notes


def _existing(path: Path, frame: pd.DataFrame, name: str, naming: str) -> str:
    columns = list(frame.columns)
    if name in columns:
        return name
    near = difflib.get_close_matches(name.lower(), [column.lower() for column in columns], n=3, cutoff=0.5)
    names = [column for column in columns if column.lower() in near]
    shown = ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else "")
    hint = f"did you mean {' or '.join(map(repr, names))}?" if names else f"columns: {shown}"
    raise UsageError(f"{path}: no column {name!r}; {hint}{naming}")


def _label_cells(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels as text (n,) and the mask of the empty ones."""
    empty = column.isna().to_numpy()
    filled = column[~empty]
    if column.dtype == object and len(filled) and all(isinstance(cell, bool | np.bool_) for cell in filled):
        filled = filled.astype(str)  # a column of True, False and empty cells
    text = np.full(len(column), "", dtype=object)
    text[~empty] = filled.astype(str).to_numpy() if filled.dtype.kind == "b" else class_text(filled)
    return text, empty


def _plus_minus(path: Path, table: Table, column: pd.Series, positive: str | int | None) -> np.ndarray:
    text, empty = _label_cells(column)
    present = _ordered(set(text[~empty]))
    counts = ", ".join(f"{value!r} ({np.sum(text == value)} rows)" for value in present[:6])
    counts += ", ..." if len(present) > 6 else ""
    where = f"{path}: label column {column.name!r}"
    if positive is not None:
        wanted = _as_written(str(positive), present)
        if wanted is None:
            raise UsageError(f"{where} has no class {str(positive)!r}; its classes: {counts or 'none'}")
        if len(present) == 1 and not empty.any():
            raise UsageError(f"{where} has one class only, {counts}; rows of other classes (or empty) are needed too")
        return np.where(text == wanted, 1, -1).astype(np.int64)
    if empty.any():
        raise UsageError(
            f"{where} is empty in {empty.sum()} of {len(empty)} rows, first at {table.place(int(empty.argmax()))}; "
            "name the positive class with --positive to take these rows as unlabeled, or fill them in"
        )
    if len(present) == 1:
        raise UsageError(f"{where} has one class only, {counts}; rows of a second class (or unlabeled) are needed too")
    if len(present) > 2:
        raise UsageError(f"{where} has {len(present)} classes: {counts}; name the positive one with --positive")
    return np.where(text == present[1], 1, -1).astype(np.int64)


def _classes(path: Path, table: Table, column: pd.Series, unlabeled: int | None) -> np.ndarray:
    text, empty = _label_cells(column)
    if empty.any() and unlabeled is None:
        first = table.place(int(empty.argmax()))
        raise UsageError(f"{path}: label column {column.name!r} is empty in {empty.sum()} rows, first at {first}")
    text[empty] = str(unlabeled)
    try:
        return np.array([int(value) for value in text], dtype=np.int64)
    except ValueError:
        return text.astype(str)


def _ordered(values: set[str]) -> list[str]:
    """Return class names in order: by number where all are numbers, else as text."""
    try:
        return sorted(values, key=float)
    except ValueError:
        return sorted(values)


def _as_written(value: str, present: Sequence[str]) -> str | None:
    """Return the class that `value` means: the same text, the same number, or the same truth value."""
    if value.strip() in present:
        return value.strip()
    for candidate in present:
        try:
            if float(candidate) == float(value):
                return candidate
        except ValueError:
            if {candidate, value.capitalize()} in ({"True"}, {"False"}):
                return candidate
    return None


def _matrix(path: Path, table: Table, names: Sequence[str], allow_missing: bool) -> np.ndarray:
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
            f"{names[position]!r}, {table.place(int(row))}; fill them in or leave out these rows or columns"
        )
    large = np.abs(X) > LARGEST
    if large.any():
        row, position = np.argwhere(large)[0]
        raise UsageError(
            f"{path}: column {names[position]!r}, {table.place(int(row))}: {X[row, position]:g} is too large, its "
            "square is beyond double precision; correct it or change the column's unit"
        )
    return X


def _numbers(path: Path, table: Table, column: pd.Series) -> np.ndarray:
    import pandas as pd

    if column.dtype.kind in "iufb":
        return column.to_numpy(dtype=np.float64)
    numbers = (
        pd.to_numeric(column, errors="coerce") if column.dtype.kind not in "mMc" else pd.Series(np.nan, column.index)
    )
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.isnan(values) & column.notna().to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        more = f" ({wrong.sum()} such cells in this column)" if wrong.sum() > 1 else ""
        raise UsageError(
            f"{path}: column {column.name!r}, {table.place(row)}: {str(column.iloc[row])!r} is not a number{more}; "
            "code the column as numbers or leave it out of the file"
        )
    return values
