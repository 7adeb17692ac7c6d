"""What a further member would add to the ranking of `AutoPU`, and what each of its own members adds.

On the case-control splits of the design half of the tasks of benchmark `quality`, each method of the papers is fitted
to the standardised rows, and its scores join those of the ensemble with the weight of one member. "change" is the mean
difference of the AUC of the test rows, "error" its standard error over the splits; for a member it is what the ensemble
gains by having it. "alone" is the difference of the method's own AUC. USMO is told the estimated prior; the quadratic
surface is tried where there are at most `SURFACE` features.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.quality_tasks import Rows, at_hand, load
from benchmarks.common.timing import Progress, reporter
from pucli.core.arrays import Bools, Floats
from pucli.data.splits.scenarios import make_split, split_stream

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
    progress: Progress | None = None, *, repeats: int = 1, half: str = "design", folder: Path | None = None
) -> dict[str, Any]:
    """Return the table of benchmark `members`; the files are those of benchmark `quality`."""
    import pandas as pd

    present = at_hand(half, folder)
    report, cells = reporter(progress), []
    for done, task in enumerate(present, start=1):
        rows = load(task, folder)
        for frequency in FREQUENCIES:
            for repeat in range(repeats):
                about = {"task": task, "labelled": frequency, "repeat": repeat}
                cells += [{**about, **cell} for cell in _cells(task, rows, frequency, repeat)]
        report(done, len(present))
    title = f"Members of the ensemble, {len(present)} tasks ({half}); AUC of the test rows"
    return {"title": title, "columns": list(COLUMNS), "rows": _table(pd.DataFrame(cells)), "cells": cells}


def _cells(task: str, rows: Rows, frequency: float, repeat: int) -> list[dict[str, Any]]:
    """Return a cell for each method and each member on one split."""
    from sklearn.metrics import roc_auc_score

    from pucli.data.encode.standardise import Standardiser
    from pucli.estimators.auto.auto_pu import AutoPU

    split = make_split("case-control", rows.y, frequency, rng=split_stream(7, task, "case-control", frequency, repeat))
    X, X_test, labelled = rows.X[split.train], rows.X[split.test], split.s == 1
    y = rows.y[split.test]
    model = AutoPU(random_state=repeat).fit(X, labelled)
    members = _member_scores(model, X_test)
    ensemble = float(roc_auc_score(y, sum(members.values())))

    def cell(name: str, scores: Floats, whole: Floats, sign: float) -> dict[str, Any]:
        change = sign * (float(roc_auc_score(y, whole)) - ensemble)
        return {"method": name, "change": change, "alone": float(roc_auc_score(y, scores)) - ensemble}

    total = np.sum(list(members.values()), axis=0)
    found = [cell(f"{name} (a member)", scores, total - scores, -1.0) for name, scores in members.items()]
    scaler = Standardiser().fit(X)
    for name, fixed in METHODS.items():
        if name != "ekf-glpual" or X.shape[1] <= SURFACE:
            params = fixed | ({"prior": model.prior_} if name == "usmo" else {})
            scores = _joining(name, params, scaler.transform(X), labelled, scaler.transform(X_test))
            found.append(cell(name, scores, total + scores, 1.0))
    return found


def _member_scores(model: Any, X: Floats) -> dict[str, Floats]:
    """Return the standardised scores (n,) of the rows X (n, m) by each member of a fitted `AutoPU`."""
    ensemble = getattr(model.ensemble_, "ensemble", model.ensemble_)
    views = ensemble.views.of(X)
    return {m.name: m.standardised(m.model.score(views[m.view])) for m in ensemble.members}


def _joining(name: str, params: dict[str, Any], X: Floats, labelled: Bools, X_test: Floats) -> Floats:
    """Return the scores of test rows by a method, standardised on the unlabeled training rows as those of members."""
    from pucli.methods import make_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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
