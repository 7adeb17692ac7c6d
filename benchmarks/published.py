"""Figures that others published on the protocols of PU-Bench and PUICL, beside those of the automatic classifier.

PU-Bench (table of one seed in a fork, BENCHMARK_COMPARISON.md): a fifth of the rows, stratified, is the test set; a
tenth of the other positives is labelled; the unlabeled rows are all training rows, the labelled ones among them. F1 and
AUC are those of the test rows, means over seeds here. PUICL (arXiv 2605.05591): AUC of the unlabeled rows themselves;
how many rows it had is not known here, so both label frequencies are shown, and a comparison is an indication only.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common.quality_methods import Prediction, Problem, predict
from benchmarks.common.quality_tasks import Rows, all_rows, f1
from benchmarks.common.timing import Progress, silent
from pucli.core.errors import RunError, UsageError
from pucli.data.splits.scenarios import make_split, split_stream

SEEDS = (42, 43)
METHODS = ("auto", "SVC, unlabeled as negative")
COLUMNS = ("protocol", "data", "labelled", "metric", "method", "value", "published best", "published naive", "seconds")


class Figure(NamedTuple):
    """One published figure. frequency : share of the positives labelled. best, naive : published values."""

    protocol: str
    data: str
    frequency: float
    metric: str
    best: float
    naive: float | None


PUBLISHED = (
    Figure("PU-Bench", "mushroom", 0.1, "F1", 0.9891, 0.9670),
    Figure("PU-Bench", "mushroom", 0.1, "AUC", 0.9999, 0.9988),
    *(Figure("PUICL", "wdbc", frequency, "AUC", 0.960, None) for frequency in (0.25, 0.5)),
    *(Figure("PUICL", "mushroom", frequency, "AUC", 0.977, None) for frequency in (0.25, 0.5)),
)


def run(progress: Progress = silent, *, folder: Path | None = None) -> dict[str, Any]:
    """Return the table of benchmark `published`.

    The files come from `folder`, by default as those of `pucli fetch`.
    """
    found_rows = _at_hand(folder)
    at_hand = [figure for figure in PUBLISHED if figure.data in found_rows]
    settings = list(dict.fromkeys((figure.protocol, figure.data, figure.frequency) for figure in at_hand))
    rows: list[dict[str, Any]] = []
    for done, (protocol, data, frequency) in enumerate(settings, start=1):
        found = _measured(protocol, found_rows[data], data, frequency)
        figures = [figure for figure in at_hand if figure[:3] == (protocol, data, frequency)]
        rows += [_line(figure, method, found[method]) for figure in figures for method in METHODS]
        progress(done, len(settings))
    title = f"Published figures of others beside auto; means over {len(SEEDS)} seeds"
    return {"title": title, "columns": list(COLUMNS), "rows": rows}


def _at_hand(folder: Path | None) -> dict[str, Rows]:
    """Return data set -> its rows, of those whose file can be had."""
    found, missing = {}, []
    for data in dict.fromkeys(figure.data for figure in PUBLISHED):
        try:
            found[data] = all_rows(data, folder)
        except RunError as error:
            missing.append(str(error))
    if not found:
        raise UsageError(f"no file of the data sets can be had; set PUCLI_MIRROR to their folder: {missing[0]}")
    return found


def pu_bench_split(y: np.ndarray, frequency: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the training rows, which of them are labelled, and the test rows, of PU-Bench's case-control sampling.

    A labelled row is there twice: labelled, and among the unlabeled rows.
    """
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    positive = train[y[train] == 1]
    chosen = np.random.default_rng(seed).permutation(positive)[: int(frequency * len(positive))]
    return np.concatenate([chosen, train]), np.arange(len(chosen) + len(train)) < len(chosen), test


def _measured(protocol: str, rows: Rows, data: str, frequency: float) -> dict[str, list[dict[str, float]]]:
    """Return method -> the metrics of each seed."""
    found: dict[str, list[dict[str, float]]] = {method: [] for method in METHODS}
    for seed in SEEDS:
        if protocol == "PU-Bench":
            train, labelled, test = pu_bench_split(rows.y, frequency, seed)
        else:
            split = make_split("case-control", rows.y, frequency, rng=split_stream(seed, data, protocol, frequency, 0))
            train, labelled = split.train, split.s == 1
            test = train[~labelled]
        y = rows.y[train]
        problem = Problem(rows.X[train], labelled, rows.X[test], y, float(y[~labelled].mean()), "case-control", seed)
        for method in METHODS:
            started = time.process_time()
            prediction = predict(method, problem)
            assert prediction is not None  # methods of our own do not fail
            seconds = time.process_time() - started
            found[method].append({**_metrics(prediction, rows.y[test]), "seconds": seconds})
    return found


def _metrics(prediction: Prediction, y: np.ndarray) -> dict[str, float]:
    from sklearn.metrics import roc_auc_score

    return {"F1": f1(y, prediction.positive), "AUC": float(roc_auc_score(y, prediction.scores))}


def _line(figure: Figure, method: str, found: list[dict[str, float]]) -> dict[str, Any]:
    return {
        "protocol": figure.protocol,
        "data": figure.data,
        "labelled": figure.frequency,
        "metric": figure.metric,
        "method": method,
        "value": float(np.mean([one[figure.metric] for one in found])),
        "published best": figure.best,
        "published naive": figure.naive,
        "seconds": float(np.mean([one["seconds"] for one in found])),
    }
