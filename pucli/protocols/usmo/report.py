"""Tables III and IV of the USMO paper with the three scorings side by side, and the equality of the objectives.

The published F is based on the first scoring; the other two score the same models with predictions and labels aligned.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from pucli.report.files import csv_text
from pucli.report.formats.markdown import grid, literal
from pucli.report.protocol_parts import Extra
from pucli.report.tables.samples import Samples
from pucli.report.tables.table import TableRow, table_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment
from pucli.runner.store import StoredRows

# heading of each metric
SCORINGS = {"f_published": "as published", "f_majority": "aligned majority", "f1": "aligned positive"}
DIFFERENCE = "objective_difference_ppm"
COLUMNS = ("dataset", "lam", "method", "repeats", "published", *SCORINGS, "largest_objective_difference")


def extras(experiment: Experiment, cells: Sequence[Cell], rows: StoredRows) -> list[Extra]:
    """Return the three scorings as Markdown and as CSV, or nothing if no cell is finished."""
    lines = score_lines(Samples.of(experiment, cells, rows))
    if not lines:
        return []
    return [
        Extra("scorings.md", "The three scorings side by side, and the equality of objectives", scores_markdown(lines)),
        Extra("scorings.csv", "The same as CSV", csv_text(COLUMNS, [[line[c] for c in COLUMNS] for line in lines])),
    ]


def score_lines(samples: Samples) -> list[dict[str, Any]]:
    """Return a dict with `COLUMNS` for each lambda, data set and method, with F in per cent averaged over repeats.

    `largest_objective_difference` is relative and over all repeats; NaN for a method that is not compared.
    """
    found: dict[tuple[str, str], dict[str, TableRow]] = {}
    for row in table_rows(samples):
        if row.repeats:
            found.setdefault((row.dataset, row.column), {})[row.metric] = row
    lines = []
    for (dataset, label), rows in found.items():
        if "f_published" not in rows:
            continue
        differences = samples.values((dataset, rows["f_published"].setting_key, label), DIFFERENCE).values()
        lines.append(
            {
                "dataset": dataset,
                "lam": float(samples.experiment.methods[label].params["lam"]),
                "method": label.rpartition("-")[0],
                "repeats": rows["f_published"].repeats,
                "published": rows["f_published"].published_mean,
                **{name: rows[name].obtained_mean if name in rows else math.nan for name in SCORINGS},
                "largest_objective_difference": 1e-6 * max(differences, default=math.nan),
            }
        )
    return sorted(lines, key=lambda line: line["lam"])


def scores_markdown(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return one table per lambda and a table of means over data sets."""
    columns = ("published", *SCORINGS)
    head = ["Method", "Published", *SCORINGS.values(), "objective against QP"]
    means = []
    for lam, method in dict.fromkeys((line["lam"], line["method"]) for line in lines):
        own = [line for line in lines if (line["lam"], line["method"]) == (lam, method)]
        worst = max(line["largest_objective_difference"] for line in own)
        numbers = [_number(statistics.fmean(line[name] for line in own)) for name in columns]
        means.append([f"{lam:g}", literal(method), *numbers, _relative(worst)])
    parts = [
        "# Three scorings of the same models",
        "F in per cent, means over repeats. *As published*: the released script's, the majority class, predictions and "
        "labels misaligned; the published figures rest on it. *Aligned majority*, *aligned positive*: each prediction "
        "against its own label. *Objective against QP*: the largest relative difference of USMO's objective from that "
        "of a general QP solver in any repeat.",
        "## Means over data sets",
        grid(["lambda", *head], means, "ll" + "r" * (len(columns) + 1)),
    ]
    for lam in dict.fromkeys(line["lam"] for line in lines):
        table = [
            [literal(line["dataset"]), literal(line["method"]), *(_number(line[name]) for name in columns),
             _relative(line["largest_objective_difference"])]
            for line in lines if line["lam"] == lam
        ]  # fmt: skip
        parts += [f"## lambda = {lam:g}", grid(["Data set", *head], table, "ll" + "r" * (len(columns) + 1))]
    return "\n\n".join(parts) + "\n"


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.1f}"


def _relative(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.1e}"
