"""Label spreading of scikit-learn, a baseline, with the checks of input that the estimators of pucli have."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import sklearn.semi_supervised

from pucli.core.errors import warn_user
from pucli.core.saved_state import Array, Labels, Plain, State, TextValue, Whole
from pucli.estimators.base.certificate import all_or_nothing
from pucli.estimators.base.input_rows import refuse_large, validated, warn_of_rounding
from pucli.estimators.base.semi_supervised import checked_classes, class_labels, warn_if_one_class


class LabelSpreading(sklearn.semi_supervised.LabelSpreading):  # type: ignore[misc]
    """scikit-learn's `LabelSpreading` with the checks of rows and labels of the other semi-supervised methods.

    The parameters and attributes are those of the class in scikit-learn.

    Examples
    --------
    >>> from pucli import LabelSpreading
    >>> LabelSpreading().fit([[0.0], [0.1], [1.0], [1.1]], [0, -1, 1, -1]).predict([[0.2], [0.9]]).tolist()
    [0, 1]
    """

    saved_state: ClassVar[State] = {
        "kernel": TextValue("rbf", "knn"),
        "classes_": Labels("K"),
        "X_": Array("n", "m"),
        "label_distributions_": Array("n", "K", low=0.0, high=1.0 + 1e-9),
        "transduction_": Plain(),
        "n_iter_": Whole(),
    }

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> LabelSpreading:
        """Fit to rows X (n, m) and labels y (n,), of which -1 means unlabeled, as does "unlabeled" among words."""
        rows, labels = validated(self, X, class_labels(y))
        refuse_large(rows)
        classes, codes = checked_classes(labels)
        warn_of_rounding(self, rows)
        fitted: Any = super().fit(self._named(rows.copy()), codes)  # it keeps the rows
        fitted.classes_, fitted.transduction_ = classes, classes[fitted.transduction_]
        warn_if_one_class(self, rows, codes, lambda some: self.predict(self._named(some)))
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, shape (n, K); NaN with a warning where all weights underflow."""
        rows = validated(self, X, reset=False)
        refuse_large(rows)
        with np.errstate(invalid="ignore"):
            found = super().predict_proba(self._named(rows))
        if unreached := int(np.isnan(found).any(axis=1).sum()):
            warn_user(
                f"{unreached} of {len(found)} rows are so far from all training rows that LabelSpreading has no "
                "probability for them (NaN): scale the features, or choose a smaller gamma.",
            )
        return found

    def _named(self, rows: Any) -> Any:
        """Return rows (n, m) with the names of their features, if there are any."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return rows
        import pandas as pd

        return pd.DataFrame(rows, columns=names)
