"""Texts and figures that a protocol adds to the table, made by the module `report` in the folder of the protocol."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from pucli.runner.cells import Cell, protocol_module
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRow, StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Extra:
    """A text or a figure."""

    path: str  # path in the results folder, e.g. ``harm.md``; for a figure without extension: ``figures/curves``
    title: str  # title on the page of the table
    content: str | Figure


# From the declared experiment, the planned cells of the report, and the stored rows by the key of their cell.
MakeExtras: TypeAlias = Callable[[Experiment, Sequence[Cell], StoredRows], list[Extra]]


def extras_of(protocol: str) -> MakeExtras:
    """Return the function `extras` of the module `report` of the protocol; without such a module, there are none."""
    return getattr(_report_module(protocol), "extras", lambda *_: [])


def remarks_of(protocol: str, experiment: Experiment) -> list[str]:
    """Return the sentences that the function `remarks` of that module puts above the table, if there is one."""
    return getattr(_report_module(protocol), "remarks", lambda _: [])(experiment)


def _report_module(protocol: str) -> ModuleType | None:
    package = protocol_module(protocol).__package__
    if not package or importlib.util.find_spec(f"{package}.report") is None:
        return None
    return importlib.import_module(f"{package}.report")


def done_rows(cells: Sequence[Cell], rows: StoredRows) -> list[tuple[Cell, StoredRow]]:
    """Return the finished cells, each with its stored row."""
    return [(cell, rows[cell.key]) for cell in cells if cell.key in rows and rows[cell.key]["status"] == "done"]
