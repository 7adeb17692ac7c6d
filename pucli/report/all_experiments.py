"""Reports of all experiments, and the counts of their verdicts on the page of all results."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pucli.core.errors import UsageError
from pucli.report.build import collect
from pucli.report.files import write
from pucli.report.formats.markdown import CONTROL_HEADINGS, control_lines, grid
from pucli.report.gathering import gather, has_results, samples_of_variants
from pucli.report.model import Report
from pucli.report.results_page import results_pages
from pucli.report.tables.causes import CAUSES, REDUCED, UNEXPLAINED
from pucli.report.tables.controls import FILE as CONTROLS
from pucli.report.tables.controls import Control, TableSamples, adjust, controls_of, controls_text, read_controls
from pucli.report.tables.published import IN_VIEW, chosen_in_view, figures_of_metrics
from pucli.report.tables.standing import FILE as STANDING
from pucli.report.tables.standing import leaders, standings
from pucli.report.tables.verdict import BY_VARIANT, COMPARED, NOT_JUDGED, NOT_RUN, REPRODUCED, VERDICTS, counted, plain
from pucli.runner.experiment import base_name, column_name
from pucli.runner.loading import experiment_names, load_experiment
from pucli.runner.plan import DEFAULT_RESULTS


@dataclass(frozen=True)
class Judged:
    """A row of a table.csv with a verdict.

    `primary` is true if the row represents a published figure: its variant represents the method, its metric is the one
    that was published, and no other table has the same `figure` from longer runs or more `repeats`. `apart` is why the
    row does not: a form or scoring of its own, or the table that has the figure.
    """

    experiment: str
    metric: str
    verdict: str
    cause: str
    primary: bool
    figure: tuple[str, ...] = ()
    repeats: int = 0
    apart: str = ""


def report_all(
    results_dir: str | Path | None = None,
    *,
    figures: bool = True,
    on_report: Callable[[Report], None] | None = None,
) -> list[Report]:
    """Build the report of every experiment with results, controls.csv, standing.csv, and the pages of all results.

    Parameters
    ----------
    results_dir : str or Path, optional
        Folder of all experiments, by default results.
    figures : bool
        Whether to draw figures.
    on_report : callable, optional
        Called with each finished report.

    Raises
    ------
    UsageError
        No declared experiment has results there.
    """
    results = Path(results_dir if results_dir is not None else DEFAULT_RESULTS)
    write(results / CONTROLS, controls_text(all_controls(results)))
    reports, ranked = [], []
    for name in with_results(results):
        experiment = load_experiment(name, check_methods=False)
        reports.append(collect(experiment, results_dir=results, figures=figures))
        ranked.append((experiment, reports[-1].rankings))
        if on_report is not None:
            on_report(reports[-1])
    write(results / STANDING, standings(leaders(ranked), results))
    for page, text in pages_of(results).items():
        write(results / page, text)
    return reports


def with_results(results: Path) -> list[str]:
    """Return the names of the declared experiments that have cells in the folder `results`; UsageError without any."""
    if names := [name for name in experiment_names() if has_results(results / name)]:
        return names
    raise UsageError(
        f"no declared experiment has results in {results}; `pucli reproduce table-3.1 --profile smoke` makes some in a "
        "few seconds."
    )


def all_controls(results: Path) -> list[Control]:
    """Return the controls of all tables with published figures, adjusted over methods and tables."""
    experiments = {name: load_experiment(name, check_methods=False) for name in with_results(results)}
    others = {name for one in experiments.values() for names in one.variants.values() for name in names}
    return adjust(
        controls_of(
            TableSamples(gather(one, results_dir=results).samples, list(samples_of_variants(one, results).values()))
            for name, one in experiments.items()
            if name not in others and one.published
        )
    )


def judged_rows(results: Path) -> list[Judged]:
    """Return every row with a verdict of the table.csv files in the folder `results`.

    Experiments that run the table of another one under another protocol (`variants`) are left out.
    """
    found = []
    experiments = {name: load_experiment(name, check_methods=False) for name in with_results(results)}
    others = {name for one in experiments.values() for names in one.variants.values() for name in names}
    for name, experiment in experiments.items():
        if name in others:
            continue
        primary = {experiment.primary_column(base_name(column)) for column in experiment.methods}
        file_of, in_view = figures_of_metrics(experiment), chosen_in_view(experiment)
        path = results / name / "table.csv"
        if not path.is_file():
            continue
        with path.open(encoding="utf-8", newline="") as handle:
            for row in csv.DictReader(handle):
                column = column_name(row["method"], row["variant"])
                verdict, metric = plain(row["verdict"]), row["metric"].partition(" ")[0]
                represents = column in primary or column not in experiment.methods
                apart = _apart(row, verdict, scored=metric in file_of, represents=represents)
                apart = f"data {IN_VIEW}" if row["dataset"] in in_view else apart
                figure = (file_of.get(metric, ""), row["dataset"], row["setting"], row["method"], metric)
                repeats = int(row["repeats"])
                found.append(Judged(name, row["metric"], verdict, row["cause"], not apart, figure, repeats, apart))
    # a row without a verdict ("failure" in print) still stands for its figure
    return [row for row in one_for_each_figure(found) if row.verdict]


def one_for_each_figure(rows: Sequence[Judged]) -> list[Judged]:
    """Return the rows with one primary row per published figure.

    Rows that run as much as was published come first, then those with more repeats, then the earlier ones.
    """
    standing: dict[tuple[str, ...], Judged] = {}
    for row in rows:
        if row.primary and (row.figure not in standing or _weight(row) > _weight(standing[row.figure])):
            standing[row.figure] = row
    return [
        row if not row.primary or standing[row.figure] is row
        else replace(row, primary=False, apart=f"counted in {standing[row.figure].experiment}")
        for row in rows
    ]  # fmt: skip


def _apart(row: Mapping[str, str], verdict: str, *, scored: bool, represents: bool) -> str:
    """Return why a row of table.csv does not represent a published figure of its method; "" if it may."""
    if verdict == COMPARED:
        return COMPARED
    if not scored:
        return f"scored by {row['metric'].partition(' ')[0]}"
    return "" if represents else f"form {row['variant']}"


@dataclass(frozen=True)
class VerdictCounts:
    """The verdicts of a table: of published figures that it stands for, and of its other rows by the reason."""

    counted: dict[str, int]
    apart: dict[str, dict[str, int]]

    @property
    def agreeing(self) -> int:
        """Return the number of published figures that are reproduced, by the method or a variant."""
        return sum(self.counted.get(verdict, 0) for verdict in (REPRODUCED, BY_VARIANT))

    @property
    def agrees(self) -> bool:
        """Return whether every figure of the table agrees."""
        return self.agreeing == self.figures > 0

    @property
    def figures(self) -> int:
        """Return the number of published figures with a verdict on a run."""
        return sum(number for verdict, number in self.counted.items() if verdict not in (NOT_JUDGED, NOT_RUN))


def verdict_counts(rows: Sequence[Judged]) -> dict[str, VerdictCounts]:
    """Return the verdicts of each table; those of published figures add up to the counts of the publication."""
    found = {}
    for name in dict.fromkeys(row.experiment for row in rows):
        own = [row for row in rows if row.experiment == name]
        reasons = dict.fromkeys(row.apart for row in own if not row.primary)
        apart = {reason: counted(row.verdict for row in own if row.apart == reason) for reason in reasons}
        found[name] = VerdictCounts(counted(row.verdict for row in own if row.primary), apart)
    return found


def _weight(row: Judged) -> tuple[bool, bool, int]:
    return row.repeats > 0, row.cause != REDUCED, row.repeats


def verdict_table(rows: Sequence[Judged]) -> str:
    """Return the counts of verdicts by table and of all published figures, as Markdown, with those without a cause."""
    shown = [verdict for verdict in VERDICTS if any(row.verdict == verdict for row in rows)]
    lines = []
    for name, metric in dict.fromkeys((row.experiment, row.metric) for row in rows):
        own = [row for row in rows if (row.experiment, row.metric) == (name, metric)]
        lines.append([f"[{name}]({name}/table.md)", metric, *_counted(own, shown)])
    once = [number or "0" for number in _counted([row for row in rows if row.primary], shown)]
    lines.append(["**each published figure once**", "", *once])
    heading = ["Table", "Metric", "rows", *shown, f"cause {UNEXPLAINED}"]
    return grid(heading, lines, "ll" + "r" * (len(shown) + 2))


def cause_table(rows: Sequence[Judged]) -> str:
    """Return the counts of causes of the rows that are neither reproduced nor left out, as Markdown."""
    causes = Counter(row.cause for row in rows if row.cause)
    of_primary = Counter(row.cause for row in rows if row.cause and row.primary)
    reasons = [[cause, CAUSES[cause], str(number), str(of_primary[cause])] for cause, number in causes.most_common()]
    return grid(["Cause", "Meaning", "rows", "of published figures"], reasons, "llrr")


def pages_of(results: Path) -> dict[str, str]:
    """Return the pages of all results by name, see `pucli.report.results_page`."""
    # of the metrics that were published; a section of its own has the data chosen with the print in view
    rows = [row for row in judged_rows(results) if row.figure[0] and IN_VIEW not in row.apart]
    counted_once = [row for row in rows if row.primary and row.verdict != NOT_RUN]
    return results_pages(
        results,
        verdicts=verdict_table(rows),
        causes=cause_table(rows),
        published=Counter(row.verdict for row in counted_once),
        reproduced=Counter(row.experiment for row in counted_once if row.verdict == REPRODUCED),
        controls=controls_table(read_controls(results)),
        names=with_results(results),
    )


def controls_table(controls: Sequence[Control]) -> str:
    """Return the agreements of each table and method with its own and with other prints, as Markdown."""
    lines = []
    for tables in dict.fromkeys(one.tables for one in controls):
        own = control_lines([one for one in controls if one.tables == tables])
        lines += [[", ".join(tables.split()), *line] for line in own]
    return grid(["Table", *CONTROL_HEADINGS, "p", "adjusted"], lines, "lllrrrrrlrrr")


def _counted(rows: Sequence[Judged], shown: Sequence[str]) -> list[str]:
    """Return the number of rows, of each verdict, and of unexplained ones; "" for none."""
    counts = Counter(row.verdict for row in rows)
    unexplained = sum(row.cause == UNEXPLAINED for row in rows)
    run = sum(counts[verdict] for verdict in VERDICTS if verdict != NOT_RUN)
    return [str(number or "") for number in (run, *(counts[v] for v in shown), unexplained)]
