"""Figures of the protocol deep: generated rows in the plane, counts of modes, curves, and generated images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.report.figures.style import NARROW, WIDE, band, color, dots, drawing, end_labels, plain, spread_of, strokes
from pucli.report.files import csv_text
from pucli.report.protocol_parts import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Details = dict[str, Mapping[str, Any]]
# Method -> the curves of its repeats, each a list of looks.
Curves = dict[str, list[Sequence[Mapping[str, Any]]]]
IMAGE_ROWS = 5  # a drawing of eight models with more would be large
CURVE_COLUMNS = ("dataset", "method", "repeat", "iterations", "log_likelihood")


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return the curves of all repeats, and figures of the first one of each data set, as far as cells are done."""
    done = done_rows(cells, rows)
    lines = [
        (cell.dataset, cell.method, cell.repeat, look["iterations"], look["log_likelihood"])
        for cell, row in done
        for look in row["details"].get("curve", ())
    ]
    found = [Extra("curves.csv", "The curves in figures", csv_text(CURVE_COLUMNS, lines))] if lines else []
    for dataset in dict.fromkeys(cell.dataset for cell, _ in done):
        repeats = [(cell, row["details"]) for cell, row in done if cell.dataset == dataset]
        own: Details = {cell.method: details for cell, details in repeats if cell.repeat == 0}
        curves: Curves = {}
        for cell, details in repeats:
            if "curve" in details:
                curves.setdefault(cell.method, []).append(details["curve"])
        for key, draw, title in (
            ("generated", plane, "Generated rows"),
            ("counts", histogram, "Generated rows of each mode"),
            ("images", partial(image_panels, "images"), "True and generated images"),
            ("neighbors", partial(image_panels, "neighbors"), "True images and images of nearby codes"),
        ):
            having = {label: details for label, details in own.items() if details.get(key)}
            if having:
                found.append(Extra(f"figures/{key}-{dataset}", f"{title}, {dataset}", draw(having)))
        if curves:
            title = f"Log-likelihood against iterations, {dataset}"
            found.append(Extra(f"figures/curve-{dataset}", title, likelihood_curves(curves)))
    return found


def plane(having: Details) -> Figure:
    """Draw true and generated rows of the plane, a panel for each method."""
    figure, axes = drawing(WIDE, 7.0 / len(having) + 0.4, 1, len(having))
    for ax, (label, details) in zip(axes[0], having.items(), strict=True):
        dots(ax, np.array(details["generated"]), color(label), 1.5)
        dots(ax, np.array(details["true"]), "black", 1.2)
        ax.set_title(label)
        ax.set_aspect("equal", "datalim")
        ax.locator_params(nbins=4)
    figure.supxlabel("black: true rows; colored: generated rows", fontsize=9)
    return figure


def histogram(having: Details) -> Figure:
    """Draw the number of generated rows of each mode, a panel for each method."""
    figure, axes = drawing(WIDE, 1.8, 1, len(having), sharey=True)
    for ax, (label, details) in zip(axes[0], having.items(), strict=True):
        ax.bar(range(len(details["counts"])), details["counts"], color=color(label))
        ax.set_title(label)
        ax.set_xlabel("mode")
        ax.locator_params(nbins=4, integer=True)
        ax.grid(axis="x", visible=False)
    axes[0, 0].set_ylabel("generated rows")
    return figure


def likelihood_curves(curves: Curves) -> Figure:
    """Draw the log-likelihood of the test rows against the iterations, a line for each method with its spread."""
    figure, ax = drawing(NARROW, 2.8)
    for label, stroke in strokes(list(curves)).items():
        iterations = [look["iterations"] for look in curves[label][0]]
        values = [[look["log_likelihood"] for look in curve] for curve in curves[label]]
        band(ax, iterations, np.transpose(values).tolist(), label, stroke)
    ax.set_xscale("log")
    plain(ax.xaxis)
    ax.set_xlabel(f"iterations; {spread_of(max(map(len, curves.values())))}")
    ax.set_ylabel("log-likelihood of test rows (nats)")
    end_labels(ax, 2.1)
    return figure


def image_panels(key: str, having: Details) -> Figure:
    """Draw true images in the first column and those of `key` in the others, a panel for each method."""
    figure, axes = drawing(WIDE, 3.2, 1, len(having))
    for ax, (label, details) in zip(axes[0], having.items(), strict=True):
        # (columns, images, 3 side^2), channels one after the other
        columns = np.array(details[key], dtype=float)[:, :IMAGE_ROWS]
        side = round((columns.shape[2] / 3) ** 0.5)
        pictures = columns.reshape(*columns.shape[:2], 3, side, side).transpose(1, 3, 0, 4, 2)
        ax.imshow(
            np.clip(pictures.reshape(columns.shape[1] * side, columns.shape[0] * side, 3), 0.0, 1.0),
            interpolation="none",
        )
        ax.set_title(label)
        ax.axis("off")
    return figure
