"""What a cell costs, judged by cells that have run."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from pucli.runner.cells import Cell, canonical_json
from pucli.runner.store import StoredRows

# (data set, declared method), (declared method), (method's name) or (): the most telling one comes first
Kind: TypeAlias = tuple[str, ...]


class Pace:
    """How long a cell takes and how many fits it makes, judged by cells that have run.

    A cell is judged by those of the same declared method on the same data set; where there are none, by those of the
    same declared method on other data sets.

    Parameters
    ----------
    known : mapping
        Stored rows by key.
    """

    def __init__(self, known: StoredRows) -> None:
        self._seen: dict[Kind, list[tuple[float, int]]] = {}
        for row in known.values():
            if row["status"] == "done":
                self.learn(kinds(row["dataset"], row["declared"]), sum(row["seconds"].values()), row["n_fits"])

    def learn(self, like: Iterable[Kind], seconds: float, n_fits: int) -> None:
        """Take in the cost of one cell.

        Parameters
        ----------
        like : iterable of Kind
            What `kinds` returned for the cell.
        seconds : float
            All that it took.
        n_fits : int
            Fits of its tuning.
        """
        for kind in like:
            self._seen.setdefault(kind, []).append((seconds, n_fits))

    def seconds(self, cell: Cell) -> float | None:
        """Return the median seconds of cells of the same declared method, None where none has run."""
        costs = self._costs(kinds(cell.dataset, cell.declared)[:2])
        return statistics.median(seconds for seconds, _ in costs) if costs else None

    def guess(self, like: Iterable[Kind]) -> float | None:
        """Return the mean seconds of the nearest kind that has run, None where nothing has."""
        costs = self._costs(like)
        return statistics.fmean(seconds for seconds, _ in costs) if costs else None

    def fits(self, cell: Cell) -> tuple[int, bool]:
        """Return the fits of a cell, and whether that is known rather than a lower bound."""
        costs = self._costs(kinds(cell.dataset, cell.declared)[:2])
        if cell.open_ended and costs:
            return round(statistics.mean(fits for _, fits in costs)) + 1, True
        return cell.n_fits, not cell.open_ended

    def _costs(self, like: Iterable[Kind]) -> list[tuple[float, int]]:
        return next((self._seen[kind] for kind in like if kind in self._seen), [])


class TimeLeft:
    """The time that a run still takes: what each kind of cell has cost, times how many of them are left.

    Parameters
    ----------
    pace : Pace
        What earlier runs cost; this run's cells are added as they finish.
    cells : iterable of Cell
        Cells to run.
    n_jobs : int
        Processes that share them.
    """

    def __init__(self, pace: Pace, cells: Iterable[Cell], n_jobs: int) -> None:
        self._pace, self._n_jobs = pace, n_jobs
        self._kinds = {cell.key: (cell.group, tuple(kinds(cell.dataset, cell.declared))) for cell in cells}
        self._left = Counter(like for _, like in self._kinds.values())
        self._groups = Counter(group for group, _ in self._kinds.values())

    def finish(self, cell: Cell, seconds: float, n_fits: int) -> None:
        """Take in a cell that finished."""
        group, like = self._kinds[cell.key]
        self._pace.learn(like, seconds, n_fits)
        # positive counts only: a kind or group without cells is gone
        self._left = +(self._left - Counter([like]))
        self._groups = +(self._groups - Counter([group]))

    def seconds(self) -> float | None:
        """Return the seconds left, None while nothing like it has run."""
        if not self._left:
            return 0.0
        guesses = {like: self._pace.guess(like) for like in self._left}
        if any(guess is None for guess in guesses.values()):
            return None
        total = sum((guesses[like] or 0.0) * count for like, count in self._left.items())
        # the cells of a group run one after the other
        return total / min(self._n_jobs, len(self._groups))


def kinds(dataset: str, declared: Mapping[str, Any]) -> list[Kind]:
    """Return what a cell is like, the most telling first."""
    method = canonical_json(declared["method"])
    return [(dataset, method), (method,), (str(declared["method"]["name"]), ""), ()]
