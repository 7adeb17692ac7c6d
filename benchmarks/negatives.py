"""When known negatives help the automatic classifier, and when they hurt: 50 of them, random or suspicious ones.

The tasks are those of benchmark `quality`, case-control, with a quarter of the positives labelled. Fifty negatives
among the unlabeled training rows (at most a third of these) are then known. "suspicious": rows that look like positives
were looked at, so that a negative's chance of being known grows with its place between the means of the classes.
"ignored" leaves their label out; "train" is `negatives="biased"`; "train, class prior" is `negatives="random"`, which
is true of random negatives and false of suspicious ones. "prior error" is that of the share of positives in the
unlabeled rows; "precision kept" is the share of tasks whose precision on the test rows is in its 90 % interval, and
"width" the mean width of this interval.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.quality_tasks import at_hand, load
from benchmarks.common.timing import Progress, reporter
from pucli.core.seeding import stream
from pucli.data.splits.labelling import SLOPE
from pucli.data.splits.scenarios import make_split, split_stream

KNOWN, MOST_SHARE, FREQUENCY = 50, 1 / 3, 0.25
FULL = {"half": "all", "repeats": 2}
COLUMNS = (
    "negatives", "how", "mean F1", "against ignored", "worst task", "prior error", "precision kept", "width",
)  # fmt: skip
HOW = {"ignored": None, "train": "biased", "train, class prior": "random"}


def run(
    progress: Progress | None = None, *, half: str = "look-once", repeats: int = 1, folder: Path | None = None
) -> dict[str, Any]:
    """Return the table; the rows of a task come as those of benchmark `quality`."""
    names = at_hand(half, folder)
    jobs = [(task, repeat) for task in names for repeat in range(repeats)]
    told, found = reporter(progress), []
    for done, (task, repeat) in enumerate(jobs):
        for kind in ("random", "suspicious"):
            found += [(kind, *cell) for cell in _cells(task, repeat, kind, folder)]
        told(done + 1, len(jobs))
    rows = [_line(kind, how, found) for kind in ("random", "suspicious") for how in HOW]
    title = f"{KNOWN} known negatives on {len(names)} tasks ({half}), {repeats} repeat{'s' * (repeats > 1)}"
    cells = [
        dict(zip(("negatives", "how", "task", "f1", "prior_error", "kept", "width"), c, strict=True)) for c in found
    ]
    return {"title": title, "columns": list(COLUMNS), "rows": rows, "cells": cells}


def _cells(task: str, repeat: int, kind: str, folder: Path | None) -> list[tuple[Any, ...]]:
    from sklearn.metrics import f1_score, precision_score

    from pucli.estimators.auto.auto_pu import AutoPU

    rows = load(task, folder)
    split = make_split("case-control", rows.y, FREQUENCY, rng=split_stream(0, task, "case-control", FREQUENCY, repeat))
    X, truth, X_test, y_test = rows.X[split.train], rows.y[split.train], rows.X[split.test], rows.y[split.test]
    known = known_rows(X, truth, split.s == 1, kind, stream(0, "negatives", task, repeat, kind))
    found = []
    for how, negatives in HOW.items():
        y = split.s.astype(int)
        if negatives is not None:
            y[known] = -1
        model = AutoPU(neg_label=-1, negatives=negatives or "biased", random_state=repeat).fit(X, y)
        called, precision = model.decision_function(X_test) > 0, model.estimates_["precision"]
        actual = precision_score(y_test, called, zero_division=0)
        error = abs(model.prior_ - truth[y == 0].mean())
        kept = bool(precision.low <= actual <= precision.high)
        score = float(f1_score(y_test, called, zero_division=0))
        found.append((how, task, score, float(error), kept, precision.high - precision.low))
    return found


def known_rows(X: np.ndarray, y: np.ndarray, labelled: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return the numbers of the known negatives."""
    rows = np.flatnonzero((y == 0) & ~labelled)
    tilt = np.zeros(len(rows))
    if kind == "suspicious":
        Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
        value = Z[rows] @ (Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0))
        tilt = SLOPE * (value - value.mean()) / max(float(value.std()), 1e-12)
    order = np.argsort(-(tilt + rng.gumbel(size=len(rows))), kind="stable")
    known: np.ndarray = rows[order[: min(KNOWN, int(MOST_SHARE * len(rows)))]]
    return known


def _line(kind: str, how: str, found: list[tuple[Any, ...]]) -> dict[str, Any]:
    mine = [cell for cell in found if cell[:2] == (kind, how)]
    ignored = [cell for cell in found if cell[:2] == (kind, "ignored")]
    score, error, kept, width = (np.array([cell[k] for cell in mine], dtype=float) for k in (3, 4, 5, 6))
    gain = score - np.array([cell[3] for cell in ignored])
    names = [cell[2] for cell in mine]
    by_task = {task: float(gain[[name == task for name in names]].mean()) for task in names}
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
