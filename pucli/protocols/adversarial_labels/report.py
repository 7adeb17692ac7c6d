"""Figures 4.1 to 4.6 of Bertazzi 2018, from the cells of the protocol adversarial_labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.report.extras import Extra, done_rows
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
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _densities(found: Mapping[str, Any]) -> Figure:
    figure, axes = _figure(1, 1)
    _draw_densities(axes[0, 0], found)
    axes[0, 0].set_ylabel("density")
    return figure


def _draw_densities(axes: Axes, found: Mapping[str, Any]) -> None:
    """Draw the supervised density of each class with unit variance, and its labelled points."""
    u, labelled, classes = np.array(found["u"]), np.array(found["labelled"]), np.array(found["classes"])
    for k in np.unique(classes):
        mean = labelled[classes == k].mean()
        line = axes.plot(u, np.exp(-0.5 * (u - mean) ** 2) / np.sqrt(2 * np.pi), "--", linewidth=1)[0]
        axes.plot(labelled[classes == k], 0.0 * labelled[classes == k], "o", color=line.get_color())
    axes.set_xlabel("u")


def _one(found: Mapping[str, Any]) -> Figure:
    """Adversarial labels, posteriors at u, and the contrastive likelihood at the saddle by u and q."""
    u, one = np.array(found["u"]), {name: np.array(values) for name, values in found["one"].items()}
    K = one["soft_labels"].shape[1]
    figure, axes = _figure(2, 2)
    _draw_densities(axes[0, 0], found)
    for k in range(K):
        axes[0, 0].plot(u, one["soft_labels"][:, k], label=f"q, class {k + 1}")
        axes[0, 1].plot(u, one["posterior"][:, k], label=f"class {k + 1}")
        axes[0, 1].plot(u, one["supervised"][:, k], "k:", linewidth=1)
        axes[1, 0].plot(u, one["contrast"][:, k], ["-", "--", ":"][k % 3], label=f"u in class {k + 1}")
    axes[0, 0].set_title("adversarial labels of u, supervised densities", fontsize=9)
    axes[0, 1].set_title("posterior at u (supervised dotted)", fontsize=9)
    axes[1, 0].set_title("contrastive likelihood at the saddle, by the label of u", fontsize=9)
    q = np.linspace(0, 1, 51)
    surface = one["contrast"][:, :1] * q + one["contrast"][:, 1:2] * (1 - q)
    drawn = axes[1, 1].contourf(u, q, surface.T, levels=20)
    figure.colorbar(drawn, ax=axes[1, 1])
    axes[1, 1].set_title("the same, between classes 1 (q = 1) and 2", fontsize=9)
    for ax in axes.ravel()[:3]:
        ax.legend(frameon=False, fontsize=7)
        ax.set_xlabel("u")
    axes[1, 1].set_xlabel("u")
    axes[1, 1].set_ylabel("q")
    return figure


def _compared(details: Details) -> Figure:
    figure, axes = _figure(2, 2)
    for column, label in enumerate(("fixed", "free")):
        found = details[3, label]
        u, one = np.array(found["u"]), {name: np.array(values) for name, values in found["one"].items()}
        axes[0, 0].plot(u, one["soft_labels"][:, 0], "rb"[column], label=f"{label} variances")
        axes[0, 1].plot(u, one["posterior"][:, 0], "rb"[column], label=f"{label} variances")
        axes[0, 1].plot(u, one["supervised"][:, 0], "k:", linewidth=1)
        q = np.linspace(0, 1, 51)
        surface = one["contrast"][:, :1] * q + one["contrast"][:, 1:] * (1 - q)
        figure.colorbar(axes[1, column].contourf(u, q, surface.T, levels=20), ax=axes[1, column])
        axes[1, column].set_title(f"contrastive likelihood at the saddle, {label} variances", fontsize=9)
        axes[1, column].set_xlabel("u")
        axes[1, column].set_ylabel("q, class 1")
    axes[0, 0].set_title("adversarial label of u, class 1", fontsize=9)
    axes[0, 1].set_title("posterior of class 1 at u (supervised dotted)", fontsize=9)
    for ax in axes[0]:
        ax.legend(frameon=False, fontsize=7)
        ax.set_xlabel("u")
    return figure


def _by_second_point(details: Details) -> Figure:
    figure, axes = _figure(1, 2)
    for column, label in enumerate(("fixed", "free")):
        found = details[3, label]
        u, posterior = np.array(found["u_of_two"]), np.array(found["two"]["posterior"])
        for j in np.unique(np.linspace(0, len(u) - 1, 9).round().astype(int)):
            axes[0, column].plot(u, posterior[:, j], linewidth=1, label=f"u2 = {u[j]:g}")
        axes[0, column].plot(u, np.array(found["two"]["supervised"])[:, 0], "k--", label="supervised")
        axes[0, column].set_title(f"posterior of class 1 at u1, {label} variances", fontsize=9)
        axes[0, column].set_xlabel("u1")
        axes[0, column].legend(frameon=False, fontsize=6)
    return figure


def _maps(details: Details) -> Figure:
    figure, axes = _figure(1, 2)
    for column, label in enumerate(("fixed", "free")):
        found = details[3, label]
        u, q = np.array(found["u_of_two"]), np.array(found["two"]["soft_label"])
        drawn = axes[0, column].contourf(u, u, q.T, levels=np.linspace(0, 1, 21))
        figure.colorbar(drawn, ax=axes[0, column])
        axes[0, column].set_title(f"adversarial label of u1, class 1, {label} variances", fontsize=9)
        axes[0, column].set_xlabel("u1")
        axes[0, column].set_ylabel("u2")
    return figure
