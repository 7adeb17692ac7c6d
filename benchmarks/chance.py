"""What `auto` says where there is nothing to say: pure noise taken for a ranking, and columns named by mistake.

Labels that are independent of the columns: the shares of tables whose held-out known positives rank "better than
chance" at p up to .05 and .01. Labels that are a random sample of the positives: names of columns in which labeled rows
seem to differ from unlabeled ones. And the milliseconds of processor time that the reasons for one row take.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.common.timing import Progress, silent
from pucli import AutoPU
from pucli.estimators.auto.chance import chance_test
from pucli.estimators.auto.random_labeling import random_labeling
from pucli.estimators.auto.reasons import effects, usual_values

COLUMNS = ("case", "tables", "p <= .05", "p <= .01", "names per table", "ms per row")
# Labeled and unlabeled rows of tables of noise, and their numbers of columns.
NOISE, FEATURES = ((10, 90), (30, 170), (400, 600)), (3, 8, 20)
# Rows of tables with classes, standard deviation of the logarithm of the class prior that the test is told, and cases.
ROWS, PRIOR_ERROR = 600, 0.35
APART, LABELED, PRIORS = (0.7, 1.5, 3.0), (10, 30, 100), (0.1, 0.4)
# Table for the time of reasons.
TIMED, EXPLAINED = (2000, 20), 200
FULL = {"tables": 220, "named": 324}


def run(progress: Progress = silent, *, tables: int = 6, named: int = 18) -> dict[str, Any]:
    """Return the table of benchmark `chance` for so many tables of noise of each size, and so many with classes."""
    rows: list[dict[str, Any]] = []
    steps, done = tables * len(NOISE) + named + 1, 0
    for labeled, unlabeled in NOISE:
        found = []
        for seed in range(tables):
            X, s = noise(seed, labeled, unlabeled)
            held_out = _fitted(X, s).held_out_
            found.append(chance_test(held_out[s], held_out[~s]).p_value)
            done += 1
            progress(done, steps)
        sizes = {f"p <= {level[1:]}": np.mean(np.array(found) <= float(level)) for level in ("0.05", "0.01")}
        rows.append({"case": f"noise, {labeled} labeled", "tables": tables, **sizes})
    names = 0
    for seed in range(named):
        X, s, prior = with_classes(seed)
        names += len(random_labeling(X, s, prior, np.random.default_rng(seed)).differing)
        done += 1
        progress(done, steps)
    rows.append({"case": "random labels", "tables": named, "names per table": names / max(named, 1)})
    rows.append({"case": "reasons, {:,} rows x {} columns".format(*TIMED), "tables": 1, "ms per row": _milliseconds()})
    progress(steps, steps)
    return {"title": "where there is nothing to say", "rows": rows}


def noise(seed: int, labeled: int, unlabeled: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of noise, and which are labeled; in every other table a column is skewed and one binary."""
    rng = np.random.default_rng([seed, 77])
    X = rng.normal(size=(labeled + unlabeled, FEATURES[seed % 3]))
    if seed % 2:
        X[:, 0], X[:, -1] = np.exp(X[:, 0]), X[:, -1] > 0.5
    return X, np.arange(len(X)) < labeled


def with_classes(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return rows of two classes, which are labeled, a random sample of the positives, and an estimate of the prior."""
    rng = np.random.default_rng([seed, 5])
    m, apart = FEATURES[seed % 3], APART[(seed // 3) % 3]
    labeled, prior = LABELED[(seed // 9) % 3], PRIORS[(seed // 27) % 2]
    positive, part = rng.random(ROWS) < prior, max(1, m // 3)
    rest = rng.normal(size=(ROWS, m))
    rest[:, :part] += apart / np.sqrt(part) * positive[:, None]
    known = rng.normal(size=(labeled, m))
    known[:, :part] += apart / np.sqrt(part)
    X = np.vstack([known, rest])
    if seed % 2:
        X[:, 0], X[:, -1] = np.exp(X[:, 0]), X[:, -1] > 0.3
    estimate = float(np.clip(prior * np.exp(rng.normal(0.0, PRIOR_ERROR)), 0.02, 0.95))
    return X, np.arange(len(X)) < labeled, estimate


def _fitted(X: np.ndarray, s: np.ndarray) -> AutoPU:
    with warnings.catch_warnings(action="ignore"):
        return AutoPU().fit(X, s)


def _milliseconds() -> float:
    """Return the processor time of the reasons for a row."""
    rng = np.random.default_rng(0)
    positive = rng.random(TIMED[0]) < 0.3
    X = rng.normal(size=TIMED) + 0.6 * positive[:, None]
    s = positive & (rng.random(len(X)) < 0.4)
    model, usual = _fitted(X, s), usual_values(X, ~s)
    effects(model, X[:10], usual)  # compiles
    started = time.process_time()
    effects(model, X[:EXPLAINED], usual)
    return 1000.0 * (time.process_time() - started) / EXPLAINED
