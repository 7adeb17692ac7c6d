"""Base of all PU classifiers: the meaning of `y`, validation, and prediction by the sign of f."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import AnyArray, Bools, Floats
from pucli.core.errors import DegenerateModelWarning, by_interface, warn_user
from pucli.core.saved_state import ANY_PORTION, AT_LEAST_ZERO, PORTION, Array, Labels, Optional, Scalar, State
from pucli.estimators.base.certificate import Certified
from pucli.estimators.base.data_defaults import Rule, number_for_words
from pucli.estimators.base.input_rows import check_finite, dense_rows, refuse_large, validated, warn_of_sizes
from pucli.estimators.base.labels import (
    check_order,
    plain_labels,
    positive_label,
    refuse_missing_labels,
    refuse_mixed_labels,
)
from pucli.estimators.base.parameters import Label, number_given
from pucli.metrics.scorers import score_of_labels

if TYPE_CHECKING:
    from pucli.solvers.ensemble.calibration import Calibration

HINT = "Tune the parameters, give the class prior if the method takes one, or check the labels."
# A model is degenerate if the share of the unlabeled training rows that it predicts positive is below the first number
# or above one minus it, or if that of the labeled training rows is below the second number. A useful model may miss
# half of the labeled rows, but hardly 95 % of them.
NEARLY_NONE = 0.005
LEAST_RECALL = 0.05
# Number of rows of each kind on which these shares are measured, evenly spaced over the training rows: as many as this
# number of cells, within these limits. A kernel of wide rows would otherwise take a noticeable part of the fit.
MEASURED_CELLS, LEAST_MEASURED_ROWS, MEASURED_ROWS = 200_000, 500, 2000


def _keeps_scores(model: Any) -> bool:
    """Return True if a model has, or will have when fitted, the scores of training rows; else raise AttributeError."""
    if hasattr(model, "classes_") and not {"labeled_scores_", "unlabeled_scores_"} <= vars(model).keys():
        raise AttributeError(
            "this model keeps no scores of training rows, from which probabilities are estimated: it was trained "
            "in blocks. Fit it again in memory, or take pucli.CalibratedPU."
        )
    return True


class PUClassifier(Certified, ClassifierMixin, BaseEstimator):
    """Base of the PU classifiers: what `y` means, defaults by words, and predictions by the sign of f.

    A method writes `fit`, which begins with `_check_rows` and `_set_defaults` and ends with `_finish`, and `_score`.

    Parameters
    ----------
    pos_label : label or None, default=None
        The label of y that marks labeled positives. None takes the greater of two numbers or booleans, and of two
        words the positive one ("yes" of "no" and "yes", "spam" of "not spam" and "spam") if it is also the last in
        sorted order, which scikit-learn takes for the positive class; other words need `pos_label`.
    threshold : float or None, default=None
        Threshold above which a row is predicted positive; it is subtracted from `decision_function`. None means zero.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The label of unlabeled rows and the label of labeled positives, in this order.
    positive_share_ : float
        Share of the unlabeled training rows that are predicted positive.
    labeled_recall_ : float
        Share of the labeled training rows that are predicted positive.
    n_features_in_ : int
    """

    pos_label: Label | None
    threshold: float | None
    threshold_: float
    labeled_scores_: Floats
    unlabeled_scores_: Floats
    classes_: AnyArray
    n_features_in_: int

    # The rule of each parameter that may be a word; `_set_defaults` sets the number, ``name_``.
    _rules: ClassVar[Mapping[str, Rule]] = {}
    saved_state: ClassVar[State] = {
        "classes_": Labels(2),
        "positive_share_": ANY_PORTION,
        "labeled_recall_": ANY_PORTION,
        "prior_": Optional(PORTION),
        "lam_": AT_LEAST_ZERO,
        "lam1_": AT_LEAST_ZERO,
        "lam2_": AT_LEAST_ZERO,
        "c_u_": AT_LEAST_ZERO,
        "width_": Scalar(0.0, finite=False),  # NaN with the linear kernel
        "graph_recall_": ANY_PORTION,
        "labeled_scores_": Array("labeled scores"),
        "unlabeled_scores_": Array("unlabeled scores"),
    }
    # Whether probabilities are estimated from the scores of training rows; False where a method has its own.
    _by_training_scores: ClassVar[bool] = True
    # What a method without a kernel compares, if features of very different size change it.
    _compared: ClassVar[str] = ""
    # Whether the class prior is in the objective: such a model does not fit labels taken as classes (no positive among
    # the unlabeled rows), so the accuracy that scikit-learn's checks require does not apply.
    _prior_in_objective: ClassVar[bool] = False

    @property
    def _way_out(self) -> str:
        """Advice on a degenerate model."""
        return HINT

    def _check_rows(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Bools]:
        """Check parameters, rows and labels; return X (n, m) as float64 and which rows (n,) are labeled positives.

        Sets `classes_`. Sparse rows stay sparse only for a method that computes with them.
        """
        self._validate_params()
        rows: Floats
        labels: AnyArray
        pos_label = getattr(self, "pos_label", None)
        y = plain_labels(y)
        refuse_missing_labels(y)
        refuse_mixed_labels(y)
        rows, labels = validated(self, X, y, sparse=self._sparse_format or "csr")
        check_classification_targets(labels)
        classes = np.unique(labels)
        if len(classes) == 1:
            raise ValueError(
                f"Classifier can't train when only one class is present: every row has label {classes.tolist()[0]!r}. "
                "PU learning needs labeled positives and unlabeled rows, with a label for each kind."
            )
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported: y has {len(classes)} labels; PU learning takes two, "
                "one for labeled positives and one for unlabeled rows. For several positive classes, fit one model "
                "for each, with y = (labels == that class), and take the class of the largest probability "
                "(pucli.CalibratedPU); known negatives need pucli.AutoPU with neg_label."
            )
        positive = positive_label(classes, pos_label)
        check_order(classes, positive, pos_label)
        self.classes_ = classes if positive == classes[1] else classes[::-1].copy()
        self._check_memory(rows)
        rows = self._computed_with(rows)
        compared = "rows by their distances" if getattr(self, "kernel", None) == "rbf" else self._compared
        if compared and not issparse(rows):
            warn_of_sizes(self, rows, compared)
        return rows, np.asarray(labels == positive)

    def _set_defaults(self, X: Floats, labeled: Bools, weights: Floats | None = None) -> None:
        """Set ``name_`` for each parameter that may be a word: the given number, or that for the word."""
        for name, value in number_for_words(self, X, labeled, weights).items():
            setattr(self, f"{name}_", value)

    def _finish(self, X: Floats, labeled: Bools) -> Self:
        """Warn unless the fit converged and the model is of use, and return it."""
        if self.converged_:
            check_finite(self)
        self._warn_unless_converged()
        self._measure(X, labeled)
        return self

    def _computed_with(self, X: Any) -> Floats:
        """Return rows X (n, m) in the form that the solver takes: dense, unless the method takes sparse rows."""
        if not self._sparse_format:
            return dense_rows(self, X)
        refuse_large(X)
        rows: Floats = csr_array(X) if issparse(X) else X
        return rows

    def _validate_predict(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return self._computed_with(validated(self, X, reset=False, sparse=self._sparse_format or "csr"))

    def _measure(self, X: Floats, labeled: Bools) -> None:
        """Set the shares of training rows that are predicted positive; warn if the model is degenerate."""
        most = min(MEASURED_ROWS, max(LEAST_MEASURED_ROWS, MEASURED_CELLS // X.shape[1]))
        shares, scores = [], []
        for kind in (~labeled, labeled):
            rows = np.flatnonzero(kind)
            if len(rows) > most:
                rows = rows[np.linspace(0, len(rows) - 1, most).astype(int)]
            scores.append(np.sort(self._score(X[rows])))
            shares.append(float(np.mean(scores[-1] > self._threshold)))
        self.positive_share_, self.labeled_recall_ = shares
        if self._by_training_scores:
            self.unlabeled_scores_, self.labeled_scores_ = scores
        given = number_given(getattr(self, "prior", None))
        problem = degeneracy(*shares, prior_given=given is not None, way_out=self._way_out)
        if problem:
            warn_user(f"{type(self).__name__} {problem}", DegenerateModelWarning)

    def _score(self, X: Floats) -> Floats:
        """Return f(x) (n,) of validated rows X (n, m)."""
        raise NotImplementedError

    @property
    def _threshold(self) -> float:
        """The threshold that was given, zero without one."""
        return getattr(self, "threshold", None) or 0.0

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return f(x) for each row of X.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Above zero for rows that are predicted positive.
        """
        scores = self._score(self._validate_predict(X))
        return scores - self._threshold if self._threshold else scores

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the label of each row of X.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            The second of `classes_`, the positive one, where `decision_function` is above zero.
        """
        score = self.decision_function(X)
        predictions: AnyArray = self.classes_[(score > 0).astype(int)]
        return predictions

    @available_if(_keeps_scores)
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return an estimate of the probabilities of `classes_` for each row of X.

        The probability of a positive is the prior times the ratio of the densities of the scores of labeled and of
        unlabeled training rows, which rises with the score; the prior is that of the model, or else is estimated from
        these scores. A row may be predicted positive with a probability below 1/2. `pucli.CalibratedPU` and the
        commands take held-out scores, which are better where a model follows its training rows closely.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows.

        Returns
        -------
        ndarray of shape (n, 2)
            Rows sum to one.
        """
        scores = self._score(self._validate_predict(X))
        probability = self._training_curve().of(scores)
        return np.column_stack([1.0 - probability, probability])

    def _training_curve(self) -> Calibration:
        """Return the probability by score, from the scores of training rows."""
        from pucli.solvers.ensemble.calibration import curve_of_scores

        prior = number_given(getattr(self, "prior", None))
        prior = getattr(self, "prior_", None) if prior is None else prior
        return curve_of_scores(self.labeled_scores_, self.unlabeled_scores_, prior)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the PU-AUC of the predicted labels: half of the labeled recall plus the unlabeled share not flagged.

        If the labeled rows are a random sample of the positives, it increases with the true balanced accuracy; 1/2 is
        that of a model that flags every row or none. Accuracy would take hidden positives for negatives, and choose
        the model that finds nobody.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows.
        y : array-like of shape (n,)
            Labels as in `fit`, of labeled positives and unlabeled rows.
        sample_weight : array-like of shape (n,), optional
            Weight 2 equals duplicating the row.

        Returns
        -------
        float
            Between 0 and 1; NaN with an `UndefinedMetricWarning` without rows of both kinds.
        """
        return score_of_labels(self, X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = self._prior_in_objective
        return tags


def has_own_probabilities(model: Any) -> bool:
    """Return whether a model, or the last step of a pipeline, has probabilities that are part of its method."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return hasattr(last, "predict_proba") and not getattr(type(last), "_by_training_scores", False)


def extreme_share(positive_share: float, labeled_recall: float) -> Literal["no", "every", ""]:
    """Return which rows a degenerate model predicts positive, nearly "no" or "every" row, and "" if it is useful."""
    if labeled_recall < LEAST_RECALL or positive_share < NEARLY_NONE:
        return "no"
    return "every" if positive_share > 1.0 - NEARLY_NONE else ""


def degeneracy(positive_share: float, labeled_recall: float, *, prior_given: bool = False, way_out: str = HINT) -> str:
    """Return the reason why a model is degenerate, judged by its predictions on the training rows, or ""."""
    if prior_given:
        way_out = (
            "The class prior was given: where the classes overlap, no row may be more likely positive than negative. "
            f"Take the rows with the highest scores{by_interface('', ' (`pucli predict --top N`)')}, or a method that "
            "needs no prior, such as svc-naive or auto."
        )
    extreme = extreme_share(positive_share, labeled_recall)
    if extreme == "no":
        return (
            f"predicts nearly no row positive: {100 * positive_share:.3g} % of the unlabeled and "
            f"{100 * labeled_recall:.3g} % of the labeled training rows. {way_out}"
        )
    if extreme:
        share = f"{100 * positive_share:.4g} % of the unlabeled training rows"
        return f"predicts nearly every row positive: {share}. {way_out}"
    return ""
