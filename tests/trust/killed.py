"""Runs that are killed at a random instant and started again, and outputs that are killed while they are written."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.trust import processes
from tests.trust.hostile_archives import toy_catalogue
from tests.trust.lines import Line

SEED = 22
NAMES = (
    "experiments killed and resumed: the same table, nothing run twice, no process or lock left",
    "Ctrl-C while workers start: one line, exit code 130, no process left",
    "outputs of train, report, auto and fetch, killed: the old file or the new one",
)
# Number of runs, of starts and of outputs, by default and with --full.
RUNS, STARTS, OUTPUTS = (6, 100), (3, 60), (8, 100)
# Seconds after the first process of a command in which its workers start.
STARTING = 0.8
# The killed process, and the signal.
WAYS = (
    ("SIGKILL of the parent", signal.SIGKILL, "parent"),
    ("SIGKILL of a worker", signal.SIGKILL, "worker"),
    ("SIGKILL of all", signal.SIGKILL, "all"),
    ("SIGTERM", signal.SIGTERM, "parent"),
    ("Ctrl-C", signal.SIGINT, "all"),
    ("closed terminal", signal.SIGHUP, "all"),
)


def lines(full: bool, words: str = "") -> Iterator[Line]:
    """Yield the lines with `words` in their name in turn, each after every case."""
    kinds = ((_experiments, RUNS[full]), (_starting, STARTS[full]), (_outputs, OUTPUTS[full]))
    with tempfile.TemporaryDirectory() as folder:
        left = []
        for number, (kind, count) in enumerate(kinds):
            if words not in NAMES[number]:
                continue
            place = Path(folder) / str(number)
            place.mkdir()
            left.append(kind(np.random.default_rng([SEED, number]), place, count))
        while left:
            for cases in tuple(left):
                line = next(cases, None)
                if line is None:
                    left.remove(cases)
                else:
                    yield line


def _experiments(rng: np.random.Generator, root: Path, count: int) -> Iterator[Line]:
    line = Line(NAMES[0])
    processes.write_experiment(root)
    words = ["reproduce", "small.yaml", "--n-jobs", "2", "--quiet", "--results"]
    begun = time.monotonic()
    code, err = processes.finished(processes.started([*words, "whole"], root))
    seconds = time.monotonic() - begun
    whole = processes.results(processes.stored(root / "whole"))
    if code != 0 or len(whole) != processes.CELLS:
        line.count("the whole run", f"exit code {code}: {err[-200:]}")
        yield line
        return
    cut = 0
    for number in range(count):
        what, kind, target = WAYS[number % len(WAYS)]
        again = [*words, f"run-{number}"]
        killed = _killed(again, root, seconds * float(rng.uniform(0.1, 1.0)), kind, target)
        before = processes.stored(root / f"run-{number}")
        cut += len(before) < processes.CELLS
        line.count(
            f"{number} {what}, {len(before)} cells stored", killed or _resumed(again, root, number, before, whole)
        )
        line.note = f"{cut} were cut short, the others had ended"
        yield line


def _killed(
    words: Sequence[str],
    root: Path,
    after: float,
    kind: int,
    target: str,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Kill a command after some seconds; return what is wrong with its end, "" if nothing."""
    process = processes.started(words, root, environment)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        send(process.pid, kind, target)
    code, err = processes.finished(process)
    left = processes.outlived(process.pid)
    if left:
        return f"{left} processes outlived the command"
    if "Traceback" in err:
        return f"a traceback: {err[-200:]}"
    if kind == signal.SIGINT and code not in (0, 130):
        return f"exit code {code}: {err[-200:]}"
    return ""


def _starting(rng: np.random.Generator, root: Path, count: int) -> Iterator[Line]:
    """Press Ctrl-C while worker processes start."""
    line = Line(NAMES[1])
    processes.write_table(root)
    processes.write_experiment(root)
    commands = (
        ["reproduce", "small.yaml", "--quiet", "--results", "started"],
        ["compare", "gllc", "blssvm", "--dataset", "wine", "--repeats", "40"],
        ["tune", "--method", "glpual", "--data", "rows.csv", "--label", "y", "--unlabeled", "0", "--quiet"],
    )
    for number in range(count):
        words = commands[number % len(commands)]
        process = processes.started([*words, "--n-jobs", "2"], root)
        while len(processes.session_members(process.pid)) < 2 and process.poll() is None:
            time.sleep(0.005)
        time.sleep(float(rng.uniform(0.0, STARTING)))
        send(process.pid, signal.SIGINT, "all")
        code, err = processes.finished(process)
        left = processes.outlived(process.pid)
        good = code == 130 and not left and err.startswith("pucli: ") and len(err.strip().splitlines()) == 1
        line.count(f"{number} {words[0]}", "" if good else f"exit code {code}, {left} left: {err[-300:]}")
        yield line


def send(session: int, kind: int, target: str) -> None:
    members = processes.session_members(session)
    workers = [member for member in members if processes.is_worker(member)]
    chosen = [session] if target == "parent" else workers[:1] if target == "worker" else members
    for process in chosen or [session]:
        try:
            os.kill(process, kind)
        except ProcessLookupError:  # it has just ended
            continue


def _resumed(
    words: Sequence[str],
    root: Path,
    number: int,
    before: dict[str, dict[str, object]],
    whole: dict[str, dict[str, object]],
) -> str:
    """Resume a killed experiment; return what is wrong with its result, "" if nothing."""
    code, err = processes.finished(processes.started(words, root))
    if code != 0:
        return f"resumed with exit code {code}: {err[-200:]}"
    after = processes.stored(root / f"run-{number}")
    if processes.results(after) != whole:
        return "another table"
    done = {key: row for key, row in before.items() if row["status"] == "done"}
    if any(after[key] != row for key, row in done.items()):
        return "a stored cell was run again"
    return ""


class _Output(NamedTuple):
    """A command, the files it writes, and the range of its time in which it is killed."""

    words: Sequence[str]
    files: Sequence[Path]
    shares: tuple[float, float] = (0.5, 1.0)


def _outputs(rng: np.random.Generator, root: Path, count: int) -> Iterator[Line]:
    """Kill `train`, `report`, `auto` and `fetch` while they replace files: each must be the old one or the new one."""
    line = Line(NAMES[2])
    outputs = _written(root)
    if isinstance(outputs, str):
        line.count("the files", outputs)
        yield line
        return
    seconds: dict[int, float] = {}
    for number in range(count):
        which = number % len(outputs)
        words, files, shares = outputs[which]
        if which not in seconds:
            begun = time.monotonic()
            code, err = processes.finished(processes.started(words, root, _CACHE))
            seconds[which] = time.monotonic() - begun
            if code != 0:
                line.count(f"{number} {words[0]}", f"exit code {code}: {err[-200:]}")
                continue
        new = {file: file.read_bytes() for file in files}
        for file in files:
            file.write_bytes(b"old")
        _, kind, target = WAYS[(number // len(outputs)) % len(WAYS)]
        problem = _killed(words, root, seconds[which] * float(rng.uniform(*shares)), kind, target, _CACHE)
        for file in files:
            if not problem and not (file.exists() and _whole(file, new[file])):
                problem = f"{file.name} is neither the old file nor the new one"
            file.write_bytes(new[file])  # as it was before the next kill
        line.count(f"{number} {words[0]} {kind}", problem)
        yield line


_CACHE = {"PUCLI_DATA_DIR": "cache", "PUCLI_DATASETS": "toy.yaml"}
# Rows of the file that `fetch` copies, enough for some tenths of a second.
_ROWS = 4_000_000


def _written(root: Path) -> list[_Output] | str:
    """Return the commands with the files they write, or what went wrong while these were made."""
    processes.write_table(root)
    processes.write_experiment(root)
    data = b"a,b,kind\n" + b"1,2,yes\n3,4,no\n" * _ROWS
    (root / "mirror").mkdir()
    (root / "mirror" / "toy.csv").write_bytes(data)
    (root / "toy.yaml").write_text(toy_catalogue(data))
    for words in (["reproduce", "small.yaml", "--quiet", "--results", "whole"], _FETCH):
        code, err = processes.finished(processes.started(words, root, _CACHE))
        if code != 0:
            return f"{words[0]}: exit code {code}: {err[-200:]}"
    cached = [file for file in (root / "cache").rglob("*") if file.is_file() and file.stat().st_size == len(data)]
    table = ["--data", "rows.csv", "--label", "y", "--quiet"]
    return [
        _Output(["train", "--method", "blssvm", *table, "--model", "m.model"], [root / "m.model"]),
        # the pages that `report` writes and does not read
        _Output(["report", "small.yaml", "--results", "whole", "--quiet"], sorted(root.glob("whole/small/*.md"))),
        _Output(_AUTO + table, [root / name for name in ("a.model", "a.html", "a.csv")], (0.3, 1.0)),
        _Output(_FETCH, cached, (0.3, 1.0)),
    ]


_FETCH = ["fetch", "toy", "--mirror", "mirror"]
_AUTO = ["auto", "--model", "a.model", "--report", "a.html", "--scored", "a.csv"]


def _whole(file: Path, new: bytes) -> bool:
    """Return whether a file is the old one, or the new one up to the seconds stored in a model."""
    content = file.read_bytes()
    if content in (b"old", new):
        return True
    if file.suffix == ".model":
        from pucli.core.errors import PucliError
        from pucli.models.saved import load_model

        try:
            load_model(file)
        except PucliError:
            return False
        return True
    return len(content.splitlines()) == len(new.splitlines())
