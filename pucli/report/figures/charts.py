"""Figures: seconds by method and by rows, and box plots of paired differences (Wang 2024, Figures 3.5 and 3.6).

They are drawn without a display; the same numbers give the same bytes.
"""

from __future__ import annotations

import io
import re
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pucli.data import dataset_entry
from pucli.metrics import get_metric
from pucli.report.figures.style import FAINT, NARROW, WIDE, color, drawing, end_labels, look, plain, strokes
from pucli.report.tables.published import setting_key
from pucli.report.tables.samples import Samples, setting_text
from pucli.runner.cells import Cell
from pucli.runner.experiment import FigureSpec
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# parts of a cell, each with its mark
PARTS = {"tune": "o", "fit": "o", "predict": "D"}
# formats of figures; largest number of marks that is drawn as SVG
ENDINGS = ("svg", "png")
MOST_POINTS = 1000


def render(figure: Figure) -> tuple[str, bytes]:
    """Return the format of the figure and its content: "svg" for lines, "png" for many points and for images."""
    with look():
        svg = _shorter(_saved(figure, "svg", {"Date": None, "Creator": None}))
        if has_many_points(svg):
            return "png", _saved(figure, "png", {"Software": None})
    return "svg", svg


def has_many_points(svg: bytes) -> bool:
    """Return whether an SVG file has an image or more than `MOST_POINTS` marks."""
    return b"<image" in svg or svg.count(b"<use") + svg.count(b"h0") > MOST_POINTS


def _saved(figure: Figure, ending: str, metadata: dict[str, str | None]) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=ending, metadata=metadata, bbox_inches="tight")
    return buffer.getvalue()


def _shorter(svg: bytes) -> bytes:
    """Round coordinates to hundredths of a point, and leave out comments and indentation."""

    def rounded(given: re.Match[bytes]) -> bytes:
        short = re.sub(rb"-?\d+\.\d+", lambda number: b"%g" % round(float(number[0]), 2), given[0])
        # a stroke without length, see `pucli.report.figures.style.dots`
        return re.sub(rb"M ([\d.-]+ [\d.-]+) \nL \1 \n", rb"M\1h0", short)

    shorter = re.sub(rb"<!--.*?-->|\n\s+", lambda found: b"" if found[0][:1] == b"<" else b"\n", svg, flags=re.DOTALL)
    return re.sub(rb' (?:d|x|y)="[^"]+"', rounded, shorter)


def timing(cells: Sequence[Cell], stored: StoredRows, processes: Sequence[int] = ()) -> Figure | None:
    """Draw the mean seconds of tuning, fitting and prediction by method; return None if no cell is finished."""
    seconds: dict[str, dict[str, list[float]]] = {}
    ways = set(processes)
    for cell in cells:
        row = stored.get(cell.key)
        if row is not None and row["status"] == "done":
            ways.add(row["provenance"].get("processes", 0))
            for part in PARTS:
                if row["seconds"].get(part):
                    seconds.setdefault(cell.method, {}).setdefault(part, []).append(row["seconds"][part])
    if not seconds:
        return None
    labels = list(seconds)
    figure, ax = drawing(NARROW, 0.26 * len(labels) + 1.2)
    for y, label in enumerate(labels):
        means = {part: statistics.fmean(values) for part, values in seconds[label].items()}
        ax.plot([min(means.values()), max(means.values())], [y, y], color=FAINT, linewidth=1.5, zorder=1)
        for part, value in means.items():
            face = color(label) if part == "tune" else "white"
            ax.plot(value, y, PARTS[part], color=color(label), markerfacecolor=face, markersize=5.5)
    ax.set_xscale("log")
    shown = [statistics.fmean(values) for parts in seconds.values() for values in parts.values()]
    ax.set_xlim(min(shown) / 1.5, max(1.5 * max(shown), 15 * min(shown)))
    plain(ax.xaxis)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    at_a_time = ", ".join(str(n) for n in sorted(n for n in ways if n))
    ax.set_xlabel(f"seconds per cell (mean), one thread; processes at a time: {at_a_time or 'unknown'}")
    for part, marker in PARTS.items():
        if any(part in parts for parts in seconds.values()):
            face = "0.35" if part == "tune" else "white"
            ax.plot([], [], marker, color="0.35", markerfacecolor=face, label=part)
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def paired_difference(spec: FigureSpec, samples: Samples) -> Figure | None:
    """Draw one box per data set for the differences a - b over repeats, sorted by median; None without any."""
    wanted = setting_key(spec.setting, list(spec.setting))
    boxes = []
    for dataset in samples.datasets:
        for setting in samples.settings:
            if any(dict(setting).get(key, value) != value for key, value in wanted):
                continue
            of_a = samples.values((dataset, setting, spec.a), spec.metric)
            of_b = samples.values((dataset, setting, spec.b), spec.metric)
            differences = [of_a[r] - of_b[r] for r in sorted(of_a.keys() & of_b.keys())]
            if differences:
                rest = setting_text(tuple(item for item in setting if item not in wanted))
                name = ", ".join(part for part in (dataset if len(samples.datasets) > 1 else "", rest) if part)
                boxes.append((statistics.median(differences), name or dataset, differences))
    if not boxes:
        return None
    boxes.sort(key=lambda box: box[:2])
    figure, ax = drawing(WIDE if len(boxes) > 8 else NARROW, 3.0)
    ax.axhline(0, color="0.3", linewidth=0.8)
    ink = {"color": color(spec.a)}
    ax.boxplot(
        [box[2] for box in boxes],
        tick_labels=[box[1] for box in boxes],
        patch_artist=True,
        boxprops={"facecolor": color(spec.a), "alpha": 0.3, "linewidth": 0},
        medianprops={**ink, "linewidth": 1.8},
        whiskerprops=ink,
        capprops=ink,
        flierprops={"markersize": 3, "markeredgecolor": color(spec.a)},
    )
    unit = get_metric(spec.metric).heading
    ax.set_ylabel(f"{unit}: {spec.a} less {spec.b}")
    ax.set_title(spec.title or spec.name)
    ax.grid(axis="x", visible=False)
    if len(boxes) > 8:
        ax.tick_params(axis="x", labelrotation=45)
        for label in ax.get_xticklabels():
            label.set(horizontalalignment="right", rotation_mode="anchor")
    return figure


def seconds_by_rows(spec: FigureSpec, samples: Samples) -> Figure | None:
    """Draw the median seconds of a cell against the rows of its data set, a line for each column; None without any.

    Data sets of one size are one point. The rows are those of the published counts. A mean would show the few cells
    that ran while the machine was busy.
    """
    wanted = setting_key(spec.setting, list(spec.setting))
    seconds: dict[str, dict[int, list[float]]] = {}
    for (dataset, setting, column), cells in samples.cells.items():
        counts = dataset_entry(dataset).published
        rows = (counts.positive or 0) + (counts.negative or 0) if counts else 0
        if not rows or any(dict(setting).get(key, value) != value for key, value in wanted):
            continue
        stored = [samples.stored[cell.key] for cell in cells if cell.key in samples.stored]
        done = [sum(row["seconds"].values()) for row in stored if row["status"] == "done"]
        if done:
            seconds.setdefault(column, {}).setdefault(rows, []).extend(done)
    if not seconds:
        return None
    figure, ax = drawing(NARROW, 3.4)
    for column, stroke in strokes(list(seconds)).items():
        medians = [(rows, statistics.median(values)) for rows, values in sorted(seconds[column].items())]
        ax.plot(*zip(*medians, strict=True), label=column, markersize=4, **stroke)
    ax.set(xscale="log", yscale="log", xlabel="rows of the data set", ylabel="seconds per cell (median), one thread")
    plain(ax.xaxis)
    plain(ax.yaxis)
    ax.set_title(spec.title or spec.name)
    end_labels(ax, 3.0)
    return figure


KINDS = {"paired-difference": paired_difference, "seconds-by-rows": seconds_by_rows}
