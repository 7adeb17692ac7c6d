"""What known negatives give methods that take them in their own objective: F1 with 50 of them used and ignored.

Tasks, splits and known negatives are those of benchmark `negatives`. Features are standardised; parameters are the
defaults, and cpb-glpual and nnpu get the true share of positives. "ignored" takes known negatives for unlabeled rows.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.quality_tasks import at_hand, load
from benchmarks.common.timing import Progress, reporter
from benchmarks.negatives import FREQUENCY, KNOWN, known_rows
from pucli.core.seeding import stream
from pucli.data.splits.scenarios import make_split, split_stream

# Tasks of images or of hundreds of features, which take long to read or to fit.
LARGE = ("mnist-odd", "mnist-38", "isolet", "clean1")
METHODS = ("glpual", "gllc", "bsvm", "blssvm", "e-glpual", "nnpu")  # cpb-glpual takes minutes where many rows are equal
KINDS = ("random", "suspicious")
COLUMNS = ("method", "negatives", "F1 ignored", "F1 used", "difference", "worst task", "better / worse")


def run(
    progress: Progress | None = None,
    *,
    half: str = "look-once",
    methods: tuple[str, ...] = METHODS,
    repeats: int = 2,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return the table."""
    names = [task for task in at_hand(half, folder) if task not in LARGE]
    jobs = [(task, repeat) for task in names for repeat in range(repeats)]
    told, cells = reporter(progress), []
    for done, (task, repeat) in enumerate(jobs):
        cells += _cells(task, repeat, methods, folder)
        told(done + 1, len(jobs))
    rows = [_line(method, kind, cells) for method in methods for kind in KINDS]
    title = f"{KNOWN} known negatives used and ignored, {len(names)} tasks ({half}), {repeats} repeat"
    return {"title": title + "s" * (repeats > 1), "columns": list(COLUMNS), "rows": rows, "cells": cells}


def _cells(task: str, repeat: int, methods: tuple[str, ...], folder: Path | None) -> list[dict[str, Any]]:
    from sklearn.metrics import f1_score

    from pucli.data.encode.standardise import Standardiser
    from pucli.methods import METHODS as ALL
    from pucli.methods import constructor_defaults, estimator_class

    rows = load(task, folder)
    split = make_split("case-control", rows.y, FREQUENCY, rng=split_stream(0, task, "case-control", FREQUENCY, repeat))
    truth, y_test = rows.y[split.train], rows.y[split.test]
    standard = Standardiser().fit(rows.X[split.train])
    X, X_test = standard.transform(rows.X[split.train]), standard.transform(rows.X[split.test])
    found = []
    for kind in KINDS:
        y = split.s.astype(int)
        y[known_rows(rows.X[split.train], truth, y == 1, kind, stream(0, "negatives", task, repeat, kind))] = -1
        for method in methods:
            scores = []
            for labels in (np.maximum(y, 0), y):
                defaults = constructor_defaults(ALL[method])
                given = {"prior": float(truth[labels == 0].mean())} if "prior" in defaults else {}
                given |= {"random_state": repeat} if "random_state" in defaults else {}
                model = estimator_class(ALL[method])(neg_label=-1, **given)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    called = model.fit(X, labels).decision_function(X_test) > 0
                scores.append(float(f1_score(y_test, called, zero_division=0)))
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
