"""The table of benchmark `quality`, from its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.common.quality_methods import OF_LABELING
from benchmarks.common.quality_tasks import DESIGN
from pucli.metrics.comparison import friedman_nemenyi

AUTO, NAIVE = "auto", "SVC, unlabeled as negative"
# Told what nobody knows: not ranked.
CEILINGS = (
    "SVC, true prior",
    "LightGBM, ten bags, true prior",
    "auto, true prior",
    "no hidden positives",
    "true labels",
)
COLUMNS = (
    *("tasks", "labeling", "labeled", "method", "F1", "AUC", "AP", "rank", "auto wins", "prior error"),
    *("worst to SVC", "calibration", "kept", "seconds", "note"),
)


class Cell(NamedTuple):
    """What one method did on one split. kept : estimate -> whether its interval holds the truth."""

    method: str
    task: str
    labeling: str
    frequency: float
    repeat: int
    f1: float
    auc: float
    ap: float
    prior_error: float | None
    calibration: float | None
    kept: dict[str, bool]
    seconds: float


def table(cells: Sequence[Cell], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return a line for each labeling, label frequency and method on all tasks; of each half for two methods."""
    frame = pd.DataFrame([cell._asdict() for cell in cells])
    halves = {"all": frame, "design": frame[frame.task.isin(DESIGN)], "look-once": frame[~frame.task.isin(DESIGN)]}
    lines = []
    for half, part in halves.items():
        shown = methods if half == "all" else [name for name in methods if name in (AUTO, *OF_LABELING, NAIVE)]
        for (labeling, frequency), group in part.groupby(["labeling", "frequency"], sort=False):
            about = {"tasks": half, "labeling": labeling, "labeled": frequency}
            lines += [{**about, **line} for line in _lines(group, shown)]
    return lines


def _lines(group: Any, methods: Sequence[str]) -> list[dict[str, Any]]:
    f1 = group.groupby(["task", "method"], sort=False).f1.mean().unstack()
    ranked = [name for name in f1.columns if name not in CEILINGS and f1[name].notna().all()]
    test = friedman_nemenyi(f1[ranked].to_numpy())
    ranks = dict(zip(ranked, test.ranks, strict=True))
    found = []
    for method in methods:
        part = group[group.method == method]
        if part.empty:
            continue
        gap = (f1[method] - f1[NAIVE]) if NAIVE in f1 and method != NAIVE else None
        found.append(
            {
                "method": method,
                "F1": part.f1.mean(),
                "AUC": part.auc.mean(),
                "AP": part.ap.mean(),
                "rank": ranks.get(method),
                "auto wins": None if method == AUTO or AUTO not in f1 else _wins(f1[[AUTO, method]].dropna()),
                "prior error": _mean(part.prior_error),
                "worst to SVC": None if gap is None else gap.min(),
                "calibration": _mean(part.calibration),
                "kept": _kept(part),
                "seconds": part.seconds.mean(),
                "note": _note(method, gap, test),
            }
        )
    return found


def _wins(f1: Any) -> str:
    return f"{(f1.iloc[:, 0] > f1.iloc[:, 1]).sum()} of {len(f1)}"


def _mean(values: Any) -> float | None:
    known = values.dropna()
    return float(known.astype(float).mean()) if len(known) else None


def _kept(part: Any) -> str:
    """Return the shares of cells whose 90 % intervals hold the truth."""
    kept = [row for row in part.kept if row]
    names = dict.fromkeys(name for row in kept for name in row)
    return ", ".join(f"{name} {np.mean([row[name] for row in kept if name in row]):.2f}" for name in names)


def _note(method: str, gap: Any, test: Any) -> str:
    notes = []
    if gap is not None and gap.min() < 0:
        notes.append(f"worst on {gap.idxmin()}")
    if method == AUTO and np.isfinite(test.p):
        notes.append(f"Friedman p = {test.p:.1g}, ranks that differ by {test.critical_difference:.2f} do (Nemenyi)")
    return "; ".join(notes)
