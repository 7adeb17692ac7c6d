"""Models as ONNX files: how far onnxruntime is from the models of pucli on the small public tasks.

On the tasks of the design half of benchmark `quality` (`--full`: all), at most 1000 rows train, of which a third of the
positives are labeled, and the model and its ONNX file score up to 1000 others and the training rows. "score" and
"probability" are the largest differences over all rows, "labels" is the number of rows with another label, "MB" the
median and "largest MB" the largest size of a file, "ONNX" and "pucli" the median rows per second on one thread,
encoding left out.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.quality_tasks import Rows, each_task
from benchmarks.common.timing import Progress, best_of, silent
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.methods import make_estimator
from pucli.models.onnx.export import exported
from pucli.models.saved import SavedModel, make_pipeline

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "auto": ("auto", {}),
    "glpual, rbf": ("glpual", {"kernel": "rbf"}),
    "bsvm, rbf": ("bsvm", {"kernel": "rbf"}),
    "usmo, rbf": ("usmo", {"prior": 0.3}),
    "svc-naive, rbf": ("svc-naive", {}),
    "blssvm, linear": ("blssvm", {}),
}
FULL = {"half": "all"}
MOST_TRAINED, MOST_NEW, FEWEST_LABELED = 1000, 1000, 20
COLUMNS = ("method", "tasks", "score", "probability", "labels", "rows", "MB", "largest MB", "ONNX", "pucli")


def run(progress: Progress = silent, *, half: str = "design", folder: Path | None = None) -> dict[str, Any]:
    """Return the table of benchmark `export`; the files are those of benchmark `quality`."""
    started = time.process_time()
    every = each_task(half, folder, progress, MOST_TRAINED + MOST_NEW)
    cells = [{"task": task, "method": name, **_cell(rows, task, name)} for task, rows in every for name in METHODS]
    seconds = time.process_time() - started
    return {
        "title": f"{len(cells) // len(METHODS)} tasks ({half}), {seconds:.0f} processor seconds",
        "rows": [_line(name, [cell for cell in cells if cell["method"] == name]) for name in METHODS],
        "cells": cells,
    }


def _cell(rows: Rows, task: str, name: str) -> dict[str, Any]:
    order = stream(9, "export", task).permutation(len(rows.y))
    train = order[: min(MOST_TRAINED, len(order) // 2)]
    positives = train[rows.y[train] == 1]
    s = np.isin(train, positives[: max(FEWEST_LABELED, len(positives) // 3)]).astype(int)
    method, params = METHODS[name]
    with warnings.catch_warnings(action="ignore"):
        pipeline = make_pipeline(make_estimator(method, **params), standardize=True).fit(rows.X[train], s)
    names = [f"x{j}" for j in range(rows.X.shape[1])]
    return compared(SavedModel(pipeline, method, names), rows.X)


def compared(saved: SavedModel, X: np.ndarray) -> dict[str, Any]:
    """Return the differences of a model and its ONNX file on rows X (n, m), and how fast both are."""
    try:
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError as error:
        raise UsageError("the benchmark needs onnxruntime: pip install 'pucli[onnx]'") from error

    found, options = exported(saved), SessionOptions()
    options.intra_op_num_threads = 1
    session = InferenceSession(found.content, options)
    feed = {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(saved.feature_names)}
    told = dict(zip(found.outputs, session.run(list(found.outputs), feed), strict=True))
    score = saved.pipeline.decision_function(X)
    cell = {
        "score": np.abs(told["score"] - score).max(),
        "labels": np.count_nonzero((told["prediction"] == "1") != (score > 0)),
        "rows": len(X),
        "MB": len(found.content) / 1e6,
        "ONNX": len(X) / best_of(lambda: session.run(None, feed), repeats=3),
        "pucli": len(X) / best_of(lambda: saved.pipeline.decision_function(X), repeats=3),
    }
    if "probability" in told:
        cell["probability"] = np.abs(told["probability"] - saved.pipeline.predict_proba(X)[:, 1]).max()
    return cell


def _line(name: str, cells: list[dict[str, Any]]) -> dict[str, Any]:
    of = {key: [cell[key] for cell in cells if key in cell] for key in (*COLUMNS[2:7], "ONNX", "pucli")}
    return {
        "method": name,
        "tasks": len(cells),
        **{key: max(of[key], default=None) for key in ("score", "probability")},
        **{key: sum(of[key]) for key in ("labels", "rows")},
        "MB": np.median(of["MB"]),
        "largest MB": max(of["MB"]),
        **{key: round(float(np.median(of[key]))) for key in ("ONNX", "pucli")},
    }
