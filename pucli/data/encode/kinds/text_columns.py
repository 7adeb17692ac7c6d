"""Columns of texts: yes/no, category, identifier and free text, or numbers and dates written as text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pucli.core.errors import shell_word
from pucli.data.encode.kinds.column import CodedCells, Column, mostly
from pucli.data.encode.kinds.date_columns import date_column
from pucli.data.encode.kinds.doubtful_cells import (
    changed_name,
    dates_and_words,
    error_cell,
    na_among_codes,
    padded,
    several_values,
    unread_date,
)
from pucli.data.encode.kinds.number_columns import MIN_ROWS, UNIQUE, formed_number_column, plain_number_column
from pucli.data.encode.kinds.odd_forms import coded_number, decorated, is_time, odd_form, of_one_unit, paired
from pucli.data.encode.number_forms import formed_numbers, units_of
from pucli.data.frames import parsed_numbers
from pucli.data.labels import NO, YES

if TYPE_CHECKING:
    import pandas as pd

WORDS = 3.0  # minimum mean number of words for many different texts to be free text
_ORDINALS = frozenset(("st", "nd", "rd", "th"))  # of 1st, 2nd, 3rd and 4th; a few are classes, not quantities
MOST_LOOKED_AT = 1000
_WORD, _LONG_NUMBER = re.compile(r"[^\W\d_]{3}"), re.compile(r"\d{4}")
_SIDES = (set("NS"), set("EWO"), {"CR", "DR"}, {"Cr", "Dr"}, set("SH"), set("CD"))  # coordinates, debit and credit
_GROUPS = (
    "has each of its values once, and more empty cells: if a value holds for the rows below it, as in a pivot table, "
    "fill it in; else leave the column out (--drop)"
)


def text_column(column: pd.Series, decimal: str = "") -> Column:
    """Describe a column that does not have a numeric type."""
    cells = CodedCells.of(column)
    found = _described(column, cells, decimal)
    if found.warning or found.kind in ("number", "date", "identifier", "text"):
        return found
    if error := error_cell(cells.texts):
        how = f"has {error!r}, which a spreadsheet shows for an error or a narrow column: correct the cells, or"
        return replace(found, warning=f"{how} --missing {shell_word(error)} reads them as empty")
    texts = cells.texts
    if found.kind == "yes/no" and not {text.casefold() for text in texts} <= {"true", "false"}:
        return replace(found, warning=_in_other_letters(texts))
    return found


def _described(column: pd.Series, cells: CodedCells, decimal: str) -> Column:
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
    warning = _numbers_and_words(found, as_number, cells) or _dates_and_words(cells)
    warning = warning or _of_other_form(texts[:: 1 + len(texts) // MOST_LOOKED_AT], use)
    if not warning and n_empty and na_among_codes(texts) and column.isin(["NA"]).any():
        warning = padded("NA")
    if not warning and found.kind == "category":
        warning = _of_words(texts, bool(codes[0] >= 0 and 3 <= n_filled == n_distinct <= n_empty))
    return replace(found, warning=warning) if warning else found


def _of_words(texts: Sequence[str], once: bool) -> str:
    """Return a warning about the values of a category, "" without any; `once` says that each heads empty cells."""
    if alike := _in_other_letters(texts):
        return alike
    if lists := several_values(texts):
        return f"holds several values in a cell, e.g. {lists!r}, and is used as words; write each value as a column"
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
        if not units:
            return f"holds numbers with . and , as decimal signs, e.g. {example!r}, and is {use}; write all as 12.5"
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
    if example := of_one_unit(texts):
        return f"holds numbers with words, e.g. {example!r}, and is {use}; write them as 12.5"
    if example := paired(texts):
        return f"holds ranges, or pairs of numbers, e.g. {example!r}, and is {use}; write each of both as a column"
    return ""


def _in_other_letters(texts: Sequence[str]) -> str:
    """Return a warning if two texts differ in capital letters or blanks alone, else ""."""
    seen: dict[str, str] = {}
    for text in texts:
        if (first := seen.setdefault(" ".join(text.casefold().split()), text)) != text:
            what = "blanks" if first.casefold() != text.casefold() else "capital letters"
            way_out = "write them alike if they mean the same"
            return f"has values that differ in {what} alone, {first!r} and {text!r}; {way_out}"
    return ""


def _numbered(texts: Sequence[str]) -> bool:
    """Return whether nearly all texts have no word of letters, and a long number of their own, as telephone numbers."""
    sample = texts[:1000]
    parts = [text.split() for text in sample]
    counts = Counter(part for found in parts for part in set(found))
    own = [any(counts[part] == 1 and _LONG_NUMBER.search(part) for part in found) for found in parts]
    words = [_WORD.search(text) is not None for text in sample]
    return sum(own) >= UNIQUE * len(sample) and sum(words) <= 0.05 * len(sample)


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
    return seen
