"""Where `auto` can be trusted: few or most of the unlabeled rows are positive.

On the tasks of benchmark `quality`, case-control. A third of the positives of the training rows is labeled; of the
other positives and of the negatives so many are left out that the unlabeled rows have the share of positives in the
column "share". The test rows count as if they had it too. "F1 of all" is that of calling every row positive, "SVC" the
F1 of the naive SVC. "error" and "bias" are those of the prior, "kept" the shares of cells whose 90 % intervals hold the
truth, and "width" the mean width of the prior's.
"""

from __future__ import annotations

import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.common.quality_methods import Problem, predict
from benchmarks.common.quality_table import AUTO, NAIVE
from benchmarks.common.quality_tasks import Rows, each_task, half_of, of_tasks, times
from benchmarks.common.timing import Progress, silent
from pucli.core.seeding import stream

SHARES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)
LABELED, TEST = 1 / 3, 1 / 3
FEWEST = 4  # rows of each class among the unlabeled ones
COLUMNS = ("tasks", "share", "F1", "SVC", "F1 of all", "AUC", "error", "bias", "width", "kept", "cells", "seconds")
FULL = {"repeats": 5}


class Drawn(NamedTuple):
    """Numbers of the rows: labeled positives, unlabeled rows and test rows."""

    labeled: np.ndarray
    unlabeled: np.ndarray
    test: np.ndarray


def run(
    progress: Progress = silent, *, half: str = "all", repeats: int = 1, folder: Path | None = None
) -> dict[str, Any]:
    """Return the table of benchmark `shares`; the files are those of benchmark `quality`."""
    cells = []
    for task, rows in each_task(half, folder, progress):
        for repeat, share in product(range(repeats), SHARES):
            drawn = draw(rows.y, share, stream(7, "shares", task, share, repeat))
            cells.append({"task": task, "share": share, "repeat": repeat, **_measured(rows, drawn, repeat)})
    title = f"{of_tasks(cells, half)}, {times(repeats)}"
    return {"title": title, "rows": _table(cells), "cells": cells}


def draw(y: np.ndarray, share: float, rng: np.random.Generator) -> Drawn:
    """Return rows of which the unlabeled ones have the share `share` of positives, as nearly as their number allows.

    y : (n,), 1 for positives and 0 for negatives.
    """
    kinds = [rng.permutation(np.flatnonzero(y == label)) for label in (1, 0)]
    tested = [round(TEST * len(kind)) for kind in kinds]
    positive, negative = (kind[count:] for kind, count in zip(kinds, tested, strict=True))
    labeled, hidden = np.split(positive, [round(LABELED * len(positive))])
    most = min(len(hidden) / share, len(negative) / (1.0 - share))
    counts = [max(FEWEST, round(part * most)) for part in (share, 1.0 - share)]
    unlabeled = np.concatenate([hidden[: counts[0]], negative[: counts[1]]])
    test = np.concatenate([kind[:count] for kind, count in zip(kinds, tested, strict=True)])
    return Drawn(labeled, rng.permutation(unlabeled), test)


def _measured(rows: Rows, drawn: Drawn, repeat: int) -> dict[str, Any]:
    train, y_test = np.concatenate([drawn.labeled, drawn.unlabeled]), rows.y[drawn.test]
    prior = rows.y[drawn.unlabeled].mean()
    labeled = np.arange(len(train)) < len(drawn.labeled)
    problem = Problem(rows.X[train], labeled, rows.X[drawn.test], rows.y[train], prior, "case-control", repeat)
    started = time.process_time()
    with warnings.catch_warnings(action="ignore"):
        ours, naive = predict(AUTO, problem), predict(NAIVE, problem)
    assert ours is not None and ours.prior is not None and naive is not None
    actual = {
        "prior": prior,
        **rates(ours.positive, y_test, prior),
        "auc": roc_auc_score(y_test, ours.scores),
    }
    estimated = {name: ours.intervals[name] for name in actual}
    return {
        "truth": prior,
        "f1": actual["f1"],
        "svc": rates(naive.positive, y_test, prior)["f1"],
        "auc": actual["auc"],
        "prior": ours.prior,
        "width": estimated["prior"][2] - estimated["prior"][1],
        "kept": {name: low <= actual[name] <= high for name, (_, low, high) in estimated.items()},
        "seconds": time.process_time() - started,
    }


def rates(positive: np.ndarray, y: np.ndarray, prior: float) -> dict[str, float]:
    """Return recall, precision and F1 of predictions (n,) for rows y (n,) that count as if `prior` were positive."""
    recall, wrong = np.mean(positive[y == 1]), np.mean(positive[y == 0])
    called = prior * recall + (1.0 - prior) * wrong
    return {
        "recall": recall,
        "precision": prior * recall / called if called > 0.0 else 0.0,
        "f1": 2.0 * prior * recall / (called + prior),
    }


def _table(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = []
    for half, share in product(("all", "design", "look-once"), SHARES):
        of = [c for c in cells if c["share"] == share and half in ("all", half_of(c["task"]))]
        if of:
            lines.append({"tasks": half, "share": share, **_line(of)})
    return lines


def _line(cells: list[dict[str, Any]]) -> dict[str, Any]:
    def mean(name: str) -> float:
        return float(np.mean([cell[name] for cell in cells]))

    truth, prior = (np.array([cell[name] for cell in cells]) for name in ("truth", "prior"))
    kept = {name: np.mean([cell["kept"][name] for cell in cells]) for name in cells[0]["kept"]}
    return {
        "F1": mean("f1"),
        "SVC": mean("svc"),
        "F1 of all": np.mean(2.0 * truth / (1.0 + truth)),
        "AUC": mean("auc"),
        "error": np.abs(prior - truth).mean(),
        "bias": (prior - truth).mean(),
        "width": mean("width"),
        "kept": ", ".join(f"{name} {value:.2f}" for name, value in kept.items()),
        "cells": len(cells),
        "seconds": mean("seconds"),
    }
