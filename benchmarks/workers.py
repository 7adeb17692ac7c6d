"""How much faster `pucli auto` is with two workers than with one, on the same rows, as commands of their own.

The time is that which passes, with the start of the process and the reading of the file; the ratio is that of one
worker over that of two. Other programs that run at the same time make it smaller.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.timing import Progress, row, silent
from benchmarks.scale import FEATURES, Cost, make_rows, measured

FULL = {"sizes": (10_000, 100_000, 1_000_000)}
WORKERS = (1, 2)
# Nearly twice as fast.
TARGET = 1.8


def run(progress: Progress = silent, *, sizes: Sequence[int] = (10_000,)) -> dict[str, Any]:
    """Return the table of benchmark `workers` for these numbers of rows."""
    rows: list[dict[str, Any]] = []
    steps = len(sizes) * len(WORKERS)
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            data = Path(folder) / f"{size}.parquet"
            make_rows(size, data)
            costs = []
            for workers in WORKERS:
                command = f"-m pucli auto --data {data} --label label --positive 1 --n-jobs {workers}"
                costs.append(measured(command.split()))
                progress(len(rows) * len(WORKERS) + len(costs), steps)
            rows.append(_row(size, *costs))
    return {
        "title": f"auto with one and with two workers, {FEATURES} columns",
        "load_at_the_end": os.getloadavg()[0],
        "rows": rows,
    }


def _row(size: int, one: Cost | str, two: Cost | str) -> dict[str, Any]:
    name = f"auto, {size:,} rows: one worker / two"
    failed = [found for found in (one, two) if isinstance(found, str)]
    if failed or isinstance(one, str) or isinstance(two, str):
        return row(name, note="; ".join(failed))
    one_by, two_by = (f"{cost.wall:.1f} s ({cost.cpu:.1f} s of processors, {cost.peak:.0f} MB)" for cost in (one, two))
    return row(name, two.wall, TARGET, f"one {one_by}, two {two_by}", ratio=one.wall / two.wall)
