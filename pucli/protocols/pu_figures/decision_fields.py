"""Figure 3.4 of Wang 2024, from the cells of the protocol pu_figures: the regions predicted negative."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.report.extras import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment, base_name, variant_name
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pucli.protocols.pu_figures.protocol import FieldFigure

# As in the published figure: the negative region of GLPUAL pink, that of GLLC orange; positives red, negatives blue.
FIELDS = {"glpual": "pink", "gllc": "orange"}
OTHER = "0.85"


def draw(
    experiment: Experiment, figures: Mapping[str, FieldFigure], cells: Sequence[Cell], rows: StoredRows
) -> list[Extra]:
    """Return each declared figure of the first repeat with a finished cell that has stored its field."""
    drawn = []
    for name, figure in figures.items():
        chosen = [
            cell
            for cell, row in done_rows(cells, rows)
            if cell.repeat == 0 and variant_name(cell.method) == figure.variant and row["details"]
        ]
        if chosen:
            drawn.append(Extra(f"figures/{name}", figure.title, _draw(experiment, figure, chosen, rows)))
    return drawn


def _draw(experiment: Experiment, figure: FieldFigure, cells: Sequence[Cell], stored: StoredRows) -> Figure:
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure

    methods = list(dict.fromkeys(cell.method for cell in cells))
    settings = list(dict.fromkeys(_setting(experiment, cell) for cell in cells))
    drawn = Figure(figsize=(2.9 * len(methods) + 0.4, 2.7 * len(settings) + 0.3), layout="constrained")
    panels = drawn.subplots(len(settings), len(methods), squeeze=False)
    for axes in panels.ravel():
        axes.set_axis_off()
    for cell in cells:
        axes = panels[settings.index(_setting(experiment, cell)), methods.index(cell.method)]
        axes.set_axis_on()
        row = stored[cell.key]
        details = row["details"]
        window = details["fields"][0] if figure.window is None else _window(details["fields"], figure.window)
        left, right = window["window"]
        method = base_name(cell.method)
        axes.imshow(
            np.ma.masked_equal(np.array(window["negative"]), 0),
            extent=(left, right, left, right),
            origin="lower",
            cmap=ListedColormap([FIELDS.get(method, OTHER)]),
            interpolation="nearest",
        )
        X, y = np.array(details["test"]), np.array(details["classes"])
        for label, colour in ((1, "red"), (-1, "blue")):
            axes.scatter(*X[y == label].T, s=5, c=colour, linewidths=0)
        axes.set_xlim(left, right)
        axes.set_ylim(left, right)
        f1 = 100 * (row["metrics"]["f1"] or 0.0)
        axes.set_title(f"{method}, {_setting(experiment, cell)}: F1 {f1:.1f}", fontsize=8)
        axes.tick_params(labelsize=7)
    return drawn


def _window(fields: Sequence[Mapping[str, Any]], window: Sequence[float]) -> Mapping[str, Any]:
    return next(field for field in fields[1:] if list(field["window"]) == list(window))


def _setting(experiment: Experiment, cell: Cell) -> str:
    """Return the varying parameters of the generator as text."""
    varied = [key for key, value in experiment.data.parameters.items() if isinstance(value, list)]
    return ", ".join(f"{key} = {cell.setting[key]:g}" for key in varied)
