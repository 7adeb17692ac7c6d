"""Seconds and peak memory of the commands by the number of rows, compared with the alternatives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.common.timing import Progress, silent

FULL = {"sizes": (1000, 10_000, 100_000, 1_000_000, 10_000_000), "most_seconds": 600.0}
# Columns of the rows; a third of them are positive, and a fifth of those labeled.
FEATURES, POSITIVE, LABELED = 20, 0.3, 0.2
# Until two sizes are known, the time is assumed to grow like this power of the rows.
FIRST_EXPONENT = 1.0
# Processor seconds of the start of a process, about.
START = 2.0
ABOUT = (
    "The figures below a number of rows are processor seconds: of all threads, with the start of the process and the "
    "reading of the file. The exponent is the power of the rows with which they grow between the two largest sizes: 1 "
    "is in proportion, 2 with the square; near 0, the start of the process prevails. Peak MB and wall s belong to the "
    "largest size that was run: the most memory that the process held, and the time that passed, which is longer than "
    "the processor seconds if other programs ran beside it. Three tenths of the rows are positive, and a fifth of "
    "those labeled. Each command starts with an empty cache, and so finds the neighbors of its rows itself."
)
TRAIN = "train --data {data} --label label --positive 1 --method"
TUNE = "tune --data {data} --label label --positive 1 --method"
COMMANDS = {
    "auto": "auto --data {data} --label label --positive 1",
    "train blssvm": f"{TRAIN} blssvm",
    "train glpual": f"{TRAIN} glpual",
    "train e-glpual": f"{TRAIN} e-glpual",
    "train usmo, linear": f"{TRAIN} usmo --param kernel=linear --param prior=0.25",
    "train svc-naive, linear": f"{TRAIN} svc-naive --param kernel=linear",
    "train svc-naive, rbf": f"{TRAIN} svc-naive",
    "train nnpu": f"{TRAIN} nnpu --param prior=0.25",
    "train blssvm, rbf": f"{TRAIN} blssvm --param kernel=rbf",
    "train glpual, rbf": f"{TRAIN} glpual --param kernel=rbf",
    "tune blssvm": f"{TUNE} blssvm",
    "tune glpual": f"{TUNE} glpual",
    "tune blssvm, rbf": f"{TUNE} blssvm --param kernel=rbf",
    "prior": "prior --data {data} --label label --positive 1",
    "predict, linear": "predict --model {model} --data {data} --out {out}",
}
PEERS = {
    "LinearSVC": "from sklearn.svm import LinearSVC as Peer; model = Peer()",
    "HistGradientBoosting": "from sklearn.ensemble import HistGradientBoostingClassifier as Peer; model = Peer()",
}
_PEER = """
import pandas as pd
{peer}
frame = pd.read_parquet({data!r})
X = frame.drop(columns="label").to_numpy()
model.fit((X - X.mean(axis=0)) / X.std(axis=0), frame["label"])
"""


class Cost(NamedTuple):
    """Processor seconds, wall-clock seconds and peak memory in MB of a process that ended well."""

    cpu: float
    wall: float
    peak: float


def run(
    progress: Progress = silent,
    *,
    sizes: Sequence[int] = (10_000, 100_000, 1_000_000),
    most_seconds: float = 40.0,
    only: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the table of benchmark `scale`; after Ctrl-C, of the finished parts.

    What would take longer than `most_seconds`, by its time at the sizes before, is not run; what does is stopped.
    """
    names = [name for name in (*COMMANDS, *PEERS) if only is None or name in only]
    costs: dict[str, dict[int, Cost]] = {name: {} for name in names}
    notes: dict[str, str] = {}
    steps = [(size, name) for size in sizes for name in names]
    with tempfile.TemporaryDirectory() as folder, suppress(KeyboardInterrupt):
        for step, (size, name) in enumerate(steps):
            data, model = Path(folder) / f"{size}.parquet", Path(folder) / f"{size}.model"
            if not data.exists():
                make_rows(size, data)
            if name not in notes and (expected := _expected(costs[name], size)) > most_seconds:
                notes[name] = f"not run at {size:.0e} rows: about {expected:.0f} s"
            if name not in notes:
                found = measured(_arguments(name, data, model, Path(folder) / "out.parquet"), most_seconds)
                if isinstance(found, Cost):
                    costs[name][size] = found
                else:
                    notes[name] = f"{size:.0e} rows: {found}"
            progress(step + 1, len(steps))
    shown = [f"{size:.0e}" for size in sizes]
    rows = [_row(name, costs[name], sizes, notes.get(name, "")) for name in names]
    return {
        "title": f"Processor seconds by rows of {FEATURES} columns, from Parquet, each command a process of its own",
        "about": f"{ABOUT} A process may take {most_seconds:g} processor seconds.",
        "columns": ("what", *shown, "exponent", "peak MB", "wall s", "note"),
        "load_at_the_end": os.getloadavg()[0],
        "rows": rows,
    }


def make_rows(n: int, path: Path, seed: int | None = None, columns: int = FEATURES) -> None:
    """Write n rows of two overlapping classes with labels of some positives; the seed is n by default."""
    rng = np.random.default_rng(n if seed is None else seed)
    positive = rng.random(n) < POSITIVE
    X = rng.normal(size=(n, columns))
    X[:, :4] += np.where(positive, 0.9, -0.4)[:, None]
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(columns)])
    frame.assign(label=(positive & (rng.random(n) < LABELED)).astype(int)).to_parquet(path)


def _arguments(name: str, data: Path, model: Path, out: Path) -> list[str]:
    """Return the words after `python` of one command; the model to predict with is trained first."""
    if name in PEERS:
        return ["-c", _PEER.format(peer=PEERS[name], data=str(data))]
    if "{model}" in COMMANDS[name] and not model.exists():
        measured(["-m", "pucli", *f"{TRAIN} blssvm --model {model}".format(data=data).split()])
    return ["-m", "pucli", *COMMANDS[name].format(data=data, model=model, out=out).split()]


def measured(arguments: Sequence[str], most_seconds: float = 3600.0) -> Cost | str:
    """Run a process; return its cost, or the last line that it wrote if it failed, or that it took too long."""
    import resource

    def limited() -> None:
        seconds = int(np.ceil(most_seconds))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    started = time.perf_counter()
    with tempfile.TemporaryFile() as stderr, tempfile.TemporaryDirectory() as cache:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**quiet, "XDG_CACHE_HOME": cache},
            preexec_fn=limited,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and usage.ru_utime + usage.ru_stime > most_seconds:
            return f"stopped after {most_seconds:g} s"
        if process.returncode != 0:
            stderr.seek(0)
            lines = stderr.read().decode(errors="replace").strip().splitlines() or [f"exit code {process.returncode}"]
            return lines[-1]
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1000.0)


def _expected(known: dict[int, Cost], size: int) -> float:
    """Return the predicted seconds for `size` rows from the smaller sizes, 0 if none is known."""
    if not known:
        return 0.0
    last, power = max(known), _exponent(known)
    growth = (size / last) ** (FIRST_EXPONENT if np.isnan(power) else power)
    seconds: float = known[last].cpu * growth
    if np.isnan(power):  # the start of a process does not grow
        seconds -= min(START, known[last].cpu) * (growth - 1.0)
    return seconds


def _exponent(known: dict[int, Cost]) -> float:
    """Return the power of the rows between the two largest sizes, NaN with fewer."""
    if len(known) < 2:
        return np.nan
    before, last = sorted(known)[-2:]
    return float(np.log(known[last].cpu / known[before].cpu) / np.log(last / before))


def _row(name: str, known: dict[int, Cost], sizes: Sequence[int], note: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, **{f"{n:.0e}": known[n].cpu if n in known else None for n in sizes}}
    if known:
        last = known[max(known)]
        power = _exponent(known)
        row |= {"exponent": None if np.isnan(power) else power, "peak MB": last.peak, "wall s": last.wall}
    every = {str(size): cost._asdict() for size, cost in known.items()}
    return {**row, "note": note, "costs": every}
