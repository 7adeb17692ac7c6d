"""Columns of numbers: quantities, row numbers and identifiers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pucli.data.encode.kinds.column import MIN_NUMBERS, CodedCells, Column, mostly, with_unread
from pucli.data.encode.kinds.doubtful_cells import doubtful_numbers, padded, padded_cell
from pucli.data.encode.number_forms import (
    NumberForm,
    formed_numbers,
    is_decorated,
    number_form,
    of_other_scale,
    text_numbers,
    units_of,
)
from pucli.data.frames import DURATION, TableError, cell_text, coded, numbers, parsed_numbers

if TYPE_CHECKING:
    import pandas as pd

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
    """Describe a column of numbers.

    Parameters
    ----------
    name : str
    values : array of shape (n,)
        NaN where a cell is empty.
    truth : bool, default=False
        Whether the cells are truth values.
    remark : str, default=""
        Kept where the column is no constant.
    """
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


def too_long_integers(name: str, values: np.ndarray, n_distinct: Callable[[], int]) -> Column | None:
    """Describe a column of integers with so many digits that different ones are equal as numbers; else None.

    Parameters
    ----------
    name : str
    values : array of shape (n,)
        The cells as numbers.
    n_distinct : callable
        Function that counts the different integers.
    """
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
        remark = "named like an identifier; --as COLUMN=number if it is a quantity"
        return Column(name, "identifier", n_empty, n_distinct=n_distinct, remark=remark)
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


def plain_number_column(column: pd.Series, cells: CodedCells, as_number: np.ndarray, decimal: str) -> Column:
    """Describe a column of texts that are numbers as programs write them, but for a few.

    Parameters
    ----------
    column : Series of length n
    cells : CodedCells
        The same as texts.
    as_number : array of bool, shape (k,)
        Whether each of the texts is a number.
    decimal : str
        The decimal sign that the user gave, or "".
    """
    name, texts = cells.name, cells.texts
    there = text_numbers(cells.codes, texts, decimal)[0] if decimal else numbers(column)[0]
    if long := too_long_integers(name, there, lambda: sum(text.isdecimal() for text in texts)):
        return long
    durations = any(DURATION.fullmatch(text) for text in texts)
    found = replace(number_column(name, there, remark=SECONDS if durations else ""), decimal=decimal)
    if found.kind == "number" and not found.warning and (code := padded_cell(texts)):
        return replace(found, warning=padded(code))
    return with_unread(found, cells, as_number, "not numbers")


def formed_number_column(cells: CodedCells, decimal: str) -> Column | None:
    """Describe a column of numbers with signs, units or separators; None for others and for mixed forms."""
    texts = cells.texts
    like = np.array([is_decorated(text) for text in texts])
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


def declared_number_column(column: pd.Series, decimal: str) -> Column:
    """Describe a column that is declared as number; cells that are none count as empty."""
    name = str(column.name)
    values, wrong = numbers(column)
    form = _declared_form(column, wrong, decimal)
    if form is not None:
        values, wrong = text_numbers(*coded(column), form.decimal, form.unit)
    n_wrong, n_empty = int(wrong.sum()), int(np.isnan(values).sum())
    example = cell_text(column.iloc[int(wrong.argmax())]) if n_wrong else ""
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


def _declared_form(column: pd.Series, wrong: np.ndarray, decimal: str) -> NumberForm | None:
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
