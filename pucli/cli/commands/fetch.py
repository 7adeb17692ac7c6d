"""``pucli fetch``: download data files into the cache and verify their SHA-256."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pucli.cli import completion
from pucli.cli.options import Mirror
from pucli.cli.output import Output
from pucli.core.errors import RunError

EXAMPLES = """
pucli fetch
pucli fetch wifi seeds
pucli fetch --experiment table-3.3
pucli fetch --all --mirror /media/usb/pucli-data
"""


@dataclass(frozen=True)
class Fetched:
    """A data set in the cache; `files` is empty if a library has it."""

    name: str
    origin: str
    files: list[Path]


@dataclass(frozen=True)
class NotFetched:
    """A data set that could not be fetched, and why."""

    name: str
    message: str


@dataclass(frozen=True)
class Fetch:
    """Data sets in the cache, those that could not be fetched (exit code 1), and, without a name, those not there."""

    fetched: list[Fetched]
    failed: list[NotFetched]
    missing: list[str]


def command(
    out: Output,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Data sets.", autocompletion=completion.datasets)
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option(
            "--experiment", "-e", help="All data sets of an experiment.", autocompletion=completion.experiments
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All declared data sets.")] = False,
    mirror: Mirror = None,
) -> int:
    """Download data sets into the cache and verify them.

    The cache is the folder PUCLI_DATA_DIR. Files already in it are verified, not downloaded again.
    Without a name, nothing is downloaded: the data sets that are there are verified, and the missing ones named.
    """
    names = names or []
    there = not (names or experiment or everything)
    wanted = _wanted(names, experiment, everything or there)
    out.if_interrupted = "Finished downloads are kept; run the same command again for the rest."
    from pucli.data import dataset_entry, fetch

    for name in wanted:  # a wrong name is reported before anything is downloaded
        dataset_entry(name)
    answer, rows = Fetch([], [], []), []
    with out.progress("fetch", short=False) as bar:
        for name in wanted:
            try:
                paths = fetch(
                    name,
                    mirror=mirror,
                    offline=there or None,
                    progress=lambda file, done, total: bar(done, total, file),
                )
            except RunError as error:
                if there:
                    answer.missing.append(name)
                    continue
                answer.failed.append(NotFetched(name, str(error)))
                out.warn(f"{name}: {error}")
                continue
            answer.fetched.append(Fetched(name, dataset_entry(name).origin, paths))
            rows += [[name, str(path)] for path in paths] or [[name, f"({dataset_entry(name).origin}, no file)"]]
    out.document(answer)
    out.table(["name", "file"], rows)
    if answer.missing:
        out.text(f"{len(answer.fetched)} of {len(wanted)} data sets are here; `pucli list datasets` shows the others.")
        out.remark("Next, with a network: pucli fetch --experiment table-3.3")
    if answer.failed:
        out.text(f"{len(answer.failed)} of {len(wanted)} data sets could not be fetched; see the warnings.")
    return 1 if answer.failed else 0


def _wanted(names: list[str], experiment: str | None, everything: bool) -> list[str]:
    wanted = list(names)
    if experiment:
        from pucli.runner import load_experiment

        wanted += load_experiment(experiment, check_methods=False).dataset_names
    if everything:
        from pucli.data import dataset_names

        wanted += dataset_names()
    return list(dict.fromkeys(wanted))
