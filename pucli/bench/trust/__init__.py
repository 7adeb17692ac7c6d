"""Checks of what pucli promises: scikit-learn's checks, hostile files, proofs, kills, faults, and the same bits.

Every line gives the number of cases that were tried and that held; the JSON file names each case that failed.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from pucli.bench._timing import Progress, reporter

COLUMNS = ("what", "tried", "held", "note")
FULL = {"full": True}
# Modules of this package, each with lines(full) -> list of Line.
PARTS: tuple[str, ...] = ("estimator_checks", "hostile", "proofs", "likelihoods", "killed", "faults", "same_bits")


def run(progress: Progress | None = None, full: bool = False, parts: Sequence[str] = PARTS) -> dict[str, Any]:
    """Return the table of `pucli bench trust`; `full` tries many more cases of each kind, `parts` some kinds only."""
    report = reporter(progress)
    rows: list[dict[str, Any]] = []
    for step, part in enumerate(parts):
        module = importlib.import_module(f"pucli.bench.trust.{part}")
        rows += [line.row() for line in module.lines(full)]
        report(step + 1, len(parts))
    tried, held = (sum(row[key] for row in rows) for key in ("tried", "held"))
    rows.append({"name": "all", "tried": tried, "held": held, "note": ""})
    return {
        "title": "Promises, with the number of cases that were tried and that held",
        "columns": COLUMNS,
        "rows": rows,
    }
