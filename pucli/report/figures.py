"""Figures: seconds by method, and box plots of paired differences (Wang 2024, Figures 3.5 and 3.6).

They are drawn without a display; the same numbers give the same bytes.
"""

from __future__ import annotations

import io
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pucli.metrics import get_metric
from pucli.report.published import setting_key
from pucli.report.samples import Samples, setting_text
from pucli.runner.cells import Cell
from pucli.runner.experiment import FigureSpec
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = ("tune", "fit", "predict")


def render(figure: Figure) -> dict[str, bytes]:
    """Return the figure as {"png": bytes, "svg": bytes}."""
    import matplotlib

    drawn = {}
    with matplotlib.rc_context({"svg.hashsalt": "pucli", "svg.fonttype": "path"}):
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=ending, dpi=150, metadata=metadata, bbox_inches="tight")
            drawn[ending] = buffer.getvalue()
    return drawn


def timing(cells: Sequence[Cell], stored: StoredRows) -> Figure | None:
    """Draw the mean seconds of tuning, fitting and prediction by method; return None if no cell is finished."""
    seconds: dict[str, dict[str, list[float]]] = {}
    ways = set()
    for cell in cells:
        row = stored.get(cell.key)
        if row is not None and row["status"] == "done":
            ways.add(row["provenance"].get("processes"))
            for part in PARTS:
                if row["seconds"].get(part):
                    seconds.setdefault(cell.method, {}).setdefault(part, []).append(row["seconds"][part])
    if not seconds:
        return None
    from matplotlib.figure import Figure

    labels = list(seconds)
    figure = Figure(figsize=(max(5.0, 1.4 * len(labels) + 2), 3.6))
    ax = figure.subplots()
    for number, part in enumerate(PARTS):
        x = [i + (number - 1) * 0.27 for i, label in enumerate(labels) if part in seconds[label]]
        y = [statistics.fmean(seconds[label][part]) for label in labels if part in seconds[label]]
        ax.bar(x, y, width=0.25, label=part)
    ax.set_yscale("log")
    ax.set_xticks(range(len(labels)), labels)
    ax.set_ylabel("seconds for each cell (mean)")
    processes = ", ".join(str(n) for n in sorted(w for w in ways if w))
    ax.set_title(f"Time by method; one thread each, processes at a time: {processes or 'unknown'}", fontsize=9)
    ax.legend(frameon=False)
    ax.grid(axis="y", alpha=0.3)
    return figure


def paired_difference(spec: FigureSpec, samples: Samples) -> Figure | None:
    """Draw one box per data set for the differences a - b over repeats, sorted by median; None without any."""
    wanted = setting_key(spec.setting, list(spec.setting))
    boxes = []
    for dataset in samples.datasets:
        for setting in samples.settings:
            if any(dict(setting).get(key, value) != value for key, value in wanted):
                continue
            of_a = samples.values(dataset, setting, spec.a, spec.metric)
            of_b = samples.values(dataset, setting, spec.b, spec.metric)
            differences = [of_a[r] - of_b[r] for r in sorted(of_a.keys() & of_b.keys())]
            if differences:
                rest = setting_text(tuple(item for item in setting if item not in wanted))
                name = ", ".join(part for part in (dataset if len(samples.datasets) > 1 else "", rest) if part)
                boxes.append((statistics.median(differences), name or dataset, differences))
    if not boxes:
        return None
    from matplotlib.figure import Figure

    boxes.sort(key=lambda box: box[:2])
    figure = Figure(figsize=(max(5.0, 0.55 * len(boxes) + 1.5), 3.8))
    ax = figure.subplots()
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.boxplot([box[2] for box in boxes], tick_labels=[box[1] for box in boxes])
    unit = get_metric(spec.metric).heading
    ax.set_ylabel(f"{unit}: {spec.a} less {spec.b}")
    ax.set_title(spec.title or spec.name, fontsize=10)
    ax.tick_params(axis="x", rotation=60 if len(boxes) > 8 else 0)
    return figure


KINDS = {"paired-difference": paired_difference}
