"""Unbiased PU learning, linear in the parameters (du Plessis, Niu, Sugiyama 2015), with the squared loss: closed form.

For a loss l the risk of f is estimated from labeled positives and unlabeled rows by (Wang 2024, eq. 2.13)

    prior/n_p sum_p [l(f) - l(-f)] + 1/n_u sum_u l(-f).

With l(z) = (1 - z)^2 / 4 the bracket is -f, and the problem, plus lam/2 |g|^2, is a linear system.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.cholesky import solve_refined
from pucli.solvers.kernels.intercept import offset_rounding, rise_of_squares, with_offset, without_offset
from pucli.solvers.result import CLOSED_FORM, Solution

# Estimate of the reciprocal condition number from which on solving with a Cholesky factor bounds the gap.
WELL_CONDITIONED = 1e-12
# Relative rounding of a sum of scores, and the share of the objective from which on it is part of the gap.
ROUNDING, LEAST_ROUNDING = 4.0 * np.finfo(float).eps, 1e-10


def _squared_upu_objective(w: Floats, Z: Floats, labeled: Bools, prior: float, lam: float) -> float:
    """Return the regularized unbiased risk of the squared loss at w (r,), the intercept last, from its definition."""
    f = Z @ w
    p, u = f[labeled], f[~labeled]
    risk = -prior * np.mean(p) + np.mean(_squared_loss(-u))  # l(f) - l(-f) = -f
    return float(risk + 0.5 * lam * (w[:-1] @ w[:-1]))


def _squared_loss(z: Floats) -> Floats:
    """Return (1 - z)^2 / 4."""
    return 0.25 * (1.0 - z) ** 2


def solve_squared_upu(Z: Floats, labeled: Bools, prior: float, lam: float) -> Solution:
    """Minimize the regularized unbiased risk of the squared loss; the gap is that of the gradient."""
    Z, center = without_offset(Z)
    Zp, Zu = Z[labeled], Z[~labeled]
    A = (0.5 / len(Zu)) * (Zu.T @ Zu)
    A[np.diag_indices(Z.shape[1] - 1)] += lam
    rhs = prior * Zp.mean(axis=0) - 0.5 * Zu.mean(axis=0)
    w, gradient, gap, factor = solve_refined(A, rhs)
    value = _squared_upu_objective(w, Z, labeled, prior, lam)
    if np.square(factor[0].diagonal().min() / factor[0].diagonal().max()) < WELL_CONDITIONED:
        cautious = _cautious_gap(gradient, Zu, lam)  # solving with the factor proves nothing
        gap = max(gap, cautious) if np.isfinite(gap) else cautious
    # the terms of the value may be far larger than their sum
    size = np.abs(Z) @ np.abs(w)
    rounding = ROUNDING * float(prior * size[labeled].mean() + np.mean((1.0 + size[~labeled]) ** 2))
    if rounding > LEAST_ROUNDING * max(abs(value), 0.25):
        gap += rounding
    if shift := offset_rounding(w, center):
        rise = -prior * shift + rise_of_squares(1.0 + Zu @ w, shift, 0.25 / len(Zu))
        value, gap = value + max(rise, 0.0), gap + max(rise, 0.0)
    converged = bool(gap <= CLOSED_FORM * max(abs(value), 0.25))
    return Solution(coef=with_offset(w, center), objective=value, gap=gap, n_iter=1, converged=converged)


def _cautious_gap(gradient: Floats, Zu: Floats, lam: float) -> float:
    """Return a bound on the distance to the optimum from the ridge and the curvature of the intercept alone.

    Centering on the unlabeled rows separates the intercept from the slopes, which have a curvature of at least lam.
    """
    by_w = gradient[:-1] - gradient[-1] * Zu[:, :-1].mean(axis=0)
    return float(0.5 * (by_w @ by_w) / lam + gradient[-1] ** 2)
