"""Base of the semi-supervised classifiers; `-1` marks an unlabeled row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import DegenerateModelWarning, warn_user
from pucli.core.saved_state import STATEMENT, Flag, Labels, Plain, State
from pucli.data.labels import says_not_labeled, says_plainly_not_labeled
from pucli.estimators.base.certificate import Certified
from pucli.estimators.base.input_rows import check_finite, dense_rows, validated
from pucli.estimators.base.labels import plain_labels, refuse_missing_labels, refuse_mixed_labels

# Number of labeled rows whose predictions are compared.
MEASURED_ROWS = 1000
MARK = "Mark unlabeled rows by -1 ('-1' among strings)."


def class_labels(y: Any) -> Any:
    """Return labels as `plain_labels` does; refuse missing labels, and words among numbers."""
    y = plain_labels(y)
    refuse_missing_labels(y, MARK)
    refuse_mixed_labels(y, "Give all classes as words or all as numbers.", unlabeled=-1)
    return y


def unlabeled_rows(y: ArrayLike) -> Bools:
    """Return the mask (n,) of the unlabeled rows of y: -1, or among strings "-1" or "unlabeled"."""
    y = np.asarray(y)
    if y.dtype.kind not in "USO":
        return np.asarray(y == -1)
    marks = {label: label == -1 or label == "-1" or says_plainly_not_labeled(label) for label in _distinct(y)}
    return np.array([marks[label] for label in y.tolist()], dtype=bool)


def check_no_missing_label(y: AnyArray) -> None:
    """Raise ValueError for a label that is no class: an empty string, or a word such as "unknown".

    "unlabeled" and "-1" mark unlabeled rows; "u" is a class among other single letters.
    """
    if y.dtype.kind not in "USO":
        return
    labels = _distinct(y)
    letters = [label for label in labels if isinstance(label, str) and len(label.strip()) == 1]
    for label in labels:
        if isinstance(label, str) and label.strip() == "":
            raise ValueError(
                f"row {y.tolist().index(label)} has the label {label!r}, which is not a class: mark unlabeled rows by "
                "-1 ('-1' among strings); None, NaN and empty strings are not accepted as labels."
            )
        letter = label in letters and str(label).isalpha() and len(letters) > 3
        if says_not_labeled(label) and not says_plainly_not_labeled(label) and not letter:
            raise ValueError(
                f"row {y.tolist().index(label)} has the label {label!r}, which seems to say that nobody has labeled "
                "it: mark unlabeled rows by '-1', or rename the class."
            )


def _distinct(y: AnyArray) -> list[Any]:
    """Return the distinct labels in order of first appearance."""
    return list(dict.fromkeys(y.tolist()))


def classes_and_codes(y: AnyArray, unlabeled: Bools) -> tuple[AnyArray, Ints]:
    """Return the sorted classes, and the position of each row's label among them (n,), -1 for unlabeled rows."""
    labels = y[~unlabeled]
    if labels.dtype.kind == "O":
        labels = np.array(labels.tolist())
    if len(labels):
        check_classification_targets(labels)
    classes, found = np.unique(labels, return_inverse=True)
    codes = np.full(len(y), -1, dtype=np.int64)
    codes[~unlabeled] = found
    return classes, codes


def checked_classes(y: AnyArray) -> tuple[AnyArray, Ints]:
    """Return what `classes_and_codes` does for labels of `class_labels`; refuse fewer than two classes."""
    check_no_missing_label(y)
    unlabeled = unlabeled_rows(y)
    if unlabeled.all():
        raise ValueError(
            f"all {len(y)} rows are unlabeled (-1): a semi-supervised classifier needs labeled rows of at "
            "least 2 classes, so it cannot be fitted with 0 labeled rows."
        )
    classes, codes = classes_and_codes(y, unlabeled)
    if len(classes) == 1:
        raise ValueError(
            f"Classifier can't train when only one class is present: every labeled row has label "
            f"{classes[0].item()!r}. Each class needs at least one labeled row (-1 marks unlabeled ones)."
        )
    return classes, codes


def warn_if_one_class(estimator: Any, rows: Floats, codes: Ints, predict: Callable[[Floats], AnyArray]) -> None:
    """Warn if a fitted classifier predicts one class for training rows that are labeled with several."""
    labeled = np.flatnonzero(codes >= 0)
    labeled = labeled[np.linspace(0, len(labeled) - 1, min(len(labeled), MEASURED_ROWS)).astype(int)]
    found = np.unique(predict(rows[labeled]))
    if len(found) == 1 and len(np.unique(codes[labeled])) > 1:
        warn_user(
            f"{type(estimator).__name__} has not learned: it predicts {found[0].item()!r} for all labeled rows, of "
            f"{len(estimator.classes_)} classes. Scale the features (for example to unit variance), or tune the "
            "parameters.",
            DegenerateModelWarning,
        )


class SemiSupervisedClassifier(Certified, ClassifierMixin, BaseEstimator):
    """Base of the semi-supervised classifiers.

    A method writes `fit`, which begins with `_check_rows` and ends with `_finish`, and `decision_function`. `y` has
    integer or string labels; `-1` (or "-1" or "unlabeled" among strings) marks an unlabeled row. Without unlabeled
    rows, every method is its supervised version, and `supervised_only_` is True. None, NaN, empty
    strings and words such as "unknown" are not accepted as labels.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    supervised_only_ : bool
        Whether no row was unlabeled.
    improvement_ : float
        Guaranteed gain over the supervised fit, whatever the hidden labels are; NaN for methods without a guarantee.
    n_features_in_ : int
    """

    _unit = ""  # unit of `improvement_`, for `guarantee_`
    _safe: ClassVar[bool] = False  # whether the method falls back to the supervised fit, so that it is never worse

    classes_: AnyArray
    supervised_only_: bool
    improvement_: float
    n_features_in_: int
    decision_function: Callable[[ArrayLike], Floats]

    saved_state: ClassVar[State] = {
        "classes_": Labels("K"),
        "supervised_only_": Flag(),
        "improvement_": STATEMENT,
        "gap_": STATEMENT,
        "soft_labels_": Plain(),
    }

    def _predicted(self, X: Floats) -> AnyArray:
        """Return the class of validated rows X (n, D), which have lost the names of their features."""
        names = self.__dict__.pop("feature_names_in_", None)
        try:
            return self.predict(X)
        finally:
            if names is not None:
                self.feature_names_in_ = names

    def _check_rows(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Ints]:
        """Check parameters, rows and labels; return X (n, D) as float64 and the position in `classes_` of each label.

        Codes (n,) are -1 for unlabeled rows. Sets `classes_` and `supervised_only_`.
        """
        self._validate_params()
        rows: Floats
        labels: AnyArray
        rows, labels = validated(self, X, class_labels(y))
        rows = dense_rows(self, rows)
        self.classes_, codes = checked_classes(labels)
        if len(self.classes_) > 2 and not self.__sklearn_tags__().classifier_tags.multi_class:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"the labeled rows have {len(self.classes_)} classes. MCPLLDA, EMLDA, LaplacianSVM and Classtering "
                "take several; or fit one model for each class, with the other labeled rows as one class."
            )
        self.supervised_only_ = bool((codes >= 0).all())
        self._check_memory(rows)
        return rows, codes

    def _finish(self, X: Floats, codes: Ints) -> Self:
        """Warn unless the fit converged and the model has learned, and return it."""
        check_finite(self)
        self._warn_unless_converged()
        warn_if_one_class(self, X, codes, self._predicted)
        return self

    def _validate_predict(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return dense_rows(self, validated(self, X, reset=False))

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the class of each row of X (n, D), shape (n,), by `decision_function`."""
        values = self.decision_function(X)
        result: AnyArray = self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]
        return result

    def _codes_of(self, y: ArrayLike, n_rows: int) -> Ints:
        """Return the position in `classes_` of each label of y (n_rows,); an unknown label is an error."""
        y = np.asarray(y)
        if y.shape != (n_rows,):
            raise ValueError(f"X has {n_rows} rows, but y has shape {y.shape}: one label per row is needed")
        codes = np.clip(np.searchsorted(self.classes_, y), 0, len(self.classes_) - 1)
        wrong = self.classes_[codes] != y
        if wrong.any():
            raise ValueError(
                f"y has the label {y[wrong].tolist()[0]!r}, which is none of the classes {self.classes_.tolist()}"
            )
        return codes

    def _fell_back(self) -> bool:
        """Return whether a safe method returned the supervised fit because no improvement is guaranteed."""
        return self._safe and self.improvement_ == 0.0 and not self.supervised_only_

    def _advice(self) -> str:
        fell_back = "it fell back to the supervised fit; " if self._fell_back() else ""
        return fell_back + super()._advice()

    @property
    def guarantee_(self) -> str:
        """The guarantee against the supervised fit, whatever the hidden labels are, as a sentence."""
        check_is_fitted(self)
        if self.supervised_only_:
            return "no unlabeled rows: this is the supervised fit"
        if np.isnan(self.improvement_):
            return "this method has no guarantee against the supervised fit"
        unit = self._unit.rstrip(",")
        if self.improvement_ < 0.0:
            return f"up to {-self.improvement_:.6g} {self._unit} worse than supervised, for some hidden labels"
        if self.improvement_ == 0.0:
            if self._fell_back():
                return f"this is the supervised fit: no gain in {unit} holds whatever the labels are"
            return f"never worse than supervised in {unit}; no gain holds whatever the labels are"
        return f"at least {self.improvement_:.6g} {self._unit} better than supervised, whatever the hidden labels are"
