"""What known negatives give methods that take them in their own objective: F1 with 50 of them used and ignored.

Tasks, splits and known negatives are those of benchmark `negatives`. Features are standardised; parameters are the
defaults, and cpb-glpual and nnpu get the true share of positives. "ignored" takes known negatives for unlabeled rows.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.quality_tasks import Rows, case_control, each_task, f1, of_tasks, times
from benchmarks.common.timing import Progress, silent
from benchmarks.negatives import FREQUENCY, KINDS, KNOWN, known_rows
from pucli.core.seeding import stream
from pucli.methods import METHODS as ALL
from pucli.methods import constructor_defaults, estimator_class

# Tasks of images or of hundreds of features, which take long to read or to fit.
LARGE = ("mnist-odd", "mnist-38", "isolet", "clean1")
METHODS = ("glpual", "gllc", "bsvm", "blssvm", "e-glpual", "nnpu")  # cpb-glpual takes minutes where many rows are equal
COLUMNS = ("method", "negatives", "F1 ignored", "F1 used", "difference", "worst task", "better / worse")


def run(
    progress: Progress = silent,
    *,
    half: str = "look-once",
    methods: tuple[str, ...] = METHODS,
    repeats: int = 2,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return the table."""
    cells = [
        cell
        for task, rows in each_task(half, folder, progress, left_out=LARGE)
        for repeat in range(repeats)
        for cell in _cells(task, rows, repeat, methods)
    ]
    table = [_line(method, kind, cells) for method in methods for kind in KINDS]
    title = f"{KNOWN} known negatives used and ignored, {of_tasks(cells, half)}, {times(repeats)}"
    return {"title": title, "columns": list(COLUMNS), "rows": table, "cells": cells}


def _cells(task: str, rows: Rows, repeat: int, methods: tuple[str, ...]) -> list[dict[str, Any]]:
    raw = case_control(task, rows, FREQUENCY, repeat, seed=0)
    X, truth, s, X_test, y_test = raw.standardised()
    found = []
    for kind in KINDS:
        y = s.astype(int)
        y[known_rows(raw.X, truth, y == 1, kind, stream(0, "negatives", task, repeat, kind))] = -1
        for method in methods:
            scores = []
            for labels in (np.maximum(y, 0), y):
                defaults = constructor_defaults(ALL[method])
                given = {"prior": float(truth[labels == 0].mean())} if "prior" in defaults else {}
                given |= {"random_state": repeat} if "random_state" in defaults else {}
                model = estimator_class(ALL[method])(neg_label=-1, **given)
                with warnings.catch_warnings(action="ignore"):
                    called = model.fit(X, labels).decision_function(X_test) > 0
                scores.append(f1(y_test, called))
            found.append({"method": method, "negatives": kind, "task": task, "ignored": scores[0], "used": scores[1]})
    return found


def _line(method: str, kind: str, cells: list[dict[str, Any]]) -> dict[str, Any]:
    mine = [cell for cell in cells if (cell["method"], cell["negatives"]) == (method, kind)]
    ignored, used = (np.array([cell[how] for cell in mine]) for how in ("ignored", "used"))
    gain = used - ignored
    worst = int(np.argmin(gain))
    values = (
        method,
        kind,
        f"{ignored.mean():.3f}",
        f"{used.mean():.3f}",
        f"{gain.mean():+.3f}",
        f"{gain[worst]:+.3f} ({mine[worst]['task']})",
        f"{int((gain > 0).sum())} / {int((gain < 0).sum())}",
    )
    return dict(zip(COLUMNS, values, strict=True))
