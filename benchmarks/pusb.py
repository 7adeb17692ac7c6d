"""Labels selected by the score: `auto`, its `--labeling sar`, E-GLPUAL and the naive SVC in cells of PUSB's table 2.

The rule is that of Kato et al. (2019) as pu-toolbox ran it again (commit 6f63d8f, 100 draws a cell); it stood here
before a figure was seen. Features are divided by their maximum, those of shuttle after [-1, 1] on its training file as
LIBSVM has them, and mushrooms lacks stalk-root. p(y = 1 | x) is scikit-learn's logistic regression (C = .01, a constant
column) on all rows. A permutation leaves the last 3000 rows out; positives of the others are accepted if p^20 over its
maximum exceeds a uniform number, in whole passes until there are 400, of which a permutation takes 400. Unlabeled rows,
a share `prior` of them positive, come from the same pool, labeled ones among them; 1000 of the 3000 are the test rows,
at the prior. Seeds are 2018 + 100 times the place of the cell (of 12: unlabeled rows, then prior) + the draw. Methods
are told the scenario alone; E-GLPUAL has its defaults on standardized columns. "accuracy" is theirs: a share `prior` of
the test rows is called positive. "F1" is at the method's own threshold, and "prior error" the mean absolute one.

PUSB and uLSIF have their figures of the same draws, the first of 100 (`experiments/published/pusb-trials.csv`), and no
F1. USPS and pageblocks, 13 of 45 cells, cannot be had. "sar gain" is that of `--labeling sar` over `auto`, with its
standard error: draws of fixed cells are independent. The option was to stay if its F1 gained two standard errors in
three of the four sets. Draws go around outermost, so that after a stop all cells have as many. That the standing of
`auto` counts its F1, too, was decided after a look: it is behind there.
"""

from __future__ import annotations

import json
import os
import time
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.common.quality_methods import Problem, predict
from benchmarks.common.quality_tasks import f1
from benchmarks.common.result_files import explained
from benchmarks.common.timing import Progress, silent
from pucli.data import load_dataset
from pucli.data.files.readers import read_csv

LABELED, HELD_OUT, TESTED, SHUTTLE_TRAINING = 400, 3000, 1000, 43_500
SAR = "auto, labeling sar"
METHODS = ("auto", SAR, "e-glpual", "SVC, unlabeled as negative")
MEASURES = ["accuracy", "AUC", "F1", "prior error"]
CELL = ["table", "prior", "unlabeled"]
KEY = [*CELL, "draw", "method"]
COLUMNS = (*CELL, "measure", *METHODS, "PUSB", "uLSIF", "sar gain", "error of gain")


def run(
    progress: Progress = silent,
    *,
    draws: int = 10,
    kept: Path = Path(os.devnull),
    published: Path = Path("experiments/published"),
) -> dict[str, Any]:
    """Return the table of benchmark `pusb`; a file `kept` gets each fit at once, and its fits are not run again."""
    kept = Path(kept)
    trials = read_csv(Path(published) / "pusb-trials.csv").query("draw < @draws").sort_values("draw", kind="stable")
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    found = {tuple(fit[key] for key in KEY): fit for fit in map(json.loads, lines) if fit["draw"] < draws}
    cells = trials[[*KEY[:-1], "seed"]].drop_duplicates()
    for (table, prior, unlabeled, draw, seed), method in product(cells.itertuples(index=False), METHODS):
        key = (table, prior, unlabeled, draw, method)
        if key not in found:
            found[key] = dict(zip(KEY, key, strict=True)) | _measured(table, prior, unlabeled, seed, method)
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found[key]) + "\n")
        progress(len(found), len(cells) * len(METHODS))
    rows, standing = tabulated(pd.concat([pd.DataFrame(found.values()), trials]))
    return {
        "title": f"PUSB, table 2: labels selected by the score, {draws} draws of each cell",
        "about": explained(__doc__),
        "rows": rows,
        "standing": standing,
        "cells": [*found.values()],
    }


@cache
def rows_of(table: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features (n, m), which rows are positive (n,), and p(y = 1 | x) to the power of 20."""
    data, edible = load_dataset(table.removesuffix("s")), table == "mushrooms"
    X, y = data.X, (data.y == 1) != edible
    if edible:
        X = X[:, [not name.startswith("11=") for name in data.feature_names]]
    if table == "shuttle":
        low, high = X[:SHUTTLE_TRAINING].min(axis=0), X[:SHUTTLE_TRAINING].max(axis=0)
        X = 2.0 * (X - low) / (high - low) - 1.0
    X = X / X.max(axis=0)
    Z = np.column_stack([X, np.ones(len(X))])
    return X, y, LogisticRegression(C=0.01, max_iter=1000).fit(Z, y).predict_proba(Z)[:, 1] ** 20


def drawn(y: np.ndarray, weight: np.ndarray, prior: float, unlabeled: int, seed: int) -> list[np.ndarray]:
    """Return labeled, unlabeled and test rows, positives first, from the classes y (n,) and chances `weight` (n,)."""
    random = np.random.RandomState(seed)

    def some(rows: np.ndarray, count: int) -> np.ndarray:
        return rows[random.permutation(len(rows))[:count]]

    def mixed(rows: np.ndarray, count: int) -> np.ndarray:
        positives = int(count * prior)
        return np.concatenate([some(rows[y[rows]], positives), some(rows[~y[rows]], count - positives)])

    pool, left_out = np.split(random.permutation(len(y)), [-HELD_OUT])
    positive, accepted = pool[y[pool]], pool[:0]
    chance = weight[positive] / weight[positive].max()
    while len(accepted) < LABELED:
        accepted = np.concatenate([accepted, positive[chance > random.uniform(size=len(positive))]])
    return [some(accepted, LABELED), mixed(pool, unlabeled), mixed(left_out, TESTED)]


def _measured(table: str, prior: float, unlabeled: int, seed: int, method: str) -> dict[str, float | None]:
    X, y, weight = rows_of(table)
    *known, test = drawn(y, weight, prior, unlabeled, seed)
    train, started = np.concatenate(known), time.process_time()
    problem = Problem(X[train], np.arange(len(train)) < LABELED, X[test], y[train], prior, "case-control", seed)
    with threadpool_limits(1):
        found = predict(method, problem)
    assert found is not None
    truth, share = y[test], found.scores > np.sort(found.scores)[int(TESTED * (1.0 - prior))]
    return {
        "accuracy": np.mean(share == truth),
        "AUC": roc_auc_score(truth, found.scores),
        "F1": f1(truth, found.positive),
        "prior error": None if found.prior is None else abs(found.prior - prior),
        "seconds": time.process_time() - started,
    }


def tabulated(fits: pd.DataFrame) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the means of all, of sets and of cells, and where `auto` stands beside the best other of a set."""
    rows, standing = [], []
    for level, measure in product(([], CELL[:1], CELL), MEASURES):
        wide = fits.pivot(index=KEY[:-1], columns="method", values=measure).astype(float)
        for of, part in wide.groupby(level) if level else [(("all",), wide)]:
            means = part.mean().dropna()
            row = {**dict(zip(CELL, of, strict=False)), "measure": measure, **means}
            rows.append(row | dict(zip(COLUMNS[-2:], _gain(part, "auto", SAR), strict=True)))
            if level != CELL[:1] or measure == MEASURES[-1]:
                continue
            best = str(means.drop(["auto", SAR]).idxmax())
            difference, error = _gain(part, best, "auto")
            figures = {"auto": means["auto"], "best_other": best, "other": means[best], "difference": difference}
            standing.append({**row, "table": f"PUSB, {of[0]}", **figures, "standard_error": error, "n": len(part)})
    return rows, standing


def _gain(figures: pd.DataFrame, of: str, to: str) -> tuple[float, float]:
    """Return the mean difference of two methods in the same draws, and its standard error within cells."""
    cells = (figures[to] - figures[of]).groupby(level=CELL)
    return float(cells.mean().mean()), float((cells.var() / cells.size()).sum(skipna=False) ** 0.5 / cells.ngroups)
