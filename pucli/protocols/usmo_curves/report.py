"""Figures of the protocol usmo_curves: curves over the number of unlabeled rows, and traces of fits."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pucli.report.figures.style import MARKERS, PALETTE, WIDE, band, drawing, plain, spread_of, strokes, ticks_at
from pucli.report.files import csv_text
from pucli.report.protocol_parts import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

PANELS = (
    ("seconds", "CPU seconds", "log"),
    ("peak_mb", "peak memory, MB", "log"),
    ("f1", "F, positive class", "linear"),
)
# Those that the paper draws.
IN_PANELS = (PANELS[0], PANELS[2])

# The curve is cut off at this value, below which a process reuses its free memory.
LEAST = {"peak_mb": 0.1}

# Small panels side by side.
ACROSS = 6

# The details of the finished repeats of a curve.
Repeats: TypeAlias = list[dict[str, Any]]
# By panel or data set, and column.
Done: TypeAlias = dict[tuple[str, str], Repeats]

KERNELS = {"linear": "linear", "rbf": "Gaussian", "polynomial": "polynomial"}
CURVE_COLUMNS = ("dataset", "method", "repeat", "unlabeled", "seconds", "peak_mb", "f1", "objective", "dual_gap")


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return all fits as CSV, and the figures of finished cells with stored curves.

    Fits at several numbers of unlabeled rows give curves, in one figure per kernel, as in the paper; with panels for
    classes, in one per kernel and metric. A single number gives the trace of the fits.
    """
    done = _done(cells, rows)
    if not done:
        return []
    keys = list(dict.fromkeys(key for cell in cells for key in cell.setting))
    head = (CURVE_COLUMNS[0], *keys, *CURVE_COLUMNS[1:])
    found = [Extra("curves.csv", "The curves in figures: every fit", csv_text(head, _curve_lines(cells, rows)))]
    if any(len(details["curve"]["unlabeled"]) > 1 for repeats in done.values() for details in repeats):
        for kernel in dict.fromkeys(_kernel(cell) for cell in cells):
            own = _done([cell for cell in cells if _kernel(cell) == kernel], rows)
            found += _figures(experiment, own, kernel, in_panels=bool(keys)) if own else []
    elif any(repeats[0]["trace"] for repeats in done.values()):
        found.append(Extra("figures/trace", "Time and objective over the iterations", _trace(done)))
    return found


def _figures(experiment: Experiment, done: Done, kernel: str, *, in_panels: bool) -> list[Extra]:
    if in_panels:
        made = [(panel[0], panel[1], _panels(done, panel)) for panel in IN_PANELS]
    else:
        made = [("curves", "Time, memory and test F", _curves(experiment, done))]
    against = f"against the number of unlabeled rows, {KERNELS[kernel]} kernel"
    return [Extra(f"figures/{name}-{kernel}", f"{title} {against}", drawn) for name, title, drawn in made]


def _curves(experiment: Experiment, done: Done) -> Figure:
    """Draw seconds, peak memory and test F against n, with one row per data set and one line per method.

    Lines are means over repeats, with a band of two standard errors. A note of the experiment on a column stands in
    the panel of the metric where that column does not change.
    """
    datasets, labels = (list(dict.fromkeys(key[part] for key in done)) for part in (0, 1))
    figure, grid = drawing(WIDE, 1.75 * len(datasets) + 0.5, len(datasets), len(PANELS))
    lines: dict[str, Line2D] = {}
    for row, dataset in zip(grid, datasets, strict=True):
        own = {label: done[dataset, label] for label in labels if (dataset, label) in done}
        ticks = _sizes(own)
        for ax, (name, title, scale) in zip(row, PANELS, strict=True):
            constant = _draw(ax, own, name, strokes(labels), lines)
            ax.set(xscale="log", yscale=scale, ylabel=title)
            ticks_at(ax.xaxis, ticks, apart=0.18)
            if scale == "log":
                plain(ax.yaxis)
            _say_why(ax, [note.text for note in experiment.notes if len(ticks) > 2 and
                          note.dataset == dataset and note.method in constant])  # fmt: skip
        row[0].set_title(dataset)
    for ax in grid[-1]:
        ax.set_xlabel("unlabeled rows")
    _legend(figure, lines, done)
    return figure


def _panels(done: Done, panel: tuple[str, str, str]) -> Figure:
    """Draw one of `PANELS` against n, with one small panel per data set and class, all on the same axes."""
    name, title, scale = panel
    places, labels = (list(dict.fromkeys(key[part] for key in done)) for part in (0, 1))
    columns = min(ACROSS, len(places))
    number = math.ceil(len(places) / columns)
    figure, grid = drawing(WIDE, 1.15 * number + 0.8, number, columns, sharex=True, sharey=True)
    lines: dict[str, Line2D] = {}
    for ax, place in zip(grid.flat, places, strict=False):
        own = {label: done[place, label] for label in labels if (place, label) in done}
        _draw(ax, own, name, strokes(labels), lines)
        ax.set_title(place)
        if not ax.lines:
            ax.text(0.5, 0.5, "not defined", transform=ax.transAxes, ha="center", va="center", fontsize=8)
    for ax in grid.flat[len(places) :]:
        ax.set_axis_off()
    first = grid[0, 0]
    first.set(xscale="log", yscale=scale)
    ticks_at(first.xaxis, _sizes(done), apart=0.4)
    if scale == "log":
        plain(first.yaxis)
    else:
        first.set_ylim(-0.05, 1.05)
    for ax in grid[-1]:
        ax.set_xlabel("unlabeled rows")
    figure.supylabel(title, fontsize=9)
    _legend(figure, lines, done)
    return figure


def _draw(
    ax: Axes, own: Mapping[str, Repeats], name: str, ink: Mapping[str, Any], lines: dict[str, Line2D]
) -> list[str]:
    """Draw the lines of a panel, add them to `lines`, and return the labels of those that are constant."""
    constant = []
    for label, repeats in own.items():
        values = np.array([details["curve"][name] for details in repeats], dtype=float)
        values = np.maximum(values[~np.isnan(values).any(axis=1)], LEAST.get(name, -np.inf))
        if len(values):
            x = repeats[0]["curve"]["unlabeled"]
            lines[label] = band(ax, x, values.T.tolist(), label, ink[label])
            constant += [label] if np.ptp(values) == 0 else []
    return constant


def _sizes(done: Mapping[Any, Repeats]) -> list[int]:
    """Return the numbers of unlabeled rows of the longest curve."""
    return max((details["curve"]["unlabeled"] for repeats in done.values() for details in repeats), key=len)


def _legend(figure: Figure, lines: Mapping[str, Line2D], done: Mapping[Any, Repeats]) -> None:
    figure.legend(
        list(lines.values()),
        list(lines),
        title=spread_of(max(map(len, done.values()))),
        loc="outside lower center",
        ncols=min(len(lines), 4),
    )


def _say_why(ax: Axes, reasons: Sequence[str]) -> None:
    """Write why lines of a panel are constant; the axis is then that of a share."""
    if reasons:
        ax.set_ylim(-0.05, 1.05)
        text = "\n".join(textwrap.fill(reason, 26) for reason in dict.fromkeys(reasons))
        ax.text(0.5, 0.55, text, transform=ax.transAxes, ha="center", va="center", fontsize=8)


def _trace(done: Done) -> Figure:
    """Draw seconds per iteration and the dual objective (to be minimized) over iterations, of the first repeat."""
    traces = {key: repeats[0]["trace"] for key, repeats in done.items() if repeats[0]["trace"]}
    figure, axes = drawing(WIDE, 2.8, 1, 2)
    left, right = axes[0]
    names = {key: key[1] if len({dataset for dataset, _ in traces}) == 1 else ", ".join(key) for key in traces}
    for number, (key, steps) in enumerate(traces.items()):
        seconds, dual, _ = np.array(steps).T
        # starts of one method: colors tell them apart, not the method
        ink = {"color": PALETTE[number % len(PALETTE)], "marker": MARKERS[number % len(MARKERS)], "markersize": 3}
        left.plot(np.arange(1, len(seconds)), np.diff(seconds), label=names[key], **ink)
        right.plot(-dual, **ink)
    left.set(xlabel="iteration, one run", ylabel="seconds", yscale="log", title="time of each iteration")
    plain(left.yaxis)
    right.set(xlabel="iteration, one run", ylabel="dual objective", title="objective")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _done(cells: Sequence[Cell], rows: StoredRows) -> Done:
    """Return the details of the finished repeats with stored curves, by (panel or data set, column)."""
    found: Done = {}
    for cell, row in done_rows(cells, rows):
        if "curve" in row["details"]:
            place = cell.setting.get("panel", cell.dataset)
            found.setdefault((place, cell.method), []).append(row["details"])
    return found


def _kernel(cell: Cell) -> str:
    return str(cell.declared["method"]["params"].get("kernel", "rbf"))


def _curve_lines(cells: Sequence[Cell], rows: StoredRows) -> list[list[Any]]:
    """Return one line per stored fit, in the order of the columns of curves.csv."""
    lines = []
    for cell, row in done_rows(cells, rows):
        if "curve" in row["details"]:
            columns = (row["details"]["curve"][name] for name in CURVE_COLUMNS[3:])
            own = [cell.dataset, *cell.setting.values(), cell.method, cell.repeat]
            lines += [[*own, *point] for point in zip(*columns, strict=True)]
    return lines
