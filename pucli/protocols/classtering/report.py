"""Figures of the protocol classtering: a metric against the number of labels per class, and maps of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.metrics import get_metric
from pucli.report.figures.style import NARROW, PALETTE, WIDE, band, dots, drawing, end_labels, spread_of, strokes
from pucli.report.protocol_parts import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Difference of two means of a metric below which a title calls them alike.
TIED = 0.01
# panels side by side
ACROSS = 3
Rows = Sequence[tuple[Cell, Mapping[str, Any]]]


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return a figure of the first metric for each data set, and a map of the predictions if there is one."""
    metric = experiment.metrics[0]
    found: list[Extra] = []
    done = done_rows(cells, rows)
    for dataset in dict.fromkeys(cell.dataset for cell, _ in done):
        own = [(cell, row) for cell, row in done if cell.dataset == dataset]
        found.append(Extra(f"figures/labels-{dataset}", f"{metric} on {dataset}", _curves(metric, dataset, own)))
        maps = [(cell, row) for cell, row in own if row["details"].get("X")]
        if maps:
            title = f"Predictions of each method on {dataset}"
            found.append(Extra(f"figures/map-{dataset}", title, predictions(dataset, maps)))
    return found


def _curves(metric: str, dataset: str, rows: Rows) -> Figure:
    """Draw the mean of `metric` over repeats, with two standard errors, against the number of labels per class."""
    figure, ax = drawing(NARROW, 2.8)
    lines = strokes(list(dict.fromkeys(cell.method for cell, _ in rows)))
    last: dict[str, float] = {}
    for label, stroke in lines.items():
        values: dict[int, list[float]] = {}
        for cell, row in rows:
            if cell.method == label and row["metrics"].get(metric) is not None:
                values.setdefault(int(cell.setting["labels"]), []).append(row["metrics"][metric])
        x = sorted(values)
        if x:
            band(ax, x, [values[n] for n in x], label, stroke)
            last[label] = float(np.mean(values[x[-1]]))
    ax.set_xlabel(f"labeled rows of each class; {spread_of(len({cell.repeat for cell, _ in rows}))}")
    ax.set_ylabel(metric)
    ax.set_title(finding(dataset, last, higher=get_metric(metric).better == "higher"), pad=12)
    end_labels(ax, 2.1)
    return figure


def finding(dataset: str, last: Mapping[str, float], *, higher: bool) -> str:
    """Return the title of a figure: which methods are ahead, or behind if they are fewer, with the most labels.

    Examples
    --------
    >>> finding("iris", {"a": 0.9, "b": 0.899, "c": 0.5}, higher=True)
    'iris: c ends behind'
    """
    if not last:
        return dataset
    best = max(last.values()) if higher else min(last.values())
    ahead = [label for label, value in last.items() if abs(value - best) <= TIED]
    behind = [label for label in last if label not in ahead]
    if not behind:
        return f"{dataset}: all end alike"
    shown, place = (ahead, "ahead") if len(ahead) <= len(behind) else (behind, "behind")
    return f"{dataset}: {' and '.join(shown)} {'ends' if len(shown) == 1 else 'end'} {place}"


def predictions(dataset: str, rows: Rows) -> Figure:
    """Draw rows in two or three dimensions, colored by class and by the predictions of each method.

    The predictions shown are those with the most labels. A predicted cluster has the color of the class with which it
    shares the most rows; further clusters have further colors.
    """
    most = max(cell.setting["labels"] for cell, _ in rows)
    shown = [(cell.method, row["details"]) for cell, row in rows if cell.setting["labels"] == most]
    truth = np.unique(shown[0][1]["truth"], return_inverse=True)[1]
    panels = [("true classes", truth), *((label, matched(details["answers"], truth)) for label, details in shown)]
    points = np.array(shown[0][1]["X"])
    solid = points.shape[1] == 3
    lines = -(-len(panels) // ACROSS)
    figure, grid = drawing(WIDE, 2.55 * lines + 0.2, lines, ACROSS, subplot_kw={"projection": "3d"} if solid else {})
    axes = grid.ravel()
    for ax in axes[len(panels) :]:
        ax.remove()
    for ax, (title, classes) in zip(axes, panels, strict=False):
        for number in np.unique(classes):
            own, shade = points[classes == number], PALETTE[number % len(PALETTE)]
            if solid:
                ax.scatter(*own.T, color=shade, s=3, linewidths=0, rasterized=True)
            else:
                dots(ax, own, shade, 1.9)
        ax.set_title(title)
        ax.set(xticks=[], yticks=[], **({"zticks": []} if solid else {}))
        ax.set_aspect("equal", "datalim")
        ax.grid(visible=False)
    figure.suptitle(f"{dataset}, {most} labeled rows of each class")
    return figure


def matched(answers: Sequence[int], truth: np.ndarray) -> np.ndarray:
    """Return predicted clusters with the numbers of the classes that they share the most rows with.

    Examples
    --------
    >>> matched([5, 5, 7, 9], np.array([0, 0, 1, 1])).tolist()
    [0, 0, 1, 2]
    """
    from scipy.optimize import linear_sum_assignment

    clusters = np.unique(answers, return_inverse=True)[1]
    shared = np.zeros((clusters.max() + 1, truth.max() + 1))
    np.add.at(shared, (clusters, truth), 1)
    found = dict(zip(*linear_sum_assignment(-shared), strict=True))
    rest = iter(range(truth.max() + 1, truth.max() + 2 + clusters.max()))
    return np.array([found[c] if c in found else next(rest) for c in range(clusters.max() + 1)])[clusters]
