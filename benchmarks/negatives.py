"""When known negatives help the automatic classifier, and when they hurt: 50 of them, random or suspicious ones.

The tasks are those of benchmark `quality`, case-control, with a quarter of the positives labeled. Fifty negatives
among the unlabeled training rows (at most a third of these) are then known. "suspicious": rows that look like positives
were looked at, so that a negative's chance of being known grows with its place between the means of the classes.
"ignored" leaves their label out; "train" is `negatives="biased"`; "train, class prior" is `negatives="random"`, which
is true of random negatives and false of suspicious ones. "prior error" is that of the share of positives in the
unlabeled rows; "precision kept" is the share of tasks whose precision on the test rows is in its 90 % interval, and
"width" the mean width of this interval.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import precision_score

from benchmarks.common.quality_tasks import Rows, case_control, each_task, f1, of_tasks, times
from benchmarks.common.timing import Progress, silent
from pucli.core.seeding import stream
from pucli.data.splits.labeling import SLOPE
from pucli.estimators.auto.auto_pu import AutoPU

KNOWN, MOST_SHARE, FREQUENCY = 50, 1 / 3, 0.25
FULL = {"half": "all", "repeats": 2}
COLUMNS = (
    "negatives", "how", "mean F1", "against ignored", "worst task", "prior error", "precision kept", "width",
)  # fmt: skip
KINDS = ("random", "suspicious")
HOW = {"ignored": None, "train": "biased", "train, class prior": "random"}


def run(
    progress: Progress = silent, *, half: str = "look-once", repeats: int = 1, folder: Path | None = None
) -> dict[str, Any]:
    """Return the table; the rows of a task come as those of benchmark `quality`."""
    cells = [
        {"negatives": kind, **cell}
        for task, rows in each_task(half, folder, progress)
        for repeat, kind in product(range(repeats), KINDS)
        for cell in _cells(task, rows, repeat, kind)
    ]
    table = [_line(kind, how, cells) for kind in KINDS for how in HOW]
    title = f"{KNOWN} known negatives on {of_tasks(cells, half)}, {times(repeats)}"
    return {"title": title, "rows": table, "cells": cells}


def _cells(task: str, rows: Rows, repeat: int, kind: str) -> list[dict[str, Any]]:
    X, truth, s, X_test, y_test = case_control(task, rows, FREQUENCY, repeat, seed=0)
    known = known_rows(X, truth, s == 1, kind, stream(0, "negatives", task, repeat, kind))
    found = []
    for how, negatives in HOW.items():
        y = s.astype(int)
        if negatives is not None:
            y[known] = -1
        model = AutoPU(neg_label=-1, negatives=negatives or "biased", random_state=repeat).fit(X, y)
        called, precision = model.decision_function(X_test) > 0, model.estimates_["precision"]
        actual = precision_score(y_test, called, zero_division=0)
        cell = {"how": how, "task": task, "f1": f1(y_test, called)}
        cell["prior_error"] = abs(model.prior_ - truth[y == 0].mean())
        cell["kept"] = precision.low <= actual <= precision.high
        found.append(cell | {"width": precision.high - precision.low})
    return found


def known_rows(X: np.ndarray, y: np.ndarray, labeled: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return the numbers of the known negatives."""
    rows = np.flatnonzero((y == 0) & ~labeled)
    tilt = np.zeros(len(rows))
    if kind == "suspicious":
        Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
        value = Z[rows] @ (Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0))
        tilt = SLOPE * (value - value.mean()) / max(float(value.std()), 1e-12)
    order = np.argsort(-(tilt + rng.gumbel(size=len(rows))), kind="stable")
    return rows[order[: min(KNOWN, int(MOST_SHARE * len(rows)))]]


def _line(kind: str, how: str, cells: list[dict[str, Any]]) -> dict[str, Any]:
    mine, ignored = ([c for c in cells if (c["negatives"], c["how"]) == (kind, name)] for name in (how, "ignored"))
    score, error, kept, width = (
        np.array([cell[key] for cell in mine], dtype=float) for key in ("f1", "prior_error", "kept", "width")
    )
    gain = score - np.array([cell["f1"] for cell in ignored])
    names = [cell["task"] for cell in mine]
    by_task = {task: gain[[name == task for name in names]].mean() for task in names}
    worst = min(by_task, key=lambda task: by_task[task])
    values = (
        kind,
        how,
        f"{score.mean():.3f}",
        f"{gain.mean():+.3f}",
        f"{by_task[worst]:+.3f} ({worst})",
        f"{error.mean():.3f}",
        f"{kept.mean():.0%}",
        f"{width.mean():.2f}",
    )
    return dict(zip(COLUMNS, values, strict=True))
