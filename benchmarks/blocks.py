"""Training on blocks of rows that the workers make and keep: one worker, two, and two of which one is killed.

`pucli train --method blssvm --backend dask` on a cluster of this machine. The objective must be the same to the last
digit, and a killed worker costs the blocks that it was at.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common.timing import Progress, silent
from benchmarks.scale import FEATURES, make_rows

FULL = {"rows": 10_000_000}
BLOCK = 125_000
# Name, number of workers, and whether one of them is killed after half of the time of the first case.
CASES = (("two workers", 2, False), ("one worker", 1, False), ("two workers, one killed", 2, True))


def run(progress: Progress = silent, *, rows: int = 1_000_000) -> dict[str, Any]:
    """Return the table of benchmark `blocks`; the rows are made on the workers in files of `BLOCK` rows."""
    lines: list[dict[str, Any]] = []
    numbers = range(rows // BLOCK)
    with tempfile.TemporaryDirectory() as folder:
        for case, (name, workers, killed) in enumerate(CASES):
            after = 0.5 * lines[0]["seconds"] if killed else None
            line = _trained(Path(folder), numbers, workers, after)
            lines.append({"name": name, **line})
            progress(case + 1, len(CASES))
    for line in lines[1:]:
        line["ratio"] = line["seconds"] / lines[0]["seconds"]
    return {
        "title": f"BLS-SVM on {rows:,} rows of {FEATURES} columns in {len(numbers)} blocks made on the workers",
        "about": "Ratio: to the seconds of two workers. MB: the most memory that the client held.",
        "columns": ("what", "seconds", "ratio", "objective", "MB", "note"),
        "load_at_the_end": os.getloadavg()[0],
        "rows": lines,
    }


def _trained(folder: Path, numbers: Sequence[int], workers: int, kill_after: float | None) -> dict[str, Any]:
    """Train on the blocks, which are made first where they are not there; kill a worker after so many seconds."""
    import resource

    from distributed import Client, LocalCluster

    from pucli.distributed.blocks import ColumnNames, find_blocks
    from pucli.distributed.dask_runner import DaskRunner
    from pucli.distributed.training import train_on_blocks

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        runner = DaskRunner(client)
        runner.each(partial(make_block, folder=str(folder)), list(numbers))
        blocks = find_blocks(str(folder / "*.parquet"))
        columns = ColumnNames(tuple(f"x{k}" for k in range(FEATURES)), "label", "1")
        killer = threading.Timer(kill_after or 0.0, _kill, [cluster])
        started = time.perf_counter()
        if kill_after is not None:
            killer.start()
        fitted = train_on_blocks(runner, blocks, columns, {})
        seconds = time.perf_counter() - started
        killer.cancel()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000.0
    note = "" if kill_after is None else f"killed after {kill_after:.0f} s"
    return {"seconds": seconds, "objective": repr(fitted.estimator.objective_), "MB": peak, "note": note}


def make_block(number: int, folder: str) -> None:
    """Write the rows of one block, unless they are there."""
    path = Path(folder) / f"part{number:05d}.parquet"
    if not path.exists():
        make_rows(BLOCK, path.with_suffix(".partial"), seed=number)
        path.with_suffix(".partial").replace(path)


def _kill(cluster: Any) -> None:
    """End one worker as a machine that fails does."""
    with suppress(ProcessLookupError):
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
