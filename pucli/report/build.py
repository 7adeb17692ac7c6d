"""Build a report from stored cells, or from a committed cells.csv.gz if there is no store, and write its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pucli.core.json_values import json_values
from pucli.report.cells_csv import cells_csv, read_cells_csv, write_cells_csv
from pucli.report.files import PROVENANCE, read_provenance, write
from pucli.report.formats.render import rendered
from pucli.report.gathering import Gathered, gather, rows_of_variants, samples_of_variants
from pucli.report.model import FIRST, FIRST_TITLE, Report
from pucli.report.protocol_parts import extras_of, remarks_of
from pucli.report.tables.comparisons import compare_pairs, rank_methods
from pucli.report.tables.controls import TableSamples, adjust, as_often, controls_of, read_controls
from pucli.report.tables.published import chosen_in_view, figures_of_metrics
from pucli.report.tables.summary import summarize
from pucli.report.tables.table import count_flags, table_rows
from pucli.report.tables.verdict import BY_VARIANT, counted
from pucli.runner.experiment import TRUE_PRIOR, Experiment
from pucli.runner.plan import describe
from pucli.runner.store import StoredRow, StoredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def collect(
    experiment: Experiment,
    *,
    profile: str | None = None,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    results_dir: str | Path | None = None,
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
    figures : bool
        Whether to draw figures.

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
    return build_report(found, figures=figures)


def build_report(found: Gathered, *, figures: bool = True) -> Report:
    """Aggregate the stored cells of a plan, and write the table, figures and provenance.

    Parameters
    ----------
    found : Gathered
        The plan and its stored cells. If the folder has a report of more cells, this report goes to a subfolder. If
        some cells come from cells.csv.gz, figures that need their missing details are not drawn, and cells.csv.gz and
        the provenance are kept if no cell is new.
    figures : bool
        Whether to draw figures.

    Raises
    ------
    UsageError
        A file of published figures is invalid, or the folder cannot be written.
    """
    report = assemble(found)
    report.folder = _output_folder(found.folder, found.scope.profile_name, report.cells["done"])
    if figures:
        _draw(report, found)
    _add_extras(report, found, figures)
    if found.from_csv:
        keep_recorded(report, read_provenance(report.folder))
    for name, content in rendered(report).items():
        report.files.append(write(report.folder / name, content))
    _write_always(report, found)
    return report


def assemble(found: Gathered) -> Report:
    """Return the report of a plan and its stored cells without writing anything."""
    experiment, stored = found.experiment, found.rows
    results = found.folder.parent
    variants = samples_of_variants(experiment, results)
    others = rows_of_variants(variants)
    rows = table_rows(found.samples, others)
    controls = controls_of([TableSamples(found.samples, list(variants.values()))])
    if any(row.verdict.startswith(BY_VARIANT) for row in rows):
        elsewhere = [one for one in read_controls(results) if experiment.name not in one.tables.split()]
        controls = [one for one in adjust([*controls, *elsewhere]) if one.tables == experiment.name]
        rows = table_rows(found.samples, others, as_often(controls))
    in_view = chosen_in_view(experiment)
    counting = [row for row in rows if row.dataset not in in_view]
    keys = {cell.key: cell for cell in found.cells}
    states = [stored[key]["status"] for key in keys if key in stored]
    return Report(
        experiment=experiment.name,
        title=experiment.title,
        source=_source(experiment),
        profile=found.scope.profile_name,
        reductions=found.scope.reductions,
        part=experiment.source.part if experiment.source is not None else "",
        cells={
            **{"total": len(keys), "done": states.count("done"), "failed": states.count("failed")},
            "missing": len(keys) - len(states),
        },
        flags=count_flags(found.cells, stored),
        errors=[
            f"{describe(cell)}: {stored[key]['error']}"
            for key, cell in keys.items()
            if key in stored and stored[key]["status"] == "failed"
        ],
        remarks=_remarks(experiment, found.samples.columns),
        verdicts=counted(row.verdict for row in counting),
        controls=controls,
        causes=dict(Counter(row.cause for row in counting if row.cause).most_common()),
        rows=rows,
        summary=summarize(rows, in_view),
        comparisons=compare_pairs(found.samples),
        rankings=rank_methods(found.samples),
        folder=found.folder,
    )


def _output_folder(folder: Path, profile: str, done: int) -> Path:
    """Return the folder for a report of `done` cells: a subfolder where `folder` has a report of more.

    Those are of a larger profile or of more data sets. Its provenance, or else cells.csv.gz, says how many.
    """
    there = read_provenance(folder)
    if there:
        listed = there["cells"].get("done", 0)
    else:
        listed = sum(row["status"] == "done" for row in read_cells_csv(folder).values()) if folder.is_dir() else 0
    if listed <= done:
        return folder
    return folder / (f"{profile}-part" if there.get("profile", profile) == profile else profile)


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
    place = [f"{name} {where}" for name, where in (("table", source.table), ("section", source.section)) if where]
    return ", ".join([source.document, *place])


def _remarks(experiment: Experiment, columns: Sequence[str]) -> list[str]:
    found = list(remarks_of(experiment.protocol, experiment))
    given = [column for column in columns if experiment.methods[column].params.get("prior") == TRUE_PRIOR]
    if given:
        found.append(
            f"These columns are given the true class prior: {', '.join(given)}. It is the share of positives among all "
            "unlabeled rows of the split, including the test rows; the other columns do not use it."
        )
    return found


def _draw(report: Report, found: Gathered) -> None:
    from pucli.report.figures.charts import KINDS, timing
    from pucli.report.figures.forest import published_figure
    from pucli.report.figures.style import look

    experiment = found.experiment
    published = figures_of_metrics(experiment)  # other metrics are compared with the same figures
    ways = read_provenance(report.folder).get("made_with", []) if found.from_csv else []
    with look():
        figure = published_figure([row for row in report.rows if row.metric in published])
        _write_figure(report, f"figures/{FIRST}", FIRST_TITLE, figure)
        for spec in experiment.figures:
            _write_figure(
                report, f"figures/{spec.name}", spec.title or spec.name, KINDS[spec.kind](spec, found.samples)
            )
        figure = timing(found.cells, found.rows, [way.get("processes", 0) for way in ways])
        _write_figure(report, "figures/timing", "Time by method", figure)


def _write_figure(report: Report, name: str, title: str, figure: Figure | None) -> None:
    from pucli.report.figures.charts import ENDINGS, render

    if figure is not None:
        ending, content = render(figure)
        report.files.append(write(report.folder / f"{name}.{ending}", content))
        report.figures.append((f"{name}.{ending}", title))
        for other in ENDINGS:
            if other != ending:
                (report.folder / f"{name}.{other}").unlink(missing_ok=True)


def _add_extras(report: Report, found: Gathered, figures: bool) -> None:
    from pucli.report.figures.style import look

    stored: StoredRows = found.rows
    if found.from_csv:  # some lack their details
        stored = {key: StoredRow(**{**row, "details": {}}) for key, row in found.rows.items()}
    with look() if figures else nullcontext():
        for extra in extras_of(found.experiment.protocol)(found.experiment, found.cells, stored):
            if isinstance(extra.content, str):
                report.files.append(write(report.folder / extra.path, extra.content))
                report.texts.append((extra.path, extra.title))
            elif figures:
                _write_figure(report, extra.path, extra.title, extra.content)


def _write_always(report: Report, found: Gathered) -> None:
    """Write cells.csv.gz and the provenance, unless nothing in the folder would change."""
    from pucli.report.provenance import as_declared, made_with, made_with_page, to_text

    before = read_provenance(report.folder) if found.from_csv else {}
    if found.from_csv and not any(row["finished"] for row in found.rows.values()):
        if before:
            content = {**before, "data": as_declared(before["data"]), "figures": json_values(report.figures)}
            if content != before:
                report.files.append(write(report.folder / "provenance.md", made_with_page(content)))
                report.files.append(write(report.folder / PROVENANCE, to_text(content)))
        return
    content = made_with(report, found, before)
    report.files += [
        write_cells_csv(report.folder, cells_csv(found.cells, found.rows, content["made_with"])),
        write(report.folder / "provenance.md", made_with_page(content)),
        # written last: its cell count protects this report from being replaced by a smaller one
        write(report.folder / PROVENANCE, to_text(content)),
    ]
