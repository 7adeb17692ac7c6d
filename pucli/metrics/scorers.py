"""Scorers for scikit-learn's model selection that use labeled and unlabeled rows, and no true classes.

They are for `scoring=` of GridSearchCV, cross_validate, TunedThresholdClassifierCV and similar tools. `y` is the
indicator with which the classifier was fitted: the second of its `classes_` marks labeled positives. The folds of a
classifier are stratified by default, so every fold has labeled rows if there are at least as many of them as folds.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import AnyArray, Bools, Floats
from pucli.core.errors import UsageError
from pucli.data.labels import positive_of_two
from pucli.metrics import inputs
from pucli.metrics.pu import Denominator, pu_counts, puf
from pucli.metrics.registry import get_metric

__all__ = ["MetricScorer", "PUScorer", "pu_auc_scorer", "puf_score", "puf_scorer", "scorer"]


class PUScorer:
    """Scorer of fitted PU classifiers, by labeled and unlabeled rows; the greater the better.

    `puf_scorer` and `pu_auc_scorer` are its two instances, for `scoring=` of scikit-learn's tools.

    Parameters
    ----------
    name : str
        Its name.
    of_model : callable
        Takes a fitted classifier, rows, which of these are labeled positives, and sample weights.
    of_labels : callable
        Takes true and predicted labels, for `TunedThresholdClassifierCV`.

    Notes
    -----
    If rows of one kind are missing, the score is NaN with an `UndefinedMetricWarning`, as that of "roc_auc".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from pucli import BLSSVM
    >>> from pucli.metrics import pu_auc_scorer, puf_scorer
    >>> X = np.random.default_rng(0).normal(size=(80, 2)) + 3.0 * (np.arange(80) < 40)[:, None]
    >>> y = (np.arange(80) < 20).astype(int)  # half of the positives are labeled
    >>> search = GridSearchCV(BLSSVM(), {"c_u": [0.1, 0.5]}, scoring=puf_scorer, cv=4).fit(X, y)
    >>> search.best_params_
    {'c_u': 0.1}
    >>> bool(cross_val_score(BLSSVM(), X, y, scoring=pu_auc_scorer, cv=4).mean() > 0.75)
    True
    """

    _sign, _response_method = 1, "predict"  # what `TunedThresholdClassifierCV` reads of a scorer

    def __init__(self, name: str, of_model: Callable[..., float], of_labels: Callable[..., float]) -> None:
        self.__name__ = name
        self._of_model = of_model
        self._score_func = of_labels
        self._kwargs: dict[str, Any] = {}
        self._requests: Any = None

    def __call__(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **options: Any
    ) -> float:
        """Return the score of a fitted classifier."""
        return self._of_model(estimator, X, _labeled(estimator, y), sample_weight, **options)

    def __repr__(self) -> str:
        return self.__name__

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Return a copy of the scorer that requests metadata; the scorer itself, which all share, stays as it is.

        Parameters
        ----------
        **requests : bool, str or None
            ``sample_weight=True``, as for scorers of scikit-learn with metadata routing.
        """
        from sklearn.metrics import make_scorer  # takes long to import

        changed = copy.copy(self)
        changed._requests = make_scorer(self._score_func).set_score_request(**requests).get_metadata_routing()
        return changed

    def get_metadata_routing(self) -> Any:
        """Return the requests for metadata."""
        from sklearn.metrics import make_scorer

        return self._requests or make_scorer(self._score_func).get_metadata_routing()

    def _accept_sample_weight(self) -> bool:
        return True


def puf_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    denominator: Denominator = "unlabeled",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return PUF = recall^2 / P(predicted positive) of predicted labels, for `sklearn.metrics.make_scorer` as well.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels as in `fit`, of labeled positives and unlabeled rows, and predicted ones.
    pos_label : label, optional
        The label of labeled positives; by default the greater of two numbers, and of two words the positive one, as in
        `GLPUAL`. Other words need it: ``make_scorer(puf_score, pos_label="fraud")``.
    denominator : {"unlabeled", "all"}, default="unlabeled"
        Rows over which P(predicted positive) is taken: "unlabeled" if these are a separate sample, "all" if the
        labeled positives are part of one sample.
    sample_weight : array-like of shape (n,), optional
        Weight 2 equals duplicating the row.

    Returns
    -------
    float
        NaN with an `UndefinedMetricWarning` if there is no labeled row or none in the denominator.

    Examples
    --------
    >>> puf_score([1, 1, 0, 0], [1, 1, 1, 0])
    2.0
    """
    labeled, found = _of_labels(y_true, y_pred, pos_label)
    return _puf(labeled, found, sample_weight, denominator)


def score_of_labels(estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the PU-AUC of the labels that a fitted classifier predicts: half of recall plus 1 - share flagged."""
    found = np.asarray(estimator.predict(X)) == estimator.classes_[1]
    return _pu_auc(_labeled(estimator, y), found.astype(float), sample_weight)


def _pu_auc_of_labels(
    y_true: ArrayLike, y_pred: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
) -> float:
    """Return the area for predicted labels, half of recall plus true-negative rate among unlabeled rows."""
    labeled, found = _of_labels(y_true, y_pred, pos_label)
    return _pu_auc(labeled, found.astype(float), sample_weight)


def _puf_of_model(
    estimator: Any,
    X: ArrayLike,
    labeled: Bools,
    sample_weight: ArrayLike | None = None,
    denominator: Denominator = "unlabeled",
) -> float:
    found = np.asarray(estimator.predict(X)) == estimator.classes_[1]
    return _puf(labeled, found, sample_weight, denominator)


def _pu_auc_of_model(estimator: Any, X: ArrayLike, labeled: Bools, sample_weight: ArrayLike | None = None) -> float:
    return _pu_auc(labeled, _decision(estimator, X), sample_weight)


def _decision(estimator: Any, X: ArrayLike) -> Floats:
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X))
    return np.asarray(estimator.predict_proba(X))[:, 1]


def _puf(labeled: Bools, found: Bools, sample_weight: ArrayLike | None, denominator: Denominator) -> float:
    """Return PUF of rows (n,) that are labeled, and of those that are predicted positive."""
    weight = _weights(sample_weight, labeled)
    counts = [weight[rows].sum() for rows in (labeled & found, labeled, ~labeled & found, ~labeled)]
    score = float(puf(counts, denominator))
    return _undefined("PUF", labeled) if np.isnan(score) else score


def _pu_auc(labeled: Bools, scores: Floats, sample_weight: ArrayLike | None) -> float:
    """Return the area under the ROC curve of labeled against unlabeled rows, (n,) each."""
    from sklearn.metrics import roc_auc_score

    weight = _weights(sample_weight, labeled)
    if not weight[labeled].sum() or not weight[~labeled].sum():
        return _undefined("PU-AUC", labeled)
    return float(roc_auc_score(labeled, scores, sample_weight=None if sample_weight is None else weight))


def _undefined(name: str, labeled: Bools) -> float:
    """Return NaN and warn that a score needs both kinds of rows, as `roc_auc_score` does."""
    from sklearn.exceptions import UndefinedMetricWarning

    warnings.warn(
        f"{name} is not defined without labeled positives and unlabeled rows: {int(labeled.sum())} of "
        f"{len(labeled)} rows are labeled positives. Use stratified folds, or fewer of them.",
        UndefinedMetricWarning,
        stacklevel=4,
    )
    return float("nan")


def _weights(sample_weight: ArrayLike | None, labeled: Bools) -> Floats:
    if sample_weight is None:
        return np.ones(len(labeled))
    weight = inputs.weights(sample_weight)
    inputs.same_length(weight, labeled, ("sample_weight", "y"), least=0)
    return weight


def _of_labels(y_true: ArrayLike, y_pred: ArrayLike, pos_label: Any) -> tuple[Bools, Bools]:
    """Return which rows are labeled, and which are predicted positive."""
    y, y_hat = inputs.classes(y_true, y_pred, ("y_true", "y_pred"))
    found = inputs.distinct(np.concatenate([y, y_hat]))
    if len(found) > 2:
        shown = ", ".join(map(repr, found[: inputs.FEW]))
        raise ValueError(f"y_true and y_pred take two labels, of labeled positives and unlabeled rows; got {shown}.")
    if pos_label is None:
        pos_label = 1 if found in ([0], [-1]) else _last(found)  # 1 of 0 and 1, even if only 0 occurs
    elif len(found) == 2 and pos_label not in found:
        raise ValueError(f"pos_label={pos_label!r} is not a label: the labels are {found[0]!r} and {found[1]!r}.")
    return y == pos_label, y_hat == pos_label


def _last(found: list[Any]) -> Any:
    """Return the label of labeled positives of sorted labels; raise ValueError if two words do not show it."""
    if len(found) < 2 or not isinstance(found[0], str):
        return found[-1]
    positive = positive_of_two(*found)
    if positive is None:
        raise ValueError(
            f"the labels are {found[0]!r} and {found[1]!r}, and the words do not show which of them marks the labeled "
            "positives: set pos_label, as in make_scorer(puf_score, pos_label=...), or give 1 and 0."
        )
    return positive


def _labeled(estimator: Any, y: ArrayLike) -> Bools:
    """Return which rows are labeled positives; raise UsageError if a label is none of the classifier's."""
    classes: AnyArray = np.asarray(estimator.classes_)
    if len(classes) != 2:
        raise UsageError(f"the scorer needs a classifier with two classes; this one has {len(classes)}.")
    try:
        labels = inputs.labels(y, "y")
    except ValueError as error:
        raise UsageError(str(error)) from error
    known = classes.tolist() + _negatives(estimator)
    strange = [label for label in inputs.distinct(labels) if label not in known]
    if strange:
        shown = " and ".join(map(repr, classes.tolist()))
        raise UsageError(f"y has the label {strange[0]!r}, but the classifier was fitted to {shown}: score with those.")
    return np.asarray(labels == classes[1])


def _negatives(estimator: Any) -> list[Any]:
    """Return the label of known negatives that a classifier, or a step of it, was given."""
    given = estimator.get_params().items() if hasattr(estimator, "get_params") else ()
    return [value for name, value in given if name.rpartition("__")[2] == "neg_label" and value is not None]


puf_scorer = PUScorer("puf_scorer", _puf_of_model, puf_score)
pu_auc_scorer = PUScorer("pu_auc_scorer", _pu_auc_of_model, _pu_auc_of_labels)


# How a fitted classifier, rows and labels give the inputs of a metric (`pucli.metrics.Metric.needs`).
_INPUTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "truth": lambda model, X, y: y,
    "predictions": lambda model, X, y: model.predict(X),
    "positive": lambda model, X, y: model.classes_[-1],
    "decision": lambda model, X, y: _decision(model, X),
    "probability": lambda model, X, y: model.predict_proba(X)[:, -1],
    "labeled": lambda model, X, y: _labeled(model, y),
    "counts": lambda model, X, y: pu_counts(_labeled(model, y), model.predict(X), model.classes_[1]),
    "denominator": lambda model, X, y: "unlabeled",
    "prior": lambda model, X, y: (model[-1] if hasattr(model, "steps") else model).prior_,
    "clusters": lambda model, X, y: model.predict(X),
    "log_density": lambda model, X, y: model.score_samples(X),
}


class MetricScorer:
    """Scorer by a metric of `pucli list metrics`; see `scorer`."""

    def __init__(self, metric: str) -> None:
        self.metric = metric

    def __call__(self, estimator: Any, X: ArrayLike, y: ArrayLike | None = None) -> float:
        """Return the metric of a fitted model on rows X and labels y, times -1 if less is better."""
        metric = get_metric(self.metric)
        found = metric.of({need: _INPUTS[need](estimator, X, y) for need in metric.needs})
        return -found if metric.better == "lower" else found

    def __repr__(self) -> str:
        return f"scorer({self.metric!r})"


def scorer(metric: str) -> PUScorer | MetricScorer:
    """Return the scorer of a metric by its name in `pucli list metrics`, for `scoring=` of scikit-learn's tools.

    Parameters
    ----------
    metric : str
        Of labeled and unlabeled rows, such as "pu_auc" and "puf": y is as in `fit`. Of true classes, such as "f1" and
        "lift@5%": y has the classes of the rows, with the labels of `fit`.

    Returns
    -------
    callable
        Takes a fitted model, X and y; the greater the better, so that an error is negative.

    Raises
    ------
    UsageError
        If there is no such metric, or it is measured by an experiment and not of predictions.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier(strategy="constant", constant=1).fit([[0.0], [1.0]], [0, 1])
    >>> scorer("recall")(model, [[0.0], [1.0]], [0, 1]), scorer("brier")(model, [[0.0], [1.0]], [0, 1])
    (1.0, -0.5)
    """
    ready = {"pu_auc": pu_auc_scorer, "puf": puf_scorer}
    if metric in ready:
        return ready[metric]
    found = get_metric(metric)
    if found.function is None or not _INPUTS.keys() >= set(found.needs):
        raise UsageError(f"metric {metric} is measured by an experiment; predictions of a model alone do not give it.")
    return MetricScorer(metric)
