"""The biased SVM (Liu et al. 2003; Wang 2024, eq. 2.2): unlabeled rows as negatives with a separate weight.

    J = lam/2 |g|^2 + c_p sum_p [1 - f_i]_+ + c_u sum_u [1 + f_i]_+,    f = g + beta_0

is libsvm's problem with row weights c_i / lam. `svm_gap` computes the bound from libsvm's dual variables, so that the
certificate does not depend on libsvm's own stopping rule. Where libsvm is slow, `by_features` and `by_newton` find dual
variables by Newton steps, and `feasible` a feasible point near them.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats
from pucli.solvers.kernels.low_rank import pivoted_cholesky
from pucli.solvers.row_losses.linear import keeps_w, solve_linear
from pucli.solvers.row_losses.losses import RowLosses, optimal_intercept, restore_total

# A dual variable below this share of its upper bound is zero up to rounding.
NO_SUPPORT = 1e-13


def hinge_losses(signs: Floats, weights: Floats) -> RowLosses:
    """Return weights_i [1 - signs_i f]_+ for each row."""
    lower, upper = np.where(signs > 0, -weights, 0.0), np.where(signs > 0, 0.0, weights)
    return RowLosses(lower, upper, upper, signs, signs)


def best_intercept(g: Floats, signs: Floats, weights: Floats) -> float:
    """Return the beta_0 that minimizes the loss of given scores."""
    return float(optimal_intercept(hinge_losses(signs, weights), 0.0, g))


def svm_gap(f: Floats, norm2: float, dual: Floats, signs: Floats, weights: Floats, lam: float) -> tuple[float, float]:
    """Return the objective J of a solution, and a proven bound on J minus its minimum."""
    loss = float(np.sum(weights * np.maximum(1.0 - signs * f, 0.0)))
    objective = 0.5 * lam * norm2 + loss
    bound = lam * (float(dual.sum()) - 0.5 * norm2)
    return objective, max(objective - bound, 0.0)


def by_features(K: Floats, losses: RowLosses, dual: Floats, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Return dual variables near the solution, by Newton steps on low-rank features of the kernel, and their number.

    With a kernel matrix of low rank, hardly any row is free at the solution, but nearly all are free before it. With
    one of high rank, `dual` is returned, and 0.
    """
    scale = float(K.diagonal().max())
    if scale == 0.0:
        return dual, 0
    L = pivoted_cholesky(K / scale).L
    if not keeps_w(*L.shape):
        return dual, 0
    return by_newton(np.sqrt(scale) * L, losses, dual, tol, max_iter)[:2]


def by_newton(X: Floats, losses: RowLosses, dual: Floats, tol: float, max_iter: int) -> tuple[Floats, int, bool]:
    """Return dual variables near the solution with the linear kernel, the steps taken, and if `tol` was reached."""
    try:
        found = solve_linear(X, losses, 0.0, np.zeros(X.shape[1]), tol=tol, max_iter=max_iter)
    except np.linalg.LinAlgError:  # a system that is not positive definite: columns of very different sizes
        return dual, 0, False
    return found.dual, found.n_iter, found.converged


def feasible(dual: Floats, losses: RowLosses) -> Floats:
    """Return dual (n,) with its sum restored to zero and negligible entries set to zero."""
    dual = restore_total(dual.copy(), losses, 0.0)
    return np.where(np.abs(dual) > NO_SUPPORT * (losses.upper - losses.lower), dual, 0.0)
