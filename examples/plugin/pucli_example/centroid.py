"""A classifier by the nearest mean: any scikit-learn classifier that takes y with 1 for labeled rows will do."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class Centroid(ClassifierMixin, BaseEstimator):
    """Hyperplane half way between the mean of the labeled and that of the unlabeled rows.

    Parameters
    ----------
    shift : float, default=0.0
        Added to the scores, in units of the distance between the two means; more calls more rows positive.

    Examples
    --------
    >>> Centroid().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).predict([[0.5], [4.5]]).tolist()
    [0, 1]
    """

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to rows X (n, m); the greater label of y (n,) marks labeled positives."""
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        labeled = y == self.classes_[-1]
        p, u = X[labeled].mean(axis=0), X[~labeled].mean(axis=0)
        distance = max(float(np.linalg.norm(p - u)), 1e-12)
        self.coef_ = (p - u) / distance
        self.intercept_ = self.shift * distance - float(self.coef_ @ (p + u)) / 2
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores (n,), above zero for rows that are called positive."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False) @ self.coef_ + self.intercept_

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the label of each row."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]
