"""Weighted ridge regression for every ridge, by one eigendecomposition, with exact held-out scores."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

# Digits of held-out scores: rounding errors must not distinguish equal rows, because they depend on the labels.
DIGITS = 9


class WeightedLeastSquares:
    """Ridge regression for any ridge, by one eigendecomposition.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Features.
    targets : ndarray of shape (n,)
        Values to fit.
    weights : ndarray of shape (n,)
        Weights of the rows.
    """

    def __init__(self, Z: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
        self.root = np.sqrt(weights)
        A = Z * self.root[:, None]
        values, self.axes = eigh(A.T @ A, overwrite_a=True, check_finite=False)
        self.values = np.maximum(values, 0.0)
        self.A = A @ self.axes
        self.y = self.root * targets
        self.moment = self.A.T @ self.y

    def coefficients(self, ridge: float) -> np.ndarray:
        """Return the coefficients c (r,) of the features."""
        result: np.ndarray = self.axes @ (self.moment / (self.values + ridge))
        return result

    def held_out(self, ridge: float, fold: np.ndarray) -> np.ndarray:
        """Return the score of each row by the regression on the rows of the other folds, shape (n,)."""
        out = np.empty(len(self.y))
        inverse = 1.0 / (self.values + ridge)
        fitted = self.A @ (inverse * self.moment)
        for b in np.unique(fold):
            rows = np.flatnonzero(fold == b)
            A = self.A[rows]
            if len(rows) <= A.shape[1]:
                left = -(A * inverse) @ A.T
                left[np.diag_indices_from(left)] += 1.0
                residual = cho_solve(cho_factor(left, check_finite=False), self.y[rows] - fitted[rows])
                out[rows] = self.y[rows] - residual
            else:
                left = -A.T @ A
                left[np.diag_indices_from(left)] += self.values + ridge
                moment = self.moment - A.T @ self.y[rows]
                out[rows] = A @ cho_solve(cho_factor(left, check_finite=False), moment)
        result: np.ndarray = np.round(out / self.root, DIGITS)
        return result
