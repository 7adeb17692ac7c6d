"""``pucli reproduce``: run a declared experiment and print its table beside the published one."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.output import Output, output_folder
from pucli.cli.progress import show_event
from pucli.cli.terminal import duration, many
from pucli.core.errors import RunError, UsageError, shell_word

if TYPE_CHECKING:
    from pucli.report import Status
    from pucli.runner import DryRun, Experiment
    from pucli.runner.run import Unavailable

# Failed cells named for each reason.
NAMED = 3
DEFAULT = Path("results")
EXAMPLES = """
pucli reproduce table-3.1 --profile quick
pucli reproduce table-3.3 --dry-run
pucli reproduce table-3.3 --dataset wifi --dataset seeds --method glpual --n-jobs 2
pucli reproduce table-3.3 --status
pucli reproduce table-3.3 --collect --fail-on worse
pucli reproduce table-3.3 --shard 2/8 --results part2
pucli reproduce table-3.3 --merge part1 --merge part2
pucli reproduce my-table.yaml --results /tmp/results --json
"""


def command(  # noqa: PLR0913
    out: Output,
    experiment: opt.ExperimentName,
    profile: opt.Profile = None,
    method: opt.Methods = None,
    dataset: opt.Datasets = None,
    n_jobs: opt.Jobs = 1,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run and the estimated time, without running it.")
    ] = False,
    backend: Annotated[
        str,
        typer.Option(
            "--backend",
            help="loky (this machine) or dask (the cluster of DASK_SCHEDULER_ADDRESS).",
            envvar="PUCLI_BACKEND",
            autocompletion=completion.completer("loky", "dask"),
        ),
    ] = "loky",
    only_collect: Annotated[
        bool, typer.Option("--collect", help="Run nothing; build the table from the finished runs.")
    ] = False,
    show_status: Annotated[
        bool, typer.Option("--status", help="Run nothing; show the finished, failed and remaining runs.")
    ] = False,
    parts: Annotated[
        list[Path] | None,
        typer.Option(
            "--merge",
            metavar="DIR",
            help="Run nothing; import the finished runs of this --results folder of another machine. Repeatable.",
        ),
    ] = None,
    max_cells: Annotated[int | None, typer.Option("--max-cells", min=1, help="Stop after this number of runs.")] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard", metavar="I/N", help="Run only part I of N, e.g. 2/8, one on each machine; then --merge."
        ),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="VERDICT",
            help="Exit with code 1 if a figure has this verdict, e.g. worse; may be repeated.",
            autocompletion=completion.completer("worse", "degenerate", "not reproduced", "inconclusive", "not judged"),
        ),
    ] = None,
    allow_changes: opt.AllowChanges = False,
    results: opt.Results = DEFAULT,
) -> int:
    """Run an experiment and compare its table with the published one.

    A run is one data set, condition, repeat and method. Each is stored as soon as it is finished and is never done
    again. After Ctrl-C, a crash or a full disk, the same command continues where it stopped. Exit code 1 means that
    some run failed, or that a data set could not be had; the runs of the other data sets are done all the same.
    """
    from pucli.cli.text.report import print_report
    from pucli.report import collect, status
    from pucli.report.cells_csv import read_cells_csv, seconds_of_fits
    from pucli.report.gathering import results_near
    from pucli.report.model import Reproduced
    from pucli.report.tables.verdict import VERDICTS
    from pucli.runner import check_committed, dry_run, load_experiment, results_folder, run
    from pucli.runner.execute import BACKENDS

    opt.choice("backend", backend, BACKENDS)
    for verdict in fail_on or []:
        opt.choice("verdict", verdict, VERDICTS)
    _refuse_together({"--dry-run": dry}, {"--fail-on": fail_on})
    _refuse_together(
        {"--dry-run": dry, "--status": show_status, "--merge": parts, "--collect": only_collect},
        {"--max-cells": max_cells, "--shard": shard},
    )
    declared = load_experiment(experiment)
    which: dict[str, Any] = {"methods": method, "datasets": dataset, "results_dir": results}
    if show_status:
        return _show_status(out, status(declared, profile=profile, **which), experiment, results)
    which["profile"] = profile or "full"
    if dry:
        known = results_near(declared, results)
        committed = read_cells_csv(results_folder(declared, known))
        elsewhere = partial(seconds_of_fits, known)
        _print_dry_run(out, dry_run(declared, n_jobs=n_jobs, earlier=committed, elsewhere=elsewhere, **which))
        return 0
    output_folder("--results", results)
    out.if_interrupted = (
        f"Finished runs are kept in {results_folder(declared, results)}; run the same command again to continue."
    )
    check_committed(results_folder(declared, results), allow_changes=allow_changes)
    finished, imported, summary = 0, None, None
    if parts:
        imported = _merge(out, declared, parts, which["profile"], results)
    elif not only_collect:
        _warn_of_empty_store(out, results_folder(declared, results))
        with out.progress(declared.name, "runs") as bar:
            summary = run(
                declared,
                n_jobs=n_jobs,
                backend=backend,
                max_cells=max_cells,
                shard=_part(shard),
                on_event=lambda event: show_event(bar, event),
                **which,
            )
        finished = summary.total - summary.left
        out.remark(
            f"{many(summary.ran, 'run')} done in {duration(summary.seconds)}, {summary.already_done:,} done before"
            + (f", {summary.failed:,} failed" if summary.failed else "")
        )
    report = collect(declared, **which)
    if report.cells["done"] < finished:
        raise RunError(
            f"{finished} runs are finished, but {report.folder} has {report.cells['done']} of them: something "
            "else changed the folder. Put the store back in its place, or run the same command again."
        )
    out.document(Reproduced(report.verdicts, report, summary, imported))
    print_report(out, report)
    unavailable = [] if summary is None else summary.unavailable
    if unavailable:
        out.warn(_without_data(unavailable))
    wrong = {verdict: report.verdicts[verdict] for verdict in fail_on or [] if verdict in report.verdicts}
    if wrong:
        out.warn("--fail-on: " + ", ".join(f"{many(count, 'figure')} {verdict}" for verdict, count in wrong.items()))
    return 1 if report.cells["failed"] or unavailable or wrong else 0


def _without_data(unavailable: list[Unavailable]) -> str:
    """Name the data sets that could not be had and the way to get them, with the reason of the first."""
    names = " ".join(one.name for one in unavailable)
    return (
        f"{many(len(unavailable), 'data set')} could not be had, and the runs of the others are done: {names}. "
        f"Run `pucli fetch {names}`, or set PUCLI_MIRROR to a folder or an address that has them; then run the same "
        "command again. "
        f"{unavailable[0].name}: {unavailable[0].message}"
    )


def _size(files: list[int | None]) -> str:
    """Return the size of a data set, of which some files may have none declared."""
    known = sum(size or 0 for size in files)
    if not known:
        return "size unknown"
    return f"{'at least ' if None in files else ''}{max(known / 1e6, 0.01):.2f} MB"


def _merge(out: Output, experiment: Experiment, folders: list[Path], profile: str, results: Path) -> int:
    """Import the finished cells of other results folders, and return their number."""
    from pucli.report import collect
    from pucli.runner import merge_stores
    from pucli.runner.run import cells_of_other_profiles

    taken = merge_stores(experiment, folders, profile=profile, results_dir=results)
    named = ", ".join(map(str, folders))
    out.remark(f"{many(taken, 'run')} imported from {named}")
    left_out = cells_of_other_profiles(experiment, folders, profile)
    if left_out and not taken and not collect(experiment, profile=profile, results_dir=results).cells["done"]:
        raise UsageError(
            f"no run of profile {profile} in {named}: {many(left_out, 'finished run')} there of another profile; "
            "give --profile as for the parts."
        )
    if left_out:
        out.warn(
            f"not imported, because of another profile than {profile}: {many(left_out, 'finished run')}; give "
            "--profile as for the parts."
        )
    return taken


def _warn_of_empty_store(out: Output, folder: Path) -> None:
    """Warn if the store has no cell, although cells.csv.gz beside it lists finished ones."""
    from pucli.report.cells_csv import read_cells_csv
    from pucli.runner import read_rows
    from pucli.runner.store_files import STORE

    with contextlib.suppress(UsageError):  # told by the run
        if (folder / STORE).exists() and not read_rows(folder):
            known = sum(row["status"] == "done" for row in read_cells_csv(folder).values())
            if known:
                out.warn(
                    f"{folder / STORE} is empty, but cells.csv.gz beside it lists {known} finished runs, which are "
                    "done again; stop, and put the store back in its place, to keep them."
                )


def _refuse_together(without_run: dict[str, Any], of_a_run: dict[str, Any]) -> None:
    """Refuse options that exclude each other: two that run nothing, or one of these and an option of a run."""
    chosen = [name for name, given in without_run.items() if given]
    chosen += [name for name, given in of_a_run.items() if given] if chosen else []
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} runs nothing, so {chosen[1]} has no effect; leave out one of them.")


def _part(shard: str | None) -> tuple[int, int] | None:
    """Return the two numbers of a shard such as "2/8"."""
    if shard is None:
        return None
    number, slash, parts = shard.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal()):
        raise UsageError(f"--shard {shard}: give two numbers, e.g. --shard 2/8 for the second of eight parts.")
    if not 1 <= int(number) <= int(parts):
        raise UsageError(f"--shard {shard}: the first number must be between 1 and the second.")
    return int(number), int(parts)


def _print_dry_run(out: Output, plan: DryRun) -> None:
    out.document(plan)
    at_least = "at least " if plan.fits_at_least else ""
    jobs = f" with {many(plan.n_jobs, 'job')}" if plan.n_jobs > 0 else ""
    if plan.left == 0:
        time = "none: every run is done"
    elif plan.seconds is None:
        time = "unknown, no similar run is in this results folder"
    else:
        known = "" if plan.seconds_known_for >= plan.left else f", judged by {plan.seconds_known_for:,} of them"
        time = f"about {duration(plan.seconds)}{jobs}, as similar runs took{known}"
    sets = dict.fromkeys(file.dataset for file in plan.downloads)
    sizes = {name: [file.bytes for file in plan.downloads if file.dataset == name] for name in sets}
    files = ", ".join(f"{name} ({_size(found)})" for name, found in sizes.items())
    out.fields(
        [
            ("left", f"{plan.left:,} of {many(plan.total, 'run')}, {at_least}{many(plan.fits, 'fit')}"),
            ("time", time),
            ("downloads", f"{many(len(plan.downloads), 'file')}: {files}" if plan.downloads else None),
            ("profile", plan.profile + "".join(f"; {text}" for text in plan.reductions)),
            ("results", plan.folder),
        ]
    )
    out.text()
    keys = ["dataset", "method", "cells", "done", "failed", "left", "fits", "seconds"]
    shown = [key for key in keys if any(row[key] not in (0, None) for row in plan.rows)]
    rows = [[duration(row[key]) if key == "seconds" and row[key] else row[key] for key in shown] for row in plan.rows]
    out.table([{"dataset": "data set", "cells": "runs", "seconds": "time"}.get(key, key) for key in shown], rows)


def _summary(found: Status) -> str:
    text = f"{found.experiment}, profile {found.profile}: {found.done:,} of {many(found.total, 'run')} done"
    text += f", {found.failed:,} failed" if found.failed else ""
    if found.left:
        text += f", {found.left:,} left"
    if found.left + found.failed and found.seconds_left is not None:
        text += f", about {duration(found.seconds_left)} of one processor"
    return text


def _show_status(out: Output, found: Status, experiment: str, results: Path) -> int:
    """Print which cells are done, failed and left; return the exit code."""
    out.document(found)
    out.text(_summary(found))
    last = f"; the last run finished {found.last.replace('T', ' ').replace('+00:00', ' UTC')}" if found.last else ""
    out.text(f"{duration(found.seconds)} of computing{last}")
    unfinished = [row for row in found.rows if row["left"] or row["failed"]]
    if unfinished:
        out.text()
        keys = ["dataset", "method", "cells", "done", "failed", "left"]
        out.table(["data set", "method", "runs", *keys[3:]], [[row[key] for key in keys] for row in unfinished])
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
    if found.failures:
        again = experiment if results == DEFAULT else f"{experiment} --results {shell_word(results)}"
        out.remark(f"`pucli reproduce {again}` runs them again.")
    return 1 if found.failed else 0
