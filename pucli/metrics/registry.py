"""The list of metrics, which `metrics.yaml` declares.

An entry is all that a new metric needs: tables show it in its unit, verdicts and ranks use its better side and its
margin, `compute` evaluates it when its inputs are available, and the command line lists it. An installed package adds
entries by the entry-point group ``pucli.metrics``; each entry point is a `Metric` or a list of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.errors import UsageError, unknown
from pucli.core.plug_ins import named, own_entries
from pucli.metrics import inputs
from pucli.metrics.metric import Metric

PLUG_INS = "pucli.metrics"


def _metric(name: str, function: str = "", given: Sequence[str] = (), needs: Sequence[str] = (), **how: Any) -> Metric:
    """Return the metric of an entry, whose function is written as module.function."""
    module, _, called = function.partition(".")
    found = getattr(importlib.import_module(f"pucli.metrics.{module}"), called) if function else None
    return Metric(name, function=partial(found, *given) if found and given else found, needs=tuple(needs), **how)


_ALL = own_entries(Path(__file__).with_name("metrics.yaml"))["metrics"]
METRICS: Mapping[str, Metric] = MappingProxyType({name: _metric(name, **how) for name, how in _ALL.items()})


def all_metrics() -> Mapping[str, Metric]:
    """Return the built-in metrics and those of installed packages, by name."""
    offered = named(PLUG_INS, Metric, frozenset(METRICS))
    return METRICS if not offered else MappingProxyType({**METRICS, **{metric.name: metric for _, metric in offered}})


def get_metric(name: str) -> Metric:
    """Return the metric called `name`; the error suggests the nearest names."""
    if not isinstance(name, str):
        raise UsageError(f"a metric is called by a name such as 'f1'; got one {type(name).__name__}.")
    if name in METRICS:
        return METRICS[name]
    metrics = all_metrics()
    if name in metrics:
        return metrics[name]
    for metric in metrics.values():
        if metric.place and name.startswith(f"{metric.stem}@"):
            return metric.at(name.partition("@")[2])
    raise unknown("metric", name, metrics, listing="pucli list metrics")


def computable(inputs: Collection[str]) -> list[str]:
    """Return the names of the metrics for which these inputs, see `Metric.needs`, are enough.

    Examples
    --------
    >>> computable(["counts"])
    ['recall_labeled', 'predicted_positive']
    """
    there = set(inputs)
    return [m.name for m in all_metrics().values() if m.function is not None and there.issuperset(m.needs)]


def compute(given: Mapping[str, Any], also: Sequence[str] = ()) -> dict[str, float]:
    """Return every metric whose inputs are all in `given`.

    Parameters
    ----------
    given : mapping of str to object
        The available inputs, by the names in `Metric.needs`. A value of None counts as missing.
    also : sequence of str, default=()
        Metrics at other places than those of the list, e.g. ``lift@5%``; those without their inputs are left out.

    Returns
    -------
    dict of str to float
        In the order of the registry; values as they are stored, before `Metric.scale`.

    Examples
    --------
    >>> found = compute({"truth": [1, 1, 0], "predictions": [1, 0, 0], "positive": 1})
    >>> round(found["f1"], 2), found["precision"]
    (0.67, 1.0)
    """
    there = {name for name, value in given.items() if value is not None}
    metrics = [get_metric(name) for name in dict.fromkeys([*computable(there), *also])]
    return {m.name: m.of(given) for m in metrics if m.function is not None and there.issuperset(m.needs)}


def classification_scores(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    decision: ArrayLike | None = None,
    *,
    positive: object = None,
    probability: ArrayLike | None = None,
    also: Sequence[str] = (),
) -> dict[str, float]:
    """Return every registered metric of one binary prediction.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted classes.
    decision : array-like of shape (n,), optional
        Scores that rank the rows; greater means more positive. Needed for the AUC.
    positive : object, optional
        The positive class; the last in sorted order of `y_true` and `y_pred` when omitted.
    probability : array-like of shape (n,), optional
        Probabilities of the positive class, for the metrics that need them.
    also : sequence of str, default=()
        Metrics at other places than those of the list, e.g. ``precision@100``.

    Returns
    -------
    dict of str to float
        Among them f1, precision, recall, accuracy, auc, average_precision (fractions) and the confusion counts tp, fp,
        fn, tn. Precision and F1 are 0 where nothing is predicted positive. Recall and F1 are NaN without a positive row
        in `y_true`. The AUC is NaN without `decision`, or where `y_true` has one class only.

    Raises
    ------
    ValueError
        If the inputs are empty, differ in length, lack a value, or are words on one side alone.

    Examples
    --------
    >>> classification_scores([1, 1, 0], [1, 0, 0])["recall"]
    0.5
    """
    truth, predictions = inputs.classes(y_true, y_pred, ("y_true", "y_pred"))
    if positive is None:
        positive = inputs.distinct(np.concatenate([truth, predictions]))[-1]
    if decision is None:  # the AUC is then NaN rather than missing
        decision = np.full(len(truth), np.nan)
    given = {"truth": truth, "predictions": predictions, "positive": positive, "decision": decision}
    return compute({**given, "probability": probability}, also)
