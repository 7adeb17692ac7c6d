"""Learning curves, and how often a semi-supervised method is worse than the supervised fit of its family.

The details of each cell of the protocol semi_supervised have a curve over the number of unlabeled rows.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pucli.report.figures.style import WIDE, band, drawing, spread_of, strokes, ticks_at
from pucli.report.files import csv_text
from pucli.report.formats.markdown import grid, literal
from pucli.report.protocol_parts import Extra, done_rows
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
    labels = list(dict.fromkeys(row["method"] for row in rows))
    total = []
    for label in labels:
        own = [row for row in rows if row["method"] == label]
        fits = sum(row["fits"] for row in own)
        counts = [sum(row[name] for row in own) for name in COUNTS]
        gains = [100.0 * (row["reference_error"] - row["error"]) for row in own]
        total.append(
            [
                literal(label),
                str(fits),
                *(f"{n} ({100 * n / fits:.1f} %)" for n in counts),
                f"{statistics.fmean(gains):+.1f}",
            ]
        )
    head = ["Method", "Fits", *(f"worse in {text}" for text in COUNTS.values())]
    parts = [
        "# How often is a method worse than the supervised fit of its family?",
        "Fits over all data sets, repeats and numbers of unlabeled rows. *Own loss* and *error on the training rows* "
        "are measured on labeled and unlabeled rows with their true labels. *Gain* is the mean over data sets of the "
        "test error of supervised less that of the method, in per cent points, with all unlabeled rows.",
        grid([*head, "gain"], total, "lr" + "r" * (len(COUNTS) + 1)),
        "## By data set",
        grid(
            ["Data set", *head, "test error (%)", "supervised"],
            [
                [literal(row["dataset"]), literal(row["method"]), str(row["fits"]),
                 *(str(row[name]) for name in COUNTS),
                 f"{100 * row['error']:.1f}", f"{100 * row['reference_error']:.1f}"]
                for row in rows
            ],
            "llr" + "r" * (len(COUNTS) + 2),
        ),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def curve_figure(dataset: str, curves: Curves) -> Figure:
    """Draw test error and own loss, mean with two standard errors, against unlabeled rows, one column per family."""
    labels = [label for name, label in curves if name == dataset]
    families = list(dict.fromkeys(map(base_name, labels)))
    figure, axes = drawing(WIDE, 4.4, 2, len(families))
    lines = strokes(list(dict.fromkeys(map(variant_name, labels))))
    for name, marker, dashes in (("supervised", "", "--"), ("oracle", "", ":")):
        if name in lines:
            lines[name] |= {"marker": marker, "linestyle": dashes}
    drawn = {}
    for column, family in enumerate(families):
        for label in (label for label in labels if base_name(label) == family):
            x, error, loss = _by_size(curves[dataset, label])
            name = variant_name(label)
            drawn[name] = band(axes[0, column], x, [[100 * v for v in own] for own in error], name, lines[name])
            band(axes[1, column], x, loss, name, lines[name])
        for ax in axes[:, column]:
            ax.set_xscale("log")
            ticks_at(ax.xaxis, x, apart=0.17)
        axes[1, column].set_xlabel("unlabeled rows")
        axes[0, column].set_title(f"{dataset}, {family}")
    axes[0, 0].set_ylabel("test error (%)")
    axes[1, 0].set_ylabel("own loss per row")
    repeats = max(len(curves[dataset, label]) for label in labels)
    figure.legend(
        list(drawn.values()), list(drawn), title=spread_of(repeats), loc="outside lower center", ncols=len(drawn)
    )
    return figure


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return the counts of harm and the learning curves of the finished cells with stored curves."""
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


def _by_size(repeats: Sequence[Curve]) -> tuple[list[float], list[list[float]], list[list[float]]]:
    """Return the numbers of unlabeled rows, and for each the test errors and the own losses of the repeats.

    The number of all unlabeled rows differs slightly between repeats, so points are matched by position.
    """
    length = min(len(curve["loss"]) for curve in repeats)
    x = [float(round(statistics.fmean(curve["n_unlabeled"][i] for curve in repeats))) for i in range(length)]
    error, loss = ([[curve[name][i] for curve in repeats] for i in range(length)] for name in ("error", "loss"))
    return x, error, loss
