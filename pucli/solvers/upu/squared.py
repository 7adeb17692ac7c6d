"""Unbiased PU learning, linear in the parameters (du Plessis, Niu, Sugiyama 2015), with the squared loss: closed form.

For a loss l the risk of f is estimated from labelled positives and unlabeled rows by (Wang 2024, eq. 2.13)

    prior/n_p sum_p [l(f) - l(-f)] + 1/n_u sum_u l(-f).

With l(z) = (1 - z)^2 / 4 the bracket is -f, and the problem, plus lam/2 |g|^2, is a linear system.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints
from pucli.solvers.kernels.cholesky import solve_refined
from pucli.solvers.kernels.intercept import offset_rounding, rise_of_squares, with_offset, without_offset
from pucli.solvers.result import CLOSED_FORM, Solution

# Estimate of the reciprocal condition number from which on solving with a Cholesky factor bounds the gap.
WELL_CONDITIONED = 1e-12
# Relative rounding of a sum of scores, and the share of the objective from which on it is part of the gap.
ROUNDING, LEAST_ROUNDING = 4.0 * np.finfo(float).eps, 1e-10


def _squared_upu_objective(w: Floats, Z: Floats, labelled: Bools, prior: float, lam: float) -> float:
    """Return the regularised unbiased risk of the squared loss at w (r,), the intercept last, from its definition."""
    f = Z @ w
    p, u = f[labelled], f[~labelled]
    risk = -prior * np.mean(p) + np.mean(_squared_loss(-u))  # l(f) - l(-f) = -f
    return float(risk + 0.5 * lam * (w[:-1] @ w[:-1]))


def _squared_loss(z: Floats) -> Floats:
    """Return (1 - z)^2 / 4."""
    return 0.25 * (1.0 - z) ** 2


def solve_squared_upu(Z: Floats, labelled: Bools, prior: float, lam: float) -> Solution:
    """Minimise the regularised unbiased risk of the squared loss; the gap is that of the gradient that rounding leaves.

    Parameters
    ----------
    Z, labelled : ndarray of shape (n, m + 1) and (n,)
        Rows with a last column of ones, and marks of the labelled positives.
    prior : float
        Share of positives among the unlabeled rows, in (0, 1).
    lam : float
        Ridge, positive.
    """
    Z, centre = without_offset(Z)
    Zp, Zu = Z[labelled], Z[~labelled]
    A = (0.5 / len(Zu)) * (Zu.T @ Zu)
    A[np.diag_indices(Z.shape[1] - 1)] += lam
    rhs = prior * Zp.mean(axis=0) - 0.5 * Zu.mean(axis=0)
    w, gradient, gap, factor = solve_refined(A, rhs)
    value = _squared_upu_objective(w, Z, labelled, prior, lam)
    if np.square(factor[0].diagonal().min() / factor[0].diagonal().max()) < WELL_CONDITIONED:
        cautious = _cautious_gap(gradient, Zu, lam)  # solving with the factor proves nothing
        gap = max(gap, cautious) if np.isfinite(gap) else cautious
    # the terms of the value may be far larger than their sum
    size = np.abs(Z) @ np.abs(w)
    rounding = ROUNDING * float(prior * size[labelled].mean() + np.mean((1.0 + size[~labelled]) ** 2))
    if rounding > LEAST_ROUNDING * max(abs(value), 0.25):
        gap += rounding
    if shift := offset_rounding(w, centre):
        rise = -prior * shift + rise_of_squares(1.0 + Zu @ w, shift, 0.25 / len(Zu))
        value, gap = value + max(rise, 0.0), gap + max(rise, 0.0)
    converged = bool(gap <= CLOSED_FORM * max(abs(value), 0.25))
    return Solution(coef=with_offset(w, centre), objective=value, gap=gap, n_iter=1, converged=converged)


def _pnu_objective(w: Floats, Z: Floats, y: Ints, prior: float, lam: float, eta: float) -> float:
    """Return the regularised PNU risk of the squared loss at w (r,), from its definition."""
    f = Z @ w
    p, q, u = f[y == 1], f[y == -1], f[y == 0]
    both = prior * np.mean(_squared_loss(p)) + (1.0 - prior) * np.mean(_squared_loss(-q))
    if eta >= 0.0:
        other = -prior * np.mean(p) + np.mean(_squared_loss(-u))
    else:
        other = (1.0 - prior) * np.mean(q) + np.mean(_squared_loss(u))
    return float((1.0 - abs(eta)) * both + abs(eta) * other + 0.5 * lam * (w[:-1] @ w[:-1]))


def solve_squared_pnu(Z: Floats, y: Ints, prior: float, lam: float, eta: float) -> Solution:
    """Minimise the regularised PNU risk of the squared loss (Sakai, du Plessis, Niu, Sugiyama 2017).

    It is (1 - eta) R_PN + eta R_PU for eta from 0 to 1, and (1 + eta) R_PN - eta R_NU for eta from -1 to 0.

    Parameters
    ----------
    Z : ndarray of shape (n, m + 1)
        Rows with a last column of ones.
    y : ndarray of shape (n,)
        1 for labelled positives, -1 for known negatives, 0 for unlabeled rows; some of each.
    prior : float
        Share of positives among the unlabeled rows, in (0, 1).
    lam : float
        Ridge, positive.
    eta : float
        Weight of the unlabeled rows, from -1 to 1.
    """
    Z, centre = without_offset(Z)
    P, N, U = Z[y == 1], Z[y == -1], Z[y == 0]
    share, rest = abs(eta), 1.0 - abs(eta)
    A = 0.5 * rest * (prior / len(P) * (P.T @ P) + (1.0 - prior) / len(N) * (N.T @ N))
    A += 0.5 * share / len(U) * (U.T @ U)
    A[np.diag_indices(Z.shape[1] - 1)] += lam
    p, q, u = prior * P.mean(axis=0), (1.0 - prior) * N.mean(axis=0), U.mean(axis=0)
    rhs = 0.5 * rest * (p - q) + share * (p - 0.5 * u if eta >= 0.0 else 0.5 * u - q)
    w, _, gap, _ = solve_refined(A, rhs)
    value = _pnu_objective(w, Z, y, prior, lam, eta)
    size = np.abs(Z) @ np.abs(w)
    gap += ROUNDING * float(np.mean((1.0 + size) ** 2))
    converged = bool(gap <= CLOSED_FORM * max(abs(value), 0.25))
    return Solution(coef=with_offset(w, centre), objective=value, gap=gap, n_iter=1, converged=converged)


def _cautious_gap(gradient: Floats, Zu: Floats, lam: float) -> float:
    """Return a bound on the distance to the optimum from the ridge and the curvature of the intercept alone.

    Centring on the unlabeled rows separates the intercept from the slopes, which have a curvature of at least lam.
    """
    by_w = gradient[:-1] - gradient[-1] * Zu[:, :-1].mean(axis=0)
    return float(0.5 * (by_w @ by_w) / lam + gradient[-1] ** 2)
