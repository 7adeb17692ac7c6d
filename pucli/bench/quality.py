"""Quality of the automatic classifier on 32 public tasks, compared with baselines and other libraries.

All methods use the same splits. AUC and F1, at the method's own cut, are means over tasks on test rows. "prior error"
is the mean absolute error of the prior. The note gives the share of cells whose 90 % interval contains the true value:
for the prior, that of the unlabeled training rows; for F1, AUC and recall, that of the test rows.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pucli.bench._quality_methods import Prediction, Problem, installed, predict
from pucli.bench._quality_tasks import Rows, Task, load, tasks
from pucli.bench._timing import Progress
from pucli.data.splits import make_split, split_stream
from pucli.errors import UsageError

FREQUENCIES = (0.25, 0.5)
COLUMNS = ("method", "labelled", "F1", "AUC", "rank", "prior error", "worst to SVC", "calibration", "seconds", "note")
FULL = {"repeats": 5}
NAIVE = "SVC, unlabeled as negative"


class Cell(NamedTuple):
    """Results of one method on one split."""

    method: str
    task: str
    frequency: float
    f1: float
    auc: float
    prior_error: float | None
    calibration: float | None
    kept: dict[str, bool]
    seconds: float


def run(
    progress: Progress | None = None,
    *,
    half: str = "all",
    repeats: int = 1,
    labelling: str = "case-control",
    methods: list[str] | None = None,
    folder: Path | None = None,
    seed: int = 7,
) -> dict[str, Any]:
    """Return the table of `pucli bench quality`.

    The files are in `folder`, by default the folder that PUCLI_QUALITY_DATA names, or ../shared/data.
    """
    folder = folder or Path(os.environ.get("PUCLI_QUALITY_DATA", "../shared/data"))
    at_hand = [task for task in tasks(half) if (folder / task.file).is_file()]
    if not at_hand:
        raise UsageError(
            f"{folder}: the folder has none of the files of the quality tasks; set PUCLI_QUALITY_DATA to their folder."
        )
    chosen = methods or installed()
    cells: list[Cell] = []
    jobs = [(task, frequency) for task in at_hand for frequency in FREQUENCIES]
    for done, (task, frequency) in enumerate(jobs, start=1):
        rows = load(task, folder)
        for repeat in range(repeats):
            cells += _cells(task, rows, frequency, repeat, labelling, chosen, seed)
        if progress is not None:
            progress(done, len(jobs))
    left_out = [task.name for task in tasks(half) if task not in at_hand]
    title = f"{len(at_hand)} tasks ({half}), {labelling}, {repeats} repeat{'s' * (repeats > 1)}"
    return {
        "title": title + (f"; without {', '.join(left_out)}, whose files are missing" if left_out else ""),
        "columns": list(COLUMNS),
        "rows": _table(cells, chosen),
        "cells": [cell._asdict() for cell in cells],
    }


def _cells(
    task: Task, rows: Rows, frequency: float, repeat: int, labelling: str, methods: list[str], seed: int
) -> list[Cell]:
    split = make_split(labelling, rows.y, frequency, rng=split_stream(seed, task.name, labelling, frequency, repeat))
    labelled, y, y_test = split.s == 1, rows.y[split.train], rows.y[split.test]
    population = y[~labelled] if labelling == "case-control" else y
    problem = Problem(rows.X[split.train], labelled, rows.X[split.test], y, float(population.mean()), labelling, repeat)
    found = []
    for method in methods:
        started = time.process_time()
        prediction = predict(method, problem)
        if prediction is not None:
            seconds = time.process_time() - started
            found.append(_measured(method, task.name, frequency, prediction, problem.true_prior, y_test, seconds))
    return found


def _measured(
    method: str, task: str, frequency: float, found: Prediction, prior: float, y_test: np.ndarray, seconds: float
) -> Cell:
    from sklearn.metrics import f1_score, recall_score, roc_auc_score

    actual = {
        "prior": prior,
        "f1": float(f1_score(y_test, found.positive, zero_division=0)),
        "auc": float(roc_auc_score(y_test, found.scores)),
        "recall": float(recall_score(y_test, found.positive)),
    }
    kept = {name: low <= actual[name] <= high for name, (_, low, high) in found.intervals.items() if name in actual}
    error = None if found.prior is None else abs(found.prior - prior)
    calibration = None if found.probabilities is None else _calibration_error(found.probabilities, y_test)
    return Cell(method, task, frequency, actual["f1"], actual["auc"], error, calibration, kept, seconds)


def _calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Return the mean distance between probability and share of positives, over ten groups of equal size."""
    groups = np.array_split(np.argsort(p, kind="stable"), 10)
    return float(sum(len(g) * abs(p[g].mean() - y[g].mean()) for g in groups if len(g)) / len(p))


def _table(cells: list[Cell], methods: list[str]) -> list[dict[str, Any]]:
    import pandas as pd

    table = pd.DataFrame([cell._asdict() for cell in cells])
    by_task = table.groupby(["frequency", "task", "method"], sort=False)[["f1", "auc"]].mean().reset_index()
    lines: list[dict[str, Any]] = []
    for frequency in FREQUENCIES:
        f1 = by_task[by_task.frequency == frequency].pivot(index="task", columns="method", values="f1")
        ranks = f1.rank(axis=1, ascending=False)
        for method in methods:
            part = table[(table.method == method) & (table.frequency == frequency)]
            if part.empty:
                continue
            gap = (f1[method] - f1[NAIVE]) if NAIVE in f1 and method != NAIVE else None
            lines.append(
                {
                    "method": method,
                    "labelled": frequency,
                    "F1": float(part.f1.mean()),
                    "AUC": float(part.auc.mean()),
                    "rank": float(ranks[method].mean()),
                    "prior error": _mean(part.prior_error),
                    "worst to SVC": None if gap is None else float(gap.min()),
                    "calibration": _mean(part.calibration),
                    "seconds": float(part.seconds.mean()),
                    "note": _note(part, gap),
                }
            )
    return lines


def _mean(values: Any) -> float | None:
    known = values.dropna()
    return float(known.astype(float).mean()) if len(known) else None


def _note(part: Any, gap: Any) -> str:
    kept = [row for row in part.kept if row]
    shares = [f"{name} {np.mean([row[name] for row in kept]):.2f}" for name in kept[0]] if kept else []
    notes = ["intervals that contain the true value: " + ", ".join(shares)] if shares else []
    if gap is not None and gap.min() < 0:
        notes.append(f"worst on {gap.idxmin()}")
    return "; ".join(notes)
