"""The list of metrics.

An entry is all that a new metric needs: tables show it in its unit, verdicts and ranks use its better side and its
margin, `compute` evaluates it when its inputs are available, and the command line lists it. An installed package adds
entries by the entry-point group ``pucli.metrics``; each entry point is a `Metric` or a list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.errors import UsageError, unknown
from pucli.core.plug_ins import named
from pucli.metrics import classification, clustering, density, inputs, probabilities, pu, ranking, top
from pucli.metrics.metric import Metric

PLUG_INS = "pucli.metrics"


Function: TypeAlias = Callable[..., Any] | None


def _percent(name: str, description: str, function: Function, *needs: str, scale: float = 100.0) -> Metric:
    """Return a fraction that tables show in per cent, the higher the better, with a margin of five points."""
    return Metric(name, description, function, needs, "%", scale, "higher", 5.0, relative=False)


def _number(
    name: str,
    description: str,
    function: Function,
    needs: tuple[str, ...] = (),
    better: Literal["higher", "lower"] = "higher",
    margin: float = 0.05,
) -> Metric:
    """Return a number that tables show as it is, with a margin in the same unit."""
    return Metric(name, description, function, needs, better=better, margin=margin, relative=False)


_RANKED = ("truth", "decision", "positive")
_LABELED = ("labeled", "decision", "denominator")
_BINARY = ("truth", "predictions", "positive")
_CHANCES = ("truth", "probability", "positive")

_ALL = (
    # binary classification
    _percent("f1", "F1 of the positive class", classification.f1, *_BINARY),
    _percent("precision", "share of true positives among predicted ones", classification.precision, *_BINARY),
    _percent("recall", "share of positives that are predicted positive", classification.recall, *_BINARY),
    _percent("accuracy", "share of rows predicted correctly", classification.accuracy, "truth", "predictions"),
    _percent("auc", "area under the ROC curve", classification.auc, "truth", "decision", "positive"),
    *(
        Metric(name, f"{what}, rows counted on the test set", partial(classification.count, name), _BINARY)
        for name, what in (
            ("tp", "true positives"),
            ("fp", "false positives"),
            ("fn", "false negatives"),
            ("tn", "true negatives"),
        )
    ),
    _percent("balanced_accuracy", "mean of the shares of both classes predicted correctly", None),
    _percent("outlier_average_precision", "average precision of the negative class", None),
    *(
        _number(f"outlier_fpr_{at}", f"share of positives that score as low as {at}% of negatives", None, (), "lower")
        for at in (80, 90, 95)
    ),
    # the rows that rank first; the part behind "@" is free
    _percent("average_precision", "mean precision at the scores of the positives", top.average_precision, *_RANKED),
    _percent("precision@10%", "share of positives among the rows that rank first", top.precision_at, *_RANKED),
    _percent("recall@10%", "share of the positives that are among the rows that rank first", top.recall_at, *_RANKED),
    Metric(
        "lift@1%", "precision among the rows that rank first over the share of positives: the enrichment factor",
        top.lift_at, _RANKED, better="higher",
    ),
    _number(
        "bedroc@20", "early recognition, with the weight alpha of the first rows (Truchon and Bayly 2007)", top.bedroc,
        _RANKED,
    ),
    _number("boyce", "continuous Boyce index of the positives against all rows", top.boyce, _RANKED),
    # probabilities
    _number("brier", "mean squared difference of probability and class", probabilities.brier, _CHANCES, "lower", 0.02),
    _number(
        "calibration_error", "expected calibration error, ten bins", probabilities.calibration_error, _CHANCES, "lower",
    ),
    # labeled positives and unlabeled rows
    Metric("recall_labeled", "share of labeled rows predicted positive", pu.recall_labeled, ("counts",)),
    Metric("predicted_positive", "share of rows predicted positive", pu.predicted_positive, ("counts",)),
    Metric(
        "puf", "recall^2 / P(predicted positive), from labeled and unlabeled rows", pu.puf, ("counts", "denominator"),
        better="higher",
    ),
    _number(
        "proxy_accuracy", "accuracy from labeled and unlabeled rows with the class prior", pu.proxy_accuracy,
        ("counts", "denominator", "prior"),
    ),
    _percent("pu_auc", "AUC of labeled against unlabeled rows", ranking.labeled_auc, "labeled", "decision"),
    _percent(
        "likely_negative_auc", "AUC of labeled rows against the unlabeled ones that the models together rank last",
        ranking.likely_negative_auc, "labeled", "decision", "reference", "prior",
    ),
    _percent(
        "recall_labeled@10%", "share of labeled rows that rank as high as the first rows of the population",
        pu.recall_labeled_at, *_LABELED,
    ),
    Metric(
        "lift_labeled@1%", "lift among the rows that rank first, estimated from labeled rows", pu.lift_labeled_at,
        _LABELED, better="higher",
    ),
    _number(
        "boyce_labeled", "continuous Boyce index of labeled rows against the population", top.boyce_labeled,
        _LABELED,
    ),
    # the USMO protocol
    _percent(
        "f_published", "F of the majority class as the released script computes it: predictions and classes shifted",
        classification.f_published, "unlabeled_truth", "signs", scale=1.0,
    ),
    _percent(
        "f_majority", "F of the class that most unlabeled rows have", classification.f_majority, "unlabeled_truth",
        "unlabeled_signs", scale=1.0,
    ),
    Metric("objective", "objective at the solution"),
    Metric(
        "objective_difference_ppm", "difference of the objective from that of the reference solver, in millionths",
        better="lower",
    ),
    Metric("seconds", "processor seconds of the fit", better="lower"),
    Metric("peak_mb", "growth of the memory in use at its peak", better="lower"),
    Metric("exponent", "exponent of the seconds in the number of unlabeled rows", better="lower"),
    # diagnosis of tuning
    _percent("f1_ceiling", "F1 on the test rows of the grid point that is best there: what tuning could reach", None),
    _percent("f1_median", "median over the grid of F1 on the test rows", None),
    # features
    _percent("irrelevant_zeroed", "share of the irrelevant features that the model leaves out", None),
    Metric("crossing", "where the decision boundary crosses the diagonal"),
    # semi-supervised classification and clustering
    _number("error", "share of misclassified test rows", None, better="lower"),
    _number("error_full", "share of misclassified training rows", None, better="lower"),
    Metric("loss", "the method's own loss per row, all training rows with their true classes", better="lower"),
    Metric("loss_gain", "loss of the supervised fit minus the method's", better="higher"),
    Metric("guaranteed_gain", "least gain of loss that is guaranteed", better="higher"),
    Metric("worse_loss", "1 where the loss is above that of the supervised fit", better="lower"),
    Metric("worse_error", "1 where the training error is above that of the supervised fit", better="lower"),
    Metric("worse_test_error", "1 where the test error is above that of the supervised fit", better="lower"),
    Metric("n_labeled", "labeled rows"),
    Metric("n_unlabeled", "unlabeled rows"),
    _number("nmi", "normalized mutual information of classes and predictions", clustering.nmi, ("truth", "clusters")),
    Metric("nmi_clusters", "normalized mutual information of classes and clusters", better="higher"),
    Metric("n_components", "components of the fitted mixture"),
    # class prior
    Metric("prior", "class prior that a method estimates"),
    _number("prior_error", "absolute error of the class prior that a method estimates", None, (), "lower", 0.02),
    Metric("prior_covered", "1 where the interval of the class prior has the true one", better="higher"),
    _percent("auc_seldom", "AUC of the positives of the kind that is labeled most seldom", None),
    # adversarial labels
    Metric("least_improvement", "least gain of likelihood over the supervised fit", better="higher"),
    Metric("largest_gap", "largest duality gap", better="lower"),
    Metric("largest_posterior_change", "largest change of the posterior at an unlabeled point"),
    Metric("least_soft_label", "least adversarial label"),
    Metric("orthogonal_share", "share of positions at which the orthogonality condition holds"),
    Metric("orthogonal_share_of_two", "the same with two unlabeled points"),
    # strict improvement
    Metric("condition_holds", "1 where Theorem 3.8 promises a strict improvement"),
    Metric("adversarial_label", "most adversarial label of the unlabeled point"),
    Metric("slope_change", "slope minus that of the supervised fit"),
    Metric("gain_if_0", "gain of loss if the label of the unlabeled point is 0", better="higher"),
    Metric("gain_if_1", "gain of loss if the label of the unlabeled point is 1", better="higher"),
    # generative models
    Metric(
        "log_likelihood", "mean log-density of test rows, in nats", density.mean_log_likelihood, ("log_density",),
        better="higher",
    ),
    Metric("modes", "modes of the true density found", density.modes_found, ("mode_counts",), better="higher"),
    Metric(
        "near", "share of generated rows near a mode", density.share_near, ("generated", "centers", "sd"),
        better="higher",
    ),
    Metric("iterations_per_second", "iterations of training per second", better="higher"),
)  # fmt: skip

METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _ALL})


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
