"""The pages of all results (results/README.md and others), rendered from *.md.j2 with figures from the folders."""

from __future__ import annotations

import csv
import functools
import gzip
import itertools
import json
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pucli.data import dataset_entry
from pucli.metrics import get_metric
from pucli.report.cells_csv import read_cells_csv
from pucli.report.files import read_provenance
from pucli.report.formats.markdown import grid
from pucli.report.tables.controls import LEVEL, OTHER_DATASET, OTHER_METHOD, Control, of_all_looks, read_controls
from pucli.report.tables.published import IN_VIEW, setting_key
from pucli.report.tables.samples import setting_text
from pucli.report.tables.verdict import DEGENERATE, REPRODUCED, counted, plain
from pucli.runner.experiment import column_name

if TYPE_CHECKING:
    from jinja2 import Environment

PAGE, TEMPLATES, CLAIMS = "README.md", "*.md.j2", "claims.yaml"
# The settings and the file that templates and claims name.
NAMES = {"half": "label_frequency=0.5", "quarter": "label_frequency=0.25", "harm": "safe-learning-curves/harm.csv"}

# Repeats behind the means of the tables whose protocols are compared.
PUBLISHED_REPEATS = 10

Row = dict[str, Any]


def results_pages(results: Path, **given: Any) -> dict[str, str]:
    """Return the pages by name, from the templates in the folder of all experiments, with further values for them."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(results), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update({f"f{digits}": functools.partial(_fixed, digits=digits) for digits in range(4)})
    environment.tests["starting"] = lambda text, start: text.startswith(start)
    environment.globals.update(NAMES, of=_Figures(results), **given)
    if (results / CLAIMS).is_file():
        environment.globals["claims"] = _claims(environment, results / CLAIMS)
    names = [path.name for path in sorted(results.glob(TEMPLATES))]
    return {name.removesuffix(".j2"): environment.get_template(name).render() for name in names}


def _claims(environment: Environment, path: Path) -> str:
    """Return the claims with their verdicts as Markdown."""
    import yaml

    lines = []
    for one in yaml.safe_load(path.read_text(encoding="utf-8")):
        verdict = one["holds"] if isinstance(one["holds"], str) else "yes" if one["holds"] else "no"
        if verdict not in ("yes", "no", "cannot tell"):
            verdict = "yes" if environment.compile_expression(verdict, undefined_to_none=False)() else "no"
        texts = [environment.from_string(one[key]).render() for key in ("document", "claim", "here")]
        lines.append([*texts, f"[{verdict}]({one['link']})"])
    return grid(["Document", "Claim", "Here", "Holds"], lines, "llll")


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
        """Return the counts of verdicts in words, e.g. "2 reproduced (other data set 1.3; other method 4), 5 worse"."""
        counts = counted(row["verdict"] for row in self.rows(name, metric, column))
        return ", ".join(
            f"{number} {verdict}{self._wrong(name, metric, column) if verdict == REPRODUCED else ''}"
            for verdict, number in counts.items()
        )

    def _wrong(self, name: str, metric: str, column: str) -> str:
        """Return how often a column agrees with the prints of other data sets and methods, in brackets."""
        own = [c for c in self.controls() if (c.tables, c.metric, c.column) == (name, metric, column)]
        most = {
            kind: max((c.other for c in own if c.kind == kind), default=None) for kind in (OTHER_DATASET, OTHER_METHOD)
        }
        texts = [f"{kind} {other:.2g}" for kind, other in most.items() if other is not None]
        return f" ({'; '.join(texts)})" if texts else ""

    def controls(self) -> list[Control]:
        """Return the controls of all tables."""
        return read_controls(self.results)

    def told(self, tables: str) -> list[str]:
        """Return the methods of some tables that agree more often with their own print than with any other."""
        families = of_all_looks(self.controls())
        return [method for (names, _, method), own in families.items() if names == tables and own[0].adjusted < LEVEL]

    def adjusted(self, tables: str, method: str) -> float:
        """Return the p-value of a method against all other prints, adjusted by Holm."""
        return next(one.adjusted for one in self.controls() if (one.tables, one.method) == (tables, method))

    def agreeing(self, table: str, method: str, other: str = "") -> str:
        """Return how many figures of a method agree with its own print, or with that of another method, in any look."""
        own = [one for one in self.controls() if (one.tables, one.method, one.column) == (table, method, "")]
        return f"{next(one.other for one in own if one.print == other):.3g}" if other else f"{own[0].own:.3g}"

    def leads(self, name: str, column: str, *others: str, of: str = "obtained", printed: bool = False) -> int:
        """Return in how many rows a column has the largest mean, alone; with `printed` only rows with a print count."""
        means: dict[tuple[str, str], dict[str, float]] = {}
        for row in self.rows(name, "f1"):
            if row[f"{of}_mean"] and (row["published_mean"] or not printed):
                means.setdefault((row["dataset"], row["setting"]), {})[row["column"]] = float(row[f"{of}_mean"])
        both = [at for at in means.values() if column in at and any(other in at for other in others)]
        return sum(all(at[column] > at[other] for other in others if other in at) for at in both)

    def by_gain(self, name: str, a: str, b: str, setting: str) -> list[str]:
        """Return the data sets by the median over repeats of column `a` less `b`, of equal ones by the mean."""
        rows = [row for row in self.lines(f"{name}/comparisons.csv") if (row["a"], row["b"]) == (a, b)]
        rows.sort(key=lambda row: (float(row["median_difference"]), float(row["mean_difference"])))
        return [row["dataset"] for row in rows if row["setting"] == setting]

    def agreement(self, name: str, *columns: str, metric: str = "f1") -> str:
        """Return the agreement of columns with the published figures, e.g. "2; 12 of 32 (5.9; 19); 7.0".

        That is: how many figures are reproduced by these columns themselves, how many obtained means are within two
        standard errors and do not come from models of one class, in brackets how many are so of the prints of other
        data sets and of the other method that is nearest, and the mean absolute difference.
        """
        every = [row for row in self.rows(name, metric) if row["published_mean"]]
        every = [row for row in every if dataset_entry(row["dataset"]).selection != IN_VIEW]
        rows, prints = [row for row in every if row["column"] in columns], every
        prints = list({(row["dataset"], row["setting"], row["method"]): row for row in prints}.values())
        others: Counter[str] = Counter()
        for row, printed in itertools.product(rows, prints):
            same = row["dataset"] == printed["dataset"], row["method"] == printed["method"]
            if row["setting"] == printed["setting"] and any(same) and self._near(row, printed):
                others["own" if all(same) else "sets" if same[1] else printed["method"]] += 1
        near, sets = others.pop("own", 0), others.pop("sets", 0) / (len({row["dataset"] for row in prints}) - 1)
        reproduced = sum(row["verdict"] == REPRODUCED for row in rows)
        apart = statistics.fmean(self._difference(row, row)[0] for row in rows)
        wrong = f"{sets:.2g}; {max(others.values(), default=0)}"
        return f"{reproduced}; {near} of {len(rows)} ({wrong}); {apart:.1f}"

    def on(self, name: str, columns: Sequence[str], datasets: Sequence[str], metric: str = "f1") -> str:
        """Return verdicts on some data sets, and the mean absolute difference, e.g. "1 reproduced, 3 worse; 7.0"."""
        rows = [row for column in columns for row in self.rows(name, metric, column) if row["dataset"] in datasets]
        if not rows:
            return "not run"
        counts = counted(plain(row["verdict"]) for row in rows)
        apart = statistics.fmean(self._difference(row, row)[0] for row in rows)
        return f"{', '.join(f'{number} {verdict}' for verdict, number in counts.items())}; {apart:.1f}"

    def by_split(self, stated: str, author: str, column: str, metric: str = "f1", there: str = "") -> list[str]:
        """Return how far a column, `there` in `stated`, is from print under two splits, over common repeats.

        That is: both mean absolute differences, the mean gain over data sets (that of a data set is the mean over its
        settings) with its 95 % interval, and on how many data sets there is a gain.
        """
        from scipy.stats import t

        of_stated, of_author = self._repeats(stated, there or column, metric), self._repeats(author, column, metric)
        found: dict[str, list[tuple[float, ...]]] = {}
        for row in self.rows(author, metric, column):
            place = row["dataset"], row["setting"]
            if common := of_stated[place].keys() & of_author[place].keys():
                means = (statistics.fmean(of[place][repeat] for repeat in common) for of in (of_stated, of_author))
                errors = tuple(abs(mean - float(row["published_mean"])) for mean in means)
                found.setdefault(row["dataset"], []).append(errors)
        by_set = [tuple(map(statistics.fmean, zip(*errors, strict=True))) for errors in found.values()]
        gains = [before - after for before, after in by_set]
        mean, n = statistics.fmean(gains), len(gains)
        half = t.ppf(0.975, n - 1) * statistics.stdev(gains) / math.sqrt(n)
        both = [f"{statistics.fmean(errors):.1f}" for errors in zip(*by_set, strict=True)]
        return [*both, f"{mean:.1f} ({mean - half:.1f} to {mean + half:.1f})", f"{sum(g > 0 for g in gains)} of {n}"]

    def _repeats(self, name: str, column: str, metric: str) -> dict[tuple[str, str], dict[int, float]]:
        """Return the values of a column by data set and setting, then by repeat."""
        found: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
        for row in read_cells_csv(self.results / name).values():
            if row["method"] == column and (value := row["metrics"][metric]) is not None:
                place = row["dataset"], setting_text(setting_key(row["setting"], list(row["setting"])))
                found[place][row["repeat"]] = get_metric(metric).scale * value
        return found

    def _near(self, row: Row, printed: Row) -> bool:
        """Return whether a row is within two standard errors of a print, and not of models of one class."""
        difference, error = self._difference(row, printed)
        return difference <= 2 * error + 0.005 and row["verdict"] != DEGENERATE

    @staticmethod
    def _difference(row: Row, printed: Row) -> tuple[float, float]:
        """Return the absolute difference of a row from a published mean, and its standard error."""
        obtained, published = float(row["obtained_sd"] or 0), float(printed["published_sd"] or 0)
        error = math.sqrt(obtained**2 / int(row["repeats"]) + published**2 / PUBLISHED_REPEATS)
        return abs(float(row["obtained_mean"]) - float(printed["published_mean"])), error

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

    def bench(self, name: str, column: str, /, **where: Any) -> Any:
        """Return a value of the one row of a benchmark's results that has the values `where`."""
        path = self.results / "bench" / f"{name}.json.gz"
        rows = json.loads(gzip.decompress(path.read_bytes()))["rows"]
        (row,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
        return row[column]

    def standing(self, name: str) -> list[Row]:
        """Return the rows of a benchmark that say where `auto` stands; none if it was not run."""
        path = self.results / "bench" / f"{name}.json.gz"
        rows: list[Row] = json.loads(gzip.decompress(path.read_bytes())).get("standing", []) if path.is_file() else []
        return rows

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


def _fixed(value: float | str, digits: int) -> str:
    return "" if math.isnan(number := float(value)) else f"{number:,.{digits}f}"
