"""What the semi-supervised classifiers share: `-1` marks an unlabeled row; what the fit proves, in words."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


def unlabeled_rows(y) -> np.ndarray:
    """Return the mask (n,) of the rows of y that are unlabeled: -1, or "-1" where labels are strings."""
    y = np.asarray(y)
    if y.dtype.kind in "US":
        return y == np.asarray("-1", dtype=y.dtype)
    if y.dtype.kind == "O":
        return np.array([label in (-1, "-1") for label in y.tolist()], dtype=bool)
    return y == -1


def _check_no_missing_label(y) -> None:
    """Raise ValueError for None or an empty string among the labels; NaN is scikit-learn's to refuse."""
    if y.dtype.kind not in "USO":
        return
    for row, label in enumerate(y.tolist()):
        if label is None or (isinstance(label, str) and label == ""):
            raise ValueError(
                f"row {row} has the label {label!r}, which is not a class: mark unlabeled rows by -1 ('-1' among "
                "strings); None, NaN and empty strings are not accepted as labels."
            )


class SemiSupervisedClassifier(ClassifierMixin, BaseEstimator):
    """Base of the semi-supervised classifiers.

    `fit(X, y)` takes integer or string labels; `-1` (or "-1" among strings) marks an unlabeled row. Fitted without any
    unlabeled row, every method is its supervised version; `supervised_only_` says so. None, NaN and empty strings are
    errors: they are neither a class nor a mark (on the command line an empty cell becomes -1).
    """

    _unit = ""  # what `improvement_` counts, for `guarantee_`

    def _validate_fit(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Return X (n, D) as float64 and codes (n,): position in `classes_`, -1 for an unlabeled row."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        _check_no_missing_label(y)
        unlabeled = unlabeled_rows(y)
        if unlabeled.all():
            raise ValueError(
                f"all {len(y)} rows are unlabeled (-1): a semi-supervised classifier needs labelled rows of at least "
                "2 classes, so it cannot be fitted with 0 labelled rows."
            )
        labels = y[~unlabeled]
        if labels.dtype.kind == "O":
            labels = np.array(labels.tolist())
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) == 1:
            raise ValueError(
                f"Classifier can't train when only one class is present: every labelled row has label "
                f"{self.classes_[0].item()!r}. Each class needs at least one labelled row (-1 marks unlabeled ones)."
            )
        if len(self.classes_) > 2 and not self.__sklearn_tags__().classifier_tags.multi_class:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"the labelled rows have {len(self.classes_)} classes."
            )
        all_codes = np.full(len(y), -1)
        all_codes[~unlabeled] = codes
        self.supervised_only_ = not unlabeled.any()
        return X, all_codes

    def _validate_predict(self, X) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _codes_of(self, y, n_rows) -> np.ndarray:
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
        """Return whether a safe method returned the supervised fit because it could not improve on it for certain."""
        return False

    def _warn_unless_converged(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations above the tolerance"
                f"{', fell back to the supervised fit' if self._fell_back() else ''}; "
                "raise max_iter, loosen tol, or scale the features.",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def guarantee_(self) -> str:
        """One sentence on what the fit proves against the supervised one, whatever the hidden labels are."""
        check_is_fitted(self)
        if self.supervised_only_:
            return "no unlabeled rows: this is the supervised fit"
        if np.isnan(self.improvement_):
            return "this method has no guarantee against the supervised fit"
        if self.improvement_ < 0.0:
            return f"up to {-self.improvement_:.6g} {self._unit} worse than supervised, for some hidden labels"
        if self.improvement_ == 0.0:
            if self._fell_back():
                return f"this is the supervised fit: no gain in {self._unit.rstrip(',')} holds whatever the labels are"
            return f"never worse than supervised in {self._unit.rstrip(',')}; no gain holds whatever the labels are"
        return f"at least {self.improvement_:.6g} {self._unit} better than supervised, whatever the hidden labels are"
