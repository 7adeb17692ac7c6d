"""Columns of texts: yes/no, category, identifier and free text, or numbers and dates written as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pucli.data.encode.kinds.column import CodedCells, Column, mostly
from pucli.data.encode.kinds.date_columns import date_column
from pucli.data.encode.kinds.doubtful_cells import changed_name, dates_and_words, na_among_codes, padded, unread_date
from pucli.data.encode.kinds.number_columns import MIN_ROWS, UNIQUE, formed_number_column, plain_number_column
from pucli.data.encode.kinds.odd_forms import coded_number, decorated, is_time, odd_form, paired
from pucli.data.encode.number_forms import formed_numbers, units_of
from pucli.data.frames import parsed_numbers
from pucli.data.labels import NO, YES

if TYPE_CHECKING:
    import pandas as pd

WORDS = 3.0  # minimum mean number of words for many different texts to be free text
_ORDINALS = frozenset(("st", "nd", "rd", "th"))  # of 1st, 2nd, 3rd and 4th; a few are classes, not quantities
_SIDES = (set("NS"), set("EWO"), {"CR", "DR"}, {"Cr", "Dr"}, set("SH"), set("CD"))  # coordinates, debit and credit
_GROUPS = (
    "has each of its values once, and more empty cells: if a value holds for the rows below it, as in a pivot table, "
    "fill it in; else leave the column out (--drop)"
)


def text_column(column: pd.Series, decimal: str = "") -> Column:
    """Describe a column that does not have a numeric type."""
    cells = CodedCells.of(column)
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
    if mostly(as_number, cells):
        return plain_number_column(column, cells, as_number, decimal)
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
    use = "not used" if found.kind == "identifier" else "used as words"
    warning = _numbers_and_words(found, as_number, cells) or _dates_and_words(cells) or _of_other_form(texts, use)
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


def _numbers_and_words(found: Column, as_number: np.ndarray, cells: CodedCells) -> str:
    """Return a warning if most of the texts are numbers, and the others are no codes such as B254 beside 1E23."""
    texts, counts = cells.texts, cells.counts
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


def _dates_and_words(cells: CodedCells) -> str:
    """Return a warning if most of the texts are dates."""
    found = dates_and_words(cells.texts, cells.counts)
    if found is None:
        return ""
    share, other = found
    way_out = "--as COLUMN=date reads them and takes the other cells as empty; --missing names words for empty"
    return f"holds dates in {100.0 * share:.0f} % of the cells, words such as {other!r} in others; {way_out}"


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
        way_out = "write them as 12.5" if len(units) < 2 else "write them in one unit"
        if any(len(units) == 2 and sides.issuperset(units) for sides in _SIDES):
            way_out = "write one of both as negative numbers"
        why = f" ({' and '.join(units[:2])})" if len(units) > 1 else ""
        return f"holds numbers with signs or units{why}, e.g. {example!r}, and is {use}; {way_out}"
    if odd := odd_form(texts):
        what, example, way_out = odd
        return f"holds {what}, e.g. {example!r}, and is {use}; {way_out}"
    if example := paired(texts):
        return f"holds ranges, or pairs of numbers, e.g. {example!r}, and is {use}; write each of both as a column"
    return ""


def _in_other_letters(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the first two texts that differ in capital letters alone; None if there are none."""
    seen: dict[str, str] = {}
    for text in texts:
        if (first := seen.setdefault(text.casefold(), text)) != text:
            return first, text
    return None


def _words(seen: Column, texts: list[str], n_filled: int) -> Column:
    """Decide between category, text and identifier for a column of three or more distinct texts."""
    n_distinct = len(texts)
    n_words = float(np.mean([len(text.split()) for text in texts[:10_000]]))
    varied = n_filled >= MIN_ROWS and n_distinct >= UNIQUE * n_filled
    if n_words >= WORDS and (varied or n_distinct > 40 or (n_filled < MIN_ROWS and n_distinct == n_filled)):
        return replace(seen, kind="text")
    if varied:
        return replace(seen, kind="identifier", remark="differs in nearly every row")
    return seen
