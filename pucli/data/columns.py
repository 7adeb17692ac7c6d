"""The kinds of columns of a table: number, category, yes/no, date, text, identifier, constant.

The kind is inferred from the cells of the training rows alone, by the rules of this module, or given by the user.
Labels are read only by `leaks`, which warns but changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pucli.data.frames import DATE_FORMATS, TableError, cell_text, coded, numbers, parsed_dates, parsed_numbers
from pucli.errors import unknown

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("number", "category", "yes/no", "date", "text", "identifier", "constant")
"""The kinds of columns. Identifiers and constant texts have no features."""

MIN_ROWS = 20  # fewer filled cells may all differ by chance
UNIQUE = 0.9  # minimum share of distinct cells for a column of text to be an identifier or free text
MOSTLY = 0.95  # minimum share of numbers for the other cells of a column to be treated as empty
WORDS = 3.0  # minimum mean number of words for many different texts to be free text
TELLING = 0.995  # minimum area under the ROC curve for a single column to be a suspected label leak
TELLING_SHARE = 0.8  # minimum difference of two shares (filled cells, cells with a word) for a suspected label leak
MOST_WORDS = 2000  # maximum number of words of a text column that are looked at
JUDGED = 20_000  # maximum number of labelled and of other rows used to look for label leaks

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
    return Column(name, "number", n_empty, remark=remark)


def _whole(name: str, filled: np.ndarray, n_empty: int, remark: str) -> Column:
    """Describe a column of integers, which may be row numbers or identifiers."""
    steps = np.diff(filled)
    if not n_empty and abs(steps[0]) == 1 and (steps == steps[0]).all():
        warning = "counts the rows; it is not used (--as COLUMN=number to use it)"
        return Column(name, "identifier", n_empty, n_distinct=len(filled), warning=warning)
    named = _ID_NAME.fullmatch(name) is not None
    if not named and len(np.unique(filled[:1000])) < min(len(filled), 1000):
        return Column(name, "number", n_empty, remark=remark)
    n_distinct = len(np.unique(filled))
    if named and n_distinct > max(40, 0.01 * len(filled)):
        warning = "looks like an identifier by name and content; it is not used (--as COLUMN=number to use it)"
        return Column(name, "identifier", n_empty, n_distinct=n_distinct, warning=warning)
    warning = ""
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
    share = counts[as_number].sum() / n_filled
    if share >= MOSTLY:
        wrong = texts[int((~as_number).argmax())]
        remark = f"cells that are not numbers, treated as empty: {n_filled - counts[as_number].sum()}, e.g. {wrong!r}"
        return _number(name, numbers(column)[0], remark="" if as_number.all() else remark)
    written = _date_format(texts)
    if written:
        return Column(name, "date", n_empty, n_distinct=n_distinct, written=written, remark=_ambiguous(texts, written))
    if n_distinct == 2:
        return replace(seen, kind="yes/no")
    return _words(seen, texts, n_filled)


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


def _date_format(texts: Sequence[str]) -> str:
    """Return the first date format that fits every text, or "" if none does."""
    sample = texts[:50]
    if not all(any(character.isdigit() for character in text) and 6 <= len(text) <= 40 for text in sample):
        return ""
    for written in DATE_FORMATS:
        if not np.isnan(parsed_dates(sample, written)).any() and not np.isnan(parsed_dates(texts, written)).any():
            return written
    return ""


def _ambiguous(texts: Sequence[str], written: str) -> str:
    """Return a remark if day and month could be exchanged, otherwise ""."""
    other = written.replace("%d/%m", "%m/%d")
    if other != written and not np.isnan(parsed_dates(texts, other)).any():
        return "read with the day first; the dates would also be valid with the month first"
    return ""


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


def leaks(frame: pd.DataFrame, labelled: np.ndarray, columns: Sequence[Column]) -> dict[str, str]:
    """Find columns that probably leak the label.

    Parameters
    ----------
    frame : pandas.DataFrame
        Training rows.
    labelled : (n,) bool array
        The labelled rows, or the labelled positives.
    columns : sequence of Column
        The result of `column_kinds` for `frame`.

    Returns
    -------
    warnings : dict of column name to text
        A column is suspected if the shares of labelled and of other rows for which it is filled, or which have one of
        its words, differ by at least `TELLING_SHARE`, if it is filled only for labelled rows, or if it alone separates
        the two with an area under the ROC curve of at least `TELLING`. For categories, that area is measured on rows
        that were not used to order the values. For a large table, it is measured on a sample of both kinds of rows.
    """
    labelled = np.asarray(labelled, dtype=bool)
    n_labelled = int(labelled.sum())
    found: dict[str, str] = {}
    if not 10 <= n_labelled <= len(labelled) - 10:
        return found
    rows = _sample(labelled)
    if len(rows) < len(labelled):
        frame, labelled = frame.iloc[rows], labelled[rows]
    for column in columns:
        if column.kind in {"constant", "identifier"}:
            continue
        cells = frame[column.name]
        if column.n_empty:
            filled = ~_empty(cells, column)
            shares = filled[labelled].mean(), filled[~labelled].mean()
            if abs(shares[0] - shares[1]) >= TELLING_SHARE or _one_sided(filled, labelled):
                found[column.name] = (
                    f"is filled for {100 * shares[0]:.0f} % of the labelled and {100 * shares[1]:.0f} % of the other "
                    "rows: it may leak the label (--drop)"
                )
                continue
        if column.kind == "text":
            word = _telling_word(cells, labelled)
            if word:
                found[column.name] = f"has the word {word!r} where rows are labelled: it may leak the label (--drop)"
            continue
        ranks = _rates(cells, labelled) if column.kind in {"category", "yes/no"} else None
        if ranks is None:
            values, judged = _ordered(cells, column), np.ones(len(labelled), dtype=bool)
        else:
            values, judged = ranks
        present = judged & ~np.isnan(values)
        if present[labelled].sum() >= 10 and _telling(values[present], labelled[present]):
            found[column.name] = "separates the labelled rows from the others by itself: it may leak the label (--drop)"
    return found


def _telling_word(cells: pd.Series, labelled: np.ndarray) -> str:
    """Return a word that nearly all rows of one kind have and nearly none of the other, or ""."""
    from sklearn.feature_extraction.text import CountVectorizer

    words = CountVectorizer(binary=True, max_features=MOST_WORDS)
    try:
        there = words.fit_transform(cells.fillna("").astype(str))
    except ValueError:  # no words
        return ""
    shares = [np.asarray(there[kind].mean(axis=0)).ravel() for kind in (labelled, ~labelled)]
    difference = np.abs(shares[0] - shares[1])
    best = int(difference.argmax())
    return str(words.get_feature_names_out()[best]) if difference[best] >= TELLING_SHARE else ""


def _sample(labelled: np.ndarray) -> np.ndarray:
    """Return the numbers of at most `JUDGED` labelled and `JUDGED` other rows, drawn with a fixed seed."""
    random = np.random.default_rng(0)
    sides = [np.flatnonzero(labelled), np.flatnonzero(~labelled)]
    drawn = [random.choice(side, JUDGED, replace=False) if len(side) > JUDGED else side for side in sides]
    return np.sort(np.concatenate(drawn))


def _empty(cells: pd.Series, column: Column) -> np.ndarray:
    return np.isnan(_ordered(cells, column)) if column.kind in {"number", "date"} else coded(cells)[0] < 0


def _ordered(cells: pd.Series, column: Column) -> np.ndarray:
    from pucli.data.frames import dates

    return dates(cells, column.written)[0] if column.kind == "date" else numbers(cells)[0]


def _rates(cells: pd.Series, labelled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of labelled rows for each cell's value, computed on half of the rows, and the other half."""
    codes, texts = coded(cells)
    codes = np.where(codes < 0, len(texts), codes)
    learn = np.random.default_rng(0).random(len(codes)) < 0.5
    total = np.bincount(codes[learn], minlength=len(texts) + 1)
    positive = np.bincount(codes[learn & labelled], minlength=len(texts) + 1)
    base = labelled[learn].mean() if learn.any() else 0.0
    return ((positive + base) / (total + 1.0))[codes], ~learn


def _one_sided(filled: np.ndarray, labelled: np.ndarray) -> bool:
    """Return whether at least ten cells are filled and all belong to labelled rows, which are the minority."""
    return bool(filled.sum() >= 10 and labelled[filled].all() and labelled.mean() < 0.5)


def _telling(values: np.ndarray, labelled: np.ndarray) -> bool:
    from scipy.stats import rankdata

    n_labelled = int(labelled.sum())
    n_other = len(labelled) - n_labelled
    if not n_labelled or not n_other:
        return False
    area = (rankdata(values)[labelled].sum() - n_labelled * (n_labelled + 1) / 2) / (n_labelled * n_other)
    return bool(max(area, 1 - area) >= TELLING)
