"""What a cell costs, judged by the cells that are stored."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from pucli.runner.cells import Cell, canonical_json
from pucli.runner.store import StoredRows


class Pace:
    """How long a cell takes and how many fits it makes, judging by stored ones.

    A stored cell counts for another if the declared method is the same; those of the same data set count first.
    """

    def __init__(self, known: StoredRows) -> None:
        self._seen: dict[tuple[str, ...], list[tuple[float, int]]] = {}
        for row in known.values():
            if row["status"] == "done":
                cost = (sum(row["seconds"].values()), row["n_fits"])
                for key in self._keys(row["dataset"], row["declared"]):
                    self._seen.setdefault(key, []).append(cost)

    @staticmethod
    def _keys(dataset: str, declared: Mapping[str, Any]) -> list[tuple[str, ...]]:
        method = canonical_json(declared["method"])
        return [(dataset, method), (method,)]

    def _like(self, cell: Cell) -> list[tuple[float, int]]:
        keys = self._keys(cell.dataset, cell.declared)
        return next((self._seen[key] for key in keys if key in self._seen), [])

    def seconds(self, cell: Cell) -> float | None:
        costs = self._like(cell)
        return statistics.median(seconds for seconds, _ in costs) if costs else None

    def fits(self, cell: Cell) -> tuple[int, bool]:
        """Fits of the cell, and whether that is known rather than a lower bound."""
        costs = self._like(cell)
        if cell.open_ended and costs:
            return round(statistics.mean(fits for _, fits in costs)) + 1, True
        return cell.n_fits, not cell.open_ended
