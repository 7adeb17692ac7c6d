"""``pucli status``: show the finished, failed and remaining cells of an experiment."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer

from pucli.cli import options as opt
from pucli.cli.output import Output
from pucli.cli.terminal import duration, many
from pucli.core.errors import shell_word

if TYPE_CHECKING:
    from pucli.report import Status

EXAMPLES = """
pucli status table-3.3
pucli status table-3.3 --dataset wifi --json
pucli status my-table.yaml --profile quick --watch 10
"""
# maximum number of cells named for each reason of failure
NAMED = 3
DEFAULT = Path("results")


def command(
    out: Output,
    experiment: opt.ExperimentName,
    profile: opt.RunProfile = None,
    method: opt.Methods = None,
    dataset: opt.Datasets = None,
    catalogue: opt.Catalogue = None,
    watch: Annotated[
        float | None,
        typer.Option("--watch", metavar="SECONDS", min=1, help="Repeat at this interval until all cells are done."),
    ] = None,
    results: opt.Results = DEFAULT,
) -> int:
    """Show the finished, failed and remaining cells of an experiment.

    No cell is run, so the command can be used while `pucli reproduce` is running. Exit code 1 means that some cell
    failed.
    """
    from pucli.report import status
    from pucli.runner import load_experiment

    declared = load_experiment(experiment, datasets=catalogue)
    out.if_interrupted = "Nothing was changed."
    while True:
        found = status(declared, profile=profile, methods=method, datasets=dataset, results_dir=results)
        if watch is None or found.left + found.failed == 0:
            break
        out.remark(_summary(found))
        sleep(watch)
    out.document(found.to_json())
    _print(out, found)
    if found.failures:
        again = experiment if results == DEFAULT else f"{experiment} --results {shell_word(results)}"
        out.remark(f"`pucli reproduce {again} --only-failed` runs them again.")
    return 1 if found.failed else 0


def _summary(found: Status) -> str:
    text = f"{found.experiment}, profile {found.profile}: {found.done:,} of {many(found.total, 'cell')} done"
    text += f", {found.failed:,} failed" if found.failed else ""
    if found.left:
        text += f", {found.left:,} left"
    if found.left + found.failed and found.seconds_left is not None:
        text += f", about {duration(found.seconds_left)} of one processor"
    return text


def _print(out: Output, found: Status) -> None:
    out.text(_summary(found))
    last = f"; the last cell finished {found.last.replace('T', ' ').replace('+00:00', ' UTC')}" if found.last else ""
    out.text(f"{duration(found.seconds)} of computing{last}")
    unfinished = [row for row in found.rows if row["left"] or row["failed"]]
    if unfinished:
        out.text()
        keys = ["dataset", "method", "cells", "done", "failed", "left"]
        out.table(["data set", *keys[1:]], [[row[key] for key in keys] for row in unfinished])
    for failure in found.failures:
        out.text()
        out.text(f"{len(failure.cells):,} failed: {failure.reason}")
        for cell in failure.cells[:NAMED]:
            out.text(f"  {cell}")
        if len(failure.cells) > NAMED:
            out.text(f"  and {len(failure.cells) - NAMED:,} more (--json has all)")
    if found.flags:
        from pucli.report.tables.summary import flags_in_words

        out.text()
        out.text(f"flagged: {flags_in_words(found.flags, advice=True)}")
