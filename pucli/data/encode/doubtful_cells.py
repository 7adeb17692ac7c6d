"""Cells that a user may mean otherwise than they are read: decorated numbers, dates of other forms, codes for empty."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pucli.data.frames import DATE_FORMATS, parsed_dates, zoned_texts

FEW_WORDS = 3  # number of different words for "empty" among at least as many different numbers or dates times ten
MOSTLY = 0.95  # minimum share of numbers or dates for the other cells of a column to be treated as empty
LOOKED_AT = 200  # texts by which the date format of a column is guessed
CODES = (-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0)  # numbers that often mean "empty"
MIN_CODES = 3  # cells with such a number
MIN_DOTTED = 5  # cells with and without a dot for thousands

# "1,234.5", "1 234", "$12", "12.3 kg", "51 %", "(1.20)", "12-", "14:05", "3,14"
_DECORATED = re.compile(
    r"[(]?[+−-]?[$€£¥]?\s?[+−-]?(\d{1,3}([, '’\xa0\u202f]\d{3})+(\.\d+)?|\d+([.,]\d+)?|\d{1,2}(:\d{2}){1,2})"
    r"\s?(%|-|[$€£¥]|[A-Za-z°µ/]{1,5})?[)]?"
)
_MONTH = r"(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?"
_DATED = re.compile(
    rf".*(\b\d{{4}}[-./]\d{{1,2}}[-./]\d{{1,2}}|\b\d{{1,2}}[-./]\d{{1,2}}[-./](\d{{4}}|\d{{2}})\b"
    rf"|\b\d{{1,2}}[. -]+{_MONTH}[ -]+\d{{2,4}}|\b{_MONTH} (\d{{1,2}},? )?\d{{4}})",
    re.IGNORECASE,
)


def decorated(texts: Sequence[str]) -> str:
    """Return an example if nearly all texts are numbers with a unit, a currency, separators or times of day."""
    sample = texts[:1000]
    like = [text for text in sample if _DECORATED.fullmatch(text)]
    plain = sum(text.isdigit() for text in like)
    if len(like) < max(FEW_WORDS, MOSTLY * len(sample)) or plain == len(like):
        return ""
    return next(text for text in like if not text.isdigit())


def date_format(texts: Sequence[str]) -> str:
    """Return the first date format that fits every text, or "" if none does."""
    sample = texts[:50]
    if not all(any(character.isdigit() for character in text) and 6 <= len(text) <= 40 for text in sample):
        return ""
    for written in DATE_FORMATS:
        if not np.isnan(parsed_dates(sample, written)).any() and not np.isnan(parsed_dates(texts, written)).any():
            return written
    return ""


def usual_date_format(texts: Sequence[str], counts: np.ndarray) -> str:
    """Return the date format of a column of dates with a few other cells, or "".

    The other cells are rare, or are a few words for "empty", as for numbers; counts : (k,) cells of each text.
    """
    sample = [text for text in texts[:LOOKED_AT] if _DATED.match(text)]
    if len(sample) < 0.5 * min(len(texts), LOOKED_AT):
        return ""
    fits = [float(np.mean(~np.isnan(parsed_dates(sample, written)))) for written in DATE_FORMATS]
    written = DATE_FORMATS[int(np.argmax(fits))]
    if max(fits) < MOSTLY:
        return ""
    read = ~np.isnan(parsed_dates(texts, written))
    share, n_words = counts[read].sum() / counts.sum(), int((~read).sum())
    few = share >= 0.5 and n_words <= FEW_WORDS and int(read.sum()) >= 10 * max(n_words, 1)
    return written if share >= MOSTLY or few else ""


def unread_date(texts: Sequence[str]) -> str:
    """Return an example if nearly all texts look like dates, which no single format reads."""
    sample = [text for text in texts[:1000] if len(text) <= 40]
    like = [text for text in sample if _DATED.match(text)]
    return like[0] if len(like) >= max(FEW_WORDS, 0.8 * len(texts[:1000])) else ""


def ambiguous(texts: Sequence[str], written: str) -> str:
    """Return a warning if day and month could be exchanged or only some dates have a time zone, otherwise ""."""
    texts = [text for text, read in zip(texts, ~np.isnan(parsed_dates(texts, written)), strict=True) if read]
    if len(set(zoned_texts(texts).tolist())) > 1:
        return "has dates with a time zone and dates without one, which are read as UTC; write all of them alike"
    other = written.replace("%d/%m", "%m/%d")
    if other != written and not np.isnan(parsed_dates(texts, other)).any():
        return "is read with the day first, but could have the month first; write such dates as 2024-12-31"
    return ""


def doubtful_numbers(filled: np.ndarray) -> str:
    """Return a warning if numbers (n,) may be dates such as 20241231, or hold a code for "empty", otherwise ""."""
    low, high = float(filled.min()), float(filled.max())
    if 1900_01_01 <= low < high <= 2100_12_31 and _are_days(filled):
        return f"holds numbers like {low:.0f}, which look like dates; --as COLUMN=date reads them as such"
    if _have_dots_for_thousands(filled):
        return "has whole numbers and smaller ones with three decimals: if 1.915 means 1915, leave out the dot"
    for code in {low, high} & set(CODES):
        rest = filled[filled != code]
        n = len(filled) - len(rest)
        if n >= MIN_CODES and len(rest) > n and min(abs(code - rest.min()), abs(code - rest.max())) > np.ptp(rest) > 0:
            return (
                f"is {code:.0f} in {n} cells, far from all others: if that means that the value is not known, empty "
                "these cells"
            )
    return ""


def _have_dots_for_thousands(filled: np.ndarray) -> bool:
    """Return whether the numbers (n,) look like 679 and 1.915, where the dot separates thousands."""
    whole = filled == np.floor(filled)
    size, thousands = np.abs(filled[whole]), np.abs(filled[~whole])
    if min(len(size), len(thousands)) < MIN_DOTTED or thousands.min() < 1.0 or max(size.max(), thousands.max()) >= 1000:
        return False
    # a decimal number would have less or more decimals, and whole numbers would be of its size
    three = np.abs(1000.0 * thousands - np.round(1000.0 * thousands)) < 1e-6
    return bool(three.all() and np.mean(size >= 100.0) > 0.5 > np.mean(thousands >= 100.0))


def _are_days(filled: np.ndarray) -> bool:
    month, day = filled // 100 % 100, filled % 100
    return bool(((filled == np.floor(filled)) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())
