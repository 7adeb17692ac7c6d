"""Figures of the protocol usmo_curves: curves over the number of unlabeled rows, and a fit's trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.runner.cells import Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = (
    ("seconds", "CPU seconds", "log"),
    ("peak_mb", "peak memory, MB", "log"),
    ("f1", "F of the positive class", "linear"),
)

# Below this a process takes its memory from what it has: the curve is cut off.
LEAST = {"peak_mb": 0.1}


def curves(cells: Sequence[Cell], stored: Mapping[str, Mapping[str, Any]]) -> Figure | None:
    """Draw seconds, peak memory and test F against n: a row for each data set, a line for each method.

    Lines are means over repeats. None before a cell is done.
    """
    done = _done(cells, stored)
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
    for row, dataset in zip(grid, datasets, strict=True):
        for axes, (name, title, scale) in zip(row, PANELS, strict=True):
            for number, label in enumerate(labels):
                repeats = [details["curve"] for details in done.get((dataset, label), [])]
                if repeats:
                    y = np.maximum(np.mean([curve[name] for curve in repeats], axis=0), LEAST.get(name, -np.inf))
                    style = "--" if "linear" in label else "-"
                    axes.plot(repeats[0]["unlabeled"], y, style, marker=".", color=f"C{number % 10}", label=label)
            axes.set(xscale="log", yscale=scale, xlabel="unlabeled rows", ylabel=title)
            axes.set_xticks(ticks[dataset], [f"{n:g}" for n in ticks[dataset]], fontsize=7)
            axes.minorticks_off()
            axes.grid(alpha=0.3)
        row[0].set_title(dataset, loc="left")
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    return figure


def trace(cells: Sequence[Cell], stored: Mapping[str, Mapping[str, Any]]) -> Figure | None:
    """Draw seconds per iteration and the dual objective (to be minimised) over iterations, of the first repeat.

    None before a cell with a trace is done.
    """
    done = {key: found[0]["trace"] for key, found in _done(cells, stored).items() if found[0]["trace"]}
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


def _done(cells: Sequence[Cell], stored: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], list[dict]]:
    found: dict[tuple[str, str], list[dict]] = {}
    for cell in cells:
        row = stored.get(cell.key)
        if row is not None and row["status"] == "done" and "curve" in row["details"]:
            found.setdefault((cell.dataset, cell.method), []).append(row["details"])
    return found
