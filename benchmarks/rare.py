"""Needles: `auto` where one row in 50 to 500 is positive and a few dozen are labeled.

Public tables, thinned: so many positives are left out that the unlabeled rows have the share in the column "prior", and
a generator, two normal classes two standard deviations apart in eight features. All figures are those of the unlabeled
rows by held-out scores. "called" is the share called positive over the true one, "F1" that at the own threshold, "of
best" its ratio to the best F1 any threshold on the same scores has: with a dozen positives that is the luck of the
draw, so that .9 of it is out of reach for any rule. The figures at k are for the first 200 rows: "told" is the share of
cells in which `auto` estimates their positives, "kept" the share of those in which the 90 % interval holds, and "width"
the median width of the intervals over that of an interval that knows the labels of these rows and draws as many again.
"prior error" is the mean absolute one, "prior kept" the share of cells whose 90 % interval holds the prior. The tables
were looked at, by the trees of the ensemble alone, while the rule was made: this shows it at work, not on new data.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.common.quality_tasks import Rows, all_rows, times
from benchmarks.common.result_files import explained
from benchmarks.common.timing import Progress, silent
from pucli.core.errors import RunError, UsageError
from pucli.core.seeding import stream
from pucli.estimators.auto.auto_pu import AutoPU

TABLES = ("task-shuttle", "poker", "adult", "bank-marketing")
GENERATED = "two normals"
PRIORS, LABELED, FIRST = (0.02, 0.005, 0.002), (30, 300), 200
FULL = {"labeled": (20, 50, 150, 500), "rows": 20_000, "repeats": 3}
COLUMNS = (
    *("table", "prior", "labeled", "AUC", "called", "F1", "of best", "precision at k", "recall at k", "lift at k"),
    *("told", "kept", "width", "prior error", "prior kept", "cells", "seconds"),
)


def run(
    progress: Progress = silent,
    *,
    tables: Sequence[str] = (*TABLES, GENERATED),
    priors: Sequence[float] = PRIORS,
    labeled: Sequence[int] = LABELED,
    rows: int = 4000,
    repeats: int = 1,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return the table of benchmark `rare`; `rows` is the number of unlabeled ones."""
    cells = []
    for done, table in enumerate(tables, start=1):
        try:
            source = None if table == GENERATED else all_rows(table, folder)
        except RunError:
            continue
        for prior in priors:
            for count in labeled:
                for repeat in range(repeats):
                    rng = stream(7, "rare", table, prior, count, repeat)
                    X, s, y = draw(source, prior, count, rows, rng)
                    of = {"table": table, "prior": prior, "labeled": count, "repeat": repeat}
                    cells.append({**of, **_measured(X, s, y, repeat)})
        progress(done, len(tables))
    if not cells:
        raise UsageError("no file of the tables can be had; set PUCLI_MIRROR to their folder.")
    return {
        "title": f"Rare positives: {rows:,} unlabeled rows, {times(repeats)}",
        "about": explained(__doc__),
        "rows": _table(cells),
        "cells": cells,
    }


def draw(
    source: Rows | None, prior: float, labeled: int, rows: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, which rows are labeled, and which of the unlabeled rows, the last, are positive.

    They come from `source`, None for the generator; `labeled` and `rows` are numbers of labeled and unlabeled rows.
    """
    positives = max(1, round(prior * rows))
    y = rng.permutation(np.arange(rows) < positives)
    s = np.arange(labeled + rows) < labeled
    kinds = np.concatenate([np.ones(labeled, bool), y])
    if source is None:
        X = rng.normal(size=(len(s), 8))
        X[:, :2] += np.sqrt(2.0) * kinds[:, None]
        return X, s, y
    positive, negative = (rng.permutation(np.flatnonzero(source.y == label)) for label in (1, 0))
    if len(positive) < labeled + positives or len(negative) < rows - positives:
        raise UsageError(f"the table has too few rows for {labeled} labeled and {rows} unlabeled ones.")
    chosen = np.empty(len(s), int)
    chosen[kinds], chosen[~kinds] = positive[: kinds.sum()], negative[: np.sum(~kinds)]
    return source.X[chosen], s, y


def _measured(X: np.ndarray, s: np.ndarray, y: np.ndarray, repeat: int) -> dict[str, Any]:
    started = time.process_time()
    with warnings.catch_warnings(action="ignore"):
        model = AutoPU(random_state=repeat).fit(X, s)
    seconds = time.process_time() - started
    scores = model.held_out_[~s]
    called = scores > model.threshold_
    ordered = y[np.argsort(-scores, kind="stable")]
    best = np.max(2.0 * np.cumsum(ordered) / (np.arange(1, len(y) + 1) + y.sum()))
    f1 = 2.0 * np.sum(called & y) / (called.sum() + y.sum())
    found, prior = ordered[:FIRST].sum(), y.mean()
    first = [one for one in model.among_first([FIRST]) if one.rows == FIRST]
    cell = {
        "auc": roc_auc_score(y, scores),
        "called": called.mean() / prior,
        "f1": f1,
        "of_best": f1 / best,
        "precision": found / FIRST,
        "recall": found / y.sum(),
        "lift": found / FIRST / prior,
        "prior_error": abs(model.prior_ - prior),
        "prior_kept": model.prior_interval_[0] <= prior <= model.prior_interval_[1],
        "told": bool(first),
        "seconds": seconds,
    }
    if first:
        positives = first[0].positives
        again = np.quantile(stream(0, "rare", "again").binomial(FIRST, found / FIRST, 2000), [0.05, 0.95])
        cell |= {
            "kept": positives.low <= found <= positives.high,
            "width": (positives.high - positives.low) / max(1.0, again[1] - again[0]),
        }
    return cell


def _table(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    keys = ("table", "prior", "labeled")
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell[key] for key in keys), []).append(cell)
    lines = [{**dict(zip(keys, of, strict=True)), **_line(some)} for of, some in groups.items()]
    lines += [
        {"table": "all", "prior": prior, "labeled": "all", **_line([c for c in cells if c["prior"] == prior])}
        for prior in dict.fromkeys(cell["prior"] for cell in cells)
    ]
    within = np.mean([cell["called"] <= 2.0 for cell in cells])
    near = np.mean([cell["of_best"] >= 0.9 for cell in cells])
    return [
        *lines,
        {"table": f"{100 * within:.0f} % called at most twice", "prior": f"{100 * near:.0f} % of best >= .9"},
    ]


def _line(cells: list[dict[str, Any]]) -> dict[str, Any]:
    def mean(name: str) -> float:
        return float(np.mean([cell[name] for cell in cells]))

    told = [cell for cell in cells if cell["told"]]
    return {
        **{"AUC": mean("auc"), "called": np.median([cell["called"] for cell in cells]), "F1": mean("f1")},
        **{"of best": mean("of_best"), "precision at k": mean("precision"), "recall at k": mean("recall")},
        **{"lift at k": mean("lift"), "told": mean("told"), "prior error": mean("prior_error")},
        "kept": np.mean([cell["kept"] for cell in told]) if told else None,
        "width": np.median([cell["width"] for cell in told]) if told else None,
        "prior kept": mean("prior_kept"),
        "cells": len(cells),
        "seconds": mean("seconds"),
    }
