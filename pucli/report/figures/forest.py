"""Published and obtained means of each figure of a table (ring and mark), with their standard deviations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.core.arrays import Floats
from pucli.metrics import get_metric
from pucli.report.figures.style import FAINT, NARROW, SHADES, WIDE
from pucli.report.tables.table import TableRow
from pucli.report.tables.verdict import STYLES, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# panels side by side, inches of a line and of the title and axis of a panel
ACROSS, LINE, FRAME = 4, 0.16, 0.7
# of the two means from the middle of a line
OFF = 0.17


@dataclass(frozen=True)
class ForestPanel:
    """One panel: title, unit, and named lines."""

    title: str
    unit: str
    lines: list[tuple[str, TableRow | None]]


def published_figure(rows: Sequence[TableRow]) -> Figure | None:
    """Draw every figure that is both published and obtained; return None without any.

    There is a panel for each metric, setting and method with a line for each data set; for one data set, a panel for
    each metric and setting with a line for each method.
    """
    groups = panels([row for row in rows if _both(row)])
    if not groups:
        return None
    from matplotlib.figure import Figure

    heights = [LINE * len(group[0].lines) + FRAME for group in groups]
    across = max(map(len, groups))
    figure = Figure(figsize=(WIDE if across > 2 else NARROW, sum(heights) + 0.4))
    grid = figure.add_gridspec(len(groups), across, height_ratios=heights)
    for line, group in enumerate(groups):
        first: Axes | None = None
        for column, panel in enumerate(group):
            ax = figure.add_subplot(grid[line, column], sharey=first, sharex=first)
            _panel(ax, panel, names=first is None)
            first = first or ax
    _legend(figure, rows)
    return figure


def panels(rows: Sequence[TableRow]) -> list[list[ForestPanel]]:
    """Return the panels, by line of the figure; those of a line share their axes and have the same lines."""
    found = []
    for metric in dict.fromkeys(row.metric for row in rows):
        of_metric = [row for row in rows if row.metric == metric]
        unit = get_metric(metric).heading
        datasets, settings, columns = (
            list(dict.fromkeys(getattr(row, name) for row in of_metric)) for name in ("dataset", "setting", "column")
        )
        at = {(row.dataset, row.setting, row.column): row for row in of_metric}
        if len(datasets) > 1:
            made = [
                [ForestPanel(f"{c}\n{s}".strip(), unit, [(d, at.get((d, s, c))) for d in datasets]) for c in columns]
                for s in settings
            ]
        elif len(settings) > len(columns):
            made = [[ForestPanel(c, unit, [(s, at.get((datasets[0], s, c))) for s in settings]) for c in columns]]
        else:
            made = [
                [
                    ForestPanel(s or datasets[0], unit, [(c, at.get((datasets[0], s, c))) for c in columns])
                    for s in settings
                ]
            ]
        for group in made:
            width = -(-len(group) // -(-len(group) // ACROSS))  # lines of the figure about equally long
            found += [group[i : i + width] for i in range(0, len(group), width)]
    return found


def _both(row: TableRow) -> bool:
    return math.isfinite(row.published_mean) and math.isfinite(row.obtained_mean)


def _panel(ax: Axes, panel: ForestPanel, *, names: bool) -> None:
    rows = [(y, row) for y, (_, row) in enumerate(panel.lines) if row is not None]
    count = len(panel.lines)
    guides: dict[str, Any] = {"color": FAINT, "linewidth": 0.5, "transform": ax.get_yaxis_transform()}
    ax.plot(*_segments(np.zeros(count), np.ones(count), np.arange(count, dtype=float)), **guides)
    most = 100.0 if "%" in panel.unit else math.inf  # no share passes 100 %
    _means(ax, [(y - OFF, row.published_mean, row.published_sd) for y, row in rows], "o", "0.45", "white", most=most)
    for verdict, look in STYLES.items():
        shade = SHADES[look.color]
        own = [(y + OFF, row.obtained_mean, row.obtained_sd) for y, row in rows if plain(row.verdict) == verdict]
        _means(ax, own, look.marker, shade, shade, most=most)
    ax.set_yticks(range(len(panel.lines)), [name for name, _ in panel.lines])
    ax.tick_params(axis="y", labelsize=7.5, length=0)
    ax.yaxis.set_visible(names)
    ax.tick_params(axis="x", labelsize=7.5)
    ax.set_ylim(len(panel.lines) - 0.5, -0.5)
    ax.set_title(panel.title, fontsize=8)
    ax.set_xlabel(panel.unit, fontsize=8)
    ax.locator_params(axis="x", nbins=4)


def _means(
    ax: Axes, points: Sequence[tuple[float, float, float]], marker: str, ink: str, face: str, *, most: float = math.inf
) -> None:
    """Draw means at heights, with their standard deviations where they have any, up to `most`."""
    if points:
        y, mean, sd = map(np.array, zip(*points, strict=True))
        spread = np.nan_to_num(sd)
        ax.plot(
            *_segments(mean - spread, np.minimum(mean + spread, np.maximum(most, mean)), y), color=ink, linewidth=0.9
        )
        ax.plot(mean, y, marker, color=ink, markerfacecolor=face, markersize=3.6)


def _segments(left: Floats, right: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return horizontal segments as one broken line, which makes a smaller file than a line for each."""
    gap = np.full(len(y), np.nan)
    return np.column_stack([left, right, gap]).ravel(), np.column_stack([y, y, gap]).ravel()


def _legend(figure: Figure, rows: Sequence[TableRow]) -> None:
    from matplotlib.lines import Line2D

    verdicts = {plain(row.verdict) for row in rows if _both(row)}
    marks = [Line2D([], [], marker="o", markerfacecolor="white", color="0.45", linestyle="", label="published")]
    marks += [
        Line2D([], [], marker=look.marker, color=SHADES[look.color], linestyle="", label=verdict)
        for verdict, look in STYLES.items()
        if verdict in verdicts
    ]
    figure.legend(
        handles=marks,
        loc="outside upper center",
        ncols=min(len(marks), 7 if figure.get_figwidth() == WIDE else 4),
        columnspacing=1.0,
        handletextpad=0.1,
    )
