"""Tables in memory, from any library, and the interpretation of their cells.

The interpretation does not depend on the source: the integer 3, the float 3.0 and the text " 3 " are the category "3".
A model trained on a CSV file therefore gives the same results for a Parquet file or a DataFrame.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.core.arrays import Ints
from pucli.core.errors import nearest
from pucli.data.older_pandas import is_older, within_nanoseconds
from pucli.data.table_libraries import TableError as TableError
from pucli.data.table_libraries import is_table, to_pandas

if TYPE_CHECKING:
    import pandas as pd

# zero-width spaces, marks of the writing direction, which programs copy along with names and numbers, and byte-order
# marks, which joined files have in the middle
_INVISIBLE = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"


def trimmed(text: str) -> str:
    r"""Return a text without blank and invisible characters around it, in the composed form of Unicode.

    Examples
    --------
    >>> trimmed("\ufeff age\u200b ")
    'age'
    """
    text = text.strip()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    while text and (text[0] in _INVISIBLE or text[-1] in _INVISIBLE):
        text = text.strip(_INVISIBLE).strip()
    return text


EMPTY = frozenset(
    {"", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "None", "NaT",
     "\\N"}
)  # fmt: skip
"""Texts that are read as an empty cell."""

_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y")
DATE_FORMATS = (
    "ISO8601",
    *(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")),
    "%Y-%m-%d %I:%M %p",
    "%Y-%m-%d %I:%M:%S %p",
    *("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y"),
    *("%d%b%Y", "%d%b%Y:%H:%M:%S", "%a %b %d %H:%M:%S %Y"),  # SAS and Stata, C
)
"""Date formats; the first format that fits every cell is used."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
YEAR_FIRST = re.compile(r"\d{4}-\d{2}-\d{2}")
"""What means the same whatever the format of the other dates."""
MONTH_ALONE = re.compile(r"\d{4}(-\d{2})?")
"""Dates without a day."""
_BLANK_AROUND = re.compile(r"^\s|\s$", re.MULTILINE)
_ZONE = re.compile(r"[T ]\d{2}[\d:.,]*\s?([Zz]|UTC|GMT|[+-]\d{2}(:?\d{2})?)$")
_UTC_NAME = re.compile(r"(?<=\d)\s?(UTC|GMT)$")
_COMMA = re.compile(r"(?<=:\d{2}),(?=\d{1,9}(?:Z|[+-]\d{2}:?\d{2})?$)")  # before parts of a second, as in log files
_SERIAL = re.compile(r"\d{5}(\.\d+)?")
DURATION = re.compile(
    r"[+-]?\d+ days?,? [+-]?\d{1,2}:\d{2}:\d{2}(\.\d{1,9})?"
    r"|-?P(\d+D)?T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d{1,9})?S)?"
)
"""Durations as pandas and Python write them, and those of ISO 8601 with hours, minutes or seconds."""
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


def as_frame(X: Any) -> pd.DataFrame:
    """Return a table of any library as a pandas DataFrame whose column names are strings."""
    import pandas as pd

    if is_table(X):
        frame = to_pandas(X)
    else:
        array = np.asarray(X)
        if array.dtype.names and array.ndim == 1:  # a structured array
            return pd.DataFrame(array)
        if array.ndim != 2:
            shape = "a single number" if array.ndim == 0 else f"an array of {array.ndim} dimensions"
            raise ValueError(f"Expected a table with rows and columns, got {shape}. Reshape your data.")
        frame = pd.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])])
    named = frame.columns.map(str)
    if not named.is_unique:
        raise TableError(f"two columns are named {named[named.duplicated()][0]!r}; rename one of them")
    return frame if named.equals(frame.columns) else frame.set_axis(named, axis=1)


def cell_text(cell: Any) -> str:
    """Return a cell as text: integers without a decimal point, dates in ISO format, without surrounding blanks."""
    if isinstance(cell, str):
        return trimmed(cell)
    if isinstance(cell, float | np.floating):
        return str(int(cell)) if np.isfinite(cell) and float(cell).is_integer() else repr(float(cell))
    if isinstance(cell, bytes):
        try:
            return trimmed(cell.decode())
        except UnicodeDecodeError:  # such as the 16 bytes of a UUID
            return cell.hex()
    return cell.isoformat() if hasattr(cell, "isoformat") else trimmed(str(cell))


def shortest(value: float, digits: int = 6) -> str:
    """Return a number in few digits, a whole one written out; only one under 1e-9 or over 1e15 has an exponent.

    Examples
    --------
    >>> shortest(2040.0), shortest(0.1 + 0.2), shortest(12345678.9), shortest(0.0000166)
    ('2040', '0.3', '12345679', '0.0000166')
    """
    if not 1e-9 <= abs(value) < 1e15:
        return "0" if value == 0.0 else f"{value:.{digits}g}"
    text = f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def texts_of(cells: list[Any]) -> list[str]:
    """Return cells as texts; see `cell_text`. Those without blanks around them stay as they are, at once."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        joined = "\n".join(cells)
        if joined.isascii() and _BLANK_AROUND.search(joined) is None:
            return cells
    if kinds == {float}:
        return [str(int(cell)) if cell.is_integer() else repr(cell) for cell in cells]
    return list(map(str, cells)) if kinds == {int} else [cell_text(cell) for cell in cells]


class ColumnCells:
    """A column, and what is computed of it once: its distinct texts, its numbers and its days.

    Parameters
    ----------
    series : pandas.Series
        The cells.
    """

    def __init__(self, series: pd.Series) -> None:
        self.series, self.name = series, str(series.name)
        self.type = getattr(series.dtype, "kind", "O")  # of numpy: "i", "u", "f", "b", "m" and "M"
        self._days: dict[tuple[str, bool], tuple[np.ndarray, np.ndarray]] = {}

    @cached_property
    def coded(self) -> tuple[np.ndarray, list[str]]:
        """Return the code of each cell and the distinct texts."""
        import pandas as pd

        try:
            codes, distinct = pd.factorize(self.series)
        except (TypeError, NotImplementedError) as error:  # Arrow has no codes for lists
            raise TableError(
                f"column {self.series.name!r}: a cell must hold one value, not a list or a table; write each part as a "
                "column, or leave the column out"
            ) from error
        texts = texts_of(distinct.tolist())
        places: dict[str, int] = {}
        renamed = [-1 if text in EMPTY else places.setdefault(text, len(places)) for text in texts]
        return np.array([*renamed, -1])[codes], list(places)  # the last is for empty cells, whose code is -1

    @property
    def codes(self) -> np.ndarray:
        """Return the position in `texts` of each cell (n,), -1 for an empty one."""
        return self.coded[0]

    @property
    def texts(self) -> list[str]:
        """Return the k distinct texts."""
        return self.coded[1]

    @cached_property
    def counts(self) -> np.ndarray:
        """Return the number of cells (k,) of each text."""
        codes, texts = self.coded
        return np.bincount(codes[codes >= 0], minlength=len(texts))

    @property
    def n_empty(self) -> int:
        """Return the number of empty cells."""
        return int((self.codes < 0).sum())

    @property
    def frequent(self) -> tuple[str, ...]:
        """Return the texts, at most 1000, most frequent first."""
        texts = self.texts
        return tuple(texts[i] for i in np.argsort(-self.counts, kind="stable")[:1000])

    @cached_property
    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells as numbers, NaN where one is none or infinite, and which filled ones are so."""
        values, wrong = self._numbers()
        infinite = np.isinf(values)
        return (np.where(infinite, np.nan, values), wrong | infinite) if infinite.any() else (values, wrong)

    @property
    def infinite(self) -> np.ndarray:
        """Return which cells (n,) are infinite numbers."""
        wrong = self.numbers[1]
        return wrong & np.isinf(self._numbers()[0]) if wrong.any() else wrong

    def _numbers(self) -> tuple[np.ndarray, np.ndarray]:
        import pandas as pd

        column = self.series
        if isinstance(column.dtype, np.dtype) and self.type in "iufb":
            return column.to_numpy(dtype=np.float64), np.zeros(len(column), dtype=bool)
        if self.type in "iufb" and not isinstance(column.dtype, pd.CategoricalDtype):
            return column.to_numpy(dtype=np.float64, na_value=np.nan), np.zeros(len(column), dtype=bool)
        if self.type == "m":
            return column.dt.total_seconds().to_numpy(dtype=np.float64), np.zeros(len(column), dtype=bool)
        codes, texts = self.coded
        truth = {"True": 1.0, "False": 0.0}
        found = parsed_numbers(texts)
        if set(texts) & set(truth):
            found = np.array([truth.get(text, value) for text, value in zip(texts, found.tolist(), strict=True)])
        values = np.append(found, np.nan)[codes]
        return values, np.isnan(values) & (codes >= 0)

    def days(self, written: str, serials: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells as days since 1970-01-01 (UTC)."""
        if (written, serials) not in self._days:
            if self.type == "M":
                self._days[written, serials] = parsed_days(self.series), np.zeros(len(self.series), dtype=bool)
            else:
                codes, texts = self.coded
                read = read_days(texts, written)
                if serials:
                    read = np.where(np.isnan(read), serial_days(texts), read)
                days = np.append(read, np.nan)[codes]
                self._days[written, serials] = days, np.isnan(days) & (codes >= 0)
        return self._days[written, serials]

    @property
    def zoned(self) -> np.ndarray:
        """Return which cells (n,) of a column of dates carry a time zone, such as "+02:00" or "Z"."""
        import pandas as pd

        column = self.series
        if self.type == "M":
            kind = column.dtype.pyarrow_dtype if isinstance(column.dtype, pd.ArrowDtype) else column.dtype
            return column.notna().to_numpy() & (getattr(kind, "tz", None) is not None)
        codes, texts = self.coded
        found: np.ndarray = np.append(zoned_texts(texts), False)[codes]
        return found


class TableColumns:
    """The columns of a table by their names, each with what is computed of it once (`Cells`).

    Parameters
    ----------
    frame : pandas.DataFrame
        A table whose column names are strings.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._cells: dict[str, ColumnCells] = {}

    def __getitem__(self, name: str) -> ColumnCells:
        """Return the column of a name."""
        if name not in self._cells:
            self._cells[name] = ColumnCells(self.frame[name])
        return self._cells[name]


def is_number(text: str) -> bool:
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_numbers(column: pd.Series) -> pd.Series:
    """Return a column as numbers, NaN where a cell is none, infinite where it has too many digits for a double."""
    import pandas as pd

    try:
        found = pd.to_numeric(column, errors="coerce")
    except OverflowError:  # pandas makes whole numbers of hundreds of digits first
        return _each_number(column)
    exact = found.dtype.kind != "f" or column.dtype.kind == "f" or not is_older()
    return found if exact else _each_number(column).where(found.notna())


def _each_number(column: pd.Series) -> pd.Series:
    import pandas as pd

    return pd.Series([_number(cell) for cell in column], index=column.index, dtype=np.float64)


def _number(cell: Any) -> float:
    if isinstance(cell, str):
        return _double(trimmed(cell))
    try:
        return float(cell)
    except OverflowError:
        return np.inf if cell > 0 else -np.inf
    except (TypeError, ValueError):
        return np.nan


def _double(text: str) -> float:
    return float(text) if _NUMBER.fullmatch(text) or _INFINITE.fullmatch(text) else np.nan


def parsed_numbers(texts: Sequence[str]) -> np.ndarray:
    """Return each text as a number, shape (k,), rounded to the nearest double; NaN if it is not a number.

    A duration such as "2 days 03:00:00" is its number of seconds, as in a column of durations.
    """
    found = np.array(list(map(_double, texts)), float)
    if not np.isnan(found).any():
        return found
    return np.array([value if value == value or not DURATION.fullmatch(text) else _seconds(text)
                     for text, value in zip(texts, found.tolist(), strict=True)], float)  # fmt: skip


def _seconds(text: str) -> float:
    import pandas as pd

    try:
        return float(pd.Timedelta(text.replace(",", "")).total_seconds())
    except (ValueError, OverflowError):
        return np.nan


def zoned_texts(texts: Sequence[str]) -> np.ndarray:
    """Return which dates written as text (k,) end with a time zone."""
    return np.array([_ZONE.search(text) is not None for text in texts], dtype=bool)


def parsed_dates(texts: Sequence[str], written: str) -> np.ndarray:
    """Convert texts to days since 1970-01-01, shape (k,); NaN if a text does not have the given date format."""
    import pandas as pd

    cells = [_COMMA.sub(".", _UTC_NAME.sub("Z", text)) for text in texts]
    cells, later = within_nanoseconds(cells) if is_older() else (cells, 0)
    moments = pd.to_datetime(pd.Series(cells, dtype=object), format=written, errors="coerce", utc=True)
    return parsed_days(moments, later)


def read_days(texts: Sequence[str], written: str) -> np.ndarray:
    """Convert texts as `parsed_dates` does, and those like 2024-12-31 whatever the format is."""
    read = parsed_dates(texts, written)
    other = [place for place in np.flatnonzero(np.isnan(read)).tolist() if YEAR_FIRST.match(texts[place])]
    if written != DATE_FORMATS[0] and other:
        read[other] = parsed_dates([texts[place] for place in other], DATE_FORMATS[0])
    return read


def serial_days(texts: Sequence[str]) -> np.ndarray:
    """Return day numbers of a spreadsheet, counted from 1899-12-30, as days since 1970-01-01; NaN for other texts.

    Only numbers of five digits from 1927 to 2091 are taken.
    """
    values = [float(text) if _SERIAL.fullmatch(text) and 10_000 <= float(text) < 70_000 else np.nan for text in texts]
    return np.array(values, dtype=np.float64) - 25_569.0


def parsed_days(column: pd.Series, later: Ints | int = 0) -> np.ndarray:
    """Return moments, `later` by whole days, as days since 1970-01-01, shape (n,); NaN if a cell is empty."""
    import pandas as pd

    if isinstance(column.dtype, pd.ArrowDtype):
        column = column.astype("datetime64[us, UTC]")
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    moments = column.to_numpy(dtype="datetime64[us]")
    days = (moments.astype(np.int64) + later * 86_400_000_000) / 86_400e6
    return np.where(pd.isna(column).to_numpy(), np.nan, days)


def missing_columns(missing: Sequence[str], present: Sequence[str], needed: Sequence[str], way_out: str = "") -> str:
    """Return the message for columns of a model that a table lacks, with the names that may stand for the first."""
    near = nearest(missing[0], [name for name in present if name not in needed], 2)
    hint = way_out or f"columns: {some_of(present)}"
    if near and not way_out:
        hint = f"there is {' and '.join(map(repr, near))}: rename it if it is the same column"
    more = ", ".join(map(repr, missing[1:6])) + (", ..." if len(missing) > 6 else "")
    nor = f" (nor {more})" if more else ""
    return f"no column {missing[0]!r}{nor}, which the model was trained with; {hint}"


def some_of(columns: Sequence[str]) -> str:
    """Return the first names of columns, for a message."""
    return ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else "")
