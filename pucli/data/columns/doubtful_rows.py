"""Rows that are not data: units or a second header below the header, totals, averages, a remark, or a second table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.core.errors import UsageError
from pucli.data.columns.cells import EMPTY, parsed_numbers, texts_of, to_numbers
from pucli.data.columns.doubts import placeholders

if TYPE_CHECKING:
    import pandas as pd

NUMERIC = "iufb"  # kinds of types
LOOKED_AT = 50  # rows below the first that tell columns of numbers
LEAST_ROWS = 5
MOST_HEADERS = 3  # rows below the header that have names or units
FEW = 0.05  # share of the rows that totals are at most
ROUNDING = 1e-6
LEAST_BESIDE = 2  # columns of tables side by side, and rows by which one is longer; a few last cells may be empty
NEAR = 0.01  # standard deviations from the mean
TOTALS = frozenset(
    {"total", "totals", "grand total", "subtotal", "sub-total", "sum", "average", "avg", "mean", "summe", "gesamt",
     "gesamtsumme", "insgesamt", "zwischensumme", "mittelwert", "durchschnitt", "somme", "total général", "sous-total",
     "moyenne", "suma", "promedio", "media", "totale", "somma", "totaal", "gemiddelde", "итого", "всего", "razem"}
)  # fmt: skip
COUNTS = "and counts as a row; remove it if it is not data"
_WRITTEN = {word + end for total in TOTALS for word in (total, total.capitalize(), total.upper()) for end in ("", ":")}


def second_header(frame: pd.DataFrame, place: Callable[[int], str]) -> str:
    """Return a warning if the first row, or the first few, have words in columns of numbers, else ""."""
    n_rows, found = _rows_of_words(frame)
    if not n_rows:
        return ""
    words, where = ", ".join(map(repr, found[:3])), place(0)
    if n_rows > 1:
        return (
            f"{where} has words ({words}) where the rows below have numbers, and {n_rows - 1} more like it, like units "
            "or further headers, and they count as rows; remove them if they are not data"
        )
    return f"{where} has words ({words}) where the rows below have numbers, like units or a second header, {COUNTS}"


def _rows_of_words(frame: pd.DataFrame) -> tuple[int, list[str]]:
    """Return the number of first rows, up to `MOST_HEADERS`, that have no number in columns of numbers, and the words.

    The words are those of the first of these rows. A single word beside other filled cells does not count.
    """
    if len(frame) < LEAST_ROWS:
        return 0, []
    head = frame.iloc[: LOOKED_AT + 1]
    texts = [_texts(head.iloc[:, place]) for place, dtype in enumerate(head.dtypes) if dtype.kind not in NUMERIC]
    for n_rows in range(1, MOST_HEADERS + 1):
        found, none = [], 0
        for above, below in ((cells[:n_rows], cells[n_rows:]) for cells in texts):
            filled = parsed_numbers([text for text in below if text not in EMPTY])
            if len(filled) < LEAST_ROWS - 1 or np.isnan(filled).any() or not np.isnan(parsed_numbers(above)).all():
                continue
            word = any(character.isalpha() for character in above[0]) and above[0] not in EMPTY
            if word and not placeholders(above[:1])[0]:
                found.append(above[0])
            none += n_rows == 1 or above[-1] not in EMPTY
        if found and none and (len(found) > 1 or sum(text not in EMPTY for text in _texts(frame.iloc[0])) == 1):
            return n_rows, found
    return 0, []


def inner_header(frame: pd.DataFrame, place: Callable[[int], str], before: int = 0) -> str:
    """Return a warning if a row after the first has different words in columns of numbers, else ""."""
    words: dict[int, list[str]] = {}
    headers = 0 if before else max(_rows_of_words(frame)[0] - 1, 0)  # `second_header` counts them
    for position, dtype in enumerate(frame.dtypes if len(frame) >= LEAST_ROWS else ()):
        if dtype.kind in NUMERIC:
            continue
        column = frame.iloc[:, position]
        some = [] if dtype.kind in "Mm" else [column.iat[row] for row in (1, len(frame) // 2, -1)]
        if all(isinstance(cell, str) and cell.strip()[:1].isalpha() for cell in some):
            continue  # nearly every column of words, at once
        filled = parsed_numbers([text for text in _texts(column.iloc[1 : LOOKED_AT + 1]) if text not in EMPTY])
        if not len(filled) or np.isnan(filled).mean() > FEW:
            continue
        rows = np.flatnonzero(to_numbers(column).isna().to_numpy() & column.notna().to_numpy())
        rows = rows[rows > headers][:LOOKED_AT] if len(rows) <= FEW * len(frame) else rows[:0]
        texts = _texts(column.iloc[rows])
        for row, text, empty in zip(rows.tolist(), texts, placeholders(texts), strict=True):
            if any(character.isalpha() for character in text) and not empty:
                words.setdefault(row, []).append(text)
    for row, found in sorted(words.items()):
        if len(set(found)) > 1:
            shown = ", ".join(map(repr, found[:3]))
            return (
                f"{place(before + row)} has words ({shown}) where other rows have numbers, like the header of a second "
                "table; save each table as a file of its own"
            )
    return ""


def last_row(frame: pd.DataFrame, place: Callable[[int], str], before: int = 0) -> str:
    """Return a warning if the last row looks like totals or a remark, else ""."""
    if before + len(frame) < LEAST_ROWS or not len(frame):
        return ""
    row = before + len(frame) - 1  # its place may need a look at the file
    last = frame.iloc[-1]
    filled = np.flatnonzero(last.notna().to_numpy()).tolist()
    texts = [position for position in filled if isinstance(last.iat[position], str)]
    words = dict(zip(texts, texts_of([last.iat[position] for position in texts]), strict=True))
    filled = [position for position in filled if words.get(position) not in EMPTY]
    for position, text in words.items():
        if text.strip(": ").casefold() in TOTALS and _is_new(frame.iloc[:, position]) and len(filled) > 1:
            return f"{place(row)} looks like totals ({text!r}), {COUNTS}"
    if len(filled) == 1 and frame.shape[1] > 2 and frame.iloc[:-1].notna().sum(axis=1).max() > 2:
        text = words.get(filled[0], "")
        if text and np.isnan(parsed_numbers([text])[0]) and _is_new(frame.iloc[:, filled[0]]):
            return f"{place(row)} has {text[:40]!r} alone, like a remark, {COUNTS}"
    if before:
        return ""
    kinds = [dtype.kind for dtype in frame.dtypes]
    numeric = [position for position in filled if kinds[position] in NUMERIC]
    for what, find in (("sums", _sums), ("averages", _means)):
        names = find(frame, numeric)
        if len(names) > 1:
            return f"{place(row)} has the {what} of the rows above it in {names[0]!r} and {names[1]!r}, {COUNTS}"
    return ""


def first_row(frame: pd.DataFrame, place: Callable[[int], str]) -> str:
    """Return a warning if the first row has the sums of the rows below it, as some exports have, else ""."""
    if len(frame) < LEAST_ROWS:
        return ""
    numeric = [position for position, dtype in enumerate(frame.dtypes) if dtype.kind in NUMERIC]
    names = _sums(frame.iloc[::-1], numeric)
    if len(names) < 2:
        return ""
    return f"{place(0)} has the sums of the rows below it in {names[0]!r} and {names[1]!r}, {COUNTS}"


def subtotals(frame: pd.DataFrame, place: Callable[[int], str], before: int = 0, *, ended: bool = True) -> str:
    """Return a warning if rows before the last look like totals: a word, and an empty cell that is usually filled."""
    few = max(1.0, FEW * len(frame))
    empty = frame.isna().to_numpy()
    rows_there = len(frame) - ended
    candidates = np.flatnonzero(empty[:rows_there, empty.sum(axis=0) <= few].any(axis=1))
    for position in range(frame.shape[1] if len(candidates) else 0):
        column = frame.iloc[:rows_there, position]
        if getattr(column.dtype, "kind", "O") not in "OU":
            continue
        try:
            rows = candidates[column.iloc[candidates].isin(_WRITTEN).to_numpy(dtype=bool, na_value=False)]
            if not len(rows) or column.isin(_WRITTEN).sum() > few:
                continue
        except TypeError:  # lists
            continue
        more = f" (as {len(rows) - 1} more)" if len(rows) > 1 else ""
        [text], where = _texts(column.iloc[rows[:1]]), place(before + int(rows[0]))
        return f"{where} looks like totals ({text!r}){more}, {COUNTS}"
    return ""


def _texts(column: pd.Series) -> list[str]:
    """Return cells as texts, "" for empty ones."""
    there = column.notna().to_numpy()
    filled = texts_of(column[there].tolist())
    if there.all():
        return filled
    found = np.full(len(column), "", dtype=object)
    found[there] = filled
    return found.tolist()


def _is_new(column: pd.Series) -> bool:
    """Return whether the last cell is in no other row."""
    return not bool((column.iloc[:-1] == column.iloc[-1]).any())


def _sums(frame: pd.DataFrame, numeric: Sequence[int]) -> list[str]:
    """Return the columns of numbers, by position, whose last cell is the sum of the others, and larger than each."""
    found = []
    ends = frame.iloc[[*range(min(LOOKED_AT, len(frame) - 1)), -1]].iloc[:, list(numeric)]
    some = ends.to_numpy(dtype=np.float64, na_value=np.nan)
    larger = np.abs(some[:-1]).max(axis=0, initial=0.0, where=~np.isnan(some[:-1])) >= np.abs(some[-1])
    for position in np.asarray(numeric, dtype=int)[~larger]:  # nearly always none
        values = frame.iloc[:, position].to_numpy(dtype=np.float64, na_value=np.nan)
        others, last = values[:-1][~np.isnan(values[:-1])], values[-1]
        if len(others) < LEAST_ROWS - 1 or not abs(last) > np.abs(others).max():
            continue
        if abs(others.sum() - last) <= max(ROUNDING * abs(last), 0.01):
            found.append(str(frame.columns[position]))
    return found


def _means(frame: pd.DataFrame, numeric: Sequence[int]) -> list[str]:
    """Return the columns of numbers whose last cell is the mean of the others, if that row lacks a cell others have."""
    lacking = frame.loc[:, frame.iloc[-1].isna().to_numpy()]
    if not (lacking.iloc[:-1].isna().sum() <= FEW * len(frame)).any():
        return []
    found = []
    for position in numeric:
        values = frame.iloc[:, position].to_numpy(dtype=np.float64, na_value=np.nan)
        others, last = values[:-1][~np.isnan(values[:-1])], values[-1]
        if len(others) < LEAST_ROWS - 1 or not np.isfinite(others).all():
            continue
        if abs(others.mean() - last) <= min(max(ROUNDING * abs(last), 0.005), NEAR * others.std()):
            found.append(str(frame.columns[position]))
    return found


def few_at_end(n: int, of: int, what: str) -> str:
    """Return the end of a note on blank rows if only n of all rows follow them, like a legend; else ""."""
    if not 0 < n <= FEW * of:
        return ""
    follow = f"the last {what} follows" if n == 1 else f"the last {n} {what}s follow"
    return f"; {follow} a blank one, like a legend, and {'counts' if n == 1 else 'count'} as data: remove what is none"


def doubtful_rows(frame: pd.DataFrame, place: Callable[[int], str]) -> list[str]:
    """Return the warnings about rows of a whole file."""
    found = [of(frame, place) for of in (second_header, first_row, inner_header, subtotals, last_row)]
    return [text for text in found if text]


class ColumnBlock(NamedTuple):
    """Columns that stand side by side without an empty one between them.

    names : sequence of str
        Names of the columns.
    first, last : str
        Their place for messages: the letters of a sheet, or the names.
    """

    names: Sequence[str]
    first: str
    last: str


def parts_of(names: Sequence[str], places: Sequence[int], shown: Sequence[str]) -> list[ColumnBlock]:
    """Return the parts into which wholly empty columns divide a table."""
    cuts = [0, *(np.flatnonzero(np.diff(places) > 1) + 1).tolist(), len(names)]
    return [
        ColumnBlock(names[start:stop], shown[start], shown[stop - 1]) for start, stop in pairwise(cuts) if start < stop
    ]


def side_by_side(where: str, frame: pd.DataFrame, parts: Sequence[ColumnBlock]) -> str:
    """Return a note if empty columns divide a table, else ""; refuse two tables, of which one ends before the other."""
    if len(parts) < 2:
        return ""
    lengths = [_filled_rows(frame, part) for part in parts]
    ranges = [f"{part.first} to {part.last}" if len(part.names) > 1 else part.first for part in parts]
    tables = [n for n, part in zip(lengths, parts, strict=True) if n and len(part.names) >= LEAST_BESIDE]
    if tables and max(tables) - min(tables) >= LEAST_BESIDE:
        counted = " and ".join(f"{text} ({n or 'some of the'} rows)" for text, n in zip(ranges, lengths, strict=True))
        raise UsageError(
            f"{where}: tables stand side by side with empty columns between them: columns {counted}; save one of them "
            "as a file of its own, or delete the empty columns if they are one table"
        )
    ends_early = any(n and len(frame) - n >= LEAST_BESIDE for n in lengths)
    if sum(len(part.names) >= LEAST_BESIDE for part in parts) < 2 and not ends_early:
        return ""  # a label or a remark that is set off
    return (
        f"{where}: empty columns without a name divide the table: columns {' and '.join(ranges)}; they are read as one "
        "table, so save them as files of their own if they are not"
    )


def _filled_rows(frame: pd.DataFrame, part: ColumnBlock) -> int:
    """Return the number of rows down to which some cell of each row is filled, 0 if there are filled rows below."""
    filled = np.zeros(len(frame), dtype=bool)
    for name in part.names:
        filled |= frame[name].notna().to_numpy()
    n = int(filled.sum())
    return n if filled[:n].all() else 0
