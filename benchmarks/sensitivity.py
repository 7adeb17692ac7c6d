"""Bounds for labels that are not random, and how far the order of the rows and the seed move the first rows.

On the tasks of benchmark `quality`, positives are labeled with one of two odds, whose ratio is "odds"; the others are
among the unlabeled rows of a case-control fit. The greater odds are those of the clearer positives ("clear"), by scores
that know the true labels and about where F1 is greatest, or of the others ("unclear"). "interval" is how often the 90 %
interval for random labels holds the true recall, lift, or precision at the true class prior, and "bounds" how often
those for this odds ratio do; both with their mean width. With random labels, once per task, the title has the mean
number of the first 50 unlabeled rows that are others if the rows have another order, and with another seed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.common.quality_tasks import Rows, each_task, of_tasks
from benchmarks.common.timing import Progress, silent
from pucli.core.seeding import stream
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.solvers.ensemble.estimates import if_odds

FREQUENCY = 0.3
FIRST, FEWEST = 50, 5
ESTIMATES = ("recall", "lift", "precision")
COLUMNS = ("labeling", "odds", "estimate", "interval", "width", "bounds", "width of bounds", "cells")


def run(
    progress: Progress = silent,
    *,
    half: str = "all",
    labelings: Sequence[str] = ("clear", "unclear"),
    odds: Sequence[float] = (2.0,),
    repeats: int = 1,
    most: int = 250,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return the table of benchmark `sensitivity`; the files are those of benchmark `quality`."""
    cells, others, started = [], [], time.process_time()
    for task, rows in each_task(half, folder, progress, most):
        clear = _clearness(rows)
        others.append(moved(rows))
        for repeat, labeling, ratio in product(range(repeats), labelings, odds):
            rng = stream(11, "sensitivity", task, repeat)
            found = _cells(rows, _eager(rows, clear, labeling, rng), ratio, rng, repeat)
            cells += [{"task": task, "repeat": repeat, "labeling": labeling, "odds": ratio, **c} for c in found]
    seconds = time.process_time() - started
    order, seed = np.mean(others, axis=0)
    title = (
        f"Bounds for labels that are not random, {of_tasks(cells, half)}, {seconds:.0f} processor seconds; of the "
        f"first {FIRST} rows, another order of the rows changes {order:.3g} and another seed {seed:.3g}"
    )
    return {"title": title, "columns": list(COLUMNS), "rows": table(cells), "cells": cells}


def moved(rows: Rows) -> list[int]:
    """Return how many of the first unlabeled rows are others in another order of the rows, and with another seed."""
    n, rng = len(rows.y), stream(11, "order of rows")
    positive = rng.permutation(np.flatnonzero(rows.y == 1))
    s = np.isin(np.arange(n), positive[: max(FEWEST, round(FREQUENCY * len(positive)))])
    first = []
    with warnings.catch_warnings(action="ignore"):
        for order, seed in ((np.arange(n), 0), (rng.permutation(n), 0), (np.arange(n), 1)):
            model = AutoPU(random_state=seed).fit(rows.X[order], s[order])
            first.append({*order[model.ranking_.index[:FIRST]]})
    return [len(first[0] - others) for others in first[1:]]


def labeled_rows(y: np.ndarray, eager: np.ndarray, odds: float, rng: np.random.Generator) -> np.ndarray:
    """Return which rows are labeled, (n,): positives, with greater odds where `eager`, about `FREQUENCY` of them."""
    low = FREQUENCY / (1.0 - FREQUENCY) / np.sqrt(odds)
    chance = np.where(eager, odds * low, low)
    result: np.ndarray = (y == 1) & (rng.random(len(y)) < chance / (1.0 + chance))
    return result


def _clearness(rows: Rows) -> np.ndarray:
    """Return the probability of a positive by models that know the true labels of other rows, (n,)."""
    forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    found: np.ndarray = cross_val_predict(forest, rows.X, rows.y, cv=folds, method="predict_proba")[:, 1]
    return found


def _eager(rows: Rows, clear: np.ndarray, labeling: str, rng: np.random.Generator) -> np.ndarray:
    """Return which positives have the greater odds of being labeled, (n,)."""
    value = clear + 1e-9 * rng.standard_normal(len(clear)) * (np.ptp(clear) or 1.0)
    above: np.ndarray = value > np.quantile(value, 1.0 - rows.y.mean())
    return ~above if labeling == "unclear" else above


def _cells(rows: Rows, eager: np.ndarray, odds: float, rng: np.random.Generator, repeat: int) -> list[dict[str, Any]]:
    """Return for each estimate its true value and whether interval and bounds hold it."""
    s = labeled_rows(rows.y, eager, odds, rng)
    prior = float(rows.y[~s].mean())
    with warnings.catch_warnings(action="ignore"):
        model = AutoPU(random_state=repeat).fit(rows.X, s).with_prior(prior)
    called, positive = model.held_out_[~s] > model.threshold_, rows.y[~s] == 1
    recall = float(np.mean(called[positive]))
    truth = {"recall": recall, "lift": recall / float(np.mean(called)), "precision": float(np.mean(positive[called]))}
    plain = model.estimates_
    bounds = if_odds(plain, odds)
    cells = []
    for name in ESTIMATES:
        one, wide = plain.get(name), getattr(bounds, name)
        if one is None or wide is None:
            continue
        cells.append(
            {
                "estimate": name,
                "truth": truth[name],
                "interval": bool(one.low <= truth[name] <= one.high),
                "width": one.high - one.low,
                "bounds": bool(wide.low <= truth[name] <= wide.high),
                "width of bounds": wide.high - wide.low,
            }
        )
    return cells


def table(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each labeling and estimate."""
    lines = []
    keys = ["labeling", "odds", "estimate"]
    for place, part in pd.DataFrame(cells).groupby(keys, sort=False):
        means = {key: float(part[key].mean()) for key in COLUMNS[3:-1]}
        lines.append({**dict(zip(keys, place, strict=True)), **means, "cells": len(part)})
    return lines
