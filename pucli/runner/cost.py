"""Estimates of the cost of cells from cells that have run."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from pucli.runner.cells import Cell, canonical_json
from pucli.runner.store import StoredRows

# (data set, declared method), (declared method), (name of the method) or (), the most specific first
Kind: TypeAlias = tuple[str, ...]


class Pace:
    """Estimates of the time and number of fits of a cell from cells that have run.

    They are based on cells of the same declared method on the same data set or, without any, on other data sets.
    """

    def __init__(self, known: StoredRows) -> None:
        self._seen: dict[Kind, list[tuple[float, int]]] = {}
        for row in known.values():
            if row["status"] == "done":
                self.learn(kinds(row["dataset"], row["declared"]), sum(row["seconds"].values()), row["n_fits"])

    def learn(self, like: Iterable[Kind], seconds: float, n_fits: int) -> None:
        """Record the cost of a cell."""
        for kind in like:
            self._seen.setdefault(kind, []).append((seconds, n_fits))

    def seconds(self, cell: Cell) -> float | None:
        """Return the median seconds of cells of the same declared method, or None if none has run."""
        costs = self._costs(kinds(cell.dataset, cell.declared)[:2])
        return statistics.median(seconds for seconds, _ in costs) if costs else None

    def guess(self, like: Iterable[Kind]) -> float | None:
        """Return the mean seconds of the most specific kind that has run, or None without any."""
        costs = self._costs(like)
        return statistics.fmean(seconds for seconds, _ in costs) if costs else None

    def fits(self, cell: Cell) -> tuple[int, bool]:
        """Return the number of fits of a cell, and whether it is exact rather than a lower bound."""
        costs = self._costs(kinds(cell.dataset, cell.declared)[:2])
        if cell.open_ended and costs:
            return round(statistics.mean(fits for _, fits in costs)) + 1, True
        return cell.n_fits, not cell.open_ended

    def _costs(self, like: Iterable[Kind]) -> list[tuple[float, int]]:
        return next((self._seen[kind] for kind in like if kind in self._seen), [])


class TimeLeft:
    """Estimate of the remaining time of a run: the cost of each kind of cell times the number of cells left.

    The cells are added to `pace`, the costs of earlier runs, as they finish.
    """

    def __init__(self, pace: Pace, cells: Iterable[Cell], n_jobs: int) -> None:
        self._pace, self._n_jobs = pace, n_jobs
        self._kinds = {cell.key: (cell.group, tuple(kinds(cell.dataset, cell.declared))) for cell in cells}
        self._left = Counter(like for _, like in self._kinds.values())
        self._groups = Counter(group for group, _ in self._kinds.values())

    def finish(self, cell: Cell, seconds: float, n_fits: int) -> None:
        """Record a finished cell."""
        group, like = self._kinds[cell.key]
        self._pace.learn(like, seconds, n_fits)
        # only positive counts: a kind or group without cells is removed
        self._left = +(self._left - Counter([like]))
        self._groups = +(self._groups - Counter([group]))

    def seconds(self) -> float | None:
        """Return the seconds left, or None while no similar cell has run."""
        if not self._left:
            return 0.0
        guesses = {like: self._pace.guess(like) for like in self._left}
        if any(guess is None for guess in guesses.values()):
            return None
        total = sum((guesses[like] or 0.0) * count for like, count in self._left.items())
        # the cells of a group run in sequence
        return total / min(self._n_jobs, len(self._groups))


def iterations(declared: Mapping[str, Any]) -> int:
    """Return the iterations of training that the options of a protocol give to a cell, 1 without any."""
    return int(declared.get("options", {}).get("iterations", 1))


def kinds(dataset: str, declared: Mapping[str, Any]) -> list[Kind]:
    """Return the kinds of a cell, the most specific first."""
    method = canonical_json([declared["method"], iterations(declared)])
    return [(dataset, method), (method,), (str(declared["method"]["name"]), ""), ()]
