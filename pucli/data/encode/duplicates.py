"""Constant features and duplicate rows of a feature matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats


class Shape(NamedTuple):
    """Features and rows without information of their own."""

    constant_features: list[str]  # names of the constant features
    duplicate_rows: int  # number of rows that repeat an earlier one


def shape(X: Floats, feature_names: Iterable[str]) -> Shape:
    """Return the constant features and the number of duplicate rows; both are allowed."""
    import pandas as pd
    from scipy.sparse import issparse

    if issparse(X):  # not checked for many columns
        return Shape([], 0)
    return Shape(constant_features(X, feature_names), int(pd.DataFrame(X).duplicated().sum()))


def constant_features(X: Floats, feature_names: Iterable[str]) -> list[str]:
    """Return the names of the constant features of X (n, m)."""
    if not isinstance(X, np.ndarray):
        return []
    return [name for name, constant in zip(feature_names, is_constant(X), strict=True) if constant]


def is_constant(X: Floats) -> Bools:
    """Return which columns of X (n, m) have one value only; missing cells are ignored."""
    constant: Bools = np.fmin.reduce(X, axis=0) == np.fmax.reduce(X, axis=0)
    return constant
