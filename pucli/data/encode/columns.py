"""The kinds of columns of a table: number, category, yes/no, date, text, identifier, constant.

The kind is inferred from the cells of the training rows alone, by the rules of this module, or given by the user.
Labels are not read (`pucli.data.encode.label_leakage` does).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pucli.core.errors import UsageError, unknown
from pucli.data.encode.doubtful_cells import (
    FEW_WORDS,
    MOSTLY,
    ambiguous,
    changed_name,
    coded_number,
    date_format,
    decorated,
    doubtful_dates,
    doubtful_numbers,
    is_placeholder,
    is_time,
    na_among_codes,
    odd_form,
    padded,
    padded_cell,
    unread_date,
    usual_date_format,
)
from pucli.data.encode.number_forms import (
    NumberForm,
    formed_numbers,
    is_decorated,
    number_form,
    of_other_scale,
    units_of,
)
from pucli.data.frames import (
    DATE_FORMATS,
    DURATION,
    TableError,
    cell_text,
    coded,
    is_month_alone,
    is_year_first,
    numbers,
    parsed_dates,
    parsed_days,
    parsed_numbers,
    read_days,
    serial_days,
)
from pucli.data.labels import NO, YES

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("number", "category", "yes/no", "date", "text", "identifier", "constant")
"""The kinds of columns. Identifiers and constant texts have no features."""

MIN_ROWS = 20  # fewer filled cells may all differ by chance
UNIQUE = 0.9  # minimum share of distinct cells for a column of text to be an identifier or free text
CHANCE_PAIRS = 5.0  # equal cells that chance would give in a column of different integers that are no identifiers
FEW_PAIRS = 0.05  # share of the equal cells that chance would give, up to which integers are identifiers
MIN_NUMBERS = 3  # minimum number of different numbers or dates among words for empty
EXACT = 2.0**53  # largest integer that a feature represents exactly
SECONDS = "durations, in seconds"
WORDS = 3.0  # minimum mean number of words for many different texts to be free text

_ID_NAME = re.compile(
    r"(?i:(.*[ _.-])?(id|ids|uid|uuid|guid|rowid|row|index|key)|unnamed: 0|row_?names?|row_?num(ber)?)|.*[a-z]I[Dd]"
)
_MAYBE_QUANTITY = re.compile(r"(?i:.+[ _.-](row|index))")  # as heat_index; a number unless nearly all differ
_ORDINALS = frozenset(("st", "nd", "rd", "th"))  # of 1st, 2nd, 3rd and 4th; a few are classes, not quantities
_UNNAMED = "Unnamed: "  # followed by the position, as pandas names a column without a name
_GROUPS = (
    "has each of its values once, and more empty cells: if a value holds for the rows below it, as in a pivot table, "
    "fill it in; else leave the column out (--drop)"
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
    decimal, unit : str
        Form of the numbers (`pucli.data.encode.number_forms`); "" for numbers as programs write them.
    serials : bool
        Whether some dates are day numbers of a spreadsheet.
    n_unread : int
        Number of filled cells that the kind cannot read, which count as empty.
    unread : str
        One of them.
    """

    name: str
    kind: str
    n_empty: int = 0
    values: tuple[str, ...] = ()
    n_distinct: int | None = None
    written: str = ""
    remark: str = ""
    warning: str = ""
    decimal: str = ""
    unit: str = ""
    serials: bool = False
    n_unread: int = 0
    unread: str = ""

    @property
    def share_read(self) -> float | None:
        """Return the share of the filled cells that are read; None if no cell is filled or the column is not used."""
        if self.kind == "identifier" or (self.kind == "constant" and not self.n_distinct):
            return None
        return 1.0 - self.n_unread / max(self.n_filled, self.n_unread, 1)

    n_filled: int = 0


def column_kinds(frame: pd.DataFrame, kinds: Mapping[str, str] | None = None, decimal: str = "") -> list[Column]:
    """Infer the kind of each column of a table.

    Parameters
    ----------
    frame : pandas.DataFrame
        Table whose column names are strings.
    kinds : mapping of column name to kind, optional
        Kinds given by the user, which are only checked against the cells; "date:%d/%m/%Y" names the format as well.
    decimal : str
        Decimal sign of the numbers in text columns, "" to infer it.

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
        if kind.partition(":")[0] not in KINDS:
            raise unknown("kind of column", kind, KINDS)
        if ":" in kind:
            _check_format(name, kind)
    found = []
    for name in frame.columns:
        column = frame[name]
        one = _given(column, kinds[name], decimal) if name in kinds else _inferred(column, decimal)
        found.append(replace(one, n_filled=int(column.notna().sum())))
    return found


def _check_format(name: str, kind: str) -> None:
    """Raise UsageError unless the part after the colon is a format of dates."""
    first, _, written = kind.partition(":")
    if first != "date" or not re.search(r"%[YyGsc]", written):
        example = f"{name}=date:%d/%m/%Y"
        raise UsageError(
            f"--as {name}={kind}: only dates take a format, with %d for the day, %m and %Y, e.g. {example}"
        )


def _inferred(column: pd.Series, decimal: str = "") -> Column:
    """Infer the kind of a column from its type or its texts."""
    import pandas as pd

    name, dtype = str(column.name), column.dtype
    if getattr(dtype, "kind", "O") == "c":
        raise TableError(f"column {name!r} holds complex numbers (Complex data not supported); use two columns")
    if isinstance(dtype, pd.CategoricalDtype):
        column = column.astype(dtype.categories.dtype if dtype.categories.dtype.kind not in "iub" else object)
        return _texts(column, decimal) if len(column) else Column(name, "constant")
    if getattr(dtype, "kind", "O") in "iufbm":
        values = numbers(column)[0]
        if dtype.kind in "iu" and (long := _too_long(name, values, column.nunique)):
            return long
        return _number(name, values, truth=dtype.kind == "b", remark=SECONDS if dtype.kind == "m" else "")
    if getattr(dtype, "kind", "O") == "M":
        n_empty = int(column.isna().sum())
        alike = column.nunique() < 2
        warning = "" if alike else doubtful_dates(parsed_days(column))
        return Column(name, "constant" if alike else "date", n_empty, written=DATE_FORMATS[0], warning=warning)
    return _texts(column, decimal)


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
    if np.isfinite(filled).all() and (filled == np.floor(filled)).all():
        if name.startswith(_UNNAMED) and _counts(filled):
            warning = "has no name and counts like an index; it is not used (--as COLUMN=number to use it)"
            return Column(name, "identifier", n_empty, n_distinct=len(np.unique(filled)), warning=warning)
        if len(filled) >= MIN_ROWS:
            return _whole(name, filled, n_empty, remark)
    return Column(name, "number", n_empty, remark=remark, warning=doubtful_numbers(filled))


def _counts(filled: np.ndarray) -> bool:
    """Return whether whole numbers (n,) are an index as pandas or R writes it: of rows counted, drawn or joined."""
    return len(np.unique(filled)) >= UNIQUE * len(filled) or bool(np.mean(np.diff(filled) == 1.0) >= UNIQUE)


def _too_long(name: str, values: np.ndarray, n_distinct: Callable[[], int]) -> Column | None:
    """Describe a column of integers with so many digits that different ones are equal as numbers (n,); else None."""
    missing = np.isnan(values)
    if not np.any(np.abs(values) >= EXACT) or len(np.unique(values[~missing])) >= n_distinct():
        return None
    warning = (
        "has whole numbers of so many digits that a feature cannot tell them apart, like an identifier; it is not used "
        "(--as COLUMN=number if it is a quantity)"
    )
    return Column(name, "identifier", int(missing.sum()), n_distinct=n_distinct(), warning=warning)


def _whole(name: str, filled: np.ndarray, n_empty: int, remark: str) -> Column:
    """Describe a column of integers, which may be row numbers or identifiers."""
    steps = np.diff(filled)
    if not n_empty and abs(steps[0]) == 1 and (steps == steps[0]).all():
        warning = "counts the rows; it is not used (--as COLUMN=number to use it)"
        return Column(name, "identifier", n_empty, n_distinct=len(filled), warning=warning)
    named = _ID_NAME.fullmatch(name) is not None
    if not named and len(np.unique(filled[:1000])) < UNIQUE * min(len(filled), 1000):
        return Column(name, "number", n_empty, remark=remark, warning=doubtful_numbers(filled))
    n_distinct = len(np.unique(filled))
    if named and n_distinct > max(40, 0.01 * len(filled)):
        if n_distinct < UNIQUE * len(filled) and _MAYBE_QUANTITY.fullmatch(name):
            warning = "is read as a quantity; if it numbers rows or things, leave the column out (--drop or --id)"
            return Column(name, "number", n_empty, n_distinct=n_distinct, remark=remark, warning=warning)
        warning = (
            "looks like an identifier by name and content; it is not used (--as COLUMN=number if it is a quantity)"
        )
        return Column(name, "identifier", n_empty, n_distinct=n_distinct, warning=warning)
    warning = doubtful_numbers(filled)
    if warning:
        return Column(name, "number", n_empty, n_distinct=n_distinct, remark=remark, warning=warning)
    # of n integers drawn from a range R, about n^2 / 2R pairs are equal
    by_chance, repeated = len(filled) ** 2 / (2.0 * (np.ptp(filled) + 1.0)), len(filled) - n_distinct
    if by_chance > CHANCE_PAIRS and repeated <= min(FEW_PAIRS * by_chance, (1.0 - UNIQUE) * len(filled)):
        repeat = "repeats" if repeated == 1 else "repeat"
        rows = f"nearly every row ({repeated} of {len(filled)} {repeat} another)" if repeated else "every row"
        more = "some" if not repeated else "more"
        warning = (
            f"has a different integer in {rows}, where chance would repeat {more}, like an identifier; it is not used "
            "(--as COLUMN=number if it is a quantity)"
        )
        return Column(name, "identifier", n_empty, n_distinct=n_distinct, warning=warning)
    if n_distinct == len(filled) >= 50 and np.ptp(filled) > 10 * len(filled):
        warning = "has distinct integers only; if they are identifiers, leave the column out (--drop or --id)"
    return Column(name, "number", n_empty, n_distinct=n_distinct, remark=remark, warning=warning)


def _texts(column: pd.Series, decimal: str = "") -> Column:
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
    blank = np.array([is_placeholder(text) for text in texts])
    as_number = ~np.isnan(formed_numbers(texts, decimal) if decimal else parsed_numbers(texts))
    if _mostly(as_number, blank, texts, counts):
        return _plain_numbers(column, codes, texts, counts, as_number, decimal)
    if formed := _formed(name, codes, texts, counts, blank, decimal):
        return formed
    if dated := _dates(name, codes, texts, counts, blank):
        return replace(dated, n_empty=n_empty)
    meant = {text.casefold() for text in texts}
    if n_distinct > 2 and meant <= YES | NO and meant & YES and meant & NO:
        return replace(seen, kind="yes/no", remark=f"words for yes and no: {', '.join(map(repr, values[:6]))}")
    if n_distinct == 2:
        return replace(seen, kind="yes/no")
    found = _words(seen, texts, n_filled)
    use = "not used" if found.kind == "identifier" else "used as words"
    warning = _numbers_and_words(found, as_number, texts, counts) or _of_other_form(texts, use)
    if not warning and n_empty and na_among_codes(texts) and column.isin(["NA"]).any():
        warning = padded("NA")
    if not warning and found.kind == "category":
        warning = _of_words(texts, bool(codes[0] >= 0 and 3 <= n_filled == n_distinct <= n_empty))
    return replace(found, warning=warning) if warning else found


def _of_words(texts: Sequence[str], once: bool) -> str:
    """Return a warning about the values of a category, "" without any; `once` says that each heads empty cells."""
    if alike := _in_other_letters(texts):
        return f"has values that differ in capital letters alone, {alike[0]!r} and {alike[1]!r}; write them alike"
    if changed := changed_name(texts):
        return f"has {changed!r}, which a spreadsheet may have made of a name or a range such as 10-12; correct it"
    return _GROUPS if once else ""


def _plain_numbers(
    column: pd.Series, codes: np.ndarray, texts: list[str], counts: np.ndarray, as_number: np.ndarray, decimal: str
) -> Column:
    """Describe a column of texts that are numbers as programs write them, but for a few."""
    name = str(column.name)
    there = text_numbers(codes, texts, decimal)[0] if decimal else numbers(column)[0]
    if long := _too_long(name, there, lambda: sum(text.isdecimal() for text in texts)):
        return long
    durations = any(DURATION.fullmatch(text) for text in texts)
    found = replace(_number(name, there, remark=SECONDS if durations else ""), decimal=decimal)
    if found.kind == "number" and not found.warning and (code := padded_cell(texts)):
        return replace(found, warning=padded(code))
    return _with_unread(found, as_number, texts, counts, "not numbers")


def _numbers_and_words(found: Column, as_number: np.ndarray, texts: Sequence[str], counts: np.ndarray) -> str:
    """Return a warning if most of the texts are numbers, and the others are no codes such as B254 beside 1E23."""
    share = counts[as_number].sum() / counts.sum()
    if share < 0.05 or as_number.sum() <= np.sum(~as_number):
        return ""
    words = [text for text, read in zip(texts, as_number, strict=True) if not read]
    coded = np.mean([any(character.isdigit() for character in word) for word in words])
    if found.kind == "identifier" and coded >= UNIQUE:
        return ""
    other = texts[int(np.argmax(np.where(as_number, 0, counts)))]
    way_out = "--as COLUMN=number reads them and takes the other cells as empty; --missing names words for empty"
    return f"holds numbers in {100.0 * share:.0f} % of the cells, words such as {other!r} in others; {way_out}"


def _of_other_form(texts: Sequence[str], use: str) -> str:
    """Return a warning if the texts are dates or numbers of a form that is not read, else ""."""
    if dated := unread_date(texts):
        example, form = dated
        way_out = f"--as COLUMN=date:{form} reads them" if form else "write them as 2024-12-31"
        return f"holds dates of a form that is not read, e.g. {example!r}, and is {use}; {way_out}"
    if found_number := coded_number(texts):
        example, value = found_number
        return f"holds numbers as programs write them, e.g. {example!r}, and is {use}; write them as {value}"
    if example := decorated(texts):
        if is_time(example):
            return f"holds times, e.g. {example!r}, and is {use}; write them as a number of hours, minutes or seconds"
        units = units_of(texts)
        if _ORDINALS.issuperset(units):
            return f"holds ordinal numbers, e.g. {example!r}, and is {use}; write them as 1" if len(texts) > 9 else ""
        why = f" ({' and '.join(units[:2])})" if len(units) > 1 else ""
        return f"holds numbers with signs or units{why}, e.g. {example!r}, and is {use}; write them as 12.5"
    if odd := odd_form(texts):
        what, example, way_out = odd
        return f"holds {what}, e.g. {example!r}, and is {use}; {way_out}"
    return ""


def _in_other_letters(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the first two texts that differ in capital letters alone; None if there are none."""
    seen: dict[str, str] = {}
    for text in texts:
        if (first := seen.setdefault(text.casefold(), text)) != text:
            return first, text
    return None


def _mostly(good: np.ndarray, blank: np.ndarray, texts: Sequence[str], counts: np.ndarray) -> bool:
    """Return whether nearly all cells are `good` (numbers or dates) or stand for an empty cell.

    good, blank : (k,) masks of the distinct texts that are read, and that are known words for empty.
    counts : (k,) cells of each text.
    """
    n_good, n_filled, n_words = counts[good].sum(), counts.sum(), int(np.sum(~good))
    if n_good >= MOSTLY * n_filled:
        return True
    if n_good >= 0.5 * n_filled and n_words <= FEW_WORDS and int(good.sum()) >= 10 * max(n_words, 1):
        return True
    rest = n_filled - counts[blank & ~good].sum()
    return bool(good.sum() >= MIN_NUMBERS and n_good >= MOSTLY * rest)


def _with_unread(found: Column, read: np.ndarray, texts: Sequence[str], counts: np.ndarray, what: str) -> Column:
    """Return the description with the cells that are not read, which count as empty."""
    n_unread, n_filled = int(counts[~read].sum()), int(counts.sum())
    if not n_unread:
        return found
    wrong = texts[int(np.argmax(np.where(read, 0, counts)))]
    remark = f"cells that are {what}, treated as empty: {n_unread}, e.g. {wrong!r}"
    found = replace(found, n_unread=n_unread, unread=wrong, remark="; ".join(filter(None, (found.remark, remark))))
    if n_unread > (1.0 - MOSTLY) * n_filled and not is_placeholder(wrong) and not found.warning:
        share = f"{100.0 * n_unread / n_filled:.0f} %"
        way_out = "--as COLUMN=category keeps them as words"
        return replace(
            found, warning=f"has cells that are {what} ({share}), which count as empty, e.g. {wrong!r}; {way_out}"
        )
    if n_unread > 0.5 * n_filled and not found.warning:
        return replace(
            found, warning=f"is {wrong!r} in most cells, which count as empty; --as COLUMN=category keeps the words"
        )
    return found


def _formed(
    name: str, codes: np.ndarray, texts: Sequence[str], counts: np.ndarray, blank: np.ndarray, decimal: str
) -> Column | None:
    """Describe a column of numbers with signs, units or separators; None for others and for mixed forms."""
    like = np.array([is_decorated(text) for text in texts])
    if not _mostly(like, blank, texts, counts) or like.sum() < MIN_NUMBERS:
        return None
    alike = [text for text, one in zip(texts, like, strict=True) if one]
    form = number_form(alike, decimal)
    if form is None:
        return None
    values, _ = text_numbers(codes, texts, form.decimal, form.unit)
    example = texts[int(np.argmax(np.isnan(parsed_numbers(texts)) & like))]
    means = cell_text(float(formed_numbers([example], form.decimal, form.unit)[0]))
    doubt = "" if form.sure else "; if the comma is a decimal sign, give --decimal ,"
    if plain := of_other_scale(alike, form):
        doubt += f"; {plain!r}, without {form.unit}, is read as it stands, maybe of another scale: write them alike"
    warning = f"holds numbers with signs or units: {example!r} is read as {means}{doubt}"
    found = replace(_number(name, values), decimal=form.decimal, unit=form.unit)
    if found.kind == "number":
        found = replace(found, warning="; it ".join(filter(None, (warning, found.warning))))
    return _with_unread(found, ~np.isnan(formed_numbers(texts, form.decimal, form.unit)), texts, counts, "not numbers")


def text_numbers(
    codes: np.ndarray, texts: Sequence[str], decimal: str, unit: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a coded column whose texts have a given form.

    Parameters
    ----------
    codes : array of int, shape (n,)
        Position in `texts` of each cell, -1 for an empty one.
    texts : sequence of str
        The distinct texts of the column.
    decimal : str
        The decimal sign, "." or ",".
    unit : str, default=""
        The unit that a text may have, "" for none.

    Returns
    -------
    values : array of shape (n,)
        NaN where there is no number.
    wrong : array of bool, shape (n,)
        Whether a filled cell is not a number of this form.
    """
    values = np.append(formed_numbers(texts, decimal, unit), np.nan)[codes]
    return values, np.isnan(values) & (codes >= 0)


def _dates(name: str, codes: np.ndarray, texts: list[str], counts: np.ndarray, blank: np.ndarray) -> Column | None:
    """Describe a column of dates; None for any other column."""
    serial = ~np.isnan(serial_days(texts))
    left = [i for i in range(len(texts)) if not blank[i] and not serial[i]]
    if not left:
        return None
    dated, n_dated = [texts[i] for i in left], counts[left]
    written = date_format(dated) or usual_date_format(dated, n_dated)
    other = [text for text in dated if not is_year_first(text)]
    two_forms = not written and 0 < len(other) < len(dated)
    if two_forms:
        written = date_format(other)
    if not written:
        return None
    serials = bool(serial.any())
    days = read_days(texts, written)
    read = ~np.isnan(days) | serial
    if not _mostly(read, blank, texts, counts):
        return None
    warning = ambiguous(dated, written) or doubtful_dates(np.append(days, np.nan)[codes])
    if two_forms and not warning:
        year_first = next(text for text in dated if is_year_first(text))
        warning = f"has dates of two forms, {other[0]!r} and {year_first!r}; both are read"
        if _days_exchanged(days, np.array([is_year_first(text) for text in texts])):
            warning += (
                ", but the second have days up to 12 and the first have not, as where a spreadsheet has exchanged day "
                "and month: export them as text"
            )
    short = [text for text in dated if is_month_alone(text)] if written == DATE_FORMATS[0] else []
    if 0 < len(short) < len(dated) and not warning:
        warning = f"has dates without a day, e.g. {short[0]!r}, which is read as the first one; write all days"
    if serials:
        example = texts[int(serial.argmax())]
        day = np.datetime64("1970-01-01") + int(serial_days([example])[0])
        warning = f"has day numbers of a spreadsheet among its dates: {example!r} is read as {day}"
    found = Column(name, "date", n_distinct=len(texts), written=written, serials=serials, warning=warning)
    return _with_unread(found, read, texts, counts, "not dates")


def _days_exchanged(days: np.ndarray, year_first: np.ndarray) -> bool:
    """Return whether dates (k,), in days since 1970, are up to the 12th of a month if and only if `year_first`."""
    of_month = np.array([np.nan if np.isnan(day) else _day_of_month(day) for day in days])
    converted, left = of_month[year_first], of_month[~year_first & ~np.isnan(of_month)]
    return bool(min(len(converted), len(left)) >= MIN_NUMBERS and np.nanmax(converted) <= 12 < left.min())


def _day_of_month(days: float) -> int:
    day = np.datetime64(int(days // 1), "D")
    return int((day - day.astype("datetime64[M]")).astype(int)) + 1


def _words(seen: Column, texts: list[str], n_filled: int) -> Column:
    """Decide between category, text and identifier for a column of three or more distinct texts."""
    n_distinct = len(texts)
    n_words = float(np.mean([len(text.split()) for text in texts[:10_000]]))
    varied = n_filled >= MIN_ROWS and n_distinct >= UNIQUE * n_filled
    if n_words >= WORDS and (varied or n_distinct > 40 or (n_filled < MIN_ROWS and n_distinct == n_filled)):
        return replace(seen, kind="text")
    if varied:
        warning = "differs in nearly every row, like an identifier; it names rows and is not used as a feature"
        return replace(seen, kind="identifier", warning=warning)
    return seen


def _given(column: pd.Series, kind: str, decimal: str = "") -> Column:
    """Describe a column whose kind the user gave."""
    name = str(column.name)
    kind, _, written = kind.partition(":")
    if kind == "number":
        values, wrong = numbers(column)
        form = _given_form(column, wrong, decimal)
        if form is not None:
            values, wrong = text_numbers(*coded(column), form.decimal, form.unit)
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
        example = _first(column, wrong) if n_wrong else ""
        decimal, unit = (form.decimal, form.unit) if form is not None else ("", "")
        doubt = (
            ""
            if form is None or form.sure
            else "has a comma before three digits, which is read as separating thousands"
        )
        return Column(
            name,
            kind,
            n_empty,
            remark=remark,
            decimal=decimal,
            unit=unit,
            n_unread=n_wrong,
            unread=example,
            warning=f"{doubt}; if it is a decimal sign, give --decimal ," if doubt else "",
        )
    if kind == "date" and getattr(column.dtype, "kind", "O") == "M":
        return Column(name, kind, int(column.isna().sum()), written=DATE_FORMATS[0])
    codes, texts = coded(column)
    n_empty = int((codes < 0).sum())
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    values_in_order = tuple(texts[i] for i in np.argsort(-counts, kind="stable")[:1000])
    if kind == "date":
        return _given_date(name, texts, counts, n_empty, written)
    if kind == "yes/no" and len(texts) > 2:
        raise TableError(f"column {name!r} is declared as yes/no, but has {len(texts)} values; use category")
    return Column(name, kind, n_empty, values_in_order, len(texts))


def _given_form(column: pd.Series, wrong: np.ndarray, decimal: str) -> NumberForm | None:
    """Return the form of the numbers of a column that is declared as number, None for plain numbers."""
    if getattr(column.dtype, "kind", "O") in "iufbmMc" or not (wrong.any() or decimal):
        return None
    _, texts = coded(column)
    like = [text for text in texts if is_decorated(text)]
    if not decimal and not np.isnan(parsed_numbers(like)).any():
        return None
    form = number_form(like, decimal)
    if form is not None:
        return form
    units = units_of(like)
    if len(units) > 1:
        raise TableError(
            f"column {str(column.name)!r} is declared as number, but has the units {units[0]!r} and {units[1]!r}; "
            "convert one of them"
        )
    raise TableError(
        f"column {str(column.name)!r} is declared as number, but both . and , are decimal signs in it, e.g. "
        f"{like[0]!r}; give --decimal . or --decimal , or correct the cells"
    )


def _given_date(name: str, texts: Sequence[str], counts: np.ndarray, n_empty: int, written: str = "") -> Column:
    if written:
        read = ~np.isnan(parsed_dates(texts, written))
        if len(texts) and not read.any():
            raise TableError(f"column {name!r}: no cell is a date of the form {written}, e.g. {texts[0]!r}")
        found = Column(name, "date", n_empty, n_distinct=len(texts), written=written)
        return _with_unread(found, read, texts, counts, f"not dates of the form {written}")
    shares = [float(np.mean(~np.isnan(read_days(texts, written)))) if texts else 0.0 for written in DATE_FORMATS]
    best = int(np.argmax(shares))
    if shares[best] == 0:
        example = f", e.g. {texts[0]!r}" if texts else ""
        raise TableError(
            f"column {name!r} is declared as date, but no cell is a date{example}; write dates as 2024-12-31"
        )
    found = Column(name, "date", n_empty, n_distinct=len(texts), written=DATE_FORMATS[best])
    return _with_unread(found, ~np.isnan(read_days(texts, DATE_FORMATS[best])), texts, counts, "not dates")


def _first(column: pd.Series, wrong: np.ndarray) -> str:
    return cell_text(column.iloc[int(wrong.argmax())])


def yes_value(values: Sequence[str]) -> str:
    """Return which of one or two texts means yes: a word for yes, otherwise the last in sorted order."""
    yes = [value for value in values if value.casefold() in YES]
    if len(yes) == 1:
        return yes[0]
    denied = [value for value in values if value.casefold() not in NO]
    if len(denied) == 1:
        return denied[0]
    as_number = parsed_numbers(values)
    return values[int(as_number.argmax())] if not np.isnan(as_number).any() else max(values)
