"""Build a report from stored cells, or from a committed cells.csv.gz if there is no store, and write its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pucli.core.errors import unknown
from pucli.core.json_values import json_values
from pucli.report.cells_csv import cells_csv, read_cells_csv, write_cells_csv
from pucli.report.files import PROVENANCE, output_folder, read_provenance, write
from pucli.report.formats.render import FORMATS, rendered
from pucli.report.gathering import gather, rows_of_variants
from pucli.report.model import FIRST, FIRST_TITLE, Report
from pucli.report.protocol_parts import extras_of, remarks_of
from pucli.report.tables.comparisons import compare_pairs, rank_methods
from pucli.report.tables.published import figures_of_metrics
from pucli.report.tables.samples import Samples
from pucli.report.tables.summary import summarise
from pucli.report.tables.table import TableRow, count_flags, table_rows
from pucli.runner.cells import Cell
from pucli.runner.experiment import TRUE_PRIOR, Experiment
from pucli.runner.plan import describe
from pucli.runner.profiles import Scope
from pucli.runner.store import StoredRow, StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# the figure that stands before the others


def collect(
    experiment: Experiment,
    *,
    profile: str | None = None,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    results_dir: str | Path | None = None,
    formats: Iterable[str] = ("md", "csv", "tex"),
    figures: bool = True,
) -> Report:
    """Build the report of an experiment from its finished cells, even during a run; see `build_report`.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    profile : str, optional
        The profile; by default the one with the most finished cells.
    methods, datasets : sequence of str, optional
        Restrict the report to these.
    results_dir : str or Path, optional
        Folder of all experiments, by default results; that of this experiment is `results_dir`/<name>.
    formats : iterable of str
        Any of md, csv, tex and html.
    figures : bool
        Whether to draw figures.

    Returns
    -------
    Report

    Raises
    ------
    UsageError
        No cell has been run and no profile is given, or the store or cells.csv.gz cannot be read.

    Notes
    -----
    Cells missing from the store are taken from cells.csv.gz, since the key of a cell identifies everything on which its
    result depends. A fresh clone therefore shows the committed results. Files that need more than that file holds (the
    details behind some figures) are kept as they are in the folder and named in `Report.kept`.
    """
    found = gather(experiment, profile=profile, methods=methods, datasets=datasets, results_dir=results_dir)
    return build_report(
        experiment,
        found.scope,
        found.cells,
        found.rows,
        found.folder,
        formats=formats,
        figures=figures,
        from_csv=found.from_csv,
    )


def build_report(
    experiment: Experiment,
    scope: Scope,
    cells: Sequence[Cell],
    stored: StoredRows,
    folder: Path,
    *,
    formats: Iterable[str] = ("md", "csv", "tex"),
    figures: bool = True,
    from_csv: bool = False,
) -> Report:
    """Aggregate the stored cells of a plan, and write the table, figures and provenance.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    scope : Scope
        The data sets, settings and columns of the report.
    cells : sequence of Cell
        The planned cells of the scope.
    stored : mapping
        Map from key to stored row, see `pucli.runner.read_rows`. Cells without a row count as missing.
    folder : Path
        Results folder of the experiment. If it has a report of more cells, this report goes to a subfolder.
    formats : iterable of str
        Any of md, csv, tex and html; comparisons.csv, cells.csv.gz and the provenance are always written.
    figures : bool
        Whether to draw figures.
    from_csv : bool
        Whether some cells come from cells.csv.gz. Figures that need their missing details are then not drawn, and
        cells.csv.gz and the provenance are kept if no cell is new.

    Returns
    -------
    Report

    Raises
    ------
    UsageError
        A format is unknown, a file of published figures is invalid, or the folder cannot be written.
    """
    formats = list(formats)
    for name in formats:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS)
    samples = Samples.of(experiment, cells, stored, cells if _is_whole(experiment, scope) else None)
    report = assemble(experiment, scope, cells, stored, folder, samples=samples)
    report.folder = _without_loss(folder, scope.profile_name, report.counts["done"])
    drawable = {key: StoredRow(**{**row, "details": {}}) for key, row in stored.items()} if from_csv else stored
    if figures:
        ways = read_provenance(report.folder).get("made_with", []) if from_csv else []
        _draw(report, samples, cells, drawable, [way.get("processes", 0) for way in ways])
    _add_extras(report, experiment, cells, drawable, figures)
    if from_csv:
        keep_recorded(report, read_provenance(report.folder))
    _write_tables(report, formats)
    _write_always(report, experiment, scope, cells, stored, from_csv)
    return report


def assemble(
    experiment: Experiment,
    scope: Scope,
    cells: Sequence[Cell],
    stored: StoredRows,
    folder: Path,
    *,
    samples: Samples | None = None,
) -> Report:
    """Return the report without writing anything.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    scope : Scope
        The data sets, settings and columns of the report.
    cells : sequence of Cell
        The planned cells of the scope.
    stored : mapping from str to StoredRow
        Stored rows by the key of their cell.
    folder : Path
        Results folder of the experiment.
    samples : Samples, optional
        The same rows, indexed; by default made here.
    """
    samples = samples or Samples.of(experiment, cells, stored, cells if _is_whole(experiment, scope) else None)
    rows = table_rows(samples, rows_of_variants(experiment, folder.parent))
    keys = {cell.key: cell for cell in cells}
    states = [stored[key]["status"] for key in keys if key in stored]
    return Report(
        name=experiment.name,
        title=experiment.title,
        source=_source(experiment),
        profile=scope.profile_name,
        reductions=scope.reductions,
        part=experiment.source.part if experiment.source is not None else "",
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
        remarks=_remarks(experiment, samples),
        rows=rows,
        summary=summarise(rows),
        comparisons=compare_pairs(samples),
        rankings=rank_methods(samples),
        folder=folder,
    )


def _without_loss(folder: Path, profile: str, done: int) -> Path:
    """Return the folder for a report of `done` cells; the provenance or else cells.csv.gz says how many are there."""
    if folder.is_dir() and not read_provenance(folder):
        listed = sum(row["status"] == "done" for row in read_cells_csv(folder).values())
        if listed > done:
            return folder / f"{profile}-part"
    return output_folder(folder, profile, done)


def _is_whole(experiment: Experiment, scope: Scope) -> bool:
    return scope.profile_name == "full" and not scope.reductions and not scope.narrowed


def keep_recorded(report: Report, provenance: Mapping[str, Any]) -> None:
    """Add the recorded figures and texts of the folder that were not made again, in the recorded order."""
    for kind, made in (("figures", report.figures), ("texts", report.texts)):
        recorded = [(path, title) for path, title in provenance.get(kind, [])]
        kept = [(path, title) for path, title in recorded if (report.folder / path).is_file()]
        fresh = dict(made)
        report.kept += [path for path, _ in kept if path not in fresh]
        merged = [(path, fresh.get(path, title)) for path, title in kept]
        made[:] = merged + [item for item in made if item[0] not in dict(merged)]
    report.figures.sort(key=lambda item: not item[0].startswith(f"figures/{FIRST}."))


def _source(experiment: Experiment) -> str:
    source = experiment.source
    if source is None:
        return ""
    parts = [source.document, f"table {source.table}" if source.table else ""]
    parts.append(f"section {source.section}" if source.section else "")
    return ", ".join(part for part in parts if part)


def _remarks(experiment: Experiment, samples: Samples) -> list[str]:
    """Return remarks of the protocol and on whole columns."""
    found = remarks_of(experiment.protocol, experiment)
    given = [column for column in samples.columns if experiment.methods[column].params.get("prior") == TRUE_PRIOR]
    if not given:
        return found
    return [
        *found,
        f"These columns are given the true class prior: {', '.join(given)}. It is the share of positives among all "
        "unlabeled rows of the split, including the test rows; the other columns do not use it.",
    ]


def _draw(
    report: Report, samples: Samples, cells: Sequence[Cell], stored: StoredRows, processes: Sequence[int]
) -> None:
    from pucli.report.figures.charts import KINDS, timing
    from pucli.report.figures.forest import published_figure
    from pucli.report.figures.style import look

    with look():
        _write_figure(
            report, f"figures/{FIRST}", FIRST_TITLE, published_figure(_as_published(report.rows, samples.experiment))
        )
        for spec in samples.experiment.figures:
            _write_figure(report, f"figures/{spec.name}", spec.title or spec.name, KINDS[spec.kind](spec, samples))
        _write_figure(report, "figures/timing", "Time by method", timing(cells, stored, processes))


def _as_published(rows: Sequence[TableRow], experiment: Experiment) -> list[TableRow]:
    """Return the rows of the metrics that were published, without other metrics compared with the same figures."""
    published = figures_of_metrics(experiment)
    return [row for row in rows if row.metric in published]


def _write_figure(report: Report, name: str, title: str, figure: Figure | None) -> None:
    from pucli.report.figures.charts import ENDINGS, render

    if figure is not None:
        ending, content = render(figure)
        report.files.append(write(report.folder / f"{name}.{ending}", content))
        report.figures.append((f"{name}.{ending}", title))
        for other in ENDINGS:
            if other != ending:
                (report.folder / f"{name}.{other}").unlink(missing_ok=True)


def _add_extras(
    report: Report, experiment: Experiment, cells: Sequence[Cell], stored: StoredRows, figures: bool
) -> None:
    """Write the additional texts and figures of the protocol."""
    from pucli.report.figures.style import look

    with look() if figures else nullcontext():
        for extra in extras_of(experiment.protocol)(experiment, cells, stored):
            if isinstance(extra.content, str):
                report.files.append(write(report.folder / extra.path, extra.content))
                report.texts.append((extra.path, extra.title))
            elif figures:
                _write_figure(report, extra.path, extra.title, extra.content)


def _write_tables(report: Report, formats: Sequence[str]) -> None:
    for name, content in rendered(report, formats).items():
        report.files.append(write(report.folder / name, content))


def _write_always(
    report: Report, experiment: Experiment, scope: Scope, cells: Sequence[Cell], stored: StoredRows, from_csv: bool
) -> None:
    """Write cells.csv.gz and the provenance, unless nothing in the folder would change."""
    from pucli.report.provenance import as_declared, made_with, made_with_page, to_text

    if from_csv and not any(row["finished"] for row in stored.values()):
        recorded = read_provenance(report.folder)
        if recorded:
            content = {**recorded, "data": as_declared(recorded["data"]), "figures": json_values(report.figures)}
            if content != recorded:
                report.files.append(write(report.folder / "provenance.md", made_with_page(content)))
                report.files.append(write(report.folder / PROVENANCE, to_text(content)))
        return
    before = read_provenance(report.folder) if from_csv else {}
    content = made_with(report, experiment, scope, cells, stored, before)
    report.files += [
        write_cells_csv(report.folder, cells_csv(cells, stored, content["made_with"])),
        write(report.folder / "provenance.md", made_with_page(content)),
        # written last: its cell count protects this report from being replaced by a smaller one
        write(report.folder / PROVENANCE, to_text(content)),
    ]
