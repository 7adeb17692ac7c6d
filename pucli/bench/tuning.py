"""Which rule chooses parameters better without true labels: PUF once, or the estimated F1 of repeated folds.

The tasks and splits are those of `pucli bench quality`, case-control, of at most `MOST_FEATURES` features. Features are
standardised, parameters are chosen on the training rows, and F1 is that of the test rows. "wins" counts the tasks on
which the F1 is larger than with the rule of the thesis, PUF of one cross-validation. The look-once half of the tasks is
the default, --full takes all.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from pucli.bench._quality_tasks import Rows, at_hand, load
from pucli.bench._timing import Progress, reporter
from pucli.data.splits import make_split, split_stream

FREQUENCIES = (0.25, 0.5)
MOST_FEATURES = 150
FULL = {"half": "all"}
COLUMNS = ("tasks", "method", "labelled", "rule", "F1", "wins", "seconds")
RBF = {"width": [0.5, 1, 2, 4, 8], "lam": [0.1, 1, 10, 100, 1000], "c_u": [0.5, 0.1, 0.01]}
# Name in the table -> method, fixed parameters, grid (None for that of the method).
METHODS: dict[str, tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    "gllc, RBF": ("gllc", {"kernel": "rbf"}, RBF),
    "svc-naive": ("svc-naive", {}, None),
}
THESIS = "puf, once"
RULES: dict[str, dict[str, Any]] = {
    THESIS: {"rule": "puf", "cv_repeats": 1},
    "f1, 3 times": {"rule": "f1", "cv_repeats": 3},
}


def run(progress: Progress | None = None, *, half: str = "look-once", folder: Path | None = None) -> dict[str, Any]:
    """Return the table of `pucli bench tuning`; the files are those of `pucli bench quality`."""
    import pandas as pd

    folder, present = at_hand(half, folder)
    report, cells = reporter(progress), []
    for done, task in enumerate(present, start=1):
        rows = load(task, folder)
        if rows.X.shape[1] <= MOST_FEATURES:
            for frequency in FREQUENCIES:
                cells += [{"task": task.name, **cell} for cell in _cells(task.name, rows, frequency)]
        report(done, len(present))
    frame = pd.DataFrame(cells)
    count = frame.task.nunique()
    title = f"Rules that choose parameters, {count} tasks ({half}); mean F1 of the test rows"
    return {"title": title, "columns": list(COLUMNS), "rows": _table(frame, half), "cells": cells}


def _cells(task: str, rows: Rows, frequency: float) -> list[dict[str, Any]]:
    """Return one cell for each method and rule on one split."""
    from sklearn.metrics import f1_score

    from pucli.data.preprocessing import Standardiser
    from pucli.methods import make_estimator
    from pucli.models import seeded
    from pucli.tuning import tune

    split = make_split("case-control", rows.y, frequency, rng=split_stream(7, task, "case-control", frequency, 0))
    scaler = Standardiser().fit(rows.X[split.train])
    X, X_test = scaler.transform(rows.X[split.train]), scaler.transform(rows.X[split.test])
    found = []
    for method, (name, params, grid) in METHODS.items():
        for rule, how in RULES.items():
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                chosen = tune(name, X, split.s, params=seeded(name, params, 0), grid=grid, **how).params
                seconds = time.process_time() - started
                predicted = make_estimator(name, **chosen).fit(X, split.s).predict(X_test)
            f1 = float(f1_score(rows.y[split.test], np.asarray(predicted) == 1, zero_division=0))
            found.append({"method": method, "labelled": frequency, "rule": rule, "F1": f1, "seconds": seconds})
    return found


def _table(frame: Any, half: str) -> list[dict[str, Any]]:
    lines = []
    for (method, frequency), part in frame.groupby(["method", "labelled"], sort=False):
        f1 = part.pivot(index="task", columns="rule", values="F1")
        for rule in RULES:
            wins = f"{int((f1[rule] > f1[THESIS]).sum())} of {int((f1[rule] != f1[THESIS]).sum())} that differ"
            lines.append(
                {
                    "tasks": half,
                    "method": method,
                    "labelled": frequency,
                    "rule": rule,
                    "F1": float(f1[rule].mean()),
                    "wins": "" if rule == THESIS else wins,
                    "seconds": float(part[part.rule == rule].seconds.mean()),
                }
            )
    return lines
