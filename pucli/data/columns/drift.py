"""Drift of new rows from training, accumulated by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pucli.data.columns.cells import shortest

# A smaller share of new numbers outside the range of many training rows is not worth a warning.
USUAL_OUTSIDE = 0.02
# A column has lost its meaning if at least LEAST_LOST of its cells, and a share NEARLY_ALL, have none, or if all of
# them lie within a share NARROW of the range of the training cells.
LEAST_LOST, NEARLY_ALL, NARROW = 30, 0.95, 0.01
# A column is unlike that of training if, among at least LEAST_COMPARED rows, the shares of cells up to some value
# differ by UNLIKE. At most COMPARED rows and CELLS cells of a block are compared.
LEAST_COMPARED, UNLIKE, COMPARED, CELLS = 50, 0.4, 1024, 2**21
# Different values among the five of a feature that is not the same in many rows.
LEAST_VARIED = 4
# Features of dates in which new rows are usually unlike those of training.
IN_SEASON = ("days", "month ", "weekday ")
# Fewer different dates may all have a day up to 12 by chance.
LEAST_DATES = 6
# Longest quotation of a cell, in characters.
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
                f"{count:,} of {n:,} dates lie outside those of the training rows, {first} to {last}, where what the "
                "model learned from dates may not hold; to score later rows, train without the column (--drop)"
            )
        ends = f"{shortest(self.low)} to {shortest(self.high)}"
        return (
            f"{count:,} of {n:,} cells lie outside the range of the training rows, {ends}; are they in the same units?"
        )


class ReferenceShares(NamedTuple):
    """Some values of each of k features and the shares of the training rows up to them, all (k, 5).

    New rows may be like the unlabeled rows of training, or like all of them, of which many may be labeled.

    points : values.
    shares : of the unlabeled rows.
    shares_of_all : of all rows.
    """

    points: np.ndarray
    shares: np.ndarray
    shares_of_all: np.ndarray

    @classmethod
    def of(cls, Z: np.ndarray, unlabeled: np.ndarray) -> ReferenceShares:
        """Return this of encoded rows Z (n, k), of which an evenly spaced part is looked at; unlabeled : (n,) bool."""
        every = _every(Z, 10 * COMPARED)
        some, alike = Z[::every], unlabeled[::every]
        rows = some[alike] if alike.any() else some
        points = np.quantile(rows, (0.1, 0.3, 0.5, 0.7, 0.9), axis=0, method="lower").T
        return cls(points, *(_counts_up_to(part, points) / len(part) for part in (rows, some)))


def _every(Z: np.ndarray, most: int) -> int:
    """Return the step that takes at most about so many rows of Z (n, k)."""
    rows = min(most, max(2 * LEAST_COMPARED, CELLS // max(Z.shape[1], 1)))
    return -(-len(Z) // rows) or 1


def _counts_up_to(Z: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return how many cells of each column of Z (n, k) are at most each of its points (k, 5)."""
    return np.stack([(column >= Z).sum(axis=0) for column in points.T], axis=1)


class DriftCounter:
    """Counter of cells in new rows that did not occur in training, over any number of blocks of rows.

    Parameters
    ----------
    place : function from the position of a row (from 0) to its place in the file, such as "line 17"
    training : whether these are the rows of training, whose words are as they are
    """

    def __init__(self, place: Callable[[int], str] = lambda row: f"row {row + 1}", *, training: bool = False) -> None:
        self.place, self.training = place, training
        self._exchangeable: dict[str, tuple[bool, dict[str, int]]] = {}
        self.offset = 0  # rows in the previous blocks
        self._counts: dict[tuple[str, str], list[Any]] = {}
        self._outside: dict[str, tuple[int, int, Range]] = {}
        self._ends: dict[str, tuple[float, float]] = {}
        self._lost: dict[tuple[str, str], tuple[int, int]] = {}
        self._up_to: np.ndarray | float = 0.0
        self._compared = 0
        self._usual: tuple[list[tuple[str, str]], ReferenceShares] | None = None

    def add(self, name: str, what: str, cells: np.ndarray, example: str = "") -> None:
        """Count unusual cells of a column."""
        count = int(cells.sum())
        if count:
            first = [0, self.offset + int(cells.argmax()), example]
            self._counts.setdefault((name, what), first)[0] += count

    def add_range(self, name: str, values: np.ndarray, known: Range) -> None:
        """Count the values of a column outside the range of its training cells."""
        count, n, _ = self._outside.get(name, (0, 0, known))
        outside = np.count_nonzero((values < known.low) | (values > known.high))
        self._outside[name] = (count + int(outside), n + len(values), known)
        found = values[np.isfinite(values)]
        if len(found):
            low, high = self._ends.get(name, (np.inf, -np.inf))
            self._ends[name] = (min(low, float(found.min())), max(high, float(found.max())))

    def add_dates(self, name: str, exchangeable: bool, read: dict[str, int]) -> None:
        """Count dates, with the day of the month that each is read as, whose day and month could be exchanged."""
        so_far, known = self._exchangeable.get(name, (True, {}))
        self._exchangeable[name] = (so_far and exchangeable, known if len(known) > LEAST_DATES else known | read)

    def add_lost(self, name: str, what: str, cells: np.ndarray) -> None:
        """Count cells without information; a warning follows if that is nearly all of them."""
        count, n = self._lost.get((name, what), (0, 0))
        self._lost[name, what] = (count + int(cells.sum()), n + len(cells))

    def add_usual(self, names: list[tuple[str, str]], Z: np.ndarray, usual: ReferenceShares) -> None:
        """Compare the distribution of encoded rows with that of the training rows."""
        some = Z[:: _every(Z, COMPARED)]
        self._up_to = self._up_to + _counts_up_to(some, usual.points)
        self._compared += len(some)
        self._usual = (names, usual)

    def compared(self) -> tuple[list[str], ReferenceShares, np.ndarray, int] | None:
        """Return what was seen of the distribution of each feature; None without training rows."""
        if self._usual is None or not self._compared:
            return None
        names, usual = self._usual
        return [column for column, _ in names], usual, np.asarray(self._up_to) / self._compared, self._compared

    def lines(self) -> list[str]:
        """Return one line per column and kind of problem."""
        told = [*self._exchanged(), *self._narrow(), *self._without_meaning(), *self._beyond()]
        named = {line.partition(": ")[0] for line in told}
        half = 0.5 * max((n for _, n, _ in self._outside.values()), default=0)
        named |= {f"column {name!r}" for (name, _), (count, _, _) in self._counts.items() if count > half > 0}
        return told + [line for line in self._unlike() if line.partition(": ")[0] not in named] + self._unseen()

    def _exchanged(self) -> list[str]:
        return [
            f"column {name!r}: in every date day and month could be exchanged, e.g. {next(iter(known))!r}, which is "
            "read as in training; if these are written otherwise, write dates as 2024-12-31"
            for name, (exchangeable, known) in self._exchangeable.items()
            if exchangeable and len(known) >= LEAST_DATES and len(set(known.values())) > 1
        ]

    def _beyond(self) -> list[str]:
        return [
            f"column {name!r}: {known.outside(count, n)}"
            for name, (count, n, known) in self._outside.items()
            if count > max(2.0, n * max(USUAL_OUTSIDE, 10.0 / known.rows))
        ]

    def _unseen(self) -> list[str]:
        return [
            f"column {name!r}: {count} cell{'s' * (count > 1)} {what} (first in {self.place(row)}"
            + (f": {_quoted(example)})" if example else ")")
            for (name, what), (count, row, example) in self._counts.items()
        ]

    def _unlike(self) -> list[str]:
        """Return a line for each column of which a feature is distributed unlike that of the training rows."""
        if self._usual is None or self._compared < LEAST_COMPARED:
            return []
        names, usual = self._usual
        here = np.asarray(self._up_to) / self._compared
        gaps = np.minimum(np.abs(here - usual.shares), np.abs(here - usual.shares_of_all))
        worst = gaps.argmax(axis=1)
        lines: dict[str, str] = {}
        for j in np.argsort(-gaps.max(axis=1), kind="stable").tolist():
            k, (column, feature) = int(worst[j]), names[j]
            low, high = self._ends.get(column, (-np.inf, np.inf)) if feature == column else (-np.inf, np.inf)
            if low == high and len(set(usual.points[j].tolist())) >= LEAST_VARIED:
                lines[column] = f"column {column!r}: every cell is {shortest(low)}, unlike those of the training rows"
                continue
            if usual.points[j, 0] < 0.0 <= low:
                share = f"{100.0 * usual.shares[j, 0]:.0f} % or more of those of the training rows are"
                lines[column] = f"column {column!r}: no cell is negative, although {share}; is the sign lost?"
                continue
            new, trained = 100.0 * here[j, k], 100.0 * usual.shares[j, k]
            if gaps[j, k] <= UNLIKE or feature.startswith(tuple(f"{column} {part}" for part in IN_SEASON)):
                continue
            if feature.startswith(f"{column} hour "):
                what = "its times of day are unlike those of the training rows; are they of the same time zone?"
            elif feature != column and usual.points[j, k] == 0.0:
                shares = f"{100.0 - new:.0f} % of these rows and of {100.0 - trained:.0f} % of the training rows"
                what = f"{feature!r} is true of {shares}; does it mean the same in both?"
            else:
                shares = f"{new:.0f} % of these cells and {trained:.0f} % of those of the training rows"
                what = f"{shares} are {shortest(usual.points[j, k], 4)} or less; are they in the same units?"
            lines.setdefault(column, f"column {column!r}: {what}")
        return list(lines.values())

    def _narrow(self) -> list[str]:
        return [
            f"column {name!r}: all cells lie within a hundredth of the range of the training rows, "
            f"at {shortest(low)} to {shortest(high)} of {shortest(known.low)} to {shortest(known.high)}; "
            "are they in the same units?"
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
