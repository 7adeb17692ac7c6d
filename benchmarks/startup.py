"""Time of short commands: `pucli --help`, and `pucli train` from a warm cache."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common.timing import Progress, best_of, reporter


def run(progress: Progress | None = None) -> dict[str, Any]:
    """Return the table of benchmark `startup`; the data set wifi must be at hand (`pucli fetch wifi`)."""
    report = reporter(progress)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model.skops")
        commands = [
            ("pucli --help", ["--help"], "under 0.15 s"),
            ("pucli train --method glpual --dataset wifi", _train(model), "under 3 s"),
            ("python -c pass", None, None),
        ]
        for step, (name, arguments, target) in enumerate(commands):
            tail = ["-c", "pass"] if arguments is None else ["-m", "pucli", *arguments]
            call = partial(subprocess.run, [sys.executable, *tail], check=True, capture_output=True)
            seconds = best_of(call, 5)
            rows.append({"name": name, "seconds": seconds, **({"target": target} if target else {})})
            report(step + 1, len(commands))
    return {"title": "Commands from start to end, warm caches, best of five", "rows": rows}


def _train(model: str) -> list[str]:
    return ["train", "--method", "glpual", "--dataset", "wifi", "--model", model]
