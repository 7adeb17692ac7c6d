"""Class-balanced linear least squares for tables of many columns, with exact held-out scores.

It is kernel ridge regression with the product of two rows as the kernel. Rows that are combinations of others span its
features, so that its cost grows with the number of rows, and only in proportion with that of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh

from pucli.core.arrays import Bools, Floats
from pucli.core.saved_state import Array, Scalar, State
from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.ridge import WeightedLeastSquares, pick_landmarks
from pucli.solvers.ensemble.rows import balanced_weights

# The most rows that span the weights, and ridges per unit weight, for rows whose mean square is one.
LANDMARKS = 600
RIDGES = tuple(10.0 ** np.arange(-2.0, 4.0))
# Directions with a smaller share of the largest variance are rounding errors.
LEAST_SHARE = 1e-10


@dataclass
class Linear:
    """A linear model."""

    weights: np.ndarray  # (m,), weights of the features
    constant: float  # constant term
    saved_state: ClassVar[State] = {"weights": Array("m"), "constant": Scalar()}

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the scores of the rows of X (n, m), shape (n,)."""
        result: np.ndarray = X @ self.weights + self.constant
        return result


def fit_linear(
    X: Floats, labeled: Bools, fold: np.ndarray, rng: np.random.Generator
) -> tuple[Linear, Floats, dict[str, float]]:
    """Fit linear least squares with the ridge that has the largest PU-AUC of held-out scores."""
    directions = _directions(X[pick_landmarks(labeled, LANDMARKS, rng)])
    Z = np.column_stack([X @ directions, np.ones(len(X))])
    size = float(np.sqrt(np.mean(np.sum(Z[:, :-1] ** 2, axis=1)))) or 1.0
    Z[:, :-1] /= size
    problem = WeightedLeastSquares(Z, np.where(labeled, 1.0, -1.0), balanced_weights(labeled))
    found = [problem.held_out(ridge, fold) for ridge in RIDGES]
    best = int(np.argmax([pu_auc(scores, labeled) for scores in found]))
    coefficients = problem.coefficients(RIDGES[best])
    model = Linear(directions @ coefficients[:-1] / size, float(coefficients[-1]))
    return model, found[best], {"ridge": float(RIDGES[best])}


def _directions(X: Floats) -> Floats:
    """Return an orthonormal basis (m, r) of the span of the rows of X (n, m)."""
    if len(X) > X.shape[1]:
        values, vectors = eigh(X.T @ X, check_finite=False)
        kept = values > LEAST_SHARE * max(values[-1], 0.0)
        return np.asarray(vectors[:, kept])
    values, vectors = eigh(X @ X.T, check_finite=False)
    kept = values > LEAST_SHARE * max(values[-1], 0.0)
    return np.asarray(X.T @ (vectors[:, kept] / np.sqrt(values[kept])))
