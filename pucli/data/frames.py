"""Tables in memory, from whatever library, and the meaning of their cells.

A cell means the same wherever it comes from: the integer 3, the number 3.0 and the text " 3 " are the category "3".
So a model that was trained on a CSV file reads Parquet files and DataFrames with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


class TableError(UsageError, ValueError):
    """A table or a cell that cannot be used; a ValueError as well, as scikit-learn's users expect."""


EMPTY = frozenset(
    {"", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "None", "NaT"}
)
"""Texts that stand for an empty cell."""

_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y")
DATE_FORMATS = (
    "ISO8601",
    *(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")),
    *("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y"),
)
"""Ways to write a date; the first one that fits every cell is taken."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


def as_frame(X: Any, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a table of any library as a pandas DataFrame whose columns are named by text.

    Parameters
    ----------
    X : pandas, polars or Arrow table, anything with the dataframe interchange protocol, or an array (n, m)
        Not changed.
    names : sequence of str, optional
        The columns of an array; x0, x1, ... without it.

    Returns
    -------
    frame : pandas.DataFrame

    Raises
    ------
    TableError
        X has not two dimensions, or two of its columns have one name.
    """
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        frame = X
    elif hasattr(X, "__dataframe__"):
        frame = pd.api.interchange.from_dataframe(X)
    else:
        array = np.asarray(X)
        if array.ndim != 2:
            shape = "a single number" if array.ndim == 0 else f"an array of {array.ndim} dimensions"
            raise ValueError(f"Expected a table with rows and columns, got {shape}. Reshape your data.")
        frame = pd.DataFrame(array, columns=list(names) if names else [f"x{i}" for i in range(array.shape[1])])
    named = frame.columns.map(str)
    if not named.is_unique:
        raise TableError(f"two columns are named {named[named.duplicated()][0]!r}; rename one of them")
    return frame if named.equals(frame.columns) else frame.set_axis(named, axis=1)


def cell_text(cell: Any) -> str:
    """Return a cell as text: whole numbers without a decimal point, dates as ISO text, no blanks around it."""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, float | np.floating):
        return str(int(cell)) if np.isfinite(cell) and float(cell).is_integer() else repr(float(cell))
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace").strip()
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell).strip()


def coded(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Return the distinct texts of a column and where they are.

    Returns
    -------
    codes : (n,) int array
        Position among the texts, -1 for an empty cell.
    texts : list of str
        Distinct texts, in order of first appearance; none of `EMPTY`.

    Raises
    ------
    TableError
        A cell holds more than one value.
    """
    import pandas as pd

    try:
        codes, distinct = pd.factorize(column)
    except TypeError as error:
        raise TableError(f"column {column.name!r}: a cell must hold one value, not a list or a table") from error
    place: dict[str, int] = {}
    renamed = np.full(len(distinct) + 1, -1)  # the last one is for empty cells, whose code is -1
    for position, cell in enumerate(distinct.tolist()):
        text = cell_text(cell)
        if text not in EMPTY:
            renamed[position] = place.setdefault(text, len(place))
    return renamed[codes], list(place)


def parsed_numbers(texts: Sequence[str]) -> np.ndarray:
    """Return the number that each text is, shape (k,), rounded to the nearest double; NaN where it is none."""
    return np.array([float(text) if _NUMBER.fullmatch(text) or _INFINITE.fullmatch(text) else np.nan for text in texts])


def numbers(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return a column as numbers.

    Returns
    -------
    values : (n,) float64 array
        NaN where a cell is empty or not a number; true is 1, false is 0, a duration is in seconds.
    wrong : (n,) bool array
        Filled cells that are not numbers.
    """
    import pandas as pd

    kind = getattr(column.dtype, "kind", "O")
    if isinstance(column.dtype, np.dtype) and kind in "iufb":
        return column.to_numpy(dtype=np.float64), np.zeros(len(column), dtype=bool)
    if kind in "iufb" and not isinstance(column.dtype, pd.CategoricalDtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), np.zeros(len(column), dtype=bool)
    if kind == "m":
        return column.dt.total_seconds().to_numpy(dtype=np.float64), np.zeros(len(column), dtype=bool)
    codes, texts = coded(column)
    truth = {"True": 1.0, "False": 0.0}
    found = parsed_numbers(texts)
    if set(texts) & set(truth):
        found = np.array([truth.get(text, value) for text, value in zip(texts, found.tolist(), strict=True)])
    values = np.append(found, np.nan)[codes]
    return values, np.isnan(values) & (codes >= 0)


def dates(column: pd.Series, written: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a column as days since 1970-01-01 (UTC).

    Parameters
    ----------
    column : pandas.Series
    written : str
        One of `DATE_FORMATS`; used where the cells are text.

    Returns
    -------
    days : (n,) float64 array
        NaN where a cell is empty or not a date.
    wrong : (n,) bool array
        Filled cells that are not dates.
    """
    if getattr(column.dtype, "kind", "O") == "M":
        return _days(column), np.zeros(len(column), dtype=bool)
    codes, texts = coded(column)
    days = np.append(parsed_dates(texts, written), np.nan)[codes]
    return days, np.isnan(days) & (codes >= 0)


def parsed_dates(texts: Sequence[str], written: str) -> np.ndarray:
    """Return the days since 1970-01-01 that each text means, shape (k,); NaN where it is no date of that form."""
    import pandas as pd

    cells = pd.Series(list(texts), dtype=object)
    return _days(pd.to_datetime(cells, format=written, errors="coerce", utc=True))


def _days(column: pd.Series) -> np.ndarray:
    import pandas as pd

    if isinstance(column.dtype, pd.ArrowDtype):
        column = pd.to_datetime(pd.Series(column.astype(object)), utc=True)
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    moments = column.to_numpy(dtype="datetime64[us]")
    days = moments.astype(np.int64) / 86_400e6
    return np.where(pd.isna(column).to_numpy(), np.nan, days)
