"""Row weights for objectives that are sums of losses and nothing else."""

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
        self._row_weights = None
        try:
            rows, labelled = self._validate_fit(X, y)
            if sample_weight is not None:
                rows, labelled = self._weighted(rows, labelled, sample_weight)
            self._set_scales(rows, labelled)
            with told_of_singular_system(self, may_diverge=True):
                self._fit(rows, labelled)
        finally:
            del self._row_weights
        self._warn_unless_converged()
        self._measure(rows, labelled)
        return self

    def _weighted(self, X: Floats, labelled: Bools, sample_weight: ArrayLike) -> tuple[Floats, Bools]:
        """Keep the weights, and return the rows and marks whose weight is not zero."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        kept = weights > 0.0
        X, labelled, self._row_weights = X[kept], labelled[kept], weights[kept]
        if labelled.all() or not labelled.any():
            raise ValueError("sample_weight leaves one class: it is zero for all labelled or for all unlabeled rows.")
        return X, labelled

    def _weights(self, labelled: Bools) -> Floats:
        """Return the weight of each row (n,), ones where none are given."""
        return np.ones(len(labelled)) if self._row_weights is None else self._row_weights
