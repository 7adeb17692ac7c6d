"""``pucli report``: the table of an experiment from what has been run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.output import Output
from pucli.errors import UsageError, unknown

if TYPE_CHECKING:
    from pucli.runner import Experiment

EXAMPLES = """
pucli report table-3.1
pucli report table-3.1 --profile quick --format md,csv,tex,html
pucli report table-3.3 --method glpual --dataset wifi --json
"""


def command(
    out: Output,
    experiment: opt.ExperimentName,
    formats: Annotated[str, typer.Option("--format", "-f", help="Of md, csv, tex, html, with commas.")] = "md,csv,tex",
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            help="The profile that was run.",
            autocompletion=completion.profiles,
            show_default="the largest that was run",
        ),
    ] = None,
    method: opt.Methods = None,
    dataset: opt.Datasets = None,
    results: opt.Results = Path("results"),
) -> int:
    """Print the table of an experiment as far as it has been run.

    Runs nothing, and may be used while `pucli reproduce` is running. Exit code 1 says that some cell failed.
    """
    from pucli.cli.report_text import print_report, verdict_counts
    from pucli.report import FORMATS, collect
    from pucli.runner import load_experiment

    wanted = [name.strip() for name in formats.split(",") if name.strip()]
    for name in wanted:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS)
    declared = load_experiment(experiment)
    opt.output_folder("--results", results)
    chosen = profile or _largest_profile(declared, results)
    report = collect(declared, profile=chosen, methods=method, datasets=dataset, results_dir=results, formats=wanted)
    out.document({"verdicts": verdict_counts(report), "report": report.to_json()})
    print_report(out, report)
    return 1 if report.counts["failed"] else 0


def _largest_profile(experiment: Experiment, results: Path) -> str:
    """Return the profile of which most cells are stored."""
    from pucli.runner import dry_run, results_folder

    stored = {
        name: (plan := dry_run(experiment, profile=name, results_dir=results)).done + plan.failed
        for name in experiment.profiles
    }
    best = max(stored, key=lambda name: stored[name], default="")
    if not best or not stored[best]:
        raise UsageError(
            f"nothing of {experiment.name} has been run in {results_folder(experiment, results)}; "
            f"`pucli reproduce {experiment.name} --profile quick` runs a small part of it."
        )
    return best
