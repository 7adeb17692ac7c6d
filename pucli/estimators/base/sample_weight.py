"""Known negatives as a third sum of losses, and row weights for objectives that are sums of losses and nothing else."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from pucli.core.arrays import Bools, Floats
from pucli.estimators.base.data_defaults import counts
from pucli.estimators.base.input_rows import told_of_singular_system
from pucli.estimators.base.parameters import POSITIVE, Label, one_of
from pucli.estimators.base.pu import PUClassifier

C_N = [POSITIVE, one_of("balanced")]


class KnownNegatives(PUClassifier):
    """Base of the classifiers that minimise c_p sum_p l(f_i) + c_u sum_u k(f_i) + c_n sum_n k(f_i) + penalties.

    p are the labelled, u the unlabeled rows, and n the known negatives, which share the loss k of the unlabeled rows.

    Attributes
    ----------
    c_n_ : float
        The weight used; only if there are known negatives.
    """

    c_u_: float
    c_n: float | str
    c_n_: float
    neg_label: Label | None

    def _set_scales(self, X: Floats, labelled: Bools) -> None:
        super()._set_scales(X, labelled)
        self.__dict__.pop("c_n_", None)
        if self._negative is None:
            return
        n_u, n_n = counts(self, labelled)[1:]
        self.c_n_ = self.c_u_ * n_u / n_n if isinstance(self.c_n, str) else float(self.c_n)

    def _u_weights(self, labelled: Bools) -> float | Floats:
        """Return c_u or, with known negatives, the weight c_u or c_n of each row that is not labelled."""
        if self._negative is None:
            return self.c_u_
        weights: Floats = np.where(self._negative, self.c_n_, self.c_u_)[~labelled]
        return weights

    def _refuse_negatives(self, chosen: str, instead: str) -> None:
        """Raise ValueError if there are known negatives, which a form of the method does not have."""
        if self._negative is not None:
            raise ValueError(f"{chosen} is as printed, without known negatives; use {instead} or leave neg_label out.")


class WeightedPU(KnownNegatives):
    """Base of the PU classifiers that take weights of rows; those of known negatives are multiplied by c_n / c_u."""

    _row_weights: Floats | None  # only during `fit`

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Rows, labelled and unlabeled.
        y : array-like of shape (n,)
            Two labels: `pos_label` marks labelled positives, the other label unlabeled rows. With `neg_label`, a third
            one marks known negatives.
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
            if self._negative is not None:
                self._row_weights = self._weights(labelled) * np.where(self._negative, self.c_n_ / self.c_u_, 1.0)
            with told_of_singular_system(self, may_diverge=True):
                self._fit(rows, labelled)
        finally:
            del self._row_weights
            self.__dict__.pop("_negative", None)
        self._warn_unless_converged()
        self._measure(rows, labelled)
        return self

    def _weighted(self, X: Floats, labelled: Bools, sample_weight: ArrayLike) -> tuple[Floats, Bools]:
        """Keep the weights, and return the rows and marks whose weight is not zero."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        kept = weights > 0.0
        X, labelled, self._row_weights = X[kept], labelled[kept], weights[kept]
        if self._negative is not None:
            self._negative = self._negative[kept] if self._negative[kept].any() else None
        unlabeled = ~labelled if self._negative is None else ~(labelled | self._negative)
        if not unlabeled.any() or not labelled.any():
            raise ValueError("sample_weight leaves one class: it is zero for all labelled or for all unlabeled rows.")
        return X, labelled

    def _weights(self, labelled: Bools) -> Floats:
        """Return the weight of each row (n,), ones where none are given."""
        return np.ones(len(labelled)) if self._row_weights is None else self._row_weights
