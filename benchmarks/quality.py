"""How good the automatic classifier is on 32 public tasks, beside baselines, our methods and other libraries.

Every method has the same splits. F1 is at the method's own threshold; AUC, AP (average precision) and F1 are
means over tasks on test rows.
"Rank" is the mean rank by F1 among those that are told nothing, "auto wins" on how many tasks auto has the larger F1,
"prior error" the mean absolute one, "worst to SVC" the smallest difference of a task's mean F1 to the naive SVC's, and
"kept" the share of the cells whose 90 % interval holds the truth. Two of the ceilings run on case-control labels only.
benchmark `labeling` tries models of labels that are not random.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, precision_score, recall_score, roc_auc_score

from benchmarks.common.quality_labeling import LABELINGS, labeled_split, scenario_of
from benchmarks.common.quality_methods import CASE_CONTROL_ONLY, OF_LABELING, Prediction, Problem, installed, predict
from benchmarks.common.quality_table import COLUMNS, Cell, table
from benchmarks.common.quality_tasks import Rows, each_task, f1, of_tasks, tasks, times
from benchmarks.common.timing import Progress, silent
from pucli.data.splits.labeling import PU_BENCH
from pucli.data.splits.scenarios import split_stream

FREQUENCIES = (0.25, 0.5)
# Those of PU-Bench are in benchmark `labeling` alone.
SHOWN = tuple(name for name in LABELINGS if not name.startswith(PU_BENCH))
FULL = {"repeats": 5}


def run(
    progress: Progress = silent,
    *,
    half: str = "all",
    repeats: int = 1,
    labelings: Sequence[str] = SHOWN,
    frequencies: Sequence[float] = FREQUENCIES,
    methods: list[str] | None = None,
    folder: Path | None = None,
    seed: int = 7,
) -> dict[str, Any]:
    """Return the table of benchmark `quality`.

    The files come from `folder`, by default as those of `pucli fetch`.
    """
    chosen = methods or [name for name in installed() if name not in OF_LABELING]
    cells: list[Cell] = []
    for task, rows in each_task(half, folder, progress):
        for labeling, frequency, repeat in product(labelings, frequencies, range(repeats)):
            every = labeling == "case-control" or methods
            names = chosen if every else [name for name in chosen if name not in CASE_CONTROL_ONLY]
            cells += _cells(task, rows, frequency, repeat, labeling, names, seed)
    present = {cell.task for cell in cells}
    left_out = [task for task in tasks(half) if task not in present]
    found = [cell._asdict() for cell in cells]
    title = f"{of_tasks(found, half)}, {times(repeats)}"
    return {
        "title": title + (f"; without {', '.join(left_out)}, whose files are missing" if left_out else ""),
        "columns": list(COLUMNS),
        "rows": table(cells, chosen),
        "cells": found,
    }


def _cells(
    task: str, rows: Rows, frequency: float, repeat: int, labeling: str, methods: list[str], seed: int
) -> list[Cell]:
    rng = split_stream(seed, task, labeling, frequency, repeat)
    split = labeled_split(labeling, rows.X, rows.y, frequency, rng)
    labeled, y, y_test = split.s == 1, rows.y[split.train], rows.y[split.test]
    scenario = scenario_of(labeling)
    population = y[~labeled] if scenario == "case-control" else y
    problem = Problem(rows.X[split.train], labeled, rows.X[split.test], y, float(population.mean()), scenario, repeat)
    found = []
    for method in methods:
        started = time.process_time()
        prediction = predict(method, problem)
        if prediction is not None:
            where = (method, task, labeling, frequency, repeat)
            found.append(_measured(where, prediction, problem.true_prior, y_test, time.process_time() - started))
    return found


def _measured(
    where: tuple[str, str, str, float, int], prediction: Prediction, prior: float, y_test: np.ndarray, seconds: float
) -> Cell:
    actual = {
        "prior": prior,
        "f1": f1(y_test, prediction.positive),
        "auc": float(roc_auc_score(y_test, prediction.scores)),
        "ap": float(average_precision_score(y_test, prediction.scores)),
        "recall": float(recall_score(y_test, prediction.positive)),
        "precision": float(precision_score(y_test, prediction.positive, zero_division=0)),
    }
    if prediction.positive.any():
        actual["lift"] = actual["recall"] / float(np.mean(prediction.positive))
    kept = {
        name: low <= actual[name] <= high for name, (_, low, high) in prediction.intervals.items() if name in actual
    }
    error = None if prediction.prior is None else abs(prediction.prior - prior)
    calibration = None if prediction.probabilities is None else _calibration_error(prediction.probabilities, y_test)
    return Cell(*where, actual["f1"], actual["auc"], actual["ap"], error, calibration, kept, seconds)


def _calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Return the mean distance between probability and share of positives, over ten groups of equal size."""
    groups = np.array_split(np.argsort(p, kind="stable"), 10)
    return float(sum(len(g) * abs(p[g].mean() - y[g].mean()) for g in groups if len(g)) / len(p))
