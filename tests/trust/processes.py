"""Whole commands in separate processes: a small experiment, its stored cells, and the remains of a killed process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pucli.runner.store import read_rows, read_trials

EXPERIMENT = """title: Small
data: {generate: wang-two-gaussians, parameters: {mean_p2: [50, 200]}}
split: {scenario: single-training-set, label_frequencies: [0.25], repeats: 3, seed: 1}
tuning: {folds: 3, score: puf, greedy: {step: 0.1}}
methods:
  glpual: {method: glpual, grid: {lam: [0.1, 1, 10], sigma: [1], c_u: [0.1, 0.3]}}
  gllc/rbf:
    {method: gllc, kernel: rbf, max_rank: 40, grid: {lam: [1, 10], width: [1, 4], sigma: [1], c_u: [0.1]}}
"""
CELLS = 12
# Seconds that a command may take, and seconds after which its processes must have ended.
PATIENCE, LEAVE = 300.0, 10.0


def write_experiment(folder: Path) -> Path:
    file = folder / "small.yaml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    return file


def write_table(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + 2 * truth[:, None]
    rows = [
        f"{a:.5f},{b:.5f},{c:.5f},{int(t and i < 120)}" for i, ((a, b, c), t) in enumerate(zip(X, truth, strict=True))
    ]
    file = folder / "rows.csv"
    file.write_text("\n".join(["a,b,c,y", *rows]) + "\n", encoding="utf-8")
    return file


def started(words: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a command line in a new session."""
    package = str(Path(__file__).resolve().parents[2])
    given = {**os.environ, "PYTHONPATH": package, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    given.pop("PUCLI_DEBUG", None)
    return subprocess.Popen(
        [sys.executable, "-c", _MAIN, *words],
        cwd=folder,
        env={**given, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


# Ctrl-C reaches a command in the foreground, whatever the benchmark itself ignores.
_MAIN = """import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from pucli.__main__ import main
sys.exit(main())"""


def finished(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for a command; return its exit code and stderr."""
    try:
        err = process.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return -9, f"took more than {PATIENCE:.0f} s"
    return process.returncode, err


def stored(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the stored cells of the small experiment with their trials."""
    place = folder / "small"
    found: dict[str, dict[str, Any]] = {}
    for key, row in read_rows(place).items():
        found[key] = {**row, "trials": read_trials(place, key)}
    return found


def results(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return cells without seconds, dates and provenance, which may differ between runs."""
    return {
        key: {name: value for name, value in row.items() if name not in ("seconds", "finished", "provenance")}
        for key, row in rows.items()
    }


def session_members(session: int) -> list[int]:
    """Return the living processes of a session, the first one included."""
    found = []
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            after = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(after[3]) == session and after[0] not in "ZX":
            found.append(int(place.name))
    return found


def is_worker(process: int) -> bool:
    """Return whether a process runs cells, and not only cleans up after such."""
    try:
        return b"popen_loky" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return False


def outlived(session: int) -> int:
    """Return the number of processes of a session that are still alive after a while, and end them."""
    until = time.monotonic() + LEAVE
    while (left := session_members(session)) and time.monotonic() < until:
        time.sleep(0.1)
    for process in left:
        os.kill(process, 9)
    return len(left)
