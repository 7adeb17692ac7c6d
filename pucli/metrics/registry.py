"""The list of metrics.

An entry is all that a new metric needs: tables show it in its unit, verdicts and ranks use its better side and its
margin, `compute` evaluates it when its inputs are available, and the command line lists it. An installed package adds
entries by the entry-point group ``pucli.metrics``; each entry point is a `Metric` or a list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.errors import unknown
from pucli.core.plug_ins import named
from pucli.metrics import classification, clustering, density, pu

PLUG_INS = "pucli.metrics"


@dataclass(frozen=True)
class Metric:
    """One metric.

    Parameters
    ----------
    name : str
        Its name in experiments, tables and on the command line.
    description : str
        One line for help texts and legends.
    function : callable, optional
        Takes the inputs in `needs`, by position, and returns a number. If missing, the protocol measures the metric.
    needs : tuple of str
        Inputs of the function:

        - ``truth``, ``predictions``: true and predicted classes, (n,);
        - ``positive``: the positive class, where there are two classes;
        - ``decision``: scores that rank the rows, (n,);
        - ``counts``, ``denominator``: the four counts of `pucli.metrics.pu`, and which rows PUF divides by;
        - ``clusters``: predicted clusters, (n,);
        - ``log_density``: log-densities of test rows, (n,);
        - ``generated``, ``centres``, ``sd``, ``mode_counts``: generated rows and the modes of the true density;
        - ``unlabeled_truth``, ``unlabeled_signs``, ``signs``: classes and predicted signs of the USMO protocol.
    unit : str
        Unit in tables; "" if there is none, or if it is part of the name.
    scale : float
        Factor from stored values to that unit: 100 for fractions that tables show in per cent.
    better : {"higher", "lower"} or None
        The better side; None if there is none.
    margin : float
        Differences up to this have no practical meaning; in the unit of tables.
    relative : bool
        Whether `margin` is a share of the published figure instead.
    """

    name: str
    description: str
    function: Callable[..., Any] | None = None
    needs: tuple[str, ...] = ()
    unit: str = ""
    scale: float = 1.0
    better: Literal["higher", "lower"] | None = None
    margin: float = 0.05
    relative: bool = True

    @property
    def heading(self) -> str:
        """Name and unit, as table headings show them."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def margin_at(self, published: float) -> float:
        """Return the margin around a published figure, in the unit of tables."""
        return self.margin * abs(published) if self.relative else self.margin


def _percent(name: str, description: str, function: Callable[..., Any] | None, *needs: str) -> Metric:
    """Return a fraction that tables show in per cent, the higher the better, with a margin of five points."""
    return Metric(name, description, function, needs, "%", 100.0, "higher", 5.0, relative=False)


_BINARY = ("truth", "predictions", "positive")
_COUNTED = "rows counted on the test set"

METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            # binary classification
            _percent("f1", "F1 of the positive class", classification.f1, *_BINARY),
            _percent("precision", "share of true positives among predicted ones", classification.precision, *_BINARY),
            _percent("recall", "share of positives that are predicted positive", classification.recall, *_BINARY),
            _percent("accuracy", "share of rows predicted correctly", classification.accuracy, "truth", "predictions"),
            _percent("auc", "area under the ROC curve", classification.auc, "truth", "decision", "positive"),
            Metric("tp", f"true positives, {_COUNTED}", classification.true_positives, _BINARY),
            Metric("fp", f"false positives, {_COUNTED}", classification.false_positives, _BINARY),
            Metric("fn", f"false negatives, {_COUNTED}", classification.false_negatives, _BINARY),
            Metric("tn", f"true negatives, {_COUNTED}", classification.true_negatives, _BINARY),
            # labelled positives and unlabeled rows
            Metric("recall_labelled", "share of labelled rows predicted positive", pu.recall_labelled, ("counts",)),
            Metric("predicted_positive", "share of rows predicted positive", pu.predicted_positive, ("counts",)),
            Metric(
                "puf",
                "recall^2 / P(predicted positive), from labelled and unlabeled rows",
                pu.puf,
                ("counts", "denominator"),
                better="higher",
            ),
            # the USMO protocol
            Metric(
                "f_published",
                "F of the majority class as the released script computes it: predictions and classes shifted",
                classification.f_published,
                ("unlabeled_truth", "signs"),
                unit="%",
                better="higher",
                margin=5.0,
                relative=False,
            ),
            Metric(
                "f_majority",
                "F of the class that most unlabeled rows have",
                classification.f_majority,
                ("unlabeled_truth", "unlabeled_signs"),
                unit="%",
                better="higher",
                margin=5.0,
                relative=False,
            ),
            Metric("objective", "objective at the solution"),
            Metric(
                "objective_difference_ppm",
                "difference of the objective from that of the reference solver, in millionths",
                better="lower",
            ),
            Metric("seconds", "processor seconds of the fit", better="lower"),
            Metric("peak_mb", "growth of the memory in use at its peak", better="lower"),
            Metric("exponent", "exponent of the seconds in the number of unlabeled rows", better="lower"),
            # diagnosis of tuning
            _percent(
                "f1_ceiling", "F1 on the test rows of the grid point that is best there: what tuning could reach", None
            ),
            _percent("f1_median", "median over the grid of F1 on the test rows", None),
            # features
            _percent("irrelevant_zeroed", "share of the irrelevant features that the model leaves out", None),
            Metric("crossing", "where the decision boundary crosses the diagonal"),
            # semi-supervised classification and clustering
            Metric("error", "share of misclassified test rows", better="lower", margin=0.05, relative=False),
            Metric("error_full", "share of misclassified training rows", better="lower", margin=0.05, relative=False),
            Metric("loss", "the method's own loss per row, all training rows with their true classes", better="lower"),
            Metric("loss_gain", "loss of the supervised fit minus the method's", better="higher"),
            Metric("guaranteed_gain", "least gain of loss that is guaranteed", better="higher"),
            Metric("worse_loss", "1 where the loss is above that of the supervised fit", better="lower"),
            Metric("worse_error", "1 where the training error is above that of the supervised fit", better="lower"),
            Metric("worse_test_error", "1 where the test error is above that of the supervised fit", better="lower"),
            Metric("n_labelled", "labelled rows"),
            Metric("n_unlabeled", "unlabeled rows"),
            Metric(
                "nmi",
                "normalised mutual information of classes and predictions",
                clustering.nmi,
                ("truth", "clusters"),
                better="higher",
                margin=0.05,
                relative=False,
            ),
            Metric("nmi_clusters", "normalised mutual information of classes and clusters", better="higher"),
            Metric("n_components", "components of the fitted mixture"),
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
                "log_likelihood",
                "mean log-density of test rows, in nats",
                density.mean_log_likelihood,
                ("log_density",),
                better="higher",
            ),
            Metric(
                "modes",
                "modes of the true density found",
                density.modes_found,
                ("mode_counts",),
                better="higher",
            ),
            Metric(
                "near",
                "share of generated rows near a mode",
                density.share_near,
                ("generated", "centres", "sd"),
                better="higher",
            ),
            Metric("iterations_per_second", "iterations of training per second", better="higher"),
        )
    }
)


def all_metrics() -> Mapping[str, Metric]:
    """Return the built-in metrics and those of installed packages, by name."""
    offered = named(PLUG_INS, Metric, frozenset(METRICS))
    return METRICS if not offered else MappingProxyType({**METRICS, **{metric.name: metric for _, metric in offered}})


def get_metric(name: str) -> Metric:
    """Return the metric called `name`; the error suggests the nearest names."""
    if name in METRICS:
        return METRICS[name]
    metrics = all_metrics()
    if name not in metrics:
        raise unknown("metric", name, metrics)
    return metrics[name]


def computable(inputs: Collection[str]) -> list[str]:
    """Return the names of the metrics for which these inputs, see `Metric.needs`, are enough.

    Examples
    --------
    >>> computable(["counts"])
    ['recall_labelled', 'predicted_positive']
    """
    there = set(inputs)
    return [m.name for m in all_metrics().values() if m.function is not None and there.issuperset(m.needs)]


def compute(given: Mapping[str, Any]) -> dict[str, float]:
    """Return every metric whose inputs are all in `given`.

    Parameters
    ----------
    given : mapping of str to object
        The available inputs, by the names in `Metric.needs`. A value of None counts as missing.

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
    found, metrics = {}, all_metrics()
    for name in computable([name for name, value in given.items() if value is not None]):
        function = metrics[name].function
        assert function is not None
        found[name] = float(function(*(given[need] for need in metrics[name].needs)))
    return found


def classification_scores(
    y_true: ArrayLike, y_pred: ArrayLike, decision: ArrayLike | None = None, *, positive: object = None
) -> dict[str, float]:
    """Return every registered metric of one binary prediction.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted classes.
    decision : array-like of shape (n,), optional
        Scores that rank the rows; greater means more positive. Needed for the AUC.
    positive : object, optional
        The positive class; the greatest one in `y_true` and `y_pred` when omitted.

    Returns
    -------
    dict of str to float
        Among them f1, precision, recall, accuracy, auc (fractions) and the confusion counts tp, fp, fn, tn. Precision
        and F1 are 0 where nothing is predicted positive. Recall and F1 are NaN without a positive row in `y_true`. The
        AUC is NaN without `decision`, or where `y_true` has one class only.

    Raises
    ------
    ValueError
        If the inputs are empty or differ in length.

    Examples
    --------
    >>> classification_scores([1, 1, 0], [1, 0, 0])["recall"]
    0.5
    """
    truth, predictions = np.asarray(y_true).ravel(), np.asarray(y_pred).ravel()
    if len(truth) == 0 or len(truth) != len(predictions):
        raise ValueError(f"y_true and y_pred need the same length above zero, got {len(truth)} and {len(predictions)}.")
    if positive is None:
        positive = max(truth.max(), predictions.max())
    if decision is None:  # the AUC is then NaN rather than missing
        decision = np.full(len(truth), np.nan)
    return compute({"truth": truth, "predictions": predictions, "positive": positive, "decision": decision})
