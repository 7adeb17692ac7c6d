"""Label spreading of scikit-learn, a baseline, with the check of rows that the estimators of pucli have."""

from __future__ import annotations

from typing import Any, ClassVar

import sklearn.semi_supervised

from pucli.core.saved_state import Array, Labels, Plain, State, Whole, Word
from pucli.data.table_libraries import numeric_rows
from pucli.estimators.base.input_rows import validated


class LabelSpreading(sklearn.semi_supervised.LabelSpreading):  # type: ignore[misc]
    """scikit-learn's `LabelSpreading`, which takes masked values for numbers and dates for nanoseconds.

    The parameters and attributes are those of the class in scikit-learn.

    Examples
    --------
    >>> from pucli.estimators.semi_supervised.label_spreading import LabelSpreading
    >>> LabelSpreading().fit([[0.0], [0.1], [1.0], [1.1]], [0, -1, 1, -1]).predict([[0.2], [0.9]]).tolist()
    [0, 1]
    """

    saved_state: ClassVar[State] = {
        "kernel": Word("rbf", "knn"),
        "classes_": Labels("K"),
        "X_": Array("n", "m"),
        "label_distributions_": Array("n", "K", low=0.0, high=1.0 + 1e-9),
        "transduction_": Plain(),
        "n_iter_": Whole(),
    }

    def fit(self, X: Any, y: Any) -> LabelSpreading:
        """Fit to rows X (n, m) and labels y (n,), of which -1 means unlabeled."""
        validated(self, X)  # whose messages name row and column
        super().fit(numeric_rows(self, X), y)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, shape (n, K)."""
        validated(self, X, reset=False)
        return super().predict_proba(numeric_rows(self, X, reset=False))
