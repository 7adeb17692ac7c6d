"""Which criterion chooses parameters best without true labels, by the F1 it loses to a choice by the test labels.

The tasks and splits are those of benchmark `quality`, case-control. Each point of a grid is scored once on rows held
out by two cross-validations; all criteria choose among the same points from these scores. "threshold" is zero ("own")
or where the estimated F1 of the point is greatest ("moved"). "regret" is the F1 that is missing on the test rows to the
best point at the same threshold, "regret to all" to the best point at either. The method "any" chooses among the points
of all methods. The criterion with the least "regret to all" on the design half is the default of `pucli tune`, and the
look-once half says how much that is worth.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from benchmarks.common.quality_tasks import Rows, case_control, each_task, f1, half_of, of_tasks
from benchmarks.common.result_files import grouped
from benchmarks.common.timing import Progress, silent
from pucli.methods import estimator_class, get_method
from pucli.metrics.pu import proxy_accuracy
from pucli.metrics.ranking import likely_negative_auc
from pucli.tuning.evidence import Evidence, evidence
from pucli.tuning.folds import pu_folds
from pucli.tuning.grids import expand
from pucli.tuning.inputs import estimator_of_prior, share_of_positives
from pucli.tuning.routes import FoldedRows, make_route
from pucli.tuning.scorers import RANKING, PointScores, Rule, choose, score_counts

FOLDS, REPEATS = 4, 2
COLUMNS = ("tasks", "method", "criterion", "threshold", "F1", "regret", "regret to all", "worst task")
ANY = "any"
THRESHOLDS = ("own", "moved")
LIKELY, PROXY = "pu-auc, likely negatives", "proxy accuracy"
CRITERIA = ("puf", RANKING, LIKELY, PROXY, "f1")
_WEIGHTS = [0.5, 0.1, 0.01]
# Name in the table -> method, fixed parameters, grid.
METHODS: dict[str, tuple[str, dict[str, Any], dict[str, list[Any]]]] = {
    "glpual": ("glpual", {}, {"lam": [0.1, 10.0, 1000.0], "c_u": _WEIGHTS}),
    "gllc, RBF": ("gllc", {"kernel": "rbf"}, {"width": [0.5, 2.0, 8.0], "lam": [0.1, 10.0], "c_u": _WEIGHTS}),
    "blssvm": ("blssvm", {}, {"lam": [0.1, 10.0, 1000.0], "c_u": _WEIGHTS}),
    "bsvm": ("bsvm", {}, {"lam": [0.1, 10.0, 1000.0], "c_u": _WEIGHTS}),
    "svc-naive": ("svc-naive", {}, {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}),
    "upu, RBF": ("upu", {"loss": "squared", "kernel": "rbf"}, {"lam": [1e-4, 1e-2, 1.0], "width": [0.5, 2.0, 8.0]}),
    "nnpu": ("nnpu", {"n_epochs": 30}, {"weight_decay": [0.0, 0.005, 0.1], "learning_rate": [0.001, 0.01]}),
}

FULL = {"frequencies": (0.25, 0.5)}


def run(
    progress: Progress = silent,
    *,
    half: str = "all",
    methods: Sequence[str] = tuple(METHODS),
    frequencies: Sequence[float] = (0.25,),
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return the table of benchmark `selection`; the files are those of benchmark `quality`."""
    started = time.process_time()
    cells = [
        {"task": task, "tasks": half_of(task), "labeled": frequency, **cell}
        for task, rows in each_task(half, folder, progress)
        for frequency in frequencies
        for cell in _cells(task, rows, frequency, methods)
    ]
    seconds = time.process_time() - started
    title = f"Criteria that choose parameters, {of_tasks(cells, half)}, {seconds:.0f} processor seconds"
    return {"title": title, "rows": table(cells), "cells": cells}


class Candidates:
    """The points of a grid, with their held-out scores, the evidence at both thresholds, and the true F1 of each.

    X (n, m) and s (n,) are training rows and which are labeled, `prior` is the estimated share of positives.
    """

    def __init__(self, name: str, X: np.ndarray, s: np.ndarray, prior: float) -> None:
        method, fixed, grid = METHODS[name]
        entry = get_method(method)
        self.entry, self.fixed, self.points = entry, {**entry.params, **fixed}, expand(grid)
        if estimator_of_prior(entry, self.fixed, grid):
            self.fixed["prior"] = prior
        self.rule = Rule(RANKING, "unlabeled", entry.regularization, entry.ridge, prior)
        folds = pu_folds(s, FOLDS, 0, REPEATS)
        route = make_route("auto", entry, FoldedRows(X, s, folds), self.fixed, None, scores=True)
        outcomes = route.outcomes(self.points)
        self.held_out = np.asarray(outcomes)
        self.evidence = {
            threshold: evidence(route, outcomes, self.rule._replace(moves_threshold=threshold == "moved"))
            for threshold in THRESHOLDS
        }

    def true_f1(self, X: np.ndarray, s: np.ndarray, X_test: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
        """Return the F1 on test rows of each point fitted to all training rows, at both thresholds."""
        scores = [
            np.asarray(estimator_class(self.entry)(**{**self.fixed, **point}).fit(X, s).decision_function(X_test))
            for point in self.points
        ]
        return {
            threshold: np.array([f1(y, one > threshold) for one, threshold in zip(scores, seen.threshold, strict=True)])
            for threshold, seen in self.evidence.items()
        }

    def ranks(self) -> np.ndarray:
        """Return the mean rank of each row in each repeat over all points, shape (repeats, n)."""
        result: np.ndarray = rankdata(self.held_out, axis=2).mean(axis=0)
        return result

    def scores(self, criterion: str, seen: Evidence, s: np.ndarray, reference: np.ndarray) -> PointScores:
        """Return the scores of the points by a criterion."""
        found = score_counts(seen.counts, self.rule._replace(name=criterion if criterion == "puf" else "f1"))
        if criterion in ("puf", "f1"):
            return found
        if criterion == PROXY:
            value = proxy_accuracy(seen.counts.sum(axis=(1, 2)), "unlabeled", self.rule.prior)
        elif criterion == RANKING:
            value = seen.ranking
        else:
            repeats = range(len(reference))
            aucs = [
                [likely_negative_auc(s == 1, of[r], reference[r], self.rule.prior) for r in repeats]
                for of in self.held_out
            ]
            value = np.mean(aucs, axis=1)
        return PointScores(np.nan_to_num(value, nan=-1.0), np.zeros(len(value)), found.constant)


def _cells(task: str, rows: Rows, frequency: float, methods: Sequence[str]) -> list[dict[str, Any]]:
    X, _, s, X_test, y = case_control(task, rows, frequency, 0).standardized()
    pools: dict[str, list[tuple[Candidates, dict[str, np.ndarray]]]] = {}
    with warnings.catch_warnings(action="ignore"):
        prior = share_of_positives(X, s == 1, 0)
        for name in methods:
            of = Candidates(name, X, s, prior)
            pools[name] = [(of, of.true_f1(X, s, X_test, y))]
    if len(methods) > 1:
        pools[ANY] = [pool[0] for pool in pools.values()]
    found = []
    for name, pool in pools.items():
        reference = np.mean([of.ranks() for of, _ in pool], axis=0)
        for threshold in THRESHOLDS:
            of_points = np.concatenate([truth[threshold] for _, truth in pool])
            best = max(float(truth[one].max()) for _, truth in pool for one in THRESHOLDS)
            for criterion in CRITERIA:
                chosen = _chosen([of for of, _ in pool], criterion, threshold, s, reference)
                cell = {"method": name, "criterion": criterion, "threshold": threshold, "F1": of_points[chosen]}
                cell["regret"] = of_points.max() - of_points[chosen]
                found.append(cell | {"regret to all": best - of_points[chosen]})
    return found


def _chosen(pool: Sequence[Candidates], criterion: str, threshold: str, s: np.ndarray, reference: np.ndarray) -> int:
    """Return the place of the point that a criterion chooses among those of all of `pool`; of methods, the first."""
    best, places, first = [], [], 0
    for of in pool:
        scores = of.scores(criterion, of.evidence[threshold], s, reference)
        place = choose(of.points, scores, of.rule._replace(name=criterion))
        best.append(float(scores.score[place]))
        places.append(first + place)
        first += len(of.points)
    return places[int(np.argmax(best))]


def table(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each half, method, threshold and criterion, the mean over methods first."""
    frame = pd.DataFrame(cells)
    single = frame[frame.method != ANY]
    frame = pd.concat([single.assign(method="mean"), frame])
    lines = []
    for of, part in grouped(frame, ("tasks", "method", "threshold", "criterion")):
        worst = part.groupby("task")["regret to all"].mean()
        means = {name: part[name].mean() for name in ("F1", "regret", "regret to all")}
        lines.append({**of, **means, "worst task": f"{worst.idxmax()} {worst.max():.3f}"})
    return sorted(lines, key=lambda line: str(line["tasks"]))
