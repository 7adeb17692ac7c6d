"""Figures of the protocol classtering: a metric against the number of labels per class, and maps of predictions."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pucli.report.extras import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = Sequence[tuple[Cell, Mapping[str, Any]]]


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return a figure of the first metric for each data set, and a map of the predictions if there is one."""
    metric = experiment.metrics[0]
    found: list[Extra] = []
    done = done_rows(cells, rows)
    for dataset in dict.fromkeys(cell.dataset for cell, _ in done):
        own = [(cell, row) for cell, row in done if cell.dataset == dataset]
        found.append(Extra(f"figures/labels-{dataset}", f"{metric} on {dataset}", curves(metric, dataset, own)))
        maps = [(cell, row) for cell, row in own if row["details"].get("X")]
        if maps:
            title = f"Predictions of each method on {dataset}"
            found.append(Extra(f"figures/map-{dataset}", title, predictions(dataset, maps)))
    return found


def curves(metric: str, dataset: str, rows: Rows) -> Figure:
    """Draw the mean of `metric` over repeats, with its standard deviation, against the number of labels per class."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0, 3.6), layout="constrained")
    ax = figure.subplots()
    for label in dict.fromkeys(cell.method for cell, _ in rows):
        values: dict[int, list[float]] = {}
        for cell, row in rows:
            if cell.method == label and row["metrics"].get(metric) is not None:
                values.setdefault(int(cell.setting["labels"]), []).append(row["metrics"][metric])
        x = sorted(values)
        if x:
            mean = [statistics.fmean(values[n]) for n in x]
            ax.errorbar(x, mean, [statistics.pstdev(values[n]) for n in x], marker="o", ms=3, capsize=2, label=label)
    ax.set_xlabel("labelled rows of each class")
    ax.set_ylabel(metric)
    ax.set_title(dataset)
    ax.grid(alpha=0.3)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=8)
    return figure


def predictions(dataset: str, rows: Rows) -> Figure:
    """Draw rows in two or three dimensions, coloured by class and by the predictions of each method.

    The predictions shown are those with the most labels.
    """
    from matplotlib.figure import Figure

    most = max(cell.setting["labels"] for cell, _ in rows)
    shown = [(cell.method, row["details"]) for cell, row in rows if cell.setting["labels"] == most]
    panels = [("true classes", shown[0][1]["truth"]), *((label, details["answers"]) for label, details in shown)]
    points = shown[0][1]["X"]
    solid = len(points[0]) == 3
    figure = Figure(figsize=(2.6 * len(panels), 3.0), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False, subplot_kw={"projection": "3d"} if solid else {})[0]
    for ax, (title, colours) in zip(axes, panels, strict=True):
        ax.scatter(*zip(*points, strict=True), c=colours, s=4, cmap="tab10", rasterized=True)
        ax.set_title(title, fontsize=9)
        ax.set(xticks=[], yticks=[], **({"zticks": []} if solid else {}))
        ax.set_aspect("equal", "datalim")
    figure.suptitle(f"{dataset}, {most} labelled rows of each class", fontsize=9)
    return figure
