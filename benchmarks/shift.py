"""New files with another share of positives: `pucli shift` on the small public tasks.

On the tasks of benchmark `quality`, case-control, at most 800 rows for training, of which a third of the positives are
labeled. New files of at most 400 rows are drawn from the others with the share of positives in the column "share", or
with that of training ("unchanged"). "error" is the mean, "median" the median absolute error of the estimated share,
"kept" how often its 90 % interval holds it, "width" the median width. "oracle" columns are of probabilities fitted to
true labels of half of the rows that the files are drawn from. "called changed" and "called more" are how often the test
of columns finds any change, or one that is not only of the share; in "moved", one column is moved by its standard
deviation.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.common.quality_tasks import Rows, each_task, of_tasks, times
from benchmarks.common.timing import Progress, silent
from pucli.core.seeding import stream
from pucli.data.columns.drift import DriftCounter, ReferenceShares
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.models.shift import binned, old_shares
from pucli.solvers.prior.shift import LEVEL, FeatureShares, changed_features, new_prior
from pucli.solvers.prior.three_samples import prior_of_three

SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
MOST_TRAINED, MOST_NEW, FEWEST_NEW, FEWEST_LABELED = 800, 400, 40, 20
UNCHANGED = 5  # files with the share of training for each task and repeat
COLUMNS = (
    *("share", "error", "median", "kept", "width", "oracle error", "oracle width"),
    *("called changed", "called more", "moved", "files"),
)
FULL = {"repeats": 5}


def run(
    progress: Progress = silent, *, half: str = "all", repeats: int = 1, folder: Path | None = None
) -> dict[str, Any]:
    """Return the table of benchmark `shift`; the files are those of benchmark `quality`."""
    started = time.process_time()
    cells = [
        {"task": task, "repeat": repeat, **cell}
        for task, rows in each_task(half, folder, progress, 3 * MOST_TRAINED)
        for repeat in range(repeats)
        for cell in _cells(rows, task, repeat)
    ]
    title = f"{of_tasks(cells, half)}, {times(repeats)}, {time.process_time() - started:.0f} processor seconds"
    return {"title": title, "rows": table(cells), "cells": cells}


def _cells(rows: Rows, task: str, repeat: int) -> list[dict[str, Any]]:
    rng = stream(7, "shift", task, repeat)
    order = rng.permutation(len(rows.y))
    train, rest = np.split(order, [min(MOST_TRAINED, len(order) // 2)])
    positives = train[rows.y[train] == 1]
    labeled = positives[: max(FEWEST_LABELED, len(positives) // 3)]
    unlabeled = np.setdiff1d(train, labeled)
    X = rows.X[np.concatenate([labeled, unlabeled])]
    s = np.arange(len(X)) < len(labeled)
    with warnings.catch_warnings(action="ignore"):
        model = AutoPU(scenario="case-control", random_state=repeat).fit(X, s)
    usual = ReferenceShares.of(X, ~s)
    old = old_shares(usual, (len(labeled), len(unlabeled)), single=False)
    Z, y = rows.X[rest], rows.y[rest]
    score = model.score_rows(Z)
    half = rng.random(len(y)) < 0.5
    known = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(score[half], y[half])
    q, share = known.predict(score), float(y[half].mean())
    found = []
    natural = rows.y[unlabeled].mean()
    for wanted in (*SHARES, *[None] * UNCHANGED):
        new = draw(y, natural if wanted is None else wanted, rng, exact=wanted is not None)
        if len(new) < FEWEST_NEW:
            continue
        truth = natural if wanted is None else wanted
        samples = (model._positive, model._population, score[new])
        ours = prior_of_three(samples, model.prior_, model.prior_interval_, rng)
        theirs = new_prior(q[new], share, (share, share), 10**9, rng)
        moved = Z[new].copy()
        column = int(rng.integers(moved.shape[1]))
        moved[:, column] += X[:, column].std()
        found.append(
            {
                "share": "unchanged" if wanted is None else wanted,
                "rows": len(new),
                "error": ours.value - truth,
                "kept": ours.low <= truth <= ours.high,
                "width": ours.high - ours.low,
                "oracle error": theirs.value - truth,
                "oracle width": theirs.high - theirs.low,
                "called changed": _called(old, Z[new], usual, any_prior=False),
                "called more": _called(old, Z[new], usual, any_prior=True),
                "moved": _called(old, moved, usual, any_prior=True),
            }
        )
    return found


def draw(y: np.ndarray, share: float, rng: np.random.Generator, *, exact: bool) -> np.ndarray:
    """Return different rows of y (n,), of which a share is 1: exactly, or as in a random sample of a population."""
    kinds = [rng.permutation(np.flatnonzero(y == label)) for label in (1, 0)]
    n = int(min(MOST_NEW, len(kinds[0]) / share, len(kinds[1]) / (1.0 - share)))
    if not exact:
        n = int(0.8 * n)  # so that a random number of positives is there
    positive = round(share * n) if exact else min(int(rng.binomial(n, share)), len(kinds[0]))
    return np.concatenate([kinds[0][:positive], kinds[1][: n - positive]])


def _called(
    old: tuple[FeatureShares, FeatureShares], Z: np.ndarray, usual: ReferenceShares, *, any_prior: bool
) -> bool:
    tally = DriftCounter()
    tally.add_usual([(str(k), str(k)) for k in range(Z.shape[1])], Z, usual)
    seen = tally.compared()
    assert seen is not None
    new = FeatureShares(binned(seen[2]), seen[3])
    return changed_features(*old, new, any_prior=any_prior)[0] <= LEVEL


def table(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each share, one for all of `SHARES`, and one for files that are drawn as those of training."""
    groups: dict[Any, list[dict[str, Any]]] = {
        share: [c for c in cells if c["share"] == share] for share in (*SHARES, "unchanged")
    }
    groups["all but unchanged"] = [c for c in cells if c["share"] != "unchanged"]
    return [{"share": share, **_line(of)} for share, of in groups.items() if of]


def _line(cells: list[dict[str, Any]]) -> dict[str, Any]:
    def of(name: str) -> np.ndarray:
        return np.array([cell[name] for cell in cells], dtype=float)

    means = {name: of(name).mean() for name in ("kept", "called changed", "called more", "moved")}
    return {
        "error": np.abs(of("error")).mean(),
        "median": np.median(np.abs(of("error"))),
        "kept": means["kept"],
        "width": np.median(of("width")),
        "oracle error": np.abs(of("oracle error")).mean(),
        "oracle width": np.median(of("oracle width")),
        **{name: means[name] for name in ("called changed", "called more", "moved")},
        "files": len(cells),
    }
