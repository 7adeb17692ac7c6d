"""`pucli auto` on twelve public tables at their real size, raw columns, beside the rivals that practice has.

Of each table 30 % of the rows are kept for testing; of the positives among the others a share, the label frequency,
keeps its label, and all rows are one training set. `pucli auto` and `pucli predict` get the files and nothing else. The
rivals take unlabeled rows for negative and call as many test rows positive as the true share says, which `auto` is not
told: LightGBM (200 trees; 400 slow ones; ten bags of 100 trees, each on all labeled rows and four times as many
others) and HistGradientBoosting with their own handling of categories; pulearn's bagging and pu-toolbox's tuned uPU on
one-hot features and at most `MOST_ROWS` rows. "true labels" is LightGBM with every label, the ceiling. "half" says on
which tables defaults may be decided ("design"); the others are for one look. Recall and lift are those of the 1 % of
test rows with the highest scores; seconds are of the processor, one thread, with all imports for `auto` alone; memory
(MB) is the largest of its two commands. Every figure is the mean of the splits.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.common.quality_methods import Problem, predict
from benchmarks.common.real_rows import TABLES
from benchmarks.common.result_files import explained
from benchmarks.common.timing import Progress, silent
from pucli.core.arrays import Bools, Floats
from pucli.core.errors import UsageError
from pucli.core.seeding import stream

TEST_SHARE, FREQUENCIES, FEWEST_LABELED = 0.3, (0.5, 0.25, 0.1, 0.02), 20
TOP, MOST_LEVELS, MOST_ROWS = 0.01, 30, 5000
COLUMNS = (
    *("table", "half", "rows", "frequency", "labeled", "method", "AUC", "AP", "F1", "best F1"),
    *("recall at 1 %", "lift at 1 %", "seconds", "MB", "note"),
)
FULL = {"splits": 3}
NAMES = tuple(table.name for table in TABLES)


class Split(NamedTuple):
    """Features of all rows, which are positive, labeled and for testing, and the seed."""

    X: pd.DataFrame
    positive: Bools
    labeled: Bools
    test: Bools
    seed: int


# Scores of the test rows and further figures, or why there are none.
Method = Callable[[Split], tuple[Floats, dict[str, Any]] | str]


def run(
    progress: Progress = silent,
    *,
    tables: Sequence[str] = NAMES,
    frequencies: Sequence[float] = FREQUENCIES,
    splits: int = 1,
    methods: Sequence[str] = (),
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return the table of benchmark `real_tables`.

    The files lie in `folder`, in the folder that PUCLI_QUALITY_DATA names, or in ../shared/data; `methods` are by
    default all.
    """
    folder = folder or Path(os.environ.get("PUCLI_QUALITY_DATA", "../shared/data"))
    unknown = {*tables} - {table.name for table in TABLES} | {*methods} - {*METHODS}
    if unknown:
        raise UsageError(f"no table or method {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}.")
    chosen = [table for table in TABLES if table.name in tables and table.present(folder)]
    if not chosen:
        raise UsageError(f"{folder}: none of the files is there; set PUCLI_QUALITY_DATA to their folder.")
    cells = []
    for done, table in enumerate(chosen, start=1):
        X, positive = table.read(folder)
        for frequency in frequencies:
            for k in range(splits):
                split = _split(table.name, X, positive, frequency, k)
                if split.labeled.sum() < FEWEST_LABELED:
                    continue
                about: dict[str, Any] = {"table": table.name, "half": "design" if table.design else "look-once"}
                about |= {"rows": np.sum(~split.test), "labeled": split.labeled.sum(), "split": k}
                cells += [{**about, "frequency": frequency, **_row(name, split)} for name in methods or METHODS]
        progress(done, len(chosen))
    return {
        "title": f"Real tables: pucli auto and its rivals, {splits} split{'s' * (splits > 1)}",
        "about": explained(__doc__),
        "rows": means(cells),
        "cells": cells,
    }


def means(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each table, label frequency and method: the means of its splits, and the first note."""
    frame = pd.DataFrame([*cells]).drop(columns="split")
    how = {name: "mean" if pd.api.types.is_numeric_dtype(frame[name]) else "first" for name in frame}
    found = frame.groupby(["table", "frequency", "method"], sort=False, as_index=False).agg(
        {name: way for name, way in how.items() if name not in ("table", "frequency", "method")}
    )
    whole = [name for name in ("rows", "labeled", "MB") if name in found]
    found[whole] = found[whole].round().astype("Int64").astype(object)
    return [{str(key): value for key, value in row.items() if pd.notna(value)} for row in found.to_dict("records")]


def _split(name: str, X: pd.DataFrame, positive: Bools, frequency: float, k: int) -> Split:
    random = stream(7, "real tables", name, k)
    test = random.random(len(X)) < TEST_SHARE
    labeled = ~test & positive & (random.random(len(X)) < frequency)
    return Split(X, positive, labeled, test, k)


def _row(name: str, split: Split) -> dict[str, Any]:
    """Return the figures of one method on one split, or why there are none."""
    method, package = METHODS[name]
    if package and importlib.util.find_spec(package) is None:
        return {"method": name, "note": f"{package} is not installed"}
    started = time.process_time()
    with threadpool_limits(1):
        found = method(split)
    if isinstance(found, str):
        return {"method": name, "note": found}
    scores, more = found
    row = {"method": name, "seconds": time.process_time() - started, **more}
    truth = split.positive[split.test]
    called = row.pop("called", None)
    if called is None:
        called = scores > np.quantile(scores, 1.0 - truth.mean())
    return row | judged(scores, called, truth)


def judged(scores: Floats, called: Bools, truth: Bools) -> dict[str, float]:
    """Return the figures of scores (n,) and of the rows called positive, given which of the test rows are positive."""
    ordered = truth[np.argsort(-scores, kind="stable")]
    found, first = np.cumsum(ordered), max(1, round(TOP * len(truth)))
    recall = found[first - 1] / found[-1]
    return {
        "AUC": roc_auc_score(truth, scores),
        "AP": average_precision_score(truth, scores),
        "F1": f1_score(truth, called),
        "best F1": np.max(2.0 * found / (np.arange(1, len(found) + 1) + found[-1])),
        "recall at 1 %": recall,
        "lift at 1 %": recall * len(truth) / first,
    }


def _auto(split: Split) -> tuple[Floats, dict[str, Any]] | str:
    """Run `pucli auto` and `pucli predict` on files as a user does."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        label = pd.Series(np.where(split.labeled, "yes", ""), name="label")
        split.X.assign(label=label)[~split.test].to_csv(place / "train.csv", index=False)
        split.X[split.test].to_csv(place / "test.csv", index=False)
        data = ["--data", "train.csv", "--label", "label", "--positive", "yes", "--scenario", "single-training-set"]
        seconds, memory = 0.0, 0
        for words in (
            ["auto", *data, "--model", "model", "--seed", str(split.seed), "--json"],
            ["predict", "--model", "model", "--data", "test.csv", "--out", "scored.csv", "--json"],
        ):
            with (place / "out.json").open("w") as out:
                process = subprocess.Popen(
                    [sys.executable, "-m", "pucli", *words], cwd=place, stdout=out, stderr=subprocess.DEVNULL
                )
                _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                reason = json.loads((place / "out.json").read_text() or "{}").get("error", {}).get("message", "killed")
                return f"`pucli {words[0]}`: {reason}"
            seconds, memory = seconds + used.ru_utime + used.ru_stime, max(memory, used.ru_maxrss)
        scored = pd.read_csv(place / "scored.csv", dtype={"prediction": str})
    called = (scored["prediction"] == "yes").to_numpy()
    return scored["score"].to_numpy(), {"called": called, "seconds": seconds, "MB": memory / 1e3}


def _native(X: pd.DataFrame) -> pd.DataFrame:
    """Return numbers and categories; a column is of numbers if most of its cells are."""
    numbers = {name: pd.to_numeric(X[name], errors="coerce") for name in X}
    return pd.DataFrame(
        {
            f"x{k}": numbers[name] if numbers[name].notna().mean() > 0.5 else X[name].astype("category")
            for k, name in enumerate(X)
        }
    )


def _encoded(X: pd.DataFrame) -> Floats:
    """Return standardized numbers, empty cells as the mean, and the most frequent levels one-hot."""
    parts = []
    for _, column in _native(X).items():
        if column.dtype == "category":
            levels = column.value_counts().index[:MOST_LEVELS]
            parts.append(np.stack([(column == level).to_numpy(float) for level in levels], axis=1))
        else:
            filled = column.fillna(column.mean()).to_numpy(float)
            parts.append(((filled - filled.mean()) / (filled.std() or 1.0))[:, None])
    return np.hstack(parts)


def _lightgbm(trees: int = 200, rate: float = 0.1, bags: int = 0, true: bool = False) -> Method:
    def method(split: Split) -> tuple[Floats, dict[str, Any]]:
        from lightgbm import LGBMClassifier

        X, train = _native(split.X), np.flatnonzero(~split.test)
        y = split.positive if true else split.labeled
        settings: dict[str, Any] = {"n_estimators": trees, "learning_rate": rate, "verbose": -1, "n_jobs": 1}
        random = stream(split.seed, "bags")
        scores = np.zeros(int(split.test.sum()))
        for k in range(max(1, bags)):
            rows = train
            if bags:
                others = random.permutation(train[~y[train]])[: 4 * int(y.sum())]
                rows = np.sort(np.concatenate([train[y[train]], others]))
            model = LGBMClassifier(class_weight="balanced", random_state=k, **settings)
            scores += np.asarray(model.fit(X.iloc[rows], y[rows]).predict(X[split.test], raw_score=True))
        return scores, {}

    return method


def _histogram(split: Split) -> tuple[Floats, dict[str, Any]]:
    X = _native(split.X)
    for name in X:
        if X[name].dtype == "category" and X[name].nunique() > 250:
            X[name] = X[name].cat.codes
    model = HistGradientBoostingClassifier(
        max_iter=200, class_weight="balanced", categorical_features="from_dtype", random_state=split.seed
    )
    return np.ravel(model.fit(X[~split.test], split.labeled[~split.test]).decision_function(X[split.test])), {}


def _library(name: str) -> Method:
    def method(split: Split) -> tuple[Floats, dict[str, Any]] | str:
        X, train = _encoded(split.X), np.flatnonzero(~split.test)
        drawn = np.sort(stream(split.seed, "drawn").permutation(train)[:MOST_ROWS])
        y, labeled = split.positive[drawn], split.labeled[drawn]
        if labeled.sum() < 2:
            return "too few labeled rows among those drawn"
        problem = Problem(
            X[drawn], labeled, X[split.test], y.astype(int), float(y.mean()), "single-training-set", split.seed
        )
        found = predict(name, problem)
        return "does not run on this scenario or fails" if found is None else (found.scores, {})

    return method


METHODS: dict[str, tuple[Method, str]] = {
    "pucli auto": (_auto, ""),
    "LightGBM": (_lightgbm(), "lightgbm"),
    "LightGBM slow": (_lightgbm(400, 0.03), "lightgbm"),
    "LightGBM bags": (_lightgbm(100, 0.1, bags=10), "lightgbm"),
    "HistGradientBoosting": (_histogram, ""),
    "pulearn bagging": (_library("pulearn bagging"), "pulearn"),
    "pu-toolbox uPU tuned": (_library("pu-toolbox uPU, tuned"), "pu_toolbox"),
    "true labels": (_lightgbm(true=True), "lightgbm"),
}
