"""Figure 3.4 of Wang 2024, from the cells of the protocol pu_figures: the regions predicted negative."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.protocols.pu_figures.protocol import FieldFigure, options_of
from pucli.report.figures.style import NEGATIVE, POSITIVE, WIDE, color, dots, drawing
from pucli.report.protocol_parts import Extra
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment, base_name, variant_name
from pucli.runner.store import StoredRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# opacity of a region in the color of its method
SHADE = 0.3


def draw(experiment: Experiment, done: Sequence[tuple[Cell, StoredRow]]) -> list[Extra]:
    """Return each declared figure with a finished cell."""
    drawn = []
    for name, figure in options_of(experiment).fields.items():
        chosen = [(cell, row) for cell, row in done if variant_name(cell.method) == figure.variant]
        if chosen:
            drawn.append(Extra(f"figures/{name}", figure.title, _draw(experiment, figure, chosen)))
    return drawn


def _draw(experiment: Experiment, figure: FieldFigure, chosen: Sequence[tuple[Cell, StoredRow]]) -> Figure:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    methods = list(dict.fromkeys(cell.method for cell, _ in chosen))
    settings = list(dict.fromkeys(_setting(experiment, cell) for cell, _ in chosen))
    size = WIDE, 1.35 * len(methods) + 0.95
    drawn, panels = drawing(*size, len(methods), len(settings), sharex="col", sharey="col")
    for ax in panels.ravel():
        ax.set_axis_off()
    for cell, row in chosen:
        line, column = methods.index(cell.method), settings.index(_setting(experiment, cell))
        ax = panels[line, column]
        ax.set_axis_on()
        _panel(ax, base_name(cell.method), row, figure.window)
        # methods at the left, settings above
        f1 = f"F1 {100 * (row['metrics']['f1'] or 0.0):.1f}"
        ax.set_title(f1 if line else f"{settings[column]}\n{f1}", fontsize=8)
    for ax, method in zip(panels[:, 0], methods, strict=True):
        ax.set_ylabel(f"{base_name(method)}: feature 2")
    drawn.supxlabel("feature 1", fontsize=9)
    marks = [
        Line2D([], [], marker=".", linestyle="", color=shade, label=f"{name} test rows")
        for name, shade in (("positive", POSITIVE), ("negative", NEGATIVE))
    ]
    fields = [Patch(color=color(m), alpha=SHADE, label=f"predicted negative by {base_name(m)}") for m in methods]
    drawn.legend(handles=[*marks, *fields], loc="outside upper center", ncols=4, columnspacing=1.0)
    return drawn


def _panel(ax: Axes, method: str, row: Mapping[str, Any], asked: Sequence[float] | None) -> None:
    """Draw the region that is predicted negative, and the test rows, in the window asked for or the whole one."""
    from matplotlib.colors import ListedColormap

    details = row["details"]
    whole, *others = details["fields"]
    window = whole if asked is None else next(field for field in others if list(field["window"]) == list(asked))
    left, right = window["window"]
    ax.imshow(
        np.ma.masked_equal(np.array(window["negative"]), 0),
        extent=(left, right, left, right),
        origin="lower",
        cmap=ListedColormap([color(method)]),
        alpha=SHADE,
        interpolation="nearest",
    )
    X, y = np.array(details["test"]), np.array(details["classes"])
    for label, shade in ((1, POSITIVE), (-1, NEGATIVE)):
        dots(ax, X[y == label], shade, 1.9)
    ax.set_xlim(left, right)
    ax.set_ylim(left, right)
    ax.locator_params(nbins=3)
    ax.tick_params(labelsize=7.5)
    ax.grid(visible=False)


def _setting(experiment: Experiment, cell: Cell) -> str:
    """Return the varying parameters of the generator as text."""
    varied = [key for key, value in experiment.data.parameters.items() if isinstance(value, list)]
    return ", ".join(f"{key} = {cell.setting[key]:g}" for key in varied)
