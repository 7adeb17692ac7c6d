"""Runs that are killed between their first and last stored cells, many times each, end with the table of a whole run.

KILLS=100 python -m pytest -m nightly tests/trust/test_kills_between_cells.py
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from tests.trust import processes
from tests.trust.killed import send

KILLS = int(os.environ.get("KILLS", "24"))
WAYS = ((signal.SIGKILL, "parent"), (signal.SIGKILL, "worker"), (signal.SIGKILL, "all"), (signal.SIGTERM, "parent"))
PACE = 0.3  # seconds; twelve cells take some tenths of a second each
TABLES = 40_000  # bytes of the log with the tables and the provenance, before the first cell


def last_write(folder: Path) -> int:
    """Return when a cell was last written to the log of the store, 0 if none was; a connection would disturb it."""
    log = folder / "small" / "store.sqlite-wal"
    found = log.stat() if log.exists() else None
    return found.st_mtime_ns if found and found.st_size > TABLES else 0


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_kills_between_cells_leave_the_same_table(tmp_path: Path, n_jobs: int) -> None:
    processes.write_experiment(tmp_path)
    words = ["reproduce", "small.yaml", "--n-jobs", str(n_jobs), "--quiet", "--results"]
    code, err = processes.finished(processes.started([*words, "whole"], tmp_path))
    assert code == 0, err
    whole = processes.results(processes.stored(tmp_path / "whole"))
    assert len(whole) == processes.CELLS
    rng = np.random.default_rng(n_jobs)
    kills = runs = 0
    while kills < KILLS:
        folder = tmp_path / f"run-{runs}"
        runs += 1
        done: dict[str, object] = {}
        while len(done) < processes.CELLS:
            begun = last_write(folder)
            process = processes.started([*words, folder.name], tmp_path)
            while process.poll() is None and last_write(folder) <= begun:
                time.sleep(0.01)
            # the first cell of this start is stored
            time.sleep(float(rng.uniform(0.0, PACE)))
            if process.poll() is None:
                send(process.pid, *WAYS[kills % len(WAYS)])
                kills += 1
            _, err = processes.finished(process)
            assert "Traceback" not in err
            assert not processes.outlived(process.pid)
            before, done = done, processes.stored(folder)
            assert all(done[key] == row for key, row in before.items())  # none is run again
        code, err = processes.finished(processes.started([*words, folder.name], tmp_path))
        assert code == 0, err
        assert processes.results(processes.stored(folder)) == whole
        tables = [(tmp_path / name / "small" / "table.csv").read_bytes() for name in ("whole", folder.name)]
        assert tables[0] == tables[1]
    assert kills >= KILLS
