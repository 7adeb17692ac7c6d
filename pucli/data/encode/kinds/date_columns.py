"""Columns of dates: their form, and days that a spreadsheet may have exchanged."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from pucli.data.encode.kinds.column import MIN_NUMBERS, CodedCells, Column, mostly, with_unread
from pucli.data.encode.kinds.doubtful_cells import ambiguous, date_format, doubtful_dates, usual_date_format
from pucli.data.frames import (
    DATE_FORMATS,
    TableError,
    cell_text,
    is_month_alone,
    is_year_first,
    parsed_dates,
    read_days,
    serial_days,
)

LONG_SPAN = 60 * 365.25  # days
_DATE_NAME = re.compile(r"(?i:(.*[ _.-])?(date|datum|fecha)([ _.-].*)?)|.*[a-z]Date")
_FIRST, _LAST = 30_000, 60_000  # day numbers of a spreadsheet, from 1982 to 2064


def date_column(cells: CodedCells) -> Column | None:
    """Describe a column of dates; None for any other column."""
    texts, blank = cells.texts, cells.blank
    serial = ~np.isnan(serial_days(texts))
    left = [i for i in range(len(texts)) if not blank[i] and not serial[i]]
    if not left:
        return None
    dated, n_dated = [texts[i] for i in left], cells.counts[left]
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
    if not mostly(read, cells):
        return None
    warning = ambiguous(dated, written) or doubtful_dates(np.append(days, np.nan)[cells.codes])
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
    n_empty, n_distinct = cells.n_empty, len(texts)
    found = Column(cells.name, "date", n_empty, (), n_distinct, written, warning=warning, serials=serials)
    return with_unread(found, cells, read, "not dates")


def with_day_numbers(found: Column, values: np.ndarray) -> Column:
    """Return a column of numbers (n,) with a warning if its name says date and its cells may be days of a spreadsheet.

    Parameters
    ----------
    found : Column
        The column.
    values : ndarray of shape (n,)
        Its cells, NaN where one is empty.
    """
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


def declared_date_column(cells: CodedCells, written: str = "") -> Column:
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
