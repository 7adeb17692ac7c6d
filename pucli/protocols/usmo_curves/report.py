"""Figures of the protocol usmo_curves: curves over the number of unlabeled rows, and traces of fits."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.report.figures.style import MARKERS, PALETTE, WIDE, band, plain, spread_of, strokes, ticks_at
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

# The curve is cut off at this value, below which a process reuses its free memory.
LEAST = {"peak_mb": 0.1}

KERNELS = {"linear": "linear", "rbf": "Gaussian", "polynomial": "polynomial"}
CURVE_COLUMNS = ("dataset", "method", "repeat", "unlabeled", "seconds", "peak_mb", "f1", "objective", "dual_gap")


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return all fits as CSV, and the figures of finished cells with stored curves.

    Fits at several numbers of unlabeled rows give curves, in one figure per kernel, as in the paper; a single number
    gives the trace of the fits.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    cells : sequence of Cell
        The planned cells of the report.
    rows : mapping from str to StoredRow
        Stored rows by the key of their cell.
    """
    from pucli.report.files import csv_text

    done = _done(cells, rows)
    if not done:
        return []
    lines = _curve_lines(cells, rows)
    found = [Extra("curves.csv", "The curves in figures: every fit", csv_text(CURVE_COLUMNS, lines))]
    if any(len(details["curve"]["unlabeled"]) > 1 for repeats in done.values() for details in repeats):
        for kernel in dict.fromkeys(_kernel(cell) for cell in cells):
            drawn = curves(experiment, [cell for cell in cells if _kernel(cell) == kernel], rows)
            title = f"Time, memory and test F against the number of unlabeled rows, {KERNELS[kernel]} kernel"
            if drawn is not None:
                found.append(Extra(f"figures/curves-{kernel}", title, drawn))
    elif (drawn := trace(cells, rows)) is not None:
        found.append(Extra("figures/trace", "Time and objective over the iterations", drawn))
    return found


def curves(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> Figure | None:
    """Draw seconds, peak memory and test F against n, with one row per data set and one line per method.

    Lines are means over repeats, with a band of two standard errors. A note of the experiment on a column stands in
    the panel of the metric where that column does not change.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    cells : sequence of Cell
        The planned cells of the report.
    rows : mapping from str to StoredRow
        Stored rows by the key of their cell.

    Returns
    -------
    Figure or None
        None if no cell is finished.
    """
    done = _done(cells, rows)
    if not done:
        return None
    from matplotlib.figure import Figure

    datasets, labels = (list(dict.fromkeys(key[part] for key in done)) for part in (0, 1))
    strokes_of = strokes(labels)
    figure = Figure(figsize=(WIDE, 1.75 * len(datasets) + 0.5))
    grid = figure.subplots(len(datasets), len(PANELS), squeeze=False)
    lines: dict[str, Line2D] = {}
    for row, dataset in zip(grid, datasets, strict=True):
        ticks = max((d["curve"]["unlabeled"] for key in done if key[0] == dataset for d in done[key]), key=len)
        for ax, (name, title, scale) in zip(row, PANELS, strict=True):
            constant = []
            for label in labels:
                repeats = [details["curve"] for details in done.get((dataset, label), [])]
                if repeats:
                    values = np.maximum([curve[name] for curve in repeats], LEAST.get(name, -np.inf))
                    lines[label] = band(ax, repeats[0]["unlabeled"], values.T.tolist(), label, strokes_of[label])
                    constant += [label] if len(ticks) > 2 and np.ptp(values) == 0 else []
            ax.set(xscale="log", yscale=scale, ylabel=title)
            ticks_at(ax.xaxis, ticks, apart=0.18)
            if scale == "log":
                plain(ax.yaxis)
            _say_why(ax, [note.text for note in experiment.notes if (note.dataset, note.method) in
                          {(dataset, label) for label in constant}])  # fmt: skip
        row[0].set_title(dataset)
    for ax in grid[-1]:
        ax.set_xlabel("unlabeled rows")
    figure.legend(
        list(lines.values()),
        list(lines),
        title=spread_of(max(map(len, done.values()))),
        loc="outside lower center",
        ncols=min(len(lines), 4),
    )
    return figure


def _say_why(ax: Axes, reasons: Sequence[str]) -> None:
    """Write why lines of a panel are constant; the axis is then that of a share."""
    if reasons:
        ax.set_ylim(-0.05, 1.05)
        text = "\n".join(textwrap.fill(reason, 26) for reason in dict.fromkeys(reasons))
        ax.text(0.5, 0.55, text, transform=ax.transAxes, ha="center", va="center", fontsize=8)


def trace(cells: Sequence[Cell], rows: StoredRows) -> Figure | None:
    """Draw seconds per iteration and the dual objective (to be minimised) over iterations, of the first repeat.

    Returns None if no cell with a trace is finished.
    """
    done = {key: found[0]["trace"] for key, found in _done(cells, rows).items() if found[0]["trace"]}
    if not done:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDE, 2.8))
    left, right = figure.subplots(1, 2)
    names = {key: key[1] if len({dataset for dataset, _ in done}) == 1 else ", ".join(key) for key in done}
    for number, (key, steps) in enumerate(done.items()):
        seconds, dual, _ = np.array(steps).T
        # starts of one method: colours tell them apart, not the method
        ink = {"color": PALETTE[number % len(PALETTE)], "marker": MARKERS[number % len(MARKERS)], "markersize": 3}
        left.plot(np.arange(1, len(seconds)), np.diff(seconds), label=names[key], **ink)
        right.plot(-dual, **ink)
    left.set(xlabel="iteration, one run", ylabel="seconds", yscale="log", title="time of each iteration")
    plain(left.yaxis)
    right.set(xlabel="iteration, one run", ylabel="dual objective", title="objective")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _done(cells: Sequence[Cell], rows: StoredRows) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the details of the finished repeats with stored curves, by (data set, column)."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell, row in done_rows(cells, rows):
        if "curve" in row["details"]:
            found.setdefault((cell.dataset, cell.method), []).append(row["details"])
    return found


def _kernel(cell: Cell) -> str:
    return str(cell.declared["method"]["params"].get("kernel", "rbf"))


def _curve_lines(cells: Sequence[Cell], rows: StoredRows) -> list[list[Any]]:
    """Return one line per stored fit, in the order of the columns of curves.csv."""
    lines = []
    for cell, row in done_rows(cells, rows):
        if "curve" in row["details"]:
            columns = (row["details"]["curve"][name] for name in CURVE_COLUMNS[3:])
            lines += [[cell.dataset, cell.method, cell.repeat, *point] for point in zip(*columns, strict=True)]
    return lines
