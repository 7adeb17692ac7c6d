"""How good the automatic classifier is on 32 public tasks, beside baselines, our methods and other libraries.

Every method has the same splits. F1 is at the method's own threshold; AUC, AP (average precision) and F1 are
means over tasks on test rows.
"Rank" is the mean rank by F1 among those that are told nothing, "auto wins" on how many tasks auto has the larger F1,
"prior error" the mean absolute one, "worst to SVC" the smallest difference of a task's mean F1 to the naive SVC's, and
"kept" the share of the cells whose 90 % interval holds the figure of the test rows; "recall of new rows" takes the
noise of the test rows into the interval (`holds`). Two of the ceilings run on case-control labels only;
benchmark `labeling` tries models of labels that are not random.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import betabinom
from sklearn.metrics import average_precision_score, precision_score, recall_score, roc_auc_score

from benchmarks.common.quality_labeling import LABELINGS, labeled_split, scenario_of
from benchmarks.common.quality_methods import CASE_CONTROL_ONLY, OF_LABELING, Prediction, Problem, installed, predict
from benchmarks.common.quality_table import Cell, table
from benchmarks.common.quality_tasks import Rows, each_task, f1, of_tasks, tasks, times
from benchmarks.common.result_files import read_results
from benchmarks.common.timing import Progress, silent
from pucli.data.splits.labeling import PU_BENCH
from pucli.data.splits.scenarios import split_stream

FREQUENCIES = (0.25, 0.5)
# Those of PU-Bench are in benchmark `labeling` alone.
SHOWN = tuple(name for name in LABELINGS if not name.startswith(PU_BENCH))
FULL = {"repeats": 5}


def run(  # noqa: PLR0913
    progress: Progress = silent,
    *,
    half: str = "all",
    repeats: int = 1,
    labelings: Sequence[str] = SHOWN,
    frequencies: Sequence[float] = FREQUENCIES,
    methods: list[str] | None = None,
    folder: Path | None = None,
    others: Path | None = None,
    seed: int = 7,
) -> dict[str, Any]:
    """Return the table of benchmark `quality`.

    The files come from `folder`, by default as those of `pucli fetch`; cells of methods that are not run come from the
    results in the folder `others`.
    """
    chosen = methods or [name for name in installed() if name not in OF_LABELING]
    cells: list[Cell] = []
    for task, rows in each_task(half, folder, progress):
        for labeling, frequency, repeat in product(labelings, frequencies, range(repeats)):
            every = labeling == "case-control" or methods
            names = chosen if every else [name for name in chosen if name not in CASE_CONTROL_ONLY]
            cells += _cells(task, rows, frequency, repeat, labeling, names, seed)
    if others is not None:
        earlier = [Cell(**cell) for cell in read_results(Path(others), "quality")["cells"]]
        cells += [cell for cell in earlier if cell.method not in chosen]
        chosen = list(dict.fromkeys(cell.method for cell in cells))
    present = {cell.task for cell in cells}
    left_out = [task for task in tasks(half) if task not in present]
    found = [cell._asdict() for cell in cells]
    title = f"{of_tasks(found, half)}, {times(repeats)}"
    return {
        "title": title + (f"; without {', '.join(left_out)}, whose files are missing" if left_out else ""),
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
        "auc": roc_auc_score(y_test, prediction.scores),
        "ap": average_precision_score(y_test, prediction.scores),
        "recall": recall_score(y_test, prediction.positive),
        "precision": precision_score(y_test, prediction.positive, zero_division=0),
    }
    if prediction.positive.any():
        actual["lift"] = actual["recall"] / np.mean(prediction.positive)
    kept = {
        name: low <= actual[name] <= high for name, (_, low, high) in prediction.intervals.items() if name in actual
    }
    if "recall" in kept:
        _, low, high = prediction.intervals["recall"]
        positive = y_test == 1
        kept["recall of new rows"] = holds(low, high, int(prediction.positive[positive].sum()), int(positive.sum()))
    error = None if prediction.prior is None else abs(prediction.prior - prior)
    calibration = None if prediction.probabilities is None else _calibration_error(prediction.probabilities, y_test)
    return Cell(*where, actual["f1"], actual["auc"], actual["ap"], error, calibration, kept, seconds)


def holds(low: float, high: float, hits: int, count: int) -> bool:
    """Return whether `hits` of `count` test rows lie in the middle 90% of what a 90% interval of their share foretells.

    The share is taken to have a beta distribution with the interval's middle and a standard deviation of its width over
    3.29, so that the hits are beta-binomial; half of the chance of the very number counts as below it (mid-p), without
    which an exact interval would hold in more than 90%.
    """
    middle = min(max((low + high) / 2, 0.5 / count), 1 - 0.5 / count)
    size = max(middle * (1 - middle) / max((high - low) / 3.29, 1e-3) ** 2 - 1, 1e-3)
    foretold = betabinom(count, middle * size, (1 - middle) * size)
    return bool(0.05 <= foretold.cdf(hits) - foretold.pmf(hits) / 2 <= 0.95)


def _calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Return the mean distance between probability and share of positives, over ten groups of equal size."""
    groups = np.array_split(np.argsort(p, kind="stable"), 10)
    return float(sum(len(g) * abs(p[g].mean() - y[g].mean()) for g in groups if len(g)) / len(p))
