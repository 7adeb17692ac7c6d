"""What a further member would add to the ranking of `AutoPU`, and what each of its own members adds.

On the case-control splits of the design half of the tasks of benchmark `quality`, each method of the papers is fitted
to the standardised rows, and its scores join those of the ensemble with the weight of one member. "change" is the mean
difference of the AUC of the test rows, "error" its standard error over the splits; for a member it is what the ensemble
gains by having it. "alone" is the difference of the method's own AUC. USMO is told the estimated prior; the quadratic
surface is tried where there are at most `SURFACE` features.
"""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.common.quality_tasks import Rows, case_control, each_task, of_tasks
from benchmarks.common.timing import Progress, silent
from pucli.core.arrays import Bools, Floats
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.methods import make_estimator

FREQUENCIES = (0.25, 0.5)
SURFACE = 12
FULL = {"repeats": 3}
COLUMNS = ("method", "labelled", "splits", "change", "error", "alone")
METHODS: dict[str, dict[str, Any]] = {
    "glpual": {"kernel": "rbf"},
    "glpual, linear": {"kernel": "linear"},
    "usmo": {"kernel": "rbf"},
    "ekf-glpual": {},
    "svc-naive": {},
}


def run(
    progress: Progress = silent, *, repeats: int = 1, half: str = "design", folder: Path | None = None
) -> dict[str, Any]:
    """Return the table of benchmark `members`; the files are those of benchmark `quality`."""
    cells = [
        {"task": task, "labelled": frequency, "repeat": repeat, **cell}
        for task, rows in each_task(half, folder, progress)
        for frequency, repeat in product(FREQUENCIES, range(repeats))
        for cell in _cells(task, rows, frequency, repeat)
    ]
    title = f"Members of the ensemble, {of_tasks(cells, half)}; AUC of the test rows"
    return {"title": title, "columns": list(COLUMNS), "rows": _table(pd.DataFrame(cells)), "cells": cells}


def _cells(task: str, rows: Rows, frequency: float, repeat: int) -> list[dict[str, Any]]:
    """Return a cell for each method and each member on one split."""
    split = case_control(task, rows, frequency, repeat)
    scaled, labelled, y = split.standardised(), split.s == 1, split.y_test
    model = AutoPU(random_state=repeat).fit(split.X, labelled)
    members = _member_scores(model, split.X_test)
    ensemble = float(roc_auc_score(y, sum(members.values())))

    def cell(name: str, scores: Floats, whole: Floats, sign: float) -> dict[str, Any]:
        change = sign * (float(roc_auc_score(y, whole)) - ensemble)
        return {"method": name, "change": change, "alone": float(roc_auc_score(y, scores)) - ensemble}

    total = np.sum(list(members.values()), axis=0)
    found = [cell(f"{name} (a member)", scores, total - scores, -1.0) for name, scores in members.items()]
    for name, fixed in METHODS.items():
        if name != "ekf-glpual" or rows.X.shape[1] <= SURFACE:
            params = fixed | ({"prior": model.prior_} if name == "usmo" else {})
            scores = _joining(name, params, scaled.X, labelled, scaled.X_test)
            found.append(cell(name, scores, total + scores, 1.0))
    return found


def _member_scores(model: Any, X: Floats) -> dict[str, Floats]:
    """Return the standardised scores (n,) of the rows X (n, m) by each member of a fitted `AutoPU`."""
    ensemble = getattr(model.ensemble_, "ensemble", model.ensemble_)
    views = ensemble.views.of(X)
    return {m.name: m.standardised(m.model.score(views[m.view])) for m in ensemble.members}


def _joining(name: str, params: dict[str, Any], X: Floats, labelled: Bools, X_test: Floats) -> Floats:
    """Return the scores of test rows by a method, standardised on the unlabeled training rows as those of members."""
    with warnings.catch_warnings(action="ignore"):
        model = make_estimator(name.split(",")[0], **params).fit(X, labelled.astype(int))
        seen, scores = model.decision_function(X[~labelled]), model.decision_function(X_test)
    joined: Floats = (scores - seen.mean()) / (seen.std() or 1.0)
    return joined


def _table(frame: Any) -> list[dict[str, Any]]:
    lines = []
    for (method, frequency), part in frame.groupby(["method", "labelled"], sort=False):
        lines.append(
            {
                "method": method,
                "labelled": frequency,
                "splits": len(part),
                "change": float(part.change.mean()),
                "error": float(part.change.std() / np.sqrt(len(part))),
                "alone": float(part.alone.mean()),
            }
        )
    return sorted(lines, key=lambda line: (line["labelled"], -line["change"]))
