"""What all positive-unlabeled classifiers share: the meaning of `y`, validation, prediction by the sign of f."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


class PUClassifier(ClassifierMixin, BaseEstimator):
    """Base of the PU classifiers.

    `fit(X, y)` takes any two labels: the greater marks labelled positives, the lesser unlabeled rows. `predict`
    returns the same two labels, the greater one where `decision_function` is above zero.
    """

    def _validate_fit(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Return X (n, m) as float64 and the labelling indicator s (n,) as bool; set `classes_`."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        classes = np.unique(y)
        if len(classes) == 1:
            raise ValueError(
                f"Classifier can't train when only one class is present: every row has label {classes[0]!r}. "
                "PU learning needs labelled positives (the greater label) and unlabeled rows (the lesser one)."
            )
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported: y has {len(classes)} labels; PU learning takes two, "
                "the greater for labelled positives and the lesser for unlabeled rows."
            )
        self.classes_ = classes
        return X, y == classes[1]

    def _validate_predict(self, X) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _warn_unless_converged(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations above the tolerance; "
                "raise max_iter, loosen tol, or scale the features.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def decision_function(self, X):
        """Return f(x) for each row of X (n, m), shape (n,); positive means the greater label."""
        raise NotImplementedError

    def predict(self, X):
        """Return the label of each row of X (n, m): the greater one of `classes_` where f(x) > 0.

        Shape (n,).
        """
        score = self.decision_function(X)
        return self.classes_[(score > 0).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
