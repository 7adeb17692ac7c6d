"""From stored cells to a table: published beside obtained, verdicts, tests between methods, figures, provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pucli.errors import unknown
from pucli.metrics import get_metric
from pucli.report.cells import cells_csv
from pucli.report.comparisons import Comparison, Ranking, compare_pairs, rank_methods
from pucli.report.extras import extras_of
from pucli.report.files import PROVENANCE, csv_text, output_folder, write
from pucli.report.summary import summarise
from pucli.report.table import Samples, TableRow, count_flags, table_rows
from pucli.runner.cells import Cell, json_values
from pucli.runner.experiment import Experiment
from pucli.runner.profiles import Scope
from pucli.runner.run import describe, planned_cells, planned_scope, results_folder
from pucli.runner.store import read_rows

FORMATS = ("md", "csv", "tex", "html")

TABLE_COLUMNS = (
    "dataset", "setting", "method", "variant", "metric", "obtained_mean", "obtained_sd", "repeats", "published_mean",
    "published_sd", "difference_in_sd", "verdict", "note",
)  # fmt: skip


@dataclass
class Report:
    """What a report says; `to_json` for --json.

    Parameters
    ----------
    counts : cells by state: total, done, failed, missing.
    flags : flag -> number of finished cells that carry it.
    rows : the table; comparisons, rankings : tests between methods; summary : one dict for each method and setting.
    figures, texts : (path in the folder, title) of the figures, and of texts that the protocol adds.
    folder : where the files are; files : what was written.
    """

    name: str
    title: str
    source: str
    profile: str
    reductions: list[str]
    counts: dict[str, int]
    flags: dict[str, int]
    errors: list[str]
    rows: list[TableRow]
    summary: list[dict[str, Any]]
    comparisons: list[Comparison]
    rankings: list[Ranking]
    folder: Path
    figures: list[tuple[str, str]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def markdown(self) -> str:
        """Return the text of table.md."""
        from pucli.report.markdown import markdown

        return markdown(self)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "experiment": self.name,
            "title": self.title,
            "source": self.source,
            "profile": self.profile,
            "reductions": self.reductions,
            "cells": self.counts,
            "flags": self.flags,
            "errors": self.errors,
            "rows": [row.to_json() for row in self.rows],
            "summary": json_values(self.summary),
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "rankings": [ranking.to_json() for ranking in self.rankings],
            "folder": str(self.folder),
            "files": [str(path) for path in self.files],
        }


def build_report(
    experiment: Experiment,
    scope: Scope,
    cells: Sequence[Cell],
    stored: Mapping[str, Mapping[str, Any]],
    folder: Path,
    *,
    formats: Iterable[str] = ("md", "csv", "tex"),
    figures: bool = True,
) -> Report:
    """Aggregate the stored rows of a plan, and write table, figures and provenance.

    Parameters
    ----------
    experiment, scope, cells : what was planned.
    stored : key -> stored row, see `pucli.runner.read_rows`. Cells without a row count as missing.
    folder : results folder of the experiment. Where it has a report from more cells, this one goes to a folder in it.
    formats : of md, csv, tex, html; cells.csv, comparisons.csv and the provenance are always written.
    figures : whether to draw.

    Raises
    ------
    UsageError
        An unknown format; a published file with a mistake; a folder that cannot be written.
    """
    formats = list(formats)
    for name in formats:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS)
    report = assemble(experiment, scope, cells, stored, folder)
    report.folder = output_folder(folder, scope.profile_name, report.counts["done"])
    if figures:
        _draw(report, experiment, cells, stored)
    _add_extras(report, experiment, cells, stored, figures)
    _write_tables(report, formats)
    _write_always(report, experiment, scope, cells, stored)
    return report


def collect(
    experiment: Experiment,
    *,
    profile: str = "full",
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    results_dir: str | Path | None = None,
    formats: Iterable[str] = ("md", "csv", "tex"),
    figures: bool = True,
) -> Report:
    """Build the report from the store as it is, also while a run is writing to it; see `build_report`."""
    planned = planned_scope(experiment, profile, methods, datasets)
    cells = planned_cells(experiment, planned)
    folder = results_folder(experiment, results_dir)
    rows = read_rows(folder, {cell.key for cell in cells})
    return build_report(experiment, planned, cells, rows, folder, formats=formats, figures=figures)


def assemble(
    experiment: Experiment,
    scope: Scope,
    cells: Sequence[Cell],
    stored: Mapping[str, Mapping[str, Any]],
    folder: Path,
) -> Report:
    """Return the report without writing anything."""
    samples = Samples.of(experiment, cells, stored)
    rows = table_rows(samples)
    keys = {cell.key: cell for cell in cells}
    states = [stored[key]["status"] for key in keys if key in stored]
    source = experiment.source
    named = ", ".join(
        part
        for part in (
            source.document,
            source.table and f"table {source.table}",
            source.section and f"section {source.section}",
        )
        if part
    ) if source else ""  # fmt: skip
    return Report(
        name=experiment.name,
        title=experiment.title,
        source=named,
        profile=scope.profile_name,
        reductions=scope.reductions,
        counts={
            "total": len(keys),
            "done": states.count("done"),
            "failed": states.count("failed"),
            "missing": len(keys) - len(states),
        },
        flags=count_flags(cells, stored),
        errors=[
            f"{describe(cell)}: {stored[key]['error']}"
            for key, cell in keys.items()
            if key in stored and stored[key]["status"] == "failed"
        ],
        rows=rows,
        summary=summarise(rows),
        comparisons=compare_pairs(samples),
        rankings=rank_methods(samples),
        folder=folder,
    )


def _draw(
    report: Report, experiment: Experiment, cells: Sequence[Cell], stored: Mapping[str, Mapping[str, Any]]
) -> None:
    from pucli.report.figures import KINDS, timing

    samples = Samples.of(experiment, cells, stored)
    _write_figure(report, "figures/timing", "Time by method", timing(cells, stored))
    for spec in experiment.figures:
        _write_figure(report, f"figures/{spec.name}", spec.title or spec.name, KINDS[spec.kind](spec, samples))


def _write_figure(report: Report, name: str, title: str, figure: Any) -> None:
    from pucli.report.figures import render

    if figure is not None:
        for ending, content in render(figure).items():
            report.files.append(write(report.folder / f"{name}.{ending}", content))
        report.figures.append((f"{name}.png", title))


def _add_extras(
    report: Report,
    experiment: Experiment,
    cells: Sequence[Cell],
    stored: Mapping[str, Mapping[str, Any]],
    figures: bool,
) -> None:
    """Write what the experiment's protocol has beside the table."""
    for extra in extras_of(experiment.protocol)(experiment, cells, stored):
        if isinstance(extra.content, str):
            report.files.append(write(report.folder / extra.path, extra.content))
            report.texts.append((extra.path, extra.title))
        elif figures:
            _write_figure(report, extra.path, extra.title, extra.content)


def _write_tables(report: Report, formats: Sequence[str]) -> None:
    folder = report.folder
    if "md" in formats:
        report.files.append(write(folder / "table.md", report.markdown()))
    if "csv" in formats:
        report.files.append(write(folder / "table.csv", table_csv(report.rows)))
    if "tex" in formats:
        from pucli.report.latex import latex

        report.files.append(write(folder / "table.tex", latex(report)))
    if "html" in formats:
        from pucli.report.page import page

        report.files.append(write(folder / "table.html", page(report)))


def _write_always(
    report: Report,
    experiment: Experiment,
    scope: Scope,
    cells: Sequence[Cell],
    stored: Mapping[str, Mapping[str, Any]],
) -> None:
    from pucli.report.made_with import made_with, made_with_page, to_text

    folder = report.folder
    columns = ["dataset", "setting", "a", "b", "metric", "n", "mean_difference", "median_difference", "wins", "ties",
               "losses", "statistic", "p", "p_adjusted"]  # fmt: skip
    lines = [[comparison.to_json()[name] for name in columns] for comparison in report.comparisons]
    content = made_with(report, experiment, scope, cells, stored)
    report.files += [
        write(folder / "cells.csv", cells_csv(cells, stored)),
        write(folder / "comparisons.csv", csv_text(columns, lines)),
        write(folder / "provenance.md", made_with_page(content)),
        # last: its count of cells guards this report against a smaller one
        write(folder / PROVENANCE, to_text(content)),
    ]


def table_csv(rows: Sequence[TableRow]) -> str:
    """Return table.csv: one row for each published or obtained figure."""
    return csv_text(
        TABLE_COLUMNS,
        (
            [get_metric(row.metric).heading if name == "metric" else getattr(row, name) for name in TABLE_COLUMNS]
            for row in rows
        ),
    )


__all__ = ["FORMATS", "Comparison", "Ranking", "Report", "TableRow", "assemble", "build_report", "collect", "table_csv"]
