"""Figures of the protocol usmo_curves: curves over the number of unlabeled rows, and traces of fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.report.extras import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

PANELS = (
    ("seconds", "CPU seconds", "log"),
    ("peak_mb", "peak memory, MB", "log"),
    ("f1", "F of the positive class", "linear"),
)

# The curve is cut off at this value, below which a process reuses its free memory.
LEAST = {"peak_mb": 0.1}

# One per method, so that overlapping curves can be distinguished.
LINES = ("o-", "s--", "^:", "v-.", "D-", "x--")

KERNELS = {"linear": "linear", "rbf": "Gaussian", "polynomial": "polynomial"}
CURVE_COLUMNS = ("dataset", "method", "repeat", "unlabeled", "seconds", "peak_mb", "f1", "objective", "dual_gap")


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return all fits as CSV, and the figures of finished cells with stored curves.

    Fits at several numbers of unlabeled rows give curves, in one figure per kernel, as in the paper; a single number
    gives the trace of the fits.
    """
    from pucli.report.files import csv_text

    done = _done(cells, rows)
    if not done:
        return []
    lines = _curve_lines(cells, rows)
    found = [Extra("curves.csv", "The curves in figures: every fit", csv_text(CURVE_COLUMNS, lines))]
    if any(len(details["curve"]["unlabeled"]) > 1 for repeats in done.values() for details in repeats):
        for kernel in dict.fromkeys(_kernel(cell) for cell in cells):
            drawn = curves([cell for cell in cells if _kernel(cell) == kernel], rows)
            title = f"Time, memory and test F against the number of unlabeled rows, {KERNELS[kernel]} kernel"
            if drawn is not None:
                found.append(Extra(f"figures/curves-{kernel}", title, drawn))
    elif (drawn := trace(cells, rows)) is not None:
        found.append(Extra("figures/trace", "Time and objective over the iterations", drawn))
    return found


def curves(cells: Sequence[Cell], rows: StoredRows) -> Figure | None:
    """Draw seconds, peak memory and test F against n, with one row per data set and one line per method.

    Lines are means over repeats. Returns None if no cell is finished.
    """
    done = _done(cells, rows)
    if not done:
        return None
    from matplotlib.figure import Figure

    datasets, labels = (list(dict.fromkeys(key[part] for key in done)) for part in (0, 1))
    ticks = {
        name: max((d["curve"]["unlabeled"] for k, r in done.items() if k[0] == name for d in r), key=len)
        for name in datasets
    }
    figure = Figure(figsize=(11, 2.8 * len(datasets) + 0.6), layout="constrained")
    grid = figure.subplots(len(datasets), len(PANELS), squeeze=False)
    lines: dict[str, Line2D] = {}
    for row, dataset in zip(grid, datasets, strict=True):
        for axes, (name, title, scale) in zip(row, PANELS, strict=True):
            for number, label in enumerate(labels):
                repeats = [details["curve"] for details in done.get((dataset, label), [])]
                if repeats:
                    y = np.maximum(np.mean([curve[name] for curve in repeats], axis=0), LEAST.get(name, -np.inf))
                    (lines[label],) = axes.plot(
                        repeats[0]["unlabeled"], y, LINES[number % len(LINES)], markersize=4, color=f"C{number % 10}"
                    )
            axes.set(xscale="log", yscale=scale, xlabel="unlabeled rows", ylabel=title)
            axes.set_xticks(ticks[dataset], [f"{n:g}" for n in ticks[dataset]], fontsize=7)
            axes.minorticks_off()
            axes.grid(alpha=0.3)
        row[0].set_title(dataset, loc="left")
    figure.legend(list(lines.values()), list(lines), loc="outside lower center", ncols=6, frameon=False)
    return figure


def trace(cells: Sequence[Cell], rows: StoredRows) -> Figure | None:
    """Draw seconds per iteration and the dual objective (to be minimised) over iterations, of the first repeat.

    Returns None if no cell with a trace is finished.
    """
    done = {key: found[0]["trace"] for key, found in _done(cells, rows).items() if found[0]["trace"]}
    if not done:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for (dataset, label), steps in done.items():
        seconds, dual, _ = np.array(steps).T
        left.plot(np.arange(1, len(seconds)), np.diff(seconds), marker=".", label=f"{dataset}, {label}")
        right.plot(-dual, marker=".")
    left.set(xlabel="iteration", ylabel="seconds", yscale="log", title="(a) time of each iteration")
    right.set(xlabel="iteration", ylabel="dual objective", title="(b) objective")
    left.legend(frameon=False, fontsize=8)
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
