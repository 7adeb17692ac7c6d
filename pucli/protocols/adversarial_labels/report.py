"""Figures 4.1 to 4.6 of Bertazzi 2018, from the cells of the protocol adversarial_labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.report.figures.style import BLUE, DASHES, NARROW, PALETTE, RED, WIDE, drawing
from pucli.report.protocol_parts import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Details = Mapping[tuple[int, str], Mapping[str, Any]]


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return the figures whose cells are finished and have stored their curves."""
    details = {
        (int(cell.setting["example"]), cell.method): row["details"]
        for cell, row in done_rows(cells, rows)
        if row["details"]
    }
    found: list[Extra] = []

    def add(number: str, title: str, figure: Figure) -> None:
        found.append(Extra(f"figures/figure-{number}", f"Figure {number}: {title}", figure))

    if (1, "unit") in details:
        add("4.1", "supervised densities", _densities(details[1, "unit"]))
        add("4.2", "two classes, one unlabeled point", _one(details[1, "unit"]))
    if (2, "unit") in details:
        add("4.3", "three classes, one unlabeled point", _one(details[2, "unit"]))
    if (3, "fixed") in details and (3, "free") in details:
        add("4.4", "variances fixed or free", _compared(details))
        if "two" in details[3, "fixed"]:
            add("4.5", "posterior at u1, by u2", _by_second_point(details))
            add("4.6", "adversarial labels of u1, by u1 and u2", _maps(details))
    return found


def _figure(rows: int, columns: int) -> tuple[Figure, np.ndarray]:
    return drawing(WIDE if columns > 1 else NARROW, 2.5 * rows, rows, columns)


def _densities(found: Mapping[str, Any]) -> Figure:
    figure, axes = _figure(1, 1)
    _draw_densities(axes[0, 0], found)
    axes[0, 0].set_ylabel("density")
    axes[0, 0].set_xlabel("u")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _draw_densities(axes: Axes, found: Mapping[str, Any]) -> None:
    """Draw the supervised density of each class with unit variance, and its labeled points."""
    u, labeled, classes = np.array(found["u"]), np.array(found["labeled"]), np.array(found["classes"])
    for k, name in enumerate(np.unique(classes)):
        points = labeled[classes == name]
        density = np.exp(-0.5 * (u - points.mean()) ** 2) / np.sqrt(2 * np.pi)
        axes.plot(u, density, "--", color=PALETTE[k], linewidth=1, label=f"density, class {k + 1}")
        axes.plot(points, 0.0 * points, "o", color=PALETTE[k])


def _one(found: Mapping[str, Any]) -> Figure:
    """Adversarial labels, posteriors at u, and the contrastive likelihood at the saddle by u and q."""
    u, one = np.array(found["u"]), {name: np.array(values) for name, values in found["one"].items()}
    figure, axes = _figure(2, 2)
    _draw_densities(axes[0, 0], found)
    for k in range(one["soft_labels"].shape[1]):
        ink = {"color": PALETTE[k]}
        axes[0, 0].plot(u, one["soft_labels"][:, k], label=f"class {k + 1}", **ink)
        axes[0, 1].plot(u, one["posterior"][:, k], **ink)
        axes[0, 1].plot(u, one["supervised"][:, k], "k:", linewidth=1)
        axes[1, 0].plot(u, one["contrast"][:, k], DASHES[k % 3], **ink)
    axes[0, 0].set_title("adversarial labels of u (dashed: densities)")
    axes[0, 1].set_title("posterior at u (dotted: supervised)")
    axes[1, 0].set_title("contrast at the saddle, by the class of u")
    q = np.linspace(0, 1, 51)
    surface = one["contrast"][:, :1] * q + one["contrast"][:, 1:2] * (1 - q)
    _map(figure, axes[1, 1], u, q, surface, "contrast between classes 1 and 2")
    axes[1, 1].set_ylabel("q, class 1")
    lines, names = axes[0, 0].get_legend_handles_labels()
    shown = [(line, name) for line, name in zip(lines, names, strict=True) if not name.startswith("density")]
    figure.legend(*zip(*shown, strict=True), loc="outside lower center", ncols=3)
    for ax in axes[1]:
        ax.set_xlabel("u")
    return figure


def _map(figure: Figure, ax: Axes, x: np.ndarray, y: np.ndarray, values: np.ndarray, title: str, **limits: Any) -> None:
    """Draw `values` of shape (len(x), len(y)) as a map with a scale."""
    drawn = ax.pcolormesh(x, y, values.T, shading="gouraud", rasterized=True, **limits)
    figure.colorbar(drawn, ax=ax)
    ax.set_title(title)
    ax.grid(visible=False)


def _compared(details: Details) -> Figure:
    figure, axes = _figure(2, 2)
    for column, (label, color, dashes) in enumerate((("fixed", BLUE, "-"), ("free", RED, "--"))):
        found = details[3, label]
        u, one = np.array(found["u"]), {name: np.array(values) for name, values in found["one"].items()}
        ink = {"color": color, "linestyle": dashes}
        axes[0, 0].plot(u, one["soft_labels"][:, 0], label=f"{label} variances", **ink)
        axes[0, 1].plot(u, one["posterior"][:, 0], linewidth=2.4 - column, **ink)
        axes[0, 1].plot(u, one["supervised"][:, 0], "k:", linewidth=1)
        q = np.linspace(0, 1, 51)
        surface = one["contrast"][:, :1] * q + one["contrast"][:, 1:] * (1 - q)
        _map(figure, axes[1, column], u, q, surface, f"contrast at the saddle, {label} variances")
        axes[1, column].set_xlabel("u")
        axes[1, column].set_ylabel("q, class 1")
    axes[0, 0].set_title("adversarial label of u, class 1")
    axes[0, 1].set_title("posterior of class 1 at u (dotted: supervised)")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _by_second_point(details: Details) -> Figure:
    from matplotlib import colormaps

    figure, axes = _figure(1, 2)
    for column, label in enumerate(("fixed", "free")):
        found = details[3, label]
        u, posterior = np.array(found["u_of_two"]), np.array(found["two"]["posterior"])
        chosen = np.unique(np.linspace(0, len(u) - 1, 9).round().astype(int))
        for number, j in enumerate(chosen):
            shade = colormaps["cividis"](number / len(chosen))
            axes[0, column].plot(u, posterior[:, j], color=shade, label=f"u2 = {u[j]:g}" if not column else None)
        axes[0, column].plot(
            u, np.array(found["two"]["supervised"])[:, 0], "k:", label=None if column else "supervised"
        )
        axes[0, column].set_title(f"posterior of class 1 at u1, {label} variances")
        axes[0, column].set_xlabel("u1")
    figure.legend(loc="outside lower center", ncols=5)
    return figure


def _maps(details: Details) -> Figure:
    figure, axes = _figure(1, 2)
    for column, label in enumerate(("fixed", "free")):
        found = details[3, label]
        u, q = np.array(found["u_of_two"]), np.array(found["two"]["soft_label"])
        _map(figure, axes[0, column], u, u, q, f"label of u1, class 1, {label} variances", vmin=0, vmax=1)
        axes[0, column].set_xlabel("u1")
        axes[0, column].set_ylabel("u2")
    return figure
