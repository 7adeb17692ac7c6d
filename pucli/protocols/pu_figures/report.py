"""Figures of the protocol pu_figures: decision fields, or t-SNE maps and a table of them."""

from __future__ import annotations

from collections.abc import Sequence

from pucli.protocols.pu_figures import decision_fields, tsne_maps
from pucli.report.protocol_parts import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRows


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return the declared figures of the first repeat whose cells are finished."""
    done = [(cell, row) for cell, row in done_rows(cells, rows) if cell.repeat == 0 and row["details"]]
    return decision_fields.draw(experiment, done) + tsne_maps.draw(experiment, done)
