"""What is unusual in new rows, counted over any number of blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

# Share of new numbers outside the range of many training rows that is not worth a warning.
USUAL_OUTSIDE = 0.02
# A column has lost its meaning if so many cells, all or nearly all of them, have none, or if all of them lie within
# this share of the range of the training cells.
LEAST_LOST, NEARLY_ALL, NARROW = 30, 0.95, 0.01
# Characters of a cell that are quoted.
QUOTED = 60


class Range(NamedTuple):
    """The ends of the training cells of a column, and their number; of dates, in days since 1970-01-01."""

    low: float
    high: float
    rows: int
    dates: bool = False

    def outside(self, count: int, n: int) -> str:
        """Say that `count` of n cells lie outside."""
        if self.dates:
            first, last = (np.datetime64(int(np.floor(day)), "D") for day in (self.low, self.high))
            return (
                f"{count} of {n} dates lie outside those of the training rows, {first} to {last}; there the model is "
                "untried, and what it learned from dates may not hold"
            )
        ends = f"{self.low:.6g} to {self.high:.6g}"
        return f"{count} of {n} cells lie outside the range of the training rows, {ends}; are they in the same units?"


class Tally:
    """Counter of cells in new rows that did not occur in training, over any number of blocks of rows.

    Parameters
    ----------
    place : function from the position of a row (from 0) to its place in the file, such as "line 17"
    """

    def __init__(self, place: Callable[[int], str] = lambda row: f"row {row + 1}") -> None:
        self.place = place
        self.offset = 0  # rows in the previous blocks
        self._counts: dict[tuple[str, str], list[Any]] = {}
        self._outside: dict[str, tuple[int, int, Range]] = {}
        self._ends: dict[str, tuple[float, float]] = {}
        self._lost: dict[tuple[str, str], tuple[int, int]] = {}

    def add(self, name: str, what: str, cells: np.ndarray, example: str = "") -> None:
        """Count the true entries of `cells` (n,) for the column `name`; `example` is the first such cell."""
        count = int(cells.sum())
        if count:
            first = [0, self.offset + int(cells.argmax()), example]
            self._counts.setdefault((name, what), first)[0] += count

    def add_range(self, name: str, values: np.ndarray, known: Range) -> None:
        """Count the values (n,) of the column `name` outside the range of its training cells."""
        count, n, _ = self._outside.get(name, (0, 0, known))
        outside = np.count_nonzero((values < known.low) | (values > known.high))
        self._outside[name] = (count + int(outside), n + len(values), known)
        found = values[np.isfinite(values)]
        if len(found):
            low, high = self._ends.get(name, (np.inf, -np.inf))
            self._ends[name] = (min(low, float(found.min())), max(high, float(found.max())))

    def add_lost(self, name: str, what: str, cells: np.ndarray) -> None:
        """Count the true entries of `cells` (n,), which tell nothing; they are told of if nearly all are true."""
        count, n = self._lost.get((name, what), (0, 0))
        self._lost[name, what] = (count + int(cells.sum()), n + len(cells))

    def lines(self) -> list[str]:
        """Return one line per column and kind of problem."""
        return (
            [*self._narrow(), *self._without_meaning()]
            + [
                f"column {name!r}: {known.outside(count, n)}"
                for name, (count, n, known) in self._outside.items()
                if count > max(2.0, n * max(USUAL_OUTSIDE, 10.0 / known.rows))
            ]
            + [
                f"column {name!r}: {count} cell{'s' * (count > 1)} {what} (first in {self.place(row)}"
                + (f": {_quoted(example)})" if example else ")")
                for (name, what), (count, row, example) in self._counts.items()
            ]
        )

    def _narrow(self) -> list[str]:
        return [
            f"column {name!r}: all cells lie within a hundredth of the range of the training rows, at {low:.6g} to "
            f"{high:.6g} of {known.low:.6g} to {known.high:.6g}; are they in the same units?"
            for name, (low, high) in self._ends.items()
            for _, n, known in [self._outside[name]]
            if n >= LEAST_LOST and not known.dates and known.low <= low and high <= known.high
            if 0.0 < high - low < NARROW * (known.high - known.low)
        ]

    def _without_meaning(self) -> list[str]:
        return [
            f"column {name!r}: {count} of {n} cells {what}"
            for (name, what), (count, n) in self._lost.items()
            if n >= LEAST_LOST and count >= NEARLY_ALL * n
        ]


def _quoted(cell: str) -> str:
    """Return a cell in quotes, without the end of a long one."""
    found = repr(cell)
    return found if len(found) <= QUOTED else f"{found[:QUOTED]}...{found[0]}"
