"""Learning curves, and how often a semi-supervised method is worse than the supervised fit of its family.

The details of each cell of the protocol semi_supervised have a curve over the number of unlabeled rows.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pucli.report.extras import Extra, done_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment, base_name, variant_name
from pucli.runner.store import StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curve = Mapping[str, list[Any]]
Curves = dict[tuple[str, str], list[Curve]]
COUNTS = {"worse_loss": "own loss", "worse_error": "error on the training rows", "worse_test_error": "test error"}
HARM_COLUMNS = (
    "dataset",
    "method",
    "repeats",
    "fits",
    *COUNTS,
    "loss_gain",
    "guaranteed_gain",
    "error",
    "reference_error",
)


def curves_of(cells: Sequence[Cell], rows: StoredRows) -> Curves:
    """Return the stored curves of the finished repeats by (data set, column)."""
    found: Curves = {}
    for cell, row in done_rows(cells, rows):
        if "curve" in row["details"]:
            found.setdefault((cell.dataset, cell.method), []).append(row["details"]["curve"])
    return found


def harm_rows(curves: Curves) -> list[dict[str, Any]]:
    """Return, for each data set and role, the number of fits that are worse than supervised, over all curves.

    Gains are per row, at the largest number of unlabeled rows, averaged over repeats; errors are on the test rows.
    """
    rows = []
    for (dataset, label), repeats in curves.items():
        if variant_name(label) == "supervised":
            continue
        reference = curves.get((dataset, f"{base_name(label)}/supervised"), [])
        rows.append(
            {
                "dataset": dataset,
                "method": label,
                "repeats": len(repeats),
                "fits": sum(len(curve["loss"]) for curve in repeats),
                **{name: int(sum(sum(curve[name]) for curve in repeats)) for name in COUNTS},
                "loss_gain": _last_mean(repeats, "loss_gain"),
                "guaranteed_gain": _last_mean(repeats, "guaranteed_gain"),
                "error": _last_mean(repeats, "error"),
                "reference_error": _last_mean(reference, "error"),
            }
        )
    return rows


def harm_markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the counts by method over all data sets, then by data set, as Markdown."""
    from pucli.report.markdown import grid

    labels = list(dict.fromkeys(row["method"] for row in rows))
    total = []
    for label in labels:
        own = [row for row in rows if row["method"] == label]
        fits = sum(row["fits"] for row in own)
        counts = [sum(row[name] for row in own) for name in COUNTS]
        gains = [100.0 * (row["reference_error"] - row["error"]) for row in own]
        total.append(
            [label, str(fits), *(f"{n} ({100 * n / fits:.1f} %)" for n in counts), f"{statistics.fmean(gains):+.1f}"]
        )
    head = ["Method", "Fits", *(f"worse in {text}" for text in COUNTS.values())]
    parts = [
        "# How often is a method worse than the supervised fit of its family?",
        "Fits over all data sets, repeats and numbers of unlabeled rows. *Own loss* and *error on the training rows* "
        "are measured on labelled and unlabeled rows with their true labels. *Gain* is the mean over data sets of the "
        "test error of supervised less that of the method, in per cent points, with all unlabeled rows.",
        grid([*head, "gain"], total, "lr" + "r" * (len(COUNTS) + 1)),
        "## By data set",
        grid(
            ["Data set", *head, "test error (%)", "supervised"],
            [
                [row["dataset"], row["method"], str(row["fits"]), *(str(row[name]) for name in COUNTS),
                 f"{100 * row['error']:.1f}", f"{100 * row['reference_error']:.1f}"]
                for row in rows
            ],
            "llr" + "r" * (len(COUNTS) + 2),
        ),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def curve_figure(dataset: str, curves: Curves) -> Figure:
    """Draw test error and own loss against the number of unlabeled rows, with one column per family."""
    from matplotlib.figure import Figure

    labels = [label for name, label in curves if name == dataset]
    families = list(dict.fromkeys(map(base_name, labels)))
    figure = Figure(figsize=(3.6 * len(families), 5.4), layout="constrained")
    axes = figure.subplots(2, len(families), squeeze=False)
    for column, family in enumerate(families):
        for label in (label for label in labels if base_name(label) == family):
            x, error, loss = _mean_curve(curves[dataset, label])
            style = {"supervised": "k--", "oracle": "k:"}.get(variant_name(label), "o-")
            axes[0, column].plot(x, [100 * value for value in error], style, markersize=3, label=variant_name(label))
            axes[1, column].plot(x, loss, style, markersize=3)
        for row, name in enumerate(("test error (%)", "own loss for each row")):
            axes[row, column].set_xscale("log")
            axes[row, column].set_xticks(x, [str(value) for value in x], fontsize=7)
            axes[row, column].minorticks_off()
            axes[row, column].set_ylabel(name)
            axes[row, column].grid(alpha=0.3)
        axes[1, column].set_xlabel("unlabeled rows")
        axes[0, column].set_title(f"{dataset}, {family}", fontsize=9)
        axes[0, column].legend(frameon=False, fontsize=7)
    return figure


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return the counts of harm and the learning curves of the finished cells with stored curves."""
    from pucli.report.files import csv_text

    curves = curves_of(cells, rows)
    if not curves:
        return []
    harm = harm_rows(curves)
    lines = [[row[name] for name in HARM_COLUMNS] for row in harm]
    return [
        Extra("harm.md", "How often a method is worse than supervised", harm_markdown(harm)),
        Extra("harm.csv", "The same by data set", csv_text(HARM_COLUMNS, lines)),
        *(
            Extra(f"figures/curves-{dataset}", f"Learning curves on {dataset}", curve_figure(dataset, curves))
            for dataset in dict.fromkeys(name for name, _ in curves)
        ),
    ]


def _last_mean(repeats: Sequence[Curve], name: str) -> float:
    values = [curve[name][-1] for curve in repeats if curve[name][-1] is not None]
    return statistics.fmean(values) if values else float("nan")


def _mean_curve(repeats: Sequence[Curve]) -> tuple[list[int], list[float], list[float]]:
    """Return the numbers of unlabeled rows, and the means over repeats of test error and own loss.

    The number of all unlabeled rows differs slightly between repeats, so points are averaged by position.
    """
    length = min(len(curve["loss"]) for curve in repeats)
    x = [round(statistics.fmean(curve["n_unlabeled"][i] for curve in repeats)) for i in range(length)]
    error, loss = (
        [statistics.fmean(curve[name][i] for curve in repeats) for i in range(length)] for name in ("error", "loss")
    )
    return x, error, loss
