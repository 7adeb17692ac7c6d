"""Figures of the protocol deep: generated rows in the plane, counts of modes, and generated images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.runner.cells import Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Details = dict[str, Mapping[str, Any]]


def extras(cells: Sequence[Cell], stored: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, Any]]:
    """Return (file name, title, figure) of the first repeat of each data set, as far as cells are done."""
    found: list[tuple[str, str, Any]] = []
    done = [cell for cell in cells if cell.repeat == 0 and stored.get(cell.key, {}).get("status") == "done"]
    for dataset in dict.fromkeys(cell.dataset for cell in done):
        own = {cell.method: stored[cell.key]["details"] for cell in done if cell.dataset == dataset}
        for key, draw, title in (
            ("generated", plane, "Generated rows"),
            ("counts", histogram, "Generated rows of each mode"),
            ("curve", likelihood_curves, "Log-likelihood against iterations"),
            ("images", generated_images, "True and generated images"),
            ("neighbours", neighbours, "True images and images of nearby codes"),
        ):
            having = {label: details for label, details in own.items() if details.get(key)}
            if having:
                found.append((f"figures/{key}-{dataset}", f"{title}, {dataset}", draw(having)))
    return found


def _panels(count: int, width: float, height: float) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * count, height), layout="constrained")
    return figure, figure.subplots(1, count, squeeze=False)[0]


def plane(having: Details) -> Figure:
    """Draw true and generated rows of the plane, a panel for each method."""
    figure, axes = _panels(len(having), 2.6, 2.8)
    for axis, (label, details) in zip(axes, having.items(), strict=True):
        axis.scatter(*np.array(details["generated"]).T, s=2, label="generated", rasterized=True)
        axis.scatter(*np.array(details["true"]).T, s=2, alpha=0.4, label="true", rasterized=True)
        axis.set_title(label, fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8, markerscale=4)
    return figure


def histogram(having: Details) -> Figure:
    """Draw the number of generated rows of each mode, a panel for each method."""
    figure, axes = _panels(len(having), 2.4, 2.2)
    for axis, (label, details) in zip(axes, having.items(), strict=True):
        axis.bar(range(len(details["counts"])), details["counts"])
        axis.set_title(label, fontsize=9)
        axis.set_xlabel("mode")
    return figure


def likelihood_curves(having: Details) -> Figure:
    """Draw the log-likelihood of the test rows against the iterations, a line for each method."""
    figure, (axis,) = _panels(1, 5.0, 3.6)
    for label, details in having.items():
        points = [(look["iterations"], look["log_likelihood"]) for look in details["curve"]]
        axis.plot(*zip(*points, strict=True), marker="o", ms=3, label=label)
    axis.set_xscale("log")
    axis.set_xlabel("iterations")
    axis.set_ylabel("log-likelihood of test rows (nats)")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=8)
    return figure


def generated_images(having: Details) -> Figure:
    """Draw true images in the first column and generated ones in the others, a panel for each method."""
    return _image_panels(having, "images")


def neighbours(having: Details) -> Figure:
    """Draw true images in the first column and images of perturbed codes in the others, a panel for each method."""
    return _image_panels(having, "neighbours")


def _image_panels(having: Details, key: str) -> Figure:
    figure, axes = _panels(len(having), 2.0, 3.4)
    for axis, (label, details) in zip(axes, having.items(), strict=True):
        columns = np.array(details[key], dtype=float)  # (columns, images, 3 side^2), channels one after the other
        side = round((columns.shape[2] / 3) ** 0.5)
        pictures = columns.reshape(*columns.shape[:2], 3, side, side).transpose(1, 3, 0, 4, 2)
        axis.imshow(np.clip(pictures.reshape(columns.shape[1] * side, columns.shape[0] * side, 3), 0.0, 1.0))
        axis.set_title(label, fontsize=9)
        axis.axis("off")
    return figure
