"""Dual variables of the hinge loss with a weight for each row: Newton steps, and a feasible point near them."""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats
from pucli.solvers.kernels.low_rank import pivoted_cholesky
from pucli.solvers.row_losses.linear import keeps_w, solve_linear
from pucli.solvers.row_losses.losses import RowLosses, restore_total

# A dual variable below this share of its upper bound is zero up to rounding.
NO_SUPPORT = 1e-13


def hinge_losses(signs: Floats, weights: Floats) -> RowLosses:
    """Return weights_i [1 - signs_i f]_+ for each row."""
    lower, upper = np.where(signs > 0, -weights, 0.0), np.where(signs > 0, 0.0, weights)
    return RowLosses(lower, upper, upper, signs, signs)


def by_features(K: Floats, losses: RowLosses, dual: Floats, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Return dual variables near the solution, by Newton steps on low-rank features of the kernel.

    With a kernel matrix of low rank, hardly any row is free at the solution, but nearly all are free before it.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    losses : RowLosses
        Losses of the rows.
    dual : ndarray of shape (n,)
        Dual variables to return if K has high rank.
    tol : float
        Relative gap at which the steps end.
    max_iter : int
        Largest number of steps.

    Returns
    -------
    tuple of (ndarray, int)
        Dual variables, and the number of steps; 0 if K has high rank.
    """
    scale = float(K.diagonal().max())
    if scale == 0.0:
        return dual, 0
    L = pivoted_cholesky(K / scale).L
    if not keeps_w(*L.shape):
        return dual, 0
    return by_newton(np.sqrt(scale) * L, losses, dual, tol, max_iter)[:2]


def by_newton(X: Floats, losses: RowLosses, dual: Floats, tol: float, max_iter: int) -> tuple[Floats, int, bool]:
    """Return dual variables near the solution for the linear kernel, by Newton steps.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Rows.
    losses : RowLosses
        Losses of the rows.
    dual : ndarray of shape (n,)
        Dual variables to return if the steps fail.
    tol : float
        Relative gap at which the steps end.
    max_iter : int
        Largest number of steps.

    Returns
    -------
    tuple of (ndarray, int, bool)
        Dual variables, the number of steps, and whether `tol` was reached.
    """
    try:
        found = solve_linear(X, losses, 0.0, np.zeros(X.shape[1]), tol=tol, max_iter=max_iter)
    except np.linalg.LinAlgError:  # a system that is not positive definite: columns of very different sizes
        return dual, 0, False
    return found.dual, found.n_iter, found.converged


def feasible(dual: Floats, losses: RowLosses) -> Floats:
    """Return dual (n,) with its sum restored to zero and negligible entries set to zero."""
    dual = restore_total(dual.copy(), losses, 0.0)
    return np.where(np.abs(dual) > NO_SUPPORT * (losses.upper - losses.lower), dual, 0.0)
