"""`pucli auto` on tables of thousands of columns: processor seconds and memory, and the AUC beside screened columns.

The columns are screened on all training rows, by the differences of their standardized means, and `auto` is fitted to
the best 20, 100 and 500; the rows that judge it are others. The best of the three is known by the truth alone.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.timing import Progress, silent
from benchmarks.scale import measured
from pucli import AutoPU
from pucli.core.arrays import Bools, Floats
from pucli.metrics.ranking import auc

FULL = {"sizes": (2000, 20_000), "seeds": (0, 1)}
ROWS, TESTED, POSITIVE, LABELED = 200, 1000, 0.4, 0.5
SCREENED = (20, 100, 500)
# Columns with information among m, and the distance of the means of the classes in them, in standard deviations.
KINDS: dict[str, Callable[[int], tuple[int, float]]] = {
    "few strong": lambda m: (5, 1.0),
    "some": lambda m: (30, 0.5),
    "many weak": lambda m: (m // 20, 0.3 * (2000 / m) ** 0.3),
    "all, very weak": lambda m: (m, 0.08 * (2000 / m) ** 0.3),
}


def run(progress: Progress = silent, *, sizes: Sequence[int] = (2000,), seeds: Sequence[int] = (0,)) -> dict[str, Any]:
    """Return the table of benchmark `wide` for these numbers of columns."""
    rows: list[dict[str, Any]] = []
    steps = len(sizes) * (1 + len(KINDS))
    for m in sizes:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "wide.csv"
            X, labeled, _ = made("some", m, 0)
            frame = pd.DataFrame(np.round(X[:ROWS], 3), columns=[f"x{k}" for k in range(m)])
            frame.assign(label=labeled.astype(int)).to_csv(data, index=False)
            cost = measured(["-m", "pucli", "auto", "--data", str(data), "--label", "label", "--positive", "1"])
        row: dict[str, Any] = {"columns": m, "table": "some, as a command"}
        rows.append(row | ({"note": cost} if isinstance(cost, str) else {"cpu s": cost.cpu, "MB": cost.peak}))
        progress(len(rows), steps)
        for kind in KINDS:
            areas = np.mean([compared(kind, m, seed) for seed in seeds], axis=0)
            names = ("auto", *(f"best {size}" for size in SCREENED))
            rows.append({"columns": m, "table": kind} | dict(zip(names, areas.tolist(), strict=True)))
            progress(len(rows), steps)
    return {
        "title": f"auto on {ROWS} rows of thousands of columns: AUC of other rows, mean of {len(seeds)} draws",
        "columns": ("columns", "table", "auto", *(f"best {size}" for size in SCREENED), "cpu s", "MB", "note"),
        "rows": rows,
    }


def made(kind: str, m: int, seed: int) -> tuple[Floats, Bools, Bools]:
    """Return rows, the labels (`ROWS`,) of the first ones, which train, and the classes of all."""
    random = np.random.default_rng([seed, m])
    truth = random.random(ROWS + TESTED) < POSITIVE
    X = random.normal(size=(len(truth), m))
    count, apart = KINDS[kind](m)
    X[truth, :count] += apart
    return X, truth[:ROWS] & (random.random(ROWS) < LABELED), truth


def compared(kind: str, m: int, seed: int) -> list[float]:
    """Return the AUC of test rows by `auto` on all columns, and on the best `SCREENED` of them."""
    X, s, truth = made(kind, m, seed)
    train, test, positive = X[:ROWS], X[ROWS:], truth[ROWS:]
    differences = np.abs(train[s].mean(axis=0) - train[~s].mean(axis=0)) / train.std(axis=0)
    order = np.argsort(-differences, kind="stable")
    found = []
    for size in (m, *SCREENED):
        chosen = np.sort(order[:size])
        with warnings.catch_warnings(action="ignore"):
            scores = AutoPU().fit(train[:, chosen], s.astype(int)).score_rows(test[:, chosen])
        found.append(float(auc(scores[positive], scores[~positive])))
    return found
