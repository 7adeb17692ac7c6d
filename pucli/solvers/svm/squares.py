"""Least squares with a ridge and a weight for each row, in closed form: BLS-SVM where rows have weights.

lam/2 |w|^2 + sum_i weights_i (f_i - targets_i)^2,    f = X w + b
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from pucli.core.arrays import Floats
from pucli.solvers.kernels.cholesky import nearest_factor
from pucli.solvers.kernels.intercept import at_offset, with_offset
from pucli.solvers.result import CLOSED_FORM, Solution

# Steps of iterative refinement, with gradients from the rows.
REFINEMENTS = 2


def solve_weighted_squares(Z: Floats, targets: Floats, weights: Floats, lam: float) -> Solution:
    """Minimize the sum above."""
    center = np.append((weights @ Z[:, :-1]) / weights.sum(), 0.0)
    near = Z - center
    ridge = np.append(np.full(Z.shape[1] - 1, lam), 0.0)
    factor, exact = nearest_factor(2.0 * (near.T * weights) @ near + np.diag(ridge))
    w = np.zeros(Z.shape[1])
    for _ in range(1 + REFINEMENTS):
        w -= cho_solve(factor, _gradient(w, near, targets, weights, ridge), check_finite=False)
    stored = with_offset(w, center)
    w = at_offset(stored, center)  # as rounding of the intercept leaves it
    gradient = _gradient(w, near, targets, weights, ridge)
    gap = max(0.5 * float(gradient @ cho_solve(factor, gradient, check_finite=False)), 0.0) if exact else np.inf
    value = 0.5 * float(ridge @ w**2) + float(weights @ (near @ w - targets) ** 2)
    converged = bool(gap <= CLOSED_FORM * value)
    return Solution(coef=stored, objective=value, gap=gap, n_iter=1, converged=converged)


def _gradient(w: Floats, Z: Floats, targets: Floats, weights: Floats, ridge: Floats) -> Floats:
    return ridge * w + 2.0 * (weights * (Z @ w - targets)) @ Z
