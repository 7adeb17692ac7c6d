"""``pucli report``: build the table of an experiment from its finished cells."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.output import Output, output_folder
from pucli.core.errors import UsageError

EXAMPLES = """
pucli report table-3.1
pucli report table-3.3 --json
pucli report --all
"""


def command(
    out: Output,
    experiment: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Name (`pucli list experiments`) or a .yaml file.",
            autocompletion=completion.experiments,
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Every experiment with results, and the counts in the README.md of the folder; as without EXPERIMENT.",
        ),
    ] = False,
    results: opt.Results = Path("results"),
    allow_changes: opt.AllowChanges = False,
) -> int:
    """Print the table of an experiment from its finished runs.

    Nothing is run, so the command can be used while `pucli reproduce` is running. `pucli reproduce --collect` makes the
    table of some methods or data sets alone, or of a smaller profile than the largest that was run. Without a store, as
    in a fresh clone, the table is built from cells.csv.gz. Exit code 1 means that some run failed.
    """
    from pucli.cli.text.report import print_report
    from pucli.report import collect
    from pucli.report.gathering import lacking
    from pucli.report.model import OneReport
    from pucli.runner import check_committed, load_experiment, results_folder

    if experiment is not None and everything:
        raise UsageError(f"--all reports every experiment; leave out {experiment}.")
    if experiment is None:
        check_committed(results, allow_changes=allow_changes)
        return _report_all(out, results)
    declared = load_experiment(experiment)
    output_folder("--results", results)
    check_committed(results_folder(declared, results), allow_changes=allow_changes)
    report = collect(declared, profile=None, results_dir=results)
    if report.verdicts and (without := lacking(declared, results)):
        out.warn(
            f"{results} lacks {', '.join(without)}, with which this table is compared: verdicts can differ from those "
            "among all results. `pucli reproduce` makes the tables, `pucli report --all` the controls."
        )
    out.document(OneReport(report.verdicts, report))
    print_report(out, report)
    return 1 if report.cells["failed"] else 0


def _report_all(out: Output, results: Path) -> int:
    from pucli.report import report_all
    from pucli.report.model import AllReports

    output_folder("--results", results)
    out.if_interrupted = "Finished tables are written; run the same command again for the rest."
    shown = count(1)
    with out.progress("report", "experiments") as bar:
        reports = report_all(results, on_report=lambda report: bar(next(shown), None, report.experiment))
    lines = [
        [report.experiment, report.profile, f"{report.cells['done']}/{report.cells['total']}",
         ", ".join(f"{number} {verdict}" for verdict, number in report.verdicts.items())]
        for report in reports
    ]  # fmt: skip
    out.table(["experiment", "profile", "runs", "verdicts"], lines)
    out.document(AllReports(reports))
    return 1 if any(report.cells["failed"] for report in reports) else 0
