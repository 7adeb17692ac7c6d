"""Which rule chooses parameters best without true labels: PUF once, estimated F1, or PU-AUC and then the threshold.

The tasks and splits are those of benchmark `quality`, case-control, of at most `MOST_FEATURES` features. Features are
standardized, parameters are chosen on the training rows, and F1 and AUC are those of the test rows. "wins" counts the
tasks on which the F1 is larger than with PUF of one cross-validation, the rule of the thesis, and "wins over f1" those
on which it is larger than with the estimated F1. The default of `pucli tune` was decided on the design half.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.common.quality_tasks import Rows, case_control, each_task, f1, half_of
from benchmarks.common.timing import Progress, silent
from pucli.methods import make_estimator
from pucli.models.fitting import seeded
from pucli.tuning import tune

FREQUENCIES = (0.25, 0.5)
MOST_FEATURES = 150
COLUMNS = ("tasks", "method", "labeled", "rule", "F1", "AUC", "wins", "wins over f1", "seconds")
RBF = {"width": [0.5, 1, 2, 4, 8], "lam": [0.1, 1, 10, 100, 1000], "c_u": [0.5, 0.1, 0.01]}
# Name in the table -> method, fixed parameters, grid (None for that of the method).
METHODS: dict[str, tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    "gllc, RBF": ("gllc", {"kernel": "rbf"}, RBF),
    "svc-naive": ("svc-naive", {}, None),
    "glpual": ("glpual", {}, None),
    "e-glpual": ("e-glpual", {}, None),
    "usmo": ("usmo", {}, None),
}
THESIS, F1 = "puf, once", "f1, 3 times"
RULES: dict[str, dict[str, Any]] = {
    THESIS: {"rule": "puf", "cv_repeats": 1},
    F1: {"rule": "f1", "cv_repeats": 3},
    "pu-auc, twice": {"rule": "pu-auc", "cv_repeats": 2},
}


def run(progress: Progress = silent, *, half: str = "all", folder: Path | None = None) -> dict[str, Any]:
    """Return the table of benchmark `tuning`; the files are those of benchmark `quality`."""
    cells = [
        {"task": task, "tasks": half_of(task), **cell}
        for task, rows in each_task(half, folder, progress)
        if rows.X.shape[1] <= MOST_FEATURES
        for frequency in FREQUENCIES
        for cell in _cells(task, rows, frequency)
    ]
    frame = pd.DataFrame(cells)
    counts = ", ".join(f"{part.task.nunique()} {name}" for name, part in frame.groupby("tasks"))
    title = f"Rules that choose parameters, tasks: {counts}; means of the test rows"
    return {"title": title, "rows": _table(frame), "cells": cells}


def _cells(task: str, rows: Rows, frequency: float) -> list[dict[str, Any]]:
    X, _, s, X_test, y = case_control(task, rows, frequency, 0).standardized()
    found = []
    for method, (name, params, grid) in METHODS.items():
        for rule, how in RULES.items():
            started = time.process_time()
            with warnings.catch_warnings(action="ignore"):
                chosen = tune(name, X, s, params=seeded(name, params, 0), grid=grid, groups=None, **how).params
                seconds = time.process_time() - started
                model = make_estimator(name, **chosen).fit(X, s)
            quality = {
                "F1": f1(y, np.asarray(model.predict(X_test)) == 1),
                "AUC": roc_auc_score(y, model.decision_function(X_test)),
            }
            found.append({"method": method, "labeled": frequency, "rule": rule, **quality, "seconds": seconds})
    return found


def _table(frame: Any) -> list[dict[str, Any]]:
    lines = []
    for (half, method, frequency), part in frame.groupby(["tasks", "method", "labeled"], sort=False):
        f1 = part.pivot(index="task", columns="rule", values="F1")

        def wins(rule: str, other: str, f1: Any = f1) -> str:
            if rule == other:
                return ""
            return f"{(f1[rule] > f1[other]).sum()} of {(f1[rule] != f1[other]).sum()} that differ"

        for rule in RULES:
            means = part[part.rule == rule][["F1", "AUC", "seconds"]].mean()
            lines.append(
                {
                    "tasks": half,
                    "method": method,
                    "labeled": frequency,
                    "rule": rule,
                    "F1": means.F1,
                    "AUC": means.AUC,
                    "wins": wins(rule, THESIS),
                    "wins over f1": "" if rule == THESIS else wins(rule, F1),
                    "seconds": means.seconds,
                }
            )
    return sorted(lines, key=lambda line: str(line["tasks"]))
