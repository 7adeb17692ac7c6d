"""The kinds of columns of a table: number, category, yes/no, date, text, identifier, constant.

The kind is inferred from the cells of the training rows alone, by the rules of this module, or given by the user.
Labels are not read (`pucli.data.encode.label_leakage` does).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pucli.core.errors import unknown
from pucli.data.encode.doubtful_cells import (
    FEW_WORDS,
    MOSTLY,
    ambiguous,
    date_format,
    decorated,
    doubtful_numbers,
    unread_date,
    usual_date_format,
)
from pucli.data.frames import (
    DATE_FORMATS,
    TableError,
    cell_text,
    coded,
    numbers,
    parsed_dates,
    parsed_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("number", "category", "yes/no", "date", "text", "identifier", "constant")
"""The kinds of columns. Identifiers and constant texts have no features."""

MIN_ROWS = 20  # fewer filled cells may all differ by chance
UNIQUE = 0.9  # minimum share of distinct cells for a column of text to be an identifier or free text
CHANCE_PAIRS = 5.0  # equal cells that chance would give in a column of different integers that are no identifiers
WORDS = 3.0  # minimum mean number of words for many different texts to be free text

YES = frozenset({"yes", "y", "true", "t", "1", "on", "ja", "oui", "si", "sí", "present", "positive", "pos"})
_NO = frozenset({"no", "n", "false", "f", "0", "off", "nein", "non", "absent", "negative", "neg"})
_ID_NAME = re.compile(
    r"(?i:(.*[ _.-])?(id|ids|uid|uuid|guid|rowid|row|index|key)|unnamed: 0|row_?names?|row_?num(ber)?)|.*[a-z]I[Dd]"
)


@dataclass(frozen=True)
class Column:
    """Description of a column.

    Parameters
    ----------
    name : str
    kind : str
        One of `KINDS`.
    n_empty : int
        Number of empty cells.
    values : tuple of str
        Distinct texts, most frequent first; () for numbers, dates and large columns of text.
    n_distinct : int or None
        Number of distinct filled cells; None if not counted (numbers).
    written : str
        Format of dates, one of `pucli.data.frames.DATE_FORMATS`.
    remark : str
        Information for the user that needs no action, or "".
    warning : str
        Problem that the user should look at, or "".
    """

    name: str
    kind: str
    n_empty: int = 0
    values: tuple[str, ...] = ()
    n_distinct: int | None = None
    written: str = ""
    remark: str = ""
    warning: str = ""


def column_kinds(frame: pd.DataFrame, kinds: Mapping[str, str] | None = None) -> list[Column]:
    """Infer the kind of each column of a table.

    Parameters
    ----------
    frame : pandas.DataFrame
        Table whose column names are strings.
    kinds : mapping of column name to kind, optional
        Kinds given by the user, which are only checked against the cells.

    Returns
    -------
    columns : list of Column
        In the order of the table.

    Raises
    ------
    TableError
        A name or kind in `kinds` does not exist, or no cell of a column has the given kind.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 47, 52], "job": ["cook", "nurse", "pilot"], "member": ["yes", "no", "no"]})
    >>> [column.kind for column in column_kinds(table)]
    ['number', 'category', 'yes/no']
    """
    kinds = dict(kinds or {})
    for name, kind in kinds.items():
        if name not in frame.columns:
            raise unknown("column", name, frame.columns)
        if kind not in KINDS:
            raise unknown("kind of column", kind, KINDS)
    return [_given(frame[name], kinds[name]) if name in kinds else _inferred(frame[name]) for name in frame.columns]


def _inferred(column: pd.Series) -> Column:
    """Infer the kind of a column from its type or its texts."""
    import pandas as pd

    name, dtype = str(column.name), column.dtype
    if getattr(dtype, "kind", "O") == "c":
        raise TableError(f"column {name!r} holds complex numbers (Complex data not supported); use two columns")
    if isinstance(dtype, pd.CategoricalDtype):
        column = column.astype(dtype.categories.dtype if dtype.categories.dtype.kind not in "iub" else object)
        return _texts(column) if len(column) else Column(name, "constant")
    if getattr(dtype, "kind", "O") in "iufbm":
        return _number(name, numbers(column)[0], truth=dtype.kind == "b")
    if getattr(dtype, "kind", "O") == "M":
        n_empty = int(column.isna().sum())
        alike = column.nunique() < 2
        return Column(name, "constant" if alike else "date", n_empty, written=DATE_FORMATS[0])
    return _texts(column)


def _number(name: str, values: np.ndarray, *, truth: bool = False, remark: str = "") -> Column:
    """Describe a column of numbers (n,), NaN where a cell is empty."""
    missing = np.isnan(values)
    n_empty = int(missing.sum())
    filled = values[~missing] if n_empty else values
    if not len(filled):
        return Column(name, "constant", n_empty, n_distinct=0, remark="every cell is empty")
    low, high = filled.min(), filled.max()
    if low == high and not n_empty:
        return Column(name, "constant", n_empty, n_distinct=1, remark=f"every cell is {cell_text(float(low))}")
    if truth or (low == 0 and high == 1 and np.isin(filled, (0.0, 1.0)).all()):
        return Column(name, "yes/no", n_empty, n_distinct=2, remark=remark)
    if len(filled) >= MIN_ROWS and np.isfinite(filled).all() and (filled == np.floor(filled)).all():
        return _whole(name, filled, n_empty, remark)
    return Column(name, "number", n_empty, remark=remark, warning=doubtful_numbers(filled))


def _whole(name: str, filled: np.ndarray, n_empty: int, remark: str) -> Column:
    """Describe a column of integers, which may be row numbers or identifiers."""
    steps = np.diff(filled)
    if not n_empty and abs(steps[0]) == 1 and (steps == steps[0]).all():
        warning = "counts the rows; it is not used (--as COLUMN=number to use it)"
        return Column(name, "identifier", n_empty, n_distinct=len(filled), warning=warning)
    named = _ID_NAME.fullmatch(name) is not None
    if not named and len(np.unique(filled[:1000])) < min(len(filled), 1000):
        return Column(name, "number", n_empty, remark=remark, warning=doubtful_numbers(filled))
    n_distinct = len(np.unique(filled))
    if named and n_distinct > max(40, 0.01 * len(filled)):
        warning = "looks like an identifier by name and content; it is not used (--as COLUMN=number to use it)"
        return Column(name, "identifier", n_empty, n_distinct=n_distinct, warning=warning)
    warning = doubtful_numbers(filled)
    if warning:
        return Column(name, "number", n_empty, n_distinct=n_distinct, remark=remark, warning=warning)
    # of n integers drawn from a range R, about n^2 / 2R pairs are equal
    if n_distinct == len(filled) and len(filled) ** 2 > 2.0 * CHANCE_PAIRS * (np.ptp(filled) + 1.0):
        warning = (
            "has a different integer in every row, where chance would repeat some, like an identifier; it is not used "
            "(--as COLUMN=number to use it)"
        )
        return Column(name, "identifier", n_empty, n_distinct=n_distinct, warning=warning)
    if n_distinct == len(filled) >= 50 and np.ptp(filled) > 10 * len(filled):
        warning = "has distinct integers only; if they are identifiers, leave the column out (--drop or --id)"
    return Column(name, "number", n_empty, n_distinct=n_distinct, remark=remark, warning=warning)


def _texts(column: pd.Series) -> Column:
    """Describe a column that does not have a numeric type."""
    name = str(column.name)
    codes, texts = coded(column)
    n_empty = int((codes < 0).sum())
    n_filled, n_distinct = len(codes) - n_empty, len(texts)
    counts = np.bincount(codes[codes >= 0], minlength=n_distinct)
    values = tuple(texts[i] for i in np.argsort(-counts, kind="stable")[:1000])
    seen = Column(name, "category", n_empty, values, n_distinct)
    if n_distinct == 0:
        return Column(name, "constant", n_empty, n_distinct=0, remark="every cell is empty")
    if n_distinct == 1:
        if n_empty:
            return replace(seen, kind="yes/no", remark=f"either {texts[0]!r} or empty")
        return replace(seen, kind="constant", remark=f"every cell is {texts[0]!r}")
    if {text.casefold() for text in texts} <= {"true", "false"}:
        return replace(seen, kind="yes/no")
    as_number = ~np.isnan(parsed_numbers(texts))
    share, n_words = counts[as_number].sum() / n_filled, n_distinct - int(as_number.sum())
    if share >= MOSTLY or (share >= 0.5 and n_words <= FEW_WORDS and n_distinct - n_words >= 10 * max(n_words, 1)):
        wrong = texts[int((~as_number).argmax())]
        remark = f"cells that are not numbers, treated as empty: {n_filled - counts[as_number].sum()}, e.g. {wrong!r}"
        return _number(name, numbers(column)[0], remark="" if as_number.all() else remark)
    written = date_format(texts) or usual_date_format(texts, counts)
    if written:
        return Column(name, "date", n_empty, n_distinct=n_distinct, written=written, warning=ambiguous(texts, written))
    if n_distinct == 2:
        return replace(seen, kind="yes/no")
    found = _words(seen, texts, n_filled)
    use = "not used" if found.kind == "identifier" else "used as words"
    if example := unread_date(texts):
        warning = f"holds dates of a form that is not read, e.g. {example!r}, and is {use}; write them as 2024-12-31"
        return replace(found, warning=warning)
    if example := decorated(texts):
        warning = f"holds numbers with signs or units, e.g. {example!r}, and is {use}; write them as 12.5"
        return replace(found, warning=warning)
    return found


def _words(seen: Column, texts: list[str], n_filled: int) -> Column:
    """Decide between category, text and identifier for a column of three or more distinct texts."""
    n_distinct = len(texts)
    n_words = float(np.mean([len(text.split()) for text in texts[:10_000]]))
    varied = n_filled >= MIN_ROWS and n_distinct >= UNIQUE * n_filled
    if n_words >= WORDS and (varied or n_distinct > 40 or (n_filled < MIN_ROWS and n_distinct == n_filled)):
        return replace(seen, kind="text")
    if varied:
        warning = "differs in nearly every row, like an identifier; it is not used (--as COLUMN=category to use it)"
        return replace(seen, kind="identifier", warning=warning)
    return seen


def _given(column: pd.Series, kind: str) -> Column:
    """Describe a column whose kind the user gave."""
    name = str(column.name)
    if kind == "number":
        values, wrong = numbers(column)
        n_wrong, n_empty = int(wrong.sum()), int(np.isnan(values).sum())
        if n_wrong and n_empty == len(values):
            raise TableError(
                f"column {name!r} is declared as number, but no cell is a number, e.g. {_first(column, wrong)!r}"
            )
        remark = (
            f"cells that are not numbers, treated as empty: {n_wrong}, e.g. {_first(column, wrong)!r}"
            if n_wrong
            else ""
        )
        return Column(name, kind, n_empty, remark=remark)
    if kind == "date" and getattr(column.dtype, "kind", "O") == "M":
        return Column(name, kind, int(column.isna().sum()), written=DATE_FORMATS[0])
    codes, texts = coded(column)
    n_empty = int((codes < 0).sum())
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    values_in_order = tuple(texts[i] for i in np.argsort(-counts, kind="stable")[:1000])
    if kind == "date":
        return _given_date(name, texts, n_empty)
    if kind == "yes/no" and len(texts) > 2:
        raise TableError(f"column {name!r} is declared as yes/no, but has {len(texts)} values; use category")
    return Column(name, kind, n_empty, values_in_order, len(texts))


def _given_date(name: str, texts: Sequence[str], n_empty: int) -> Column:
    shares = [float(np.mean(~np.isnan(parsed_dates(texts, written)))) if texts else 0.0 for written in DATE_FORMATS]
    best = int(np.argmax(shares))
    if shares[best] == 0:
        example = f", e.g. {texts[0]!r}" if texts else ""
        raise TableError(
            f"column {name!r} is declared as date, but no cell is a date{example}; write dates as 2024-12-31"
        )
    return Column(name, "date", n_empty, n_distinct=len(texts), written=DATE_FORMATS[best])


def _first(column: pd.Series, wrong: np.ndarray) -> str:
    return cell_text(column.iloc[int(wrong.argmax())])


def yes_value(values: Sequence[str]) -> str:
    """Return which of one or two texts means yes: a word for yes, otherwise the last in sorted order."""
    yes = [value for value in values if value.casefold() in YES]
    if len(yes) == 1:
        return yes[0]
    denied = [value for value in values if value.casefold() not in _NO]
    if len(denied) == 1:
        return denied[0]
    as_number = parsed_numbers(values)
    return values[int(as_number.argmax())] if not np.isnan(as_number).any() else max(values)
