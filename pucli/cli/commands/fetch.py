"""``pucli fetch``: download data files into the cache and verify their SHA-256."""

from __future__ import annotations

from typing import Annotated

import typer

from pucli.cli import completion
from pucli.cli.options import Mirror, Offline
from pucli.cli.output import Output
from pucli.core.errors import RunError

EXAMPLES = """
pucli fetch
pucli fetch wifi seeds
pucli fetch --experiment table-3.3
pucli fetch --all --mirror /media/usb/pucli-data --offline
"""


def command(
    out: Output,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Data sets.", autocompletion=completion.datasets)
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option("--dataset", "-d", help="Data set; repeatable.", autocompletion=completion.datasets),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option(
            "--experiment", "-e", help="All data sets of an experiment.", autocompletion=completion.experiments
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All declared data sets.")] = False,
    mirror: Mirror = None,
    offline: Offline = False,
) -> int:
    """Download data sets into the cache and verify them.

    The cache is the folder PUCLI_DATA_DIR. Files already in it are verified, not downloaded again.
    Without a name, nothing is downloaded: the data sets that are there are verified, and the missing ones named.
    """
    names = [*(names or ()), *(datasets or ())]
    there = not (names or experiment or everything)
    wanted = _wanted(names, experiment, everything or there)
    out.if_interrupted = "Finished downloads are kept; run the same command again for the rest."
    from pucli.data import dataset_entry, fetch

    for name in wanted:  # a wrong name is reported before anything is downloaded
        dataset_entry(name)
    fetched, failed, missing, rows = [], [], [], []
    with out.progress("fetch", short=False) as bar:
        for name in wanted:
            try:
                paths = fetch(
                    name,
                    mirror=mirror,
                    offline=offline or there or None,
                    progress=lambda file, done, total: bar(done, total, file),
                )
            except RunError as error:
                if there:
                    missing.append(name)
                    continue
                failed.append({"name": name, "message": str(error)})
                out.warn(f"{name}: {error}")
                continue
            fetched.append({"name": name, "origin": dataset_entry(name).origin, "files": paths})
            rows += [[name, str(path)] for path in paths] or [[name, f"({dataset_entry(name).origin}, no file)"]]
    out.document({"fetched": fetched, "failed": failed, "missing": missing})
    out.table(["name", "file"], rows)
    if missing:
        out.text(f"{len(fetched)} of {len(wanted)} data sets are here; `pucli list datasets` shows the others.")
        out.remark("Next, with a network: pucli fetch --experiment table-3.3")
    if failed:
        out.text(f"{len(failed)} of {len(wanted)} data sets could not be fetched; see the warnings.")
    return 1 if failed else 0


def _wanted(names: list[str], experiment: str | None, everything: bool) -> list[str]:
    wanted = list(names)
    if experiment:
        from pucli.runner import load_experiment

        wanted += load_experiment(experiment, check_methods=False).dataset_names
    if everything:
        from pucli.data import dataset_names

        wanted += dataset_names()
    return list(dict.fromkeys(wanted))
