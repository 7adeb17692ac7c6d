"""A column: its cells as texts, and its description with the cells that are not read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pucli.data.encode.kinds.doubtful_cells import FEW_WORDS, MOSTLY, is_placeholder
from pucli.data.frames import coded

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("number", "category", "yes/no", "date", "text", "identifier", "constant")
"""The kinds of columns. Identifiers and constant texts have no features."""
MIN_NUMBERS = 3  # minimum number of different numbers or dates among words for empty


@dataclass(frozen=True)
class Column:
    """Description of a column."""

    name: str
    kind: str  # one of `KINDS`
    n_empty: int = 0  # number of empty cells
    values: tuple[str, ...] = ()  # distinct texts, most frequent first; () for numbers, dates and large columns of text
    n_distinct: int | None = None  # number of distinct filled cells; None if not counted (numbers)
    written: str = ""  # format of dates, one of `pucli.data.frames.DATE_FORMATS`
    remark: str = ""  # information for the user that needs no action, or ""
    warning: str = ""  # problem that the user should look at, or ""
    # form of the numbers (`pucli.data.encode.number_forms`); "" for numbers as programs write them
    decimal: str = ""
    unit: str = ""
    serials: bool = False  # whether some dates are day numbers of a spreadsheet
    n_unread: int = 0  # number of filled cells that the kind cannot read, which count as empty
    unread: str = ""  # one of them
    n_filled: int = 0  # number of filled cells

    @property
    def share_read(self) -> float | None:
        """Return the share of the filled cells that are read; None if no cell is filled or the column is not used."""
        if self.kind == "identifier" or (self.kind == "constant" and not self.n_distinct):
            return None
        return 1.0 - self.n_unread / max(self.n_filled, self.n_unread, 1)


@dataclass(frozen=True)
class CodedCells:
    """The cells of a column as texts."""

    name: str  # name of the column
    codes: np.ndarray  # position in `texts` of each cell, -1 for an empty one
    texts: list[str]  # the k distinct texts

    @classmethod
    def of(cls, column: pd.Series) -> CodedCells:
        """Return the cells of a column."""
        return cls(str(column.name), *coded(column))

    @property
    def n_empty(self) -> int:
        """Return the number of empty cells."""
        return int((self.codes < 0).sum())

    @cached_property
    def counts(self) -> np.ndarray:
        """Return the number of cells (k,) of each text."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts))

    @property
    def frequent(self) -> tuple[str, ...]:
        """Return the texts, at most 1000, most frequent first."""
        return tuple(self.texts[i] for i in np.argsort(-self.counts, kind="stable")[:1000])

    @cached_property
    def blank(self) -> np.ndarray:
        """Return which of the texts (k,) are known words for empty."""
        return np.array([is_placeholder(text) for text in self.texts])


def mostly(good: np.ndarray, cells: CodedCells) -> bool:
    """Return whether nearly all cells have a text that is `good` (k,), a number or date, or stands for empty."""
    counts = cells.counts
    n_good, n_filled, n_words = counts[good].sum(), counts.sum(), int(np.sum(~good))
    if n_good >= MOSTLY * n_filled:
        return True
    if n_good >= 0.5 * n_filled and n_words <= FEW_WORDS and int(good.sum()) >= 10 * max(n_words, 1):
        return True
    rest = n_filled - counts[cells.blank & ~good].sum()
    return bool(good.sum() >= MIN_NUMBERS and n_good >= MOSTLY * rest)


def with_unread(found: Column, cells: CodedCells, read: np.ndarray, what: str) -> Column:
    """Return the description with the cells that are not read, which count as empty.

    Parameters
    ----------
    found : Column
    cells : CodedCells
    read : array of bool, shape (k,)
        Whether each of the texts is read.
    what : str
        What the others are, such as "not numbers".
    """
    counts = cells.counts
    n_unread, n_filled = int(counts[~read].sum()), int(counts.sum())
    if not n_unread:
        return found
    wrong = cells.texts[int(np.argmax(np.where(read, 0, counts)))]
    remark = f"cells that are {what}, treated as empty: {n_unread}, e.g. {wrong!r}"
    found = replace(found, n_unread=n_unread, unread=wrong, remark="; ".join(filter(None, (found.remark, remark))))
    told = ""
    if n_unread > (1.0 - MOSTLY) * n_filled and not is_placeholder(wrong):
        share = f"{100.0 * n_unread / n_filled:.0f} %"
        way_out = "--as COLUMN=category keeps them as words"
        told = f"has cells that are {what} ({share}), which count as empty, e.g. {wrong!r}; {way_out}"
    elif n_unread > 0.5 * n_filled:
        told = f"is {wrong!r} in most cells, which count as empty; --as COLUMN=category keeps the words"
    return replace(found, warning="; it ".join(filter(None, (found.warning, told))))
