"""What a protocol adds beside the table: texts and figures, made by the module `report` of the protocol's folder."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pucli.runner.cells import Cell, protocol_module
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRow, StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Extra:
    """A text or a figure.

    Parameters
    ----------
    path : str
        Where it goes in the results folder, e.g. ``harm.md``. That of a figure has no ending: ``figures/curves``.
    title : str
        What the table's page calls it.
    content : str or matplotlib Figure
        The text, or the drawn figure.
    """

    path: str
    title: str
    content: str | Figure


MakeExtras: TypeAlias = Callable[[Experiment, Sequence[Cell], StoredRows], list[Extra]]


def no_extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return nothing: for a protocol that has only the table."""
    return []


def extras_of(protocol: str) -> MakeExtras:
    """Return the function `extras` of the protocol's module `report`; `no_extras` where it has no such module."""
    package = protocol_module(protocol).__package__
    if not package or importlib.util.find_spec(f"{package}.report") is None:
        return no_extras
    found: MakeExtras = getattr(importlib.import_module(f"{package}.report"), "extras", no_extras)
    return found


def done_rows(cells: Sequence[Cell], rows: StoredRows) -> list[tuple[Cell, StoredRow]]:
    """Return the cells that are done, each with its stored row."""
    return [(cell, rows[cell.key]) for cell in cells if cell.key in rows and rows[cell.key]["status"] == "done"]
