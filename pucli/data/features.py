"""Numeric feature matrices: standardization, constant features and duplicate rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import diags_array, issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pucli.core.arrays import Bools, Floats
from pucli.core.saved_state import LARGEST, Array, State
from pucli.data.table_libraries import numeric_rows


class Standardizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scale each feature to zero mean and unit variance on the training rows.

    A feature that is constant in the training rows carries no information and becomes zero in every transformed row.
    scikit-learn's StandardScaler leaves it unscaled instead, so that a value not seen in training enters the model in
    raw units.

    Sparse rows are divided by the root mean square of each feature and not centered, so that zeros stay zero.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        Means of the training rows.
    scale_ : array of shape (n_features,)
        Standard deviations of the training rows (denominator n), 1 for constant features.
    constant_ : array of shape (n_features,), bool
        Mask of the features that are constant in the training rows.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from pucli.data.features import Standardizer
    >>> scaler = Standardizer().fit([[1.0, 7.0], [3.0, 7.0]])
    >>> scaler.transform([[5.0, 8.0]])
    array([[3., 0.]])
    """

    saved_state: ClassVar[State] = {
        "mean_": Array("m"),
        "scale_": Array("m", low=1.0 / LARGEST),
        "constant_": Array("m", dtype="?"),
    }

    def fit(self, X: Any, y: Any = None) -> Standardizer:
        """Learn means and standard deviations."""
        rows = self._validate(X)
        if issparse(rows):
            return self._fit_sparse(rows)
        if np.isnan(rows).any():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # the mean of a feature without any value is NaN
                span = np.nanmax(rows, axis=0) - np.nanmin(rows, axis=0)
                self.mean_, deviation = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0)
        else:
            span, self.mean_, deviation = np.ptp(rows, axis=0), rows.mean(axis=0), rows.std(axis=0)
        # A constant is recognized by its range, because rounding can make its standard deviation nonzero (0.1 + 0.2).
        # Values too close together for a nonzero standard deviation count as constant.
        self.constant_ = (span == 0) | (deviation == 0)
        self.scale_ = np.where(self.constant_, 1.0, deviation)
        return self

    def _validate(self, X: Any, reset: bool = True) -> Any:
        """Return X as float64, dense or in rows of CSR; empty cells are allowed."""
        rows = numeric_rows(self, X)
        return validate_data(
            self, rows, dtype=np.float64, ensure_all_finite="allow-nan", accept_sparse="csr", reset=reset
        )

    def _fit_sparse(self, rows: Any) -> Standardizer:
        """Learn root mean squares; subtracting means would make the rows dense."""
        squares = np.asarray(rows.multiply(rows).mean(axis=0)).ravel()
        self.mean_ = np.zeros(rows.shape[1])
        self.constant_ = squares == 0
        self.scale_ = np.where(self.constant_, 1.0, np.sqrt(squares))
        return self

    def transform(self, X: Any) -> Floats:
        """Return `X` standardized by the training means and deviations."""
        check_is_fitted(self)
        rows = self._validate(X, reset=False)
        if issparse(rows):
            scaled: Floats = (rows @ diags_array(np.where(self.constant_, 0.0, 1.0 / self.scale_))).tocsr()
            return scaled
        transformed: Floats = (rows - self.mean_) / self.scale_
        transformed[:, self.constant_] *= 0.0  # a missing value stays missing
        return transformed

    def inverse_transform(self, X: Any) -> Floats:
        """Return standardized rows in the original units; constant features get their training value."""
        check_is_fitted(self)
        own: Floats = np.asarray(X, dtype=np.float64) * self.scale_ + self.mean_
        return own

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values pass through."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class RedundantFeatures(NamedTuple):
    """Features and rows without information of their own."""

    constant_features: list[str]  # names of the constant features
    duplicate_rows: int  # number of rows that repeat an earlier one


def shape(X: Floats, feature_names: Iterable[str]) -> RedundantFeatures:
    """Return the constant features and the number of duplicate rows; both are allowed."""
    import pandas as pd
    from scipy.sparse import issparse

    if issparse(X):  # not checked for many columns
        return RedundantFeatures([], 0)
    return RedundantFeatures(constant_features(X, feature_names), int(pd.DataFrame(X).duplicated().sum()))


def constant_features(X: Floats, feature_names: Iterable[str]) -> list[str]:
    """Return the names of the constant features of X (n, m)."""
    if not isinstance(X, np.ndarray):
        return []
    return [name for name, constant in zip(feature_names, is_constant(X), strict=True) if constant]


def is_constant(X: Floats) -> Bools:
    """Return which columns of X (n, m) have one value only; missing cells are ignored."""
    constant: Bools = np.fmin.reduce(X, axis=0) == np.fmax.reduce(X, axis=0)
    return constant
