"""Scorers for scikit-learn's model selection that use labelled and unlabeled rows, and no true classes.

They are callables for `scoring=` of GridSearchCV, cross_val_score and similar functions. `y` is the indicator with
which the classifier was fitted: the second of its `classes_` marks labelled positives. The folds of a classifier are
stratified by default, so every fold has labelled rows if there are at least as many of them as folds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.errors import UsageError
from pucli.metrics.pu import Denominator, pu_counts, puf

__all__ = ["pu_auc_scorer", "puf_scorer"]


def puf_scorer(estimator: Any, X: ArrayLike, y: ArrayLike, *, denominator: Denominator = "unlabeled") -> float:
    """Return PUF = recall^2 / P(predicted positive) of a fitted PU classifier, the greater the better.

    Parameters
    ----------
    estimator : fitted classifier
        With `classes_`, unlabeled and positive, and `predict`; it may be a Pipeline.
    X : array-like of shape (n, m)
        Rows.
    y : array-like of shape (n,)
        Labels as in `fit`.
    denominator : {"unlabeled", "all"}, default="unlabeled"
        Rows over which P(predicted positive) is taken: "unlabeled" if these are a separate sample, "all" if the
        labelled positives are part of one sample. ``functools.partial(puf_scorer, denominator="all")`` is also a
        scorer.

    Returns
    -------
    float
        NaN if there is no labelled row or none in the denominator.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from pucli.estimators import BLSSVM
    >>> from pucli.metrics import puf_scorer
    >>> X = np.random.default_rng(0).normal(size=(80, 2)) + 3.0 * (np.arange(80) < 40)[:, None]
    >>> y = (np.arange(80) < 20).astype(int)  # half of the positives are labelled
    >>> search = GridSearchCV(BLSSVM(), {"c_u": [0.1, 0.5]}, scoring=puf_scorer, cv=4).fit(X, y)
    >>> search.best_params_
    {'c_u': 0.1}
    """
    positive = _positive(estimator)
    return float(puf(pu_counts(np.asarray(y) == positive, estimator.predict(X), positive), denominator))


def pu_auc_scorer(estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return the area under the ROC curve of labelled against unlabeled rows, the greater the better.

    It is an increasing function of the true area if the labelled rows are a random sample of the positives, whatever
    the class prior. It compares models, but does not choose a threshold.

    Parameters
    ----------
    estimator : fitted classifier
        With `classes_`, unlabeled and positive, and `decision_function` or `predict_proba`.
    X : array-like of shape (n, m)
        Rows.
    y : array-like of shape (n,)
        Labels as in `fit`.

    Returns
    -------
    float
        NaN if there is only one kind of row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from pucli.estimators import BLSSVM
    >>> from pucli.metrics import pu_auc_scorer
    >>> X = np.random.default_rng(0).normal(size=(80, 2)) + 3.0 * (np.arange(80) < 40)[:, None]
    >>> y = (np.arange(80) < 20).astype(int)
    >>> bool(cross_val_score(BLSSVM(), X, y, scoring=pu_auc_scorer, cv=4).mean() > 0.75)
    True
    """
    from sklearn.metrics import roc_auc_score

    labelled = np.asarray(y) == _positive(estimator)
    if labelled.all() or not labelled.any():
        return float("nan")
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
    else:
        scores = np.asarray(estimator.predict_proba(X))[:, 1]
    return float(roc_auc_score(labelled, scores))


def _puf_of_labels(y_true: ArrayLike, y_pred: ArrayLike, **how: Any) -> float:
    """Return PUF of predicted labels, as `TunedThresholdClassifierCV` asks for it at each threshold."""
    positive = _positive_of_labels(y_true, y_pred)
    return float(puf(pu_counts(np.asarray(y_true) == positive, y_pred, positive), how.get("denominator", "unlabeled")))


def _pu_auc_of_labels(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the area for predicted labels, half of recall plus true-negative rate among unlabeled rows."""
    from sklearn.metrics import roc_auc_score

    positive = _positive_of_labels(y_true, y_pred)
    labelled = np.asarray(y_true) == positive
    if labelled.all() or not labelled.any():
        return float("nan")
    return float(roc_auc_score(labelled, np.asarray(y_pred) == positive))


def _positive_of_labels(y_true: ArrayLike, y_pred: ArrayLike) -> Any:
    """Return the last of the labels in sorted order, as scikit-learn does; 1 of 0 and 1 even if only one occurs."""
    labels = np.unique(np.concatenate([np.asarray(y_true), np.asarray(y_pred)])).tolist()
    return 1 if labels in ([0], [-1]) else labels[-1]


def _as_scorer(function: Any, of_labels: Callable[..., float]) -> None:
    """Give a function the attributes of scikit-learn's scorers, which `TunedThresholdClassifierCV` reads."""

    def routing() -> Any:
        from sklearn.metrics import make_scorer  # takes long to import

        return make_scorer(of_labels).get_metadata_routing()

    function._score_func, function._sign, function._kwargs, function._response_method = of_labels, 1, {}, "predict"
    function.get_metadata_routing = routing


def _positive(estimator: Any) -> Any:
    classes = np.asarray(estimator.classes_)
    if len(classes) != 2:
        raise UsageError(f"the scorer needs a classifier with two classes; this one has {len(classes)}.")
    return classes[1]


_as_scorer(puf_scorer, _puf_of_labels)
_as_scorer(pu_auc_scorer, _pu_auc_of_labels)
