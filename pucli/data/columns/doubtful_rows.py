"""Lines of a table that are no rows: descriptions below the header, totals, footers, a second table.

One rule finds them: no cell of the line fits its column as the cells of the other lines do. Directly below the header
and after the last row they are left out, where the lines are read; between rows they are kept and named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.core.errors import UsageError
from pucli.data.columns.cells import EMPTY, parsed_numbers, texts_of, to_numbers
from pucli.data.columns.doubts import PLACEHOLDERS, placeholders
from pucli.data.columns.number_forms import is_decorated

if TYPE_CHECKING:
    import pandas as pd

NUMERIC = "iufb"  # kinds of types
MOST_LOOKED_AT = 10_000  # rows
LOOKED_AT = 50  # rows below the first that tell columns of numbers
LEAST_ROWS = 5
LEAST_USUAL = 2  # fewest lines that tell what is usual in a column of numbers
MANY = 20  # fewest that tell it of words
MOST_BELOW = 6  # lines of description below the header
SAMPLE = 500  # lines that tell what is usual
USUALLY = 0.9  # share of the lines
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
_WORDS = "|".join(map(re.escape, sorted(TOTALS, key=len, reverse=True)))
_TOTAL = re.compile(rf"\s*(?:{_WORDS})\s*(?::.*)?", re.IGNORECASE)
_LED = re.compile(
    rf"\s*(?:{_WORDS})\b.{{,40}}|.{{,40}}\b(?:(?:sub-?)?totals?|summe|gesamt|totale|totaal)\s*:?", re.IGNORECASE
)
_WRITTEN = {word + end for total in TOTALS for word in (total, total.capitalize(), total.upper()) for end in ("", ":")}
_PARTS = re.compile(r"[^\W\d_]+|\d+")
_YEAR = re.compile(r"(19|20)\d\d")


class _Fit(Enum):
    FITS = 0
    OPEN = 1  # nothing is known
    LACKS = 2  # empty, although such cells are usually filled
    UNLIKE = 3


class _UsualCells:
    """What the cells of a column are like."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = Counter(texts)
        filled = {text: n for text, n in counts.items() if not _is_empty(text)}
        n_filled = sum(filled.values())
        self.texts = counts.keys()
        self.usually_filled = n_filled >= USUALLY * len(texts)
        listed = list(filled)
        plain = ~np.isnan(parsed_numbers(listed))
        self.decorated = is_decorated(listed) & ~plain
        self.numbers = 2 * (plain.sum() + self.decorated.sum()) >= len(listed) > 0
        shapes = Counter(map(_shape, texts))
        self.shapes = shapes.keys()
        recurring = sum(n for n in shapes.values() if n > 1)
        self.alike = len(texts) >= MANY and recurring >= USUALLY * len(texts)

    def fit(self, text: str, *, years: bool) -> _Fit:
        """Return how a further cell fits; `years` : whether a year may be part of a name."""
        if _is_empty(text):
            return _Fit.LACKS if self.usually_filled else _Fit.OPEN
        if text in self.texts:
            return _Fit.FITS
        if self.numbers:
            if years and _YEAR.fullmatch(text):
                return _Fit.UNLIKE
            number = not np.isnan(parsed_numbers([text])[0]) or (self.decorated.any() and is_decorated([text])[0])
            return _Fit.FITS if number or _shape(text) in self.shapes else _Fit.UNLIKE
        shape = _shape(text)
        if shape in self.shapes:
            return _Fit.FITS if "9" in shape else _Fit.OPEN
        return _Fit.UNLIKE if self.alike else _Fit.OPEN


def _is_empty(text: str) -> bool:
    return text in EMPTY or text.casefold() in PLACEHOLDERS


def _shape(text: str) -> str:
    """Return a text with 9 for each number and a for each word."""
    return _PARTS.sub(lambda part: "9" if part[0][0].isdigit() else "a", text)


def _is_total(line: Sequence[str]) -> bool:
    """Return whether the first filled cell has a word for totals."""
    return _LED.fullmatch(next(filter(str.strip, line), "")) is not None


class UsualLines:
    """What is usual in each column of a table, by some of its lines.

    Parameters
    ----------
    lines : sequence of sequence of str
        Cells of the lines, of which the first `SAMPLE` are looked at.
    """

    def __init__(self, lines: Sequence[Sequence[str]]) -> None:
        self._lines = lines[:SAMPLE]
        self._width = max(map(len, self._lines), default=0)
        self._columns: dict[int, _UsualCells] = {}

    def _fits(self, line: Sequence[str], *, years: bool = False) -> Iterator[tuple[str, _Fit]]:
        """Yield each cell of a line and how it fits; numbers beside a word for totals are sums, which tell nothing."""
        total = _is_total(line)
        for place in range(max(self._width, len(line))):
            text = line[place].strip() if place < len(line) else ""
            if place not in self._columns:
                cells = [one[place].strip() if place < len(one) else "" for one in self._lines]
                self._columns[place] = _UsualCells(cells)
            fit = self._columns[place].fit(text, years=years)
            yield text, _Fit.OPEN if total and fit is _Fit.FITS and self._columns[place].numbers else fit

    def is_row(self, line: Sequence[str], *, years: bool = False) -> bool:
        """Return whether a line is a row: some cell fits its column, or too little is known."""
        if len(self._lines) < LEAST_USUAL or not any(map(str.strip, line)):
            return True
        found = []
        for text, fit in self._fits(line, years=years):
            if fit is _Fit.FITS:  # as in nearly every line
                return True
            found.append((text, fit))
        fits, filled = [fit for _, fit in found], [text for text, fit in found if text and fit is not _Fit.LACKS]
        lacks, unlike = fits.count(_Fit.LACKS), fits.count(_Fit.UNLIKE)
        if _is_total(filled):
            return not (lacks or _TOTAL.fullmatch(filled[0]))
        if len(filled) == 1 and lacks >= LEAST_BESIDE and len(self._lines) >= LEAST_ROWS:
            return False  # a remark
        return not unlike or unlike + lacks + (len(line) < self._width) < LEAST_BESIDE

    def belongs_below(self, line: Sequence[str]) -> bool:
        """Return whether a line below one that is no row is of the same kind: most of its cells do not fit."""
        fits = [fit for _, fit in self._fits(line)]
        return not self.is_row(line) or fits.count(_Fit.FITS) < fits.count(_Fit.LACKS) + fits.count(_Fit.UNLIKE)


def lines_below(header: Sequence[str], body: Sequence[Sequence[str]]) -> int:
    """Return the number of lines directly below the header that are no rows."""
    most = min(MOST_BELOW, max(len(body) - LEAST_USUAL, 0))
    usual = UsualLines(body[most:])
    named = [name.strip() for name in header]
    years = len(set(named)) < len(named) or "" in named  # a title over several columns, with years below it
    return next((n for n in range(most) if usual.is_row(body[n], years=years)), most)


def footer(lines: Sequence[Sequence[str]], usual: UsualLines, *, complete: bool = False) -> int:
    """Return where the lines after the last row begin among the last lines, of which blank ones have no filled cell.

    Where the lines are not `complete`, some row must be among them.
    """
    blank = [not any(map(str.strip, line)) for line in lines]
    start = len(lines)
    while start and (blank[start - 1] or not usual.is_row(lines[start - 1])):
        start -= 1
    for place in range(1, start):  # a second table, or remarks
        begins = blank[place - 1] and not blank[place] and not usual.is_row(lines[place])
        if begins and all(blank[k] or usual.belongs_below(lines[k]) for k in range(place, start)):
            start = place
            break
    while start < len(lines) and blank[start]:
        start += 1
    return start if complete or not all(blank[:start]) else len(lines)


def below_header(numbers: Sequence[int], lines: Sequence[Sequence[str]], what: str = "line") -> str:
    """Return the note on lines below the header that are no rows."""
    joined, kept = ("it", "it as a row") if len(lines) == 1 else ("them", "them as rows")
    ways = f"--header-rows {len(lines) + 1} joins {joined} to the names, --header-rows 1 keeps {kept}"
    return f"{_left_out(numbers, lines, what)}; {ways}"


def joined_to_names(numbers: Sequence[int], what: str = "line") -> str:
    """Return the note on lines below the header that have parts of the names."""
    where = f"{what} {numbers[0]} has" if len(numbers) == 1 else f"{what}s {numbers[0]} to {numbers[-1]} have"
    return f"{where} parts of the names, and they are joined; --header-rows 1 reads no names below the first line"


def after_last(numbers: Sequence[int], lines: Sequence[Sequence[str]], what: str = "line") -> str:
    """Return the note on lines after the last row."""
    kept = "it as a row" if len(lines) == 1 else "them as rows"
    return f"after the last row, {_left_out(numbers, lines, what)}; --skip-footer 0 keeps {kept}"


def _left_out(numbers: Sequence[int], lines: Sequence[Sequence[str]], what: str) -> str:
    cells = [cell.strip()[:40] for cell in lines[0] if cell.strip()]
    where = f"{what} {numbers[0]} fits" if len(numbers) == 1 else f"{what}s {numbers[0]} to {numbers[-1]} fit"
    left = "is" if len(numbers) == 1 else "are"
    return f"{where} no column ({', '.join(map(repr, cells[:3]))}) and {left} left out"


def words_among_numbers(frame: pd.DataFrame, place: Callable[[int], str], before: int = 0) -> str:
    """Return a warning if a row has different words in columns of numbers, else ""."""
    words: dict[int, list[str]] = {}
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
        rows = rows[:LOOKED_AT] if len(rows) <= max(FEW * len(frame), 1.0) else rows[:0]
        texts = _texts(column.iloc[rows])
        for row, text, empty in zip(rows.tolist(), texts, placeholders(texts), strict=True):
            if any(character.isalpha() for character in text) and not empty:
                words.setdefault(row, []).append(text)
    for row, found in sorted(words.items()):
        if len(set(found)) > 1:
            shown = ", ".join(map(repr, found[:3]))
            return (
                f"{place(before + row)} has words ({shown}) where other rows have numbers, like units or the header of "
                f"a second table, {COUNTS}"
            )
    return ""


def sums(frame: pd.DataFrame, place: Callable[[int], str]) -> str:
    """Return a warning if the first or the last row has the sums or the averages of the others, else ""."""
    if len(frame) < LEAST_ROWS:
        return ""
    numeric = [position for position, dtype in enumerate(frame.dtypes) if dtype.kind in NUMERIC]
    for what, find, rows, row in (
        ("sums of the rows below", _sums, frame.iloc[::-1], 0),
        ("sums of the rows above", _sums, frame, len(frame) - 1),
        ("averages of the rows above", _means, frame, len(frame) - 1),
    ):
        names = find(rows, numeric)
        if len(names) > 1:
            return f"{place(row)} has the {what} it in {names[0]!r} and {names[1]!r}, {COUNTS}"
    return ""


def totals(frame: pd.DataFrame, place: Callable[[int], str], before: int = 0) -> str:
    """Return a warning if rows look like totals: a word, and empty cells that are usually filled; else ""."""
    few = max(1.0, FEW * len(frame))
    empty = frame.isna().to_numpy()
    lacking = empty[:, empty.sum(axis=0) <= few].sum(axis=1)
    among = np.flatnonzero(lacking)
    looked_at = among if len(among) <= MOST_LOOKED_AT else np.flatnonzero(lacking > 1)  # for words around it
    for position in range(frame.shape[1] if len(among) else 0):
        column = frame.iloc[:, position]
        if getattr(column.dtype, "kind", "O") not in "OU":
            continue
        try:
            rows = among[column.iloc[among].isin(_WRITTEN).to_numpy(dtype=bool, na_value=False)]
        except TypeError:  # lists
            continue
        cells = zip(looked_at.tolist(), column.iloc[looked_at].tolist(), strict=True)
        rows = np.union1d(rows, [row for row, cell in cells if isinstance(cell, str) and _LED.fullmatch(cell)]).astype(
            int
        )
        if 0 < len(rows) <= few:
            others = f" (as {len(rows) - 1} more)" if len(rows) > 1 else ""
            [text] = _texts(column.iloc[rows[:1]])
            return f"{place(before + int(rows[0]))} looks like totals ({text[:40]!r}){others}, {COUNTS}"
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


def doubtful_rows(frame: pd.DataFrame, place: Callable[[int], str]) -> list[str]:
    """Return the warnings about rows of a whole table, all of which count."""
    return [text for of in (sums, words_among_numbers, totals) if (text := of(frame, place))]


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
