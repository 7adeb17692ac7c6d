"""The kinds of columns of a table: number, category, yes/no, date, text, identifier, constant.

The kind is inferred from the cells of the training rows alone, or given by the user. Labels are not read
(`pucli.data.columns.leakage` does).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pucli.core.errors import UsageError, by_interface, shell_word, unknown
from pucli.data.columns.cells import (
    DATE_FORMATS,
    DURATION,
    MONTH_ALONE,
    YEAR_FIRST,
    ColumnCells,
    TableColumns,
    TableError,
    cell_text,
    parsed_dates,
    parsed_numbers,
    read_days,
    serial_days,
)
from pucli.data.columns.doubts import (
    FEW_WORDS,
    MOSTLY,
    NUMBER_RULES,
    TEXT_RULES,
    TextColumn,
    ambiguous,
    date_format,
    doubtful_dates,
    error_cell,
    first_warning,
    in_other_letters,
    padded,
    padded_cell,
    placeholders,
    usual_date_format,
)
from pucli.data.columns.number_forms import (
    MULTIPLES,
    SIGNS,
    NumberForm,
    flagged_numbers,
    formed_numbers,
    is_decorated,
    number_form,
    of_other_scale,
    text_numbers,
    units_of,
)
from pucli.data.labels import NO, YES

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("number", "category", "yes/no", "date", "text", "identifier", "constant")
"""The kinds of columns. Identifiers and constant texts have no features."""
MOST_FLAGS = 10  # that have a feature
MIN_NUMBERS = 3  # minimum number of different numbers or dates among words for empty
FEW_ANSWERS = 10  # up to so many different cells, 1, 2, 3 and 4+ are answers, not numbers


@dataclass(frozen=True)
class Column:
    """Description of a column."""

    name: str
    kind: str  # one of `KINDS`
    n_empty: int = 0  # number of empty cells
    values: tuple[str, ...] = ()  # distinct texts, most frequent first; () for numbers, dates and large columns of text
    n_distinct: int | None = None  # number of distinct filled cells; None if not counted (numbers)
    written: str = ""  # format of dates, one of `pucli.data.columns.cells.DATE_FORMATS`
    remark: str = ""  # information for the user that needs no action, or ""
    warning: str = ""  # problem that the user should look at, or ""
    # form of the numbers (`pucli.data.columns.number_forms`); "" for numbers as programs write them
    decimal: str = ""
    unit: str = ""
    serials: bool = False  # whether some dates are day numbers of a spreadsheet
    n_unread: int = 0  # number of filled cells that the kind cannot read, which count as empty
    unread: str = ""  # one of them
    n_filled: int = 0  # number of filled cells
    # what stands beside the numbers of some cells, or in place of them, and is a feature; None where nothing does
    flags: tuple[str, ...] | None = None

    @property
    def share_read(self) -> float | None:
        """Return the share of the filled cells that are read; None if no cell is filled or the column is not used."""
        if self.kind == "identifier" or (self.kind == "constant" and not self.n_distinct):
            return None
        return 1.0 - self.n_unread / max(self.n_filled, self.n_unread, 1)


def mostly(good: np.ndarray, cells: ColumnCells) -> bool:
    """Return whether nearly all cells have a text that is `good` (k,), a number or date, or stands for empty."""
    counts = cells.counts
    n_good, n_filled, n_words = counts[good].sum(), counts.sum(), int(np.sum(~good))
    if n_good >= MOSTLY * n_filled:
        return True
    if n_good >= 0.5 * n_filled and n_words <= FEW_WORDS and int(good.sum()) >= 10 * max(n_words, 1):
        return True
    if good.sum() < MIN_NUMBERS:
        return False
    rest = n_filled - counts[placeholders(cells.texts) & ~good].sum()
    return bool(n_good >= MOSTLY * rest)


def with_unread(found: Column, cells: ColumnCells, read: np.ndarray, what: str) -> Column:
    """Return the description with the cells that are not read, which count as empty."""
    counts = cells.counts
    n_unread, n_filled = int(counts[~read].sum()), int(counts.sum())
    if not n_unread:
        return found
    wrong = cells.texts[int(np.argmax(np.where(read, 0, counts)))]
    remark = f"cells that are {what}, treated as empty: {n_unread}, e.g. {wrong!r}"
    found = replace(found, n_unread=n_unread, unread=wrong, remark="; ".join(filter(None, (found.remark, remark))))
    told = ""
    if n_unread > (1.0 - MOSTLY) * n_filled and not placeholders([wrong])[0]:
        share = f"{100.0 * n_unread / n_filled:.0f} %"
        way_out = "--as COLUMN=category keeps them as words"
        told = f"has cells that are {what} ({share}), which count as empty, e.g. {wrong!r}; {way_out}"
    elif n_unread > 0.5 * n_filled:
        told = f"is {wrong!r} in most cells, which count as empty; --as COLUMN=category keeps the words"
    return replace(found, warning="; it ".join(filter(None, (found.warning, told))))


LONG_SPAN = 60 * 365.25  # days
_DATE_NAME = re.compile(r"(?i:(.*[ _.-])?(date|datum|fecha)([ _.-].*)?)|.*[a-z]Date")
_FIRST, _LAST = 30_000, 60_000  # day numbers of a spreadsheet, from 1982 to 2064


def date_column(cells: ColumnCells) -> Column | None:
    """Describe a column of dates; None for any other column."""
    texts, blank = cells.texts, placeholders(cells.texts)
    serial = ~np.isnan(serial_days(texts))
    left = [i for i in range(len(texts)) if not blank[i] and not serial[i]]
    if not left:
        return None
    dated, n_dated = [texts[i] for i in left], cells.counts[left]
    written = date_format(dated) or usual_date_format(dated, n_dated)
    other = [text for text in dated if not YEAR_FIRST.match(text)]
    two_forms = not written and 0 < len(other) < len(dated)
    if two_forms:
        written = date_format(other)
    if not written:
        return None
    serials = bool(serial.any())
    days = read_days(texts, written)
    read = ~np.isnan(days) | serial
    if not mostly(read, cells):
        return None
    warning = ambiguous(dated, written) or doubtful_dates(np.append(days, np.nan)[cells.codes])
    if two_forms and not warning:
        year_first = next(text for text in dated if YEAR_FIRST.match(text))
        warning = f"has dates of two forms, {other[0]!r} and {year_first!r}; both are read"
        if _days_exchanged(days, np.array([YEAR_FIRST.match(text) is not None for text in texts])):
            warning += (
                ", but the second have days up to 12 and the first have not, as where a spreadsheet has exchanged day "
                "and month: export them as text"
            )
    short = [text for text in dated if MONTH_ALONE.fullmatch(text)] if written == DATE_FORMATS[0] else []
    if 0 < len(short) < len(dated) and not warning:
        warning = f"has dates without a day, e.g. {short[0]!r}, which is read as the first one; write all days"
    if serials:
        example = texts[int(serial.argmax())]
        day = np.datetime64("1970-01-01") + int(serial_days([example])[0])
        warning = f"has day numbers of a spreadsheet among its dates: {example!r} is read as {day}"
    n_empty, n_distinct = cells.n_empty, len(texts)
    found = Column(cells.name, "date", n_empty, (), n_distinct, written, warning=warning, serials=serials)
    return with_unread(found, cells, read, "not dates")


def with_day_numbers(found: Column, values: np.ndarray) -> Column:
    """Return a column of numbers (n,) with a warning if its name says date and its cells may be spreadsheet days."""
    filled = values[~np.isnan(values)]
    if found.kind not in ("number", "identifier") or not _DATE_NAME.fullmatch(found.name):
        return found
    if len(filled) < MIN_NUMBERS or not (filled.min() >= _FIRST and filled.max() < _LAST):
        return found
    example = cell_text(float(filled[0]))
    day = np.datetime64("1970-01-01") + int(serial_days([example])[0])
    text = f"may hold day numbers of a spreadsheet: --as COLUMN=date reads {example} as {day}"
    return replace(found, warning="; it ".join(filter(None, (text, found.warning))))


def _days_exchanged(days: np.ndarray, year_first: np.ndarray) -> bool:
    """Return whether dates (k,), in days since 1970, are up to the 12th of a month if and only if `year_first`."""
    of_month = np.array([np.nan if np.isnan(day) else _day_of_month(day) for day in days])
    converted, left = of_month[year_first], of_month[~year_first & ~np.isnan(of_month)]
    return bool(min(len(converted), len(left)) >= MIN_NUMBERS and np.nanmax(converted) <= 12 < left.min())


def _day_of_month(days: float) -> int:
    day = np.datetime64(int(days // 1), "D")
    return int((day - day.astype("datetime64[M]")).astype(int)) + 1


def _two_centuries(days: np.ndarray) -> str:
    """Return a warning if dates (k,) with years of two digits, in days since 1970, fall far apart, as births do."""
    if np.ptp(days) <= LONG_SPAN:
        return ""
    return (
        "has years of two digits, of which 00 to 68 are read as 2000 to 2068 and 69 to 99 as 1969 to 1999; write all "
        "four digits if some are of another century"
    )


def declared_date_column(cells: ColumnCells, written: str = "") -> Column:
    """Describe a column that is declared as dates, of the form `written` if it is not empty."""
    name, texts = cells.name, cells.texts
    if written:
        days = parsed_dates(texts, written)
        read = ~np.isnan(days)
        if len(texts) and not read.any():
            raise TableError(f"column {name!r}: no cell is a date of the form {written}, e.g. {texts[0]!r}")
        warning = _two_centuries(days[read]) if "%y" in written and len(texts) else ""
        found = Column(name, "date", cells.n_empty, n_distinct=len(texts), written=written, warning=warning)
        return with_unread(found, cells, read, f"not dates of the form {written}")
    shares = [float(np.mean(~np.isnan(read_days(texts, written)))) if texts else 0.0 for written in DATE_FORMATS]
    best, serial = int(np.argmax(shares)), ~np.isnan(serial_days(texts))
    if shares[best] == 0 and not serial.any():
        example = f", e.g. {texts[0]!r}" if texts else ""
        raise TableError(
            f"column {name!r} is declared as date, but no cell is a date{example}; write dates as 2024-12-31"
        )
    written, serials = DATE_FORMATS[best], bool(serial.any())
    found = Column(name, "date", cells.n_empty, n_distinct=len(texts), written=written, serials=serials)
    return with_unread(found, cells, ~np.isnan(read_days(texts, written)) | serial, "not dates")


MIN_ROWS = 20  # fewer filled cells may all differ by chance
UNIQUE = 0.9  # minimum share of distinct cells for a column of text to be an identifier or free text
CHANCE_PAIRS = 5.0  # equal cells that chance would give in a column of different integers that are no identifiers
FEW_PAIRS = 0.05  # share of the equal cells that chance would give, up to which integers are identifiers
EXACT = 2.0**53  # largest integer that a feature represents exactly
SECONDS = "durations, in seconds"
_ID_NAME = re.compile(
    r"(?i:(.*[ _.-])?(id|ids|uid|uuid|guid|rowid|row|index|key)|unnamed: 0|row_?names?|row_?num(ber)?)|.*[a-z]I[Dd]"
)
_MAYBE_QUANTITY = re.compile(r"(?i:.+[ _.-](row|index))")  # as heat_index; a number unless nearly all differ
_UNNAMED = "Unnamed: "  # followed by the position, as pandas names a column without a name


def number_column(name: str, values: np.ndarray, *, truth: bool = False, remark: str = "") -> Column:
    """Describe a column of numbers."""
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
    return Column(name, "number", n_empty, remark=remark, warning=first_warning(NUMBER_RULES, filled))


def _counts(filled: np.ndarray) -> bool:
    """Return whether whole numbers (n,) are an index as pandas or R writes it: of rows counted, drawn or joined."""
    return len(np.unique(filled)) >= UNIQUE * len(filled) or bool(np.mean(np.diff(filled) == 1.0) >= UNIQUE)


def too_long_integers(name: str, values: np.ndarray, n_distinct: Callable[[], int]) -> Column | None:
    """Describe a column of integers with so many digits that different ones are equal as numbers; else None."""
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
        return Column(
            name,
            "number",
            n_empty,
            remark=remark,
            warning=first_warning(NUMBER_RULES, filled),
        )
    n_distinct = len(np.unique(filled))
    if named and n_distinct > max(40, 0.01 * len(filled)):
        if n_distinct < UNIQUE * len(filled) and _MAYBE_QUANTITY.fullmatch(name):
            warning = "is read as a quantity; if it numbers rows or things, leave the column out (--drop or --id)"
            return Column(name, "number", n_empty, n_distinct=n_distinct, remark=remark, warning=warning)
        remark = "named like an identifier; --as COLUMN=number if it is a quantity"
        return Column(name, "identifier", n_empty, n_distinct=n_distinct, remark=remark)
    warning = first_warning(NUMBER_RULES, filled)
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


def plain_number_column(cells: ColumnCells, as_number: np.ndarray, decimal: str) -> Column:
    """Describe a column of texts that are numbers as programs write them, but for a few."""
    name, texts = cells.name, cells.texts
    there = text_numbers(cells.codes, texts, decimal)[0] if decimal else cells.numbers[0]
    if long := too_long_integers(name, there, lambda: sum(text.isdecimal() for text in texts)):
        return long
    durations = any(DURATION.fullmatch(text) for text in texts)
    found = replace(number_column(name, there, remark=SECONDS if durations else ""), decimal=decimal)
    if found.kind == "number" and not found.warning and (code := padded_cell(texts)):
        return replace(found, warning=padded(code))
    return with_unread(found, cells, as_number, "not numbers")


def formed_number_column(cells: ColumnCells, decimal: str) -> Column | None:
    """Describe a column of numbers with signs, units or separators; None for others and for mixed forms."""
    texts = cells.texts
    like = is_decorated(texts)
    if not mostly(like, cells) or like.sum() < MIN_NUMBERS:
        return None
    alike = [text for text, one in zip(texts, like, strict=True) if one]
    form = number_form(alike, decimal)
    if form is None:
        return None
    values, _ = text_numbers(cells.codes, texts, form.decimal, form.unit)
    example = texts[int(np.argmax(np.isnan(parsed_numbers(texts)) & like))]
    means = cell_text(float(formed_numbers([example], form.decimal, form.unit)[0]))
    doubt = f"; if {form.doubt}, give --decimal ," if form.doubt else ""
    if plain := of_other_scale(alike, form):
        doubt += f"; {plain!r}, without {form.unit}, is read as it stands, maybe of another scale: write them alike"
    warning = f"holds numbers with signs or units: {example!r} is read as {means}{doubt}"
    found = replace(number_column(cells.name, values), decimal=form.decimal, unit=form.unit)
    if found.kind == "number":
        found = replace(found, warning="; it ".join(filter(None, (warning, found.warning))))
    return with_unread(found, cells, ~np.isnan(formed_numbers(texts, form.decimal, form.unit)), "not numbers")


def flagged_number_column(cells: ColumnCells, decimal: str, *, declared: bool = False) -> Column | None:
    """Describe a column of numbers with flags beside some of them; None for another."""
    texts, counts = cells.texts, cells.counts
    signs = (decimal,) if decimal else (".", ",")
    found = {sign: flagged_numbers(texts, sign) for sign in signs}
    sign = min(signs, key=lambda one: int(np.isnan(found[one].values).sum()))
    values, flags = found[sign]
    number, flagged = ~np.isnan(values), np.array([bool(flag) for flag in flags])
    marks = {flag for flag, one in zip(flags, number & flagged, strict=True) if one and not SIGNS.fullmatch(flag)}
    plain = counts[number & ~flagged].sum()
    if not declared and len(texts) <= FEW_ANSWERS and {flag for flag in flags if flag} == {"+"}:
        return None
    if marks and (2 * plain < counts[number].sum() or (len(marks) < 2 and not declared) or marks <= MULTIPLES.keys()):
        return None  # units, of which one alone has a form of its own
    blank = placeholders(texts)
    empty = blank | np.array([text.startswith(":") for text in texts])
    if not declared and not ((number & flagged).any() and mostly(number | empty, cells)):
        return None
    if len(np.unique(values[number])) < MIN_NUMBERS or (declared and number.sum() < is_decorated(texts).sum()):
        return None
    by_flag = Counter[str]()
    for flag, n, one in zip(flags, counts.tolist(), flagged & ~blank, strict=True):
        by_flag[flag] += n * bool(one)
    told = ", ".join(f"{flag!r} ({n:,})" for flag, n in by_flag.most_common(4) if n)
    n_unread, other = int(counts[~number].sum()), np.where(number, 0, counts)
    column = number_column(cells.name, np.append(values, np.nan)[cells.codes])
    ways = "--as COLUMN=number makes features of them, --as COLUMN=category keeps the words"
    warning = f"has flags beside its numbers or in place of them, which are not used: {told}; {ways}"
    return replace(
        column,
        kind="number" if declared else column.kind,
        decimal=sign,
        flags=tuple(flag for flag, n in by_flag.most_common(MOST_FLAGS) if n) if declared else (),
        n_unread=n_unread,
        unread=texts[int(other.argmax())] if n_unread else "",
        warning=column.warning if declared else "; it ".join(filter(None, (warning, column.warning))),
        remark=f"cells without a number, treated as empty: {n_unread:,}; flags: {told or 'none'}" if declared else "",
    )


def declared_number_column(cells: ColumnCells, decimal: str) -> Column:
    """Describe a column that is declared as number; cells that are none count as empty."""
    name = cells.name
    values, wrong = cells.numbers
    if cells.type == "O" and wrong.any() and (flagged := flagged_number_column(cells, decimal, declared=True)):
        return flagged
    form = _declared_form(cells, wrong, decimal)
    if form is not None:
        values, wrong = text_numbers(*cells.coded, form.decimal, form.unit)
    n_wrong, n_empty = int(wrong.sum()), int(np.isnan(values).sum())
    example = cell_text(cells.series.iloc[int(wrong.argmax())]) if n_wrong else ""
    if n_wrong and n_empty == len(values):
        raise TableError(f"column {name!r} is declared as number, but no cell is a number, e.g. {example!r}")
    doubt = form.doubt if form is not None else ""
    warning = f"has a comma or dot before three digits; if {doubt}, give --decimal ," if doubt else ""
    return Column(
        name,
        "number",
        n_empty,
        remark=f"cells that are not numbers, treated as empty: {n_wrong}, e.g. {example!r}" if n_wrong else "",
        decimal="" if form is None else form.decimal,
        unit="" if form is None else form.unit,
        n_unread=n_wrong,
        unread=example,
        warning=warning,
    )


def _declared_form(cells: ColumnCells, wrong: np.ndarray, decimal: str) -> NumberForm | None:
    """Return the form of the numbers of a column that is declared as number, None for plain numbers."""
    if cells.type in "iufbmMc" or not (wrong.any() or decimal):
        return None
    like = [text for text, one in zip(cells.texts, is_decorated(cells.texts), strict=True) if one]
    if not decimal and not np.isnan(parsed_numbers(like)).any():
        return None
    form = number_form(like, decimal)
    if form is not None:
        return form
    units = units_of(like)
    if len(units) > 1:
        raise TableError(
            f"column {cells.name!r} is declared as number, but has the units {units[0]!r} and {units[1]!r}; "
            "convert one of them"
        )
    raise TableError(
        f"column {cells.name!r} is declared as number, but both . and , are decimal signs in it, e.g. "
        f"{like[0]!r}; give --decimal . or --decimal , or correct the cells"
    )


WORDS = 3.0  # minimum mean number of words for many different texts to be free text
_WORD, _LONG_NUMBER = re.compile(r"[^\W\d_]{3}"), re.compile(r"\d{4}")


def text_column(cells: ColumnCells, decimal: str = "") -> Column:
    """Describe a column that does not have a numeric type."""
    found = _described(cells, decimal)
    if found.warning or found.kind in ("number", "date", "identifier", "text"):
        return found
    if error := error_cell(cells.texts):
        how = f"has {error!r}, which a spreadsheet shows for an error or a narrow column: correct the cells, or"
        return replace(found, warning=f"{how} --missing {shell_word(error)} reads them as empty")
    texts = cells.texts
    if found.kind == "yes/no" and not {text.casefold() for text in texts} <= {"true", "false"}:
        return replace(found, warning=in_other_letters(TextColumn(cells, "category")))
    return found


def _described(cells: ColumnCells, decimal: str) -> Column:
    """Describe a column as `text_column` does, but for errors of a spreadsheet and two values written alike."""
    name, codes, texts, n_empty, values = cells.name, cells.codes, cells.texts, cells.n_empty, cells.frequent
    n_filled, n_distinct = len(codes) - n_empty, len(texts)
    seen = Column(name, "category", n_empty, values, n_distinct)
    if n_distinct == 0:
        return Column(name, "constant", n_empty, n_distinct=0, remark="every cell is empty")
    if n_distinct == 1:
        if n_empty:
            return replace(seen, kind="yes/no", remark=f"either {texts[0]!r} or empty")
        return replace(seen, kind="constant", remark=f"every cell is {texts[0]!r}")
    if {text.casefold() for text in texts} <= {"true", "false"}:
        return replace(seen, kind="yes/no")
    as_number = ~np.isnan(formed_numbers(texts, decimal) if decimal else parsed_numbers(texts))
    if not as_number.all() and (flagged := flagged_number_column(cells, decimal)):
        return flagged
    if mostly(as_number, cells):
        return plain_number_column(cells, as_number, decimal)
    if formed := formed_number_column(cells, decimal):
        return formed
    if dated := date_column(cells):
        return dated
    meant = {text.casefold() for text in texts}
    if n_distinct > 2 and meant <= YES | NO and meant & YES and meant & NO:
        return replace(seen, kind="yes/no", remark=f"words for yes and no: {', '.join(map(repr, values[:6]))}")
    if n_distinct == 2:
        return replace(seen, kind="yes/no")
    found = _words(seen, texts, n_filled)
    return replace(found, warning=first_warning(TEXT_RULES, TextColumn(cells, found.kind, as_number)))


def _numbered(texts: Sequence[str]) -> bool:
    """Return whether nearly all texts have no word of letters, and a long number of their own, as telephone numbers."""
    sample = texts[:1000]
    parts = [text.split() for text in sample]
    counts = Counter(part for found in parts for part in set(found))
    own = [any(counts[part] == 1 and _LONG_NUMBER.search(part) for part in found) for found in parts]
    words = [_WORD.search(text) is not None for text in sample]
    return sum(own) >= UNIQUE * len(sample) and sum(words) <= 0.05 * len(sample)


def _coded(texts: Sequence[str]) -> bool:
    """Return whether nearly all texts have a digit, as codes have."""
    return sum(re.search(r"\d", text) is not None for text in texts) >= UNIQUE * len(texts)


def _words(seen: Column, texts: list[str], n_filled: int) -> Column:
    """Decide between category, text and identifier for a column of three or more distinct texts."""
    n_distinct = len(texts)
    n_words = float(np.mean([len(text.split()) for text in texts[:10_000]]))
    varied = n_filled >= MIN_ROWS and n_distinct >= UNIQUE * n_filled
    if varied and _numbered(texts):
        n_words = 0.0
    if n_words >= WORDS and (varied or n_distinct > 40 or (n_filled < MIN_ROWS and n_distinct == n_filled)):
        return replace(seen, kind="text")
    if varied:
        return replace(seen, kind="identifier", remark="differs in nearly every row")
    if _ID_NAME.fullmatch(seen.name) and n_distinct > max(40, 0.01 * n_filled) and _coded(texts):
        return replace(seen, kind="identifier", remark="named like an identifier; --as COLUMN=category to use it")
    return seen


def column_kinds(
    table: pd.DataFrame | TableColumns, kinds: Mapping[str, str] | None = None, decimal: str = ""
) -> list[Column]:
    """Infer the kind of each column of a table.

    Parameters
    ----------
    table : pandas.DataFrame or TableColumns
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
    columns = table if isinstance(table, TableColumns) else TableColumns(table)
    kinds, names = dict(kinds or {}), columns.frame.columns
    for name, kind in kinds.items():
        if name not in names:
            raise unknown("column", name, names)
        check_kind(name, kind)
    found = []
    for name in names:
        cells = columns[name]
        one = _given(cells, kinds[name], decimal) if name in kinds else _inferred(cells, decimal)
        numeric = one.kind in ("number", "identifier", "constant", "yes/no") and not one.values
        if numeric and (n := int(cells.infinite.sum())):
            how = f"has {n:,} infinite cell{'s' * (n > 1)}, read as empty; --missing inf,-inf,Infinity says so"
            one = replace(one, n_unread=max(n, one.n_unread), unread=one.unread or "inf", warning=how)
        found.append(replace(one, n_filled=int(cells.series.notna().sum())))
    return found


def check_kind(name: str, kind: str) -> None:
    """Raise UsageError unless a kind is one of `KINDS`, and what follows a colon a format of dates."""
    first, colon, written = kind.partition(":")
    if first not in KINDS:
        raise unknown("kind of column", kind, KINDS)
    if not colon:
        return
    if first != "date" or not re.search(r"%[YyGsc]", written):
        raise UsageError(
            f"{by_interface(f'kinds: {name}', f'--as {name}')}={kind}: only dates take a format, with %d for the day, "
            f"%m and %Y, e.g. {name}=date:%d/%m/%Y"
        )


def _inferred(cells: ColumnCells, decimal: str = "") -> Column:
    """Infer the kind of a column from its type or its texts."""
    import pandas as pd

    name, column = cells.name, cells.series
    if cells.type == "c":
        raise TableError(f"column {name!r} holds complex numbers (Complex data not supported); use two columns")
    if isinstance(column.dtype, pd.CategoricalDtype):
        of_values = column.dtype.categories.dtype
        cells = ColumnCells(column.astype(of_values if of_values.kind not in "iub" else object))
        return text_column(cells, decimal) if len(column) else Column(name, "constant")
    if cells.type in "iufbm":
        values = cells.numbers[0]
        if cells.type in "iu" and (long := too_long_integers(name, values, column.nunique)):
            return long
        found = number_column(name, values, truth=cells.type == "b", remark=SECONDS if cells.type == "m" else "")
        return with_day_numbers(found, values)
    if cells.type == "M":
        alike = column.nunique() < 2
        kind, warning = ("constant", "") if alike else ("date", doubtful_dates(cells.days("")[0]))
        return Column(name, kind, int(column.isna().sum()), written=DATE_FORMATS[0], warning=warning)
    return text_column(cells, decimal)


def _given(cells: ColumnCells, kind: str, decimal: str = "") -> Column:
    """Describe a column whose kind the user gave."""
    name, (kind, _, written) = cells.name, kind.partition(":")
    if kind == "number":
        return declared_number_column(cells, decimal)
    if kind == "date" and cells.type == "M":
        return Column(name, kind, int(cells.series.isna().sum()), written=DATE_FORMATS[0])
    if kind == "date":
        return declared_date_column(cells, written)
    if kind == "yes/no" and len(cells.texts) > 2:
        raise TableError(f"column {name!r} is declared as yes/no, but has {len(cells.texts)} values; use category")
    return Column(name, kind, cells.n_empty, cells.frequent, len(cells.texts))


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
