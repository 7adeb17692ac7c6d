"""What answers to reviewed rows tell, beside the intervals that need none, and what they cost.

On the tasks of benchmark `quality` a quarter of the positives is labeled, and the true labels answer the rows that
`pucli review` draws from the file of `pucli auto --scored`, "for" one of its goals. "holds" is how often the 90 %
interval of the estimate holds the true value in these rows, "width" its median width, "error" its mean absolute error;
"of auto" are the same of the interval of `auto`, without answers. "found" is the mean share of answers that are
positive. In rows "hard skipped", the third of the drawn rows whose scores are nearest to the threshold is left empty.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.quality_tasks import Rows, each_task, of_tasks
from benchmarks.common.result_files import grouped
from benchmarks.common.timing import Progress, silent
from pucli.core.seeding import stream
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.models.review import answers_of, sample_of

FREQUENCY = 0.25
ASKED = (("precision", ""), ("prior", ""), ("precision", "hard skipped"), ("positives", ""))
COLUMNS = (
    "for", "rows", "answers", "estimate", "holds", "width", "error", "holds, of auto", "width, of auto", "found",
    "cells",
)  # fmt: skip
FULL = {"draws": 50, "repeats": 3}


def run(
    progress: Progress = silent,
    *,
    half: str = "all",
    answers: Sequence[int] = (50, 200),
    draws: int = 10,
    repeats: int = 1,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return the table of benchmark `review`; the files are those of benchmark `quality`."""
    started = time.process_time()
    cells = [
        {"task": task, "repeat": repeat, **cell}
        for task, rows in each_task(half, folder, progress)
        for repeat in range(repeats)
        for cell in _cells(task, rows, repeat, answers, draws)
    ]
    seconds = time.process_time() - started
    title = f"Answers to reviewed rows, {of_tasks(cells, half)}, {draws} draws, {seconds:.0f} processor seconds"
    return {"title": title, "rows": table(cells), "cells": cells}


def _cells(task: str, rows: Rows, repeat: int, answers: Sequence[int], draws: int) -> Iterator[dict[str, Any]]:
    rng = stream(5, "review", task, repeat)
    s = (rows.y == 1) & (rng.random(len(rows.y)) < FREQUENCY)
    with warnings.catch_warnings(action="ignore"):
        model = AutoPU(random_state=repeat).fit(rows.X, s)
    score = model.held_out_ - model.threshold_
    called, positive = (score > 0.0) & ~s, (rows.y == 1) & ~s
    truth = {"precision": positive[called].mean(), "prior": positive[~s].mean()}
    low, high = model.prior_interval_
    precision = model.estimates_["precision"]
    of_auto = {"precision": (precision.low, precision.high), "prior": (low, high)}
    rows_of = pd.DataFrame({"row": np.flatnonzero(~s), "score": score[~s]})
    for (goal, way), count, seed in product(ASKED, answers, range(draws)):
        drawn = sample_of(rows_of, (), count, goal, seed).rows
        drawn["answer"] = np.where(positive[drawn["row"]], "yes", "no")
        if way:
            hard = drawn["score"].abs()
            drawn.loc[hard < hard.quantile(1 / 3), "answer"] = ""
        found = answers_of([drawn], task)
        cell = {"for": goal, "rows": way, "answers": count, "draw": seed, "found": found.positive / found.answered}
        shares = {"precision": found.precision, "prior": found.prior}
        for name, share in shares.items():
            if share is None or goal == "positives":
                continue
            yield {
                **cell,
                "estimate": name,
                "holds": share.low - 1e-12 <= truth[name] <= share.high + 1e-12,
                "width": share.high - share.low,
                "error": abs(share.value - truth[name]),
                "holds, of auto": of_auto[name][0] <= truth[name] <= of_auto[name][1],
                "width, of auto": of_auto[name][1] - of_auto[name][0],
            }
        if goal == "positives":
            yield {**cell, "estimate": ""}


def table(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each goal, number of answers, and estimate."""
    lines = []
    for line, part in grouped(cells, COLUMNS[:4]):
        for name in COLUMNS[4:-1]:
            values = part[name].dropna().astype(float)
            if len(values):
                line[name] = values.median() if name.startswith("width") else values.mean()
        lines.append({**line, "cells": len(part)})
    return lines
