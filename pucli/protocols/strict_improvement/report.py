"""Figure 3.1 of Bertazzi 2018, from the cells of the protocol strict_improvement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.report.figures.style import BLUE, FAINT, RED, WIDE, drawing
from pucli.report.protocol_parts import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The axis of the labels ends here, and unlabeled points lie on its lower end.
LOWEST, HIGHEST = -0.8, 2.2


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return the figure, with a panel for each finished cell that has stored its line."""
    found = [(float(cell.setting["u"]), row) for cell, row in done_rows(cells, rows) if row["details"]]
    if not found:
        return []
    figure, grid = drawing(WIDE, 2.9, 1, len(found), sharex=True, sharey=True)
    axes = grid[0]
    ends = np.array([u for u, _ in found] + [x for _, row in found for x in row["details"]["labeled"]])
    across = np.array([ends.min() - 0.5, ends.max() + 0.5])
    for ax, (u, row) in zip(axes, found, strict=True):
        _draw(ax, u, row["details"], row["metrics"], across)
    axes[0].set_ylabel("label")
    axes[0].set_ylim(LOWEST, HIGHEST)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return [Extra("figures/figure-3.1", "Figure 3.1: an unlabeled point within the margin and beyond it", figure)]


def _draw(ax: Axes, u: float, found: Mapping[str, Any], metrics: Mapping[str, Any], across: np.ndarray) -> None:
    """Draw the labeled points, both lines, and the unlabeled point with its most adversarial label."""
    before, after = found["supervised_slope"], found["slope"]
    ax.axvspan(*sorted((0.0, 1.0 / before)), color=FAINT, alpha=0.5, linewidth=0, label="margin")
    ax.plot(across, before * across, "k-", label="supervised line")
    ax.plot(across, after * across, "--", color=BLUE, label="CPLS")
    ax.plot(found["labeled"], found["classes"], "o", color=BLUE, markersize=6, label="labeled points")
    label = metrics["adversarial_label"]
    ax.plot([u, u], [LOWEST, label], "--", color=RED, linewidth=1)
    ax.plot(u, LOWEST, "o", color=RED, markersize=6, clip_on=False, label="unlabeled point")
    ax.plot(u, label, "x", color=RED, markersize=8, markeredgewidth=2, label="its most adversarial label")
    gain = metrics["guaranteed_gain"]
    ax.set_title(f"u = {u:g}: " + (f"gains {gain:.3g} or more" if gain > 0 else "nothing changes"))
    ax.set_xlabel("x")
