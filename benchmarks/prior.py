"""How exact the estimators of `pucli prior` are on the tasks of benchmark `quality`, labeled case-control.

"error" is the mean absolute one, "bias" the mean one, "kept" the share of the cells whose 90 % interval holds the
truth, and "width" its mean width; "auto, recommended" counts the cells alone in which `pucli prior` recommends the
value. An interval is made of 10 bootstrap samples, or of 40 of the scores. The first estimator is that of `pucli prior`
and of the methods whose prior is not given; it was chosen on the design half.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.quality_tasks import Rows, case_control, each_task, half_of, of_tasks, times
from benchmarks.common.timing import Progress, silent
from pucli.solvers.ensemble.class_prior import ALL_METHODS, ENSEMBLE_METHODS, estimate_priors
from pucli.solvers.prior.estimate import PriorEstimate, make_report

FREQUENCIES = (0.25, 0.5)
COLUMNS = ("tasks", "labeled", "estimator", "error", "bias", "kept", "width", "cells", "seconds")
FULL = {"repeats": 5}
REPLICATES, CONFIDENCE = 10, 0.9
RECOMMENDED = "auto, recommended"


def run(
    progress: Progress = silent, *, half: str = "all", repeats: int = 1, folder: Path | None = None
) -> dict[str, Any]:
    """Return the table of benchmark `prior`; the files are those of benchmark `quality`."""
    cells = [
        {"task": task, "tasks": half_of(task), "labeled": frequency, "repeat": repeat, **cell}
        for task, rows in each_task(half, folder, progress)
        for frequency, repeat in product(FREQUENCIES, range(repeats))
        for cell in _cells(task, rows, frequency, repeat)
    ]
    title = f"{of_tasks(cells, half)}, {times(repeats)}"
    return {"title": title, "rows": _table(pd.DataFrame(cells)), "cells": cells}


def _cells(task: str, rows: Rows, frequency: float, repeat: int) -> list[dict[str, Any]]:
    X, y, s, *_ = case_control(task, rows, frequency, repeat).standardized()
    s = s == 1
    truth = (y[~s] == 1).mean()
    found: list[dict[str, Any]] = []
    estimates: list[PriorEstimate] = []
    for names in (ENSEMBLE_METHODS, *((name,) for name in ALL_METHODS if name not in ENSEMBLE_METHODS)):
        started = time.process_time()
        report = estimate_priors(X, s, names, replicates=REPLICATES, confidence=CONFIDENCE, random_state=repeat)
        seconds = time.process_time() - started
        estimates += report.estimates
        for one in report.estimates:
            found.append({"estimator": one.method, **asdict(one), "truth": truth, "seconds": seconds})
    reliable = make_report(estimates, float("nan")).reliable
    return [{**cell, "recommended": reliable} for cell in found]


def _table(frame: Any) -> list[dict[str, Any]]:
    lines = []
    for half in ("all", *frame.tasks.unique()):
        for (frequency, name), part in frame.groupby(["labeled", "estimator"], sort=False):
            chosen = part if half == "all" else part[part.tasks == half]
            if len(chosen) == 0:
                continue
            about = {"tasks": half, "labeled": frequency}
            lines.append({**about, "estimator": name, **_line(chosen)})
            kept = chosen[chosen.recommended]
            if name == "auto" and len(kept):
                lines.append({**about, "estimator": RECOMMENDED, **_line(kept)})
    return lines


def _line(cells: Any) -> dict[str, float]:
    away = cells.prior - cells.truth
    return {
        "error": away.abs().mean(),
        "bias": away.mean(),
        "kept": ((cells.low <= cells.truth) & (cells.truth <= cells.high)).mean(),
        "width": np.mean(cells.high - cells.low),
        "cells": len(cells),
        "seconds": cells.seconds.mean(),
    }
