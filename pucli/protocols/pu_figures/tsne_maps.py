"""Figures 3.1, 3.7 and 3.8 of Wang 2024, from the cells of the protocol pu_figures: t-SNE maps and their measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.models.advice import APART, BETWEEN
from pucli.protocols.pu_figures.protocol import MapFigure, MapPanel, options_of
from pucli.report.figures.style import FAINT, NEGATIVE, POSITIVE, WIDE, dots, drawing
from pucli.report.protocol_parts import Extra
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
LABELED: dict[str, Any] = {"s": 20, "c": POSITIVE, "marker": "^", "edgecolors": "black", "linewidths": 0.5}
WRONG: dict[str, Any] = {"s": 22, "c": "black", "marker": "x", "linewidths": 0.9}
Rows = Mapping[tuple[str, float, str], Mapping[str, Any]]


def draw(experiment: Experiment, cells: Sequence[tuple[Cell, StoredRow]]) -> list[Extra]:
    """Return the maps, the misclassified test rows of each method, and the table of measures."""
    figures = options_of(experiment).maps
    done: Rows = {(cell.dataset, float(cell.setting["label_frequency"]), cell.method): row for cell, row in cells}
    methods = [label for label in experiment.methods if any(key[2] == label for key in done)]
    drawn: list[Extra] = []
    for name, figure in figures.items():
        panels = [panel for panel in figure.panels if _details(done, panel)]
        if panels:
            drawn.append(Extra(f"figures/{name}", figure.title, _classes(figure, panels, done)))
        if panels and figure.labeled:
            title = f"{figure.title}: test rows that are predicted wrong"
            drawn.append(Extra(f"figures/{name}-wrong", title, _wrong(panels, methods, done)))
    if drawn:
        drawn.append(Extra("maps.md", "What the maps show, in numbers", _table(figures, done)))
    return drawn


def _details(done: Rows, panel: MapPanel) -> Mapping[str, Any] | None:
    """Return the details of a panel from the cell of any method, since the map is the same for all."""
    for (data, frequency, _), row in done.items():
        if data == panel.data and frequency == panel.label_frequency:
            found: Mapping[str, Any] = row["details"]
            return found
    return None


def _classes(figure: MapFigure, panels: Sequence[MapPanel], done: Rows) -> Figure:
    columns = 2 if len(panels) == 4 else min(COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    drawn, grid = drawing(WIDE, WIDE / columns * 0.85 * lines + 0.3, lines, columns)
    places = grid.ravel()
    for place in places[len(panels) :]:
        place.set_axis_off()
    for place, panel in zip(places, panels, strict=False):
        details = _details(done, panel)
        assert details is not None
        points, y = np.array(details["points"]), np.array(details["classes"])
        labeled = np.zeros(len(y), dtype=bool)
        labeled[details["labeled"]] = figure.labeled
        dots(place, points[y == -1], NEGATIVE, 2.6)
        dots(place, points[(y == 1) & ~labeled], POSITIVE, 2.6)
        place.scatter(*points[labeled].T, **LABELED)
        _frame(place, f"{panel.data}, perplexity {details['perplexity']:g}")
    _legend(drawn, ("positive", "negative", "labeled positive") if figure.labeled else ("positive", "negative"))
    return drawn


def _wrong(panels: Sequence[MapPanel], methods: Sequence[str], done: Rows) -> Figure:
    """Draw test rows with crosses on misclassified ones, one row per map and one column per method."""
    drawn, places = drawing(WIDE, 2.2 * len(panels) + 0.3, len(panels), len(methods))
    for line, panel in enumerate(panels):
        for column, method in enumerate(methods):
            place = places[line, column]
            row = done.get((panel.data, panel.label_frequency, method))
            if row is None:
                place.set_axis_off()
                continue
            wrong = np.array(row["details"]["wrong"], dtype=bool)
            points, y = np.array(row["details"]["points"]), np.array(row["details"]["classes"])
            dots(place, points, FAINT, 1.8)
            tested, classes = points[-len(wrong) :], y[-len(wrong) :]
            for label, color in ((1, POSITIVE), (-1, NEGATIVE)):
                dots(place, tested[classes == label], color, 2.8)
            place.scatter(*tested[wrong].T, **WRONG)
            _frame(place, f"{panel.data}, {method}: F1 {100 * row['metrics']['f1']:.1f}")
    _legend(drawn, ("positive", "negative", "training row", "predicted wrong"))
    return drawn


def _legend(drawn: Figure, names: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    marks: dict[str, dict[str, Any]] = {
        "positive": {"marker": ".", "color": POSITIVE},
        "negative": {"marker": ".", "color": NEGATIVE},
        "training row": {"marker": ".", "color": FAINT},
        "labeled positive": {"marker": "^", "color": POSITIVE, "markeredgecolor": "black"},
        "predicted wrong": {"marker": "x", "color": "black"},
    }
    handles = [Line2D([], [], linestyle="", label=name, **marks[name]) for name in names]
    drawn.legend(handles=handles, loc="outside lower center", ncols=4)


def _frame(place: Axes, title: str) -> None:
    place.set_title(title)
    place.set(xticks=[], yticks=[])
    place.spines[["top", "right"]].set_visible(True)


def _table(figures: Mapping[str, MapFigure], done: Rows) -> str:
    lines = [
        "# What the maps show, in numbers",
        "",
        "Silhouette: of the positives of the map in two parts by 2-means. Between: share of the negatives in the",
        f"middle between the parts that positives there do not match. In two parts: silhouette above {APART:g} and",
        f"between above {BETWEEN:g}, with the true classes on the map; the last column asks the same of the features",
        "with labeled and unlabeled rows alone. Same class: share of the ten nearest rows on the map",
        "that are of a row's own class.",
        "",
        "| Figure | Data | Rows | Positive | Labeled | Perplexity | KL divergence | Same class (%) | Silhouette "
        "| Between | In two parts | By the flowchart |",
        "| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --- | --- |",
    ]
    for name, figure in figures.items():
        for panel in figure.panels:
            details = _details(done, panel)
            if details is None:
                continue
            y = np.array(details["classes"])
            two = details["silhouette"] > APART and details["between"] > BETWEEN
            lines.append(
                f"| {name} | {panel.data} | {len(y)} | {np.count_nonzero(y == 1)} | {len(details['labeled'])} "
                f"| {details['perplexity']:g} | {details['kl_divergence']:.3f} "
                f"| {100 * details['same_class_neighbors']:.1f} | {details['silhouette']:.2f} "
                f"| {details['between']:.2f} | {_yes(two)} | {_yes(details['advised']['trifurcated'])} |"
            )
    return "\n".join(lines) + "\n"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
