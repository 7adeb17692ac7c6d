"""The page of all results: results/README.md, rendered from README.md.j2 beside it, with figures from the folders."""

from __future__ import annotations

import csv
import functools
import gzip
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pucli.metrics import get_metric
from pucli.report.cells_csv import read_cells_csv
from pucli.report.files import read_provenance
from pucli.report.tables.verdict import DEGENERATE, REPRODUCED, counted, plain
from pucli.runner.experiment import column_name

PAGE, TEMPLATE = "README.md", "README.md.j2"

# Repeats behind the means of the tables whose protocols are compared.
PUBLISHED_REPEATS = 10

Row = dict[str, Any]


def results_page(results: Path, **given: Any) -> str:
    """Return the text of the page from the template in the folder of all experiments, with further values for it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(results), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update({f"f{digits}": functools.partial(_fixed, digits=digits) for digits in range(4)})
    return environment.get_template(TEMPLATE).render(of=_Figures(results), **given)


class _Figures:
    """Figures that the template takes from the folder of all experiments.

    `name` is an experiment, `column` one of its columns, such as "glpual/rkhs" ("" for all), `metric` the name of a
    metric, and `setting` one as written in table.csv. `where` are keys with the values that a row must have.
    """

    def __init__(self, results: Path) -> None:
        self.results = results
        self._read: dict[Path, list[Row]] = {}

    def mean(
        self,
        name: str,
        column: str,
        setting: str = "",
        *,
        of: str = "obtained",
        metric: str = "f1",
        datasets: Sequence[str] = (),
    ) -> float:
        """Return the mean of the means of a column, obtained or published, over the rows with both.

        All obtained figures count if none of the column is published.
        """
        rows = [row for row in self.rows(name, metric, column) if setting in ("", row["setting"])]
        rows = [row for row in rows if not datasets or row["dataset"] in datasets]
        printed = [row for row in rows if row["published_mean"] != ""] or rows
        return statistics.fmean(float(row[f"{of}_mean"]) for row in printed)

    def rows(self, name: str, metric: str, column: str = "") -> list[Row]:
        """Return the rows of table.csv that have the given metric."""
        lines = self.lines(f"{name}/table.csv")
        rows = [{**row, "column": column_name(row["method"], row["variant"])} for row in lines]
        return [row for row in rows if row["metric"].partition(" ")[0] == metric and column in ("", row["column"])]

    def verdicts(self, name: str, column: str = "", metric: str = "f1") -> str:
        """Return the counts of verdicts in words, e.g. "2 reproduced, 5 worse"."""
        counts = counted(row["verdict"] for row in self.rows(name, metric, column))
        return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())

    def count(self, name: str, column: str, *verdicts: str) -> int:
        """Return how many published figures of a column have one of the verdicts, or all of them."""
        found = [plain(row["verdict"]) for row in self.rows(name, "f1", column) if row["published_mean"]]
        return sum(not verdicts or verdict in verdicts for verdict in found)

    def agreement(self, name: str, *columns: str, metric: str = "f1") -> str:
        """Return the agreement of columns with the published figures, e.g. "2, 12 of 32, 7.0".

        That is: how many figures are reproduced by these columns themselves, how many obtained means are within two
        standard errors and do not come from models of one class, and the mean absolute difference.
        """
        rows = [row for column in columns for row in self.rows(name, metric, column) if row["published_mean"]]
        margins = [self._difference(row) for row in rows]
        near = sum(
            d <= 2 * s + 0.005 and row["verdict"] != DEGENERATE for row, (d, s) in zip(rows, margins, strict=True)
        )
        reproduced = sum(row["verdict"] == REPRODUCED for row in rows)
        return f"{reproduced}, {near} of {len(rows)}, {statistics.fmean(d for d, _ in margins):.1f}"

    @staticmethod
    def _difference(row: Row) -> tuple[float, float]:
        """Return the absolute difference of a row from the published mean, and its standard error."""
        obtained, published = float(row["obtained_sd"] or 0), float(row["published_sd"] or 0)
        error = math.sqrt(obtained**2 / int(row["repeats"]) + published**2 / PUBLISHED_REPEATS)
        return abs(float(row["obtained_mean"]) - float(row["published_mean"])), error

    def ahead(self, name: str, a: str, b: str) -> str:
        """Return in how many rows column `a` has the better mean than `b`, e.g. "22 of 32 rows"."""
        rows = [row for row in self.lines(f"{name}/comparisons.csv") if (row["a"], row["b"]) == (a, b)]
        gains = [get_metric(row["metric"]).gain(float(row["mean_difference"])) for row in rows]
        return f"{sum(gain > 0 for gain in gains)} of {len(rows)} rows"

    def not_ahead(self, name: str, metric: str, a: str, b: str, setting: str) -> list[str]:
        """Return the data sets on which the mean of column `a`, to two digits, is not better than that of `b`."""
        means: dict[str, dict[str, float]] = {}
        for row in self.rows(name, metric):
            if row["setting"] == setting:
                means.setdefault(row["dataset"], {})[row["column"]] = round(float(row["obtained_mean"]), 2)
        return [dataset for dataset, of in means.items() if get_metric(metric).gain(of[a] - of[b]) <= 0]

    def bench(self, name: str, column: str, **where: Any) -> float:
        """Return a value of the one row of a benchmark's results that has the values `where`."""
        path = self.results / "bench" / f"{name}.json.gz"
        rows = json.loads(gzip.decompress(path.read_bytes()))["rows"]
        (row,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
        return float(row[column])

    def cell_values(self, name: str, metric: str) -> list[float]:
        """Return a metric of all cells of an experiment that have it."""
        rows = read_cells_csv(self.results / name).values()
        values = (row["metrics"].get(metric) for row in rows)
        return [value for value in values if value is not None]

    def seconds(self, name: str, column: str, *, tuned: bool = False) -> float:
        """Return the median time of the final fit over all cells of a column, or the total time of tuning and fits."""
        rows = [row["seconds"] for row in read_cells_csv(self.results / name).values() if row["method"] == column]
        return sum(row["tune"] + row["fit"] for row in rows) if tuned else statistics.median(row["fit"] for row in rows)

    def total(self, file: str, column: str, **where: str) -> float:
        """Return the sum of a column of a CSV file over the lines with the values `where`."""
        lines = [line for line in self.lines(file) if all(line[key] == value for key, value in where.items())]
        return sum(float(line[column]) for line in lines)

    def made(self) -> Mapping[str, int]:
        """Return the numbers of experiments, of ways in which cells were made, and of cells."""
        every = [read_provenance(path.parent) for path in sorted(self.results.glob("*/provenance.json"))]
        ways = [way for one in every for way in one.get("made_with", [])]
        return {"experiments": len(every), "ways": len(ways), "cells": sum(way["cells"] for way in ways)}

    def lines(self, file: str) -> list[Row]:
        """Return the lines of a CSV file."""
        path = self.results / file
        if path not in self._read:
            with path.open(encoding="utf-8", newline="") as handle:
                self._read[path] = list(csv.DictReader(handle))
        return self._read[path]


def _fixed(value: float, digits: int) -> str:
    return "" if math.isnan(value) else f"{value:,.{digits}f}"
