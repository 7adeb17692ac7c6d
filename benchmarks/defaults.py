"""Whether untuned methods are useful: every PU method at its defaults on the 32 public tasks.

A model finds positives if its F1 on test rows is above that of predicting every row positive. Otherwise it should warn,
with a DegenerateModelWarning if it predicts nearly no row or nearly every row positive, or with another warning. An
EstimatedPriorWarning does not count, since it says nothing about the model. `pucli train` also cross-validates the
model and warns if held-out rows show that it may be useless (`pucli.models.validation`); that counts. A model that
neither finds positives nor warns is silent. Methods that draw random numbers are also run with a second seed. A task
has at most 800 rows.
ekf-glpual, whose features include all products of two, gets at most 40 features, drawn at random.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common.quality_tasks import MOST_ROWS, Rows, each_task, f1
from benchmarks.common.timing import Progress, silent
from pucli.core.errors import EstimatedPriorWarning
from pucli.data.splits.scenarios import make_split, split_stream
from pucli.methods import METHODS, estimator_class
from pucli.models.fitting import seeded
from pucli.models.saved import make_pipeline
from pucli.models.validation import held_out

# Share of the training positives that are labelled.
FREQUENCY = 0.5
# The most features of a task for methods that cannot take many.
MOST_FEATURES = {"ekf-glpual": 40}
# The default seed of the command line, and another one.
SEEDS = (0, 7)
TARGET = 28
COLUMNS = ("method", "seed", "finds", "warns", "silent", "F1", "seconds", "note")


class Cell(NamedTuple):
    """Result of one method on one task. verdict : "finds", "warns" or "silent". warned : classes of the warnings."""

    method: str
    task: str
    seed: int
    f1: float
    f1_of_all: float
    verdict: str
    warned: list[str]
    seconds: float


def run(progress: Progress = silent, *, methods: list[str] | None = None, folder: Path | None = None) -> dict[str, Any]:
    """Return the table of benchmark `defaults`.

    The files come from `folder`, by default as those of `pucli fetch`.
    """
    names = methods or [name for name, method in METHODS.items() if method.kind == "pu"]
    runs = [(name, seed) for name in names for seed in SEEDS[: 1 + draws(name)]]
    with threadpool_limits(1):
        every = each_task("all", folder, progress)
        cells = [_cell(name, task, rows, seed) for task, rows in every for name, seed in runs]
    count = len({cell.task for cell in cells})
    title = f"Defaults on {count} tasks of at most {MOST_ROWS} rows, label frequency {FREQUENCY}"
    return {
        "title": f"{title}; the target is {TARGET} tasks where positives are found or a warning given",
        "columns": list(COLUMNS),
        "rows": [_line(name, seed, cells) for name, seed in runs],
        "cells": [cell._asdict() for cell in cells],
    }


def draws(method: str) -> bool:
    """Return whether a method draws random numbers."""
    return "random_state" in inspect.signature(estimator_class(METHODS[method])).parameters


def _cell(name: str, task: str, rows: Rows, seed: int) -> Cell:
    """Fit and judge one method as `pucli train` does: standardised features, default parameters."""
    rng = split_stream(0, task, "case-control", FREQUENCY, 0)
    split = make_split("case-control", rows.y, FREQUENCY, rng=rng)
    drawn = np.sort(rng.permutation(rows.X.shape[1])[: MOST_FEATURES.get(name)])
    X, X_test, s = rows.X[split.train][:, drawn], rows.X[split.test][:, drawn], split.s
    model = make_pipeline(estimator_class(METHODS[name])(**seeded(name, {}, seed)), standardise=name != "auto")
    started = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, s)
        predicted = model.predict(X_test) == model.classes_[-1]
    seconds = time.process_time() - started
    y = rows.y[split.test]
    own, of_all = f1(y, predicted), f1(y, np.ones_like(y))
    warned = sorted({entry.category.__name__ for entry in caught})
    warns = any(issubclass(entry.category, UserWarning) and _is_about_model(entry.category) for entry in caught)
    if own <= of_all and not warns and name != "auto":
        checked = held_out(model, X, s == 1, seed)
        warns = checked is not None and bool(checked.warning)
        warned += ["held-out rows"] * warns
    verdict = "finds" if own > of_all else "warns" if warns else "silent"
    return Cell(name, task, seed, own, of_all, verdict, warned, seconds)


def _is_about_model(category: type[Warning]) -> bool:
    """Return whether a warning of this class means that the model may be useless."""
    return not issubclass(category, EstimatedPriorWarning)


def _line(method: str, seed: int, cells: list[Cell]) -> dict[str, Any]:
    part = [cell for cell in cells if (cell.method, cell.seed) == (method, seed)]
    counts = Counter(cell.verdict for cell in part)
    silent = [cell.task for cell in part if cell.verdict == "silent"]
    warned = Counter(name for cell in part if cell.verdict == "warns" for name in cell.warned)
    notes = [f"{name} on {count}" for name, count in sorted(warned.items())]
    if silent:
        notes.append(f"silent on {', '.join(silent)}")
    return {
        "method": method,
        "seed": seed,
        **{verdict: counts[verdict] for verdict in ("finds", "warns", "silent")},
        "F1": float(np.mean([cell.f1 for cell in part])),
        "seconds": sum(cell.seconds for cell in part),
        "note": "; ".join(notes),
    }
