"""Row weights, for methods whose objective is a sum of losses over rows and nothing else."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from pucli.core.arrays import Bools, Floats
from pucli.estimators.base.input_rows import told_of_singular_system
from pucli.estimators.base.pu import PUClassifier


class WeightedPU(PUClassifier):
    """Base of the PU classifiers that take weights of rows."""

    _row_weights: Floats | None  # only during `fit`

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows, labelled and unlabeled.
        y : array-like of shape (n,)
            Two labels: `pos_label` marks labelled positives, the other label unlabeled rows.
        sample_weight : array-like of shape (n,), optional
            Non-negative factors of the losses of rows. Weight 2 equals duplicating the row, weight 0 removing it.
            Defaults given by words, such as "balanced", count rows by weight.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            As without weights, or if all rows of a kind have the weight zero.
        """
        self._validate_params()
        rows, labelled = self._validate_fit(X, y)
        self._row_weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
            kept = weights > 0.0
            rows, labelled, self._row_weights = rows[kept], labelled[kept], weights[kept]
            if labelled.all() or not labelled.any():
                raise ValueError(
                    "sample_weight leaves one class: it is zero for all labelled or for all unlabeled rows."
                )
        try:
            self._set_scales(rows, labelled)
            with told_of_singular_system(self):
                self._fit(rows, labelled)
        finally:
            del self._row_weights
        self._warn_unless_converged()
        self._measure(rows, labelled)
        return self

    def _weights(self, labelled: Bools) -> Floats:
        """Return the weight of each row (n,), ones where none are given."""
        return np.ones(len(labelled)) if self._row_weights is None else self._row_weights
