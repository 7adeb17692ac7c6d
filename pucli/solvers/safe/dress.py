"""Density-ratio weighted logistic regression, DRESS I and II (Kawakita & Takeuchi 2014; Bertazzi 2018, section 2.3.2).

With g(.|eta) the fit of a density to the labeled rows x_i and g(.|eta') that to the unlabeled rows (DRESS I) or to all
rows (DRESS II),

    maximize  sum_i w_i log p(y_i | x_i, alpha),      w_i = (g(x_i|eta') + r) / (g(x_i|eta) + r),     r = rho N^nu.

Here g is a Gaussian and p(y|x, alpha) a logistic regression with a ridge.
"""

from __future__ import annotations

import numpy as np
from scipy.special import entr, expit

from pucli.core.arrays import Floats
from pucli.solvers.result import Solution
from pucli.solvers.safe.gaussian import Ridge, log_density, sample_moments

# Share of the decrease that the slope predicts, which a Newton step must reach, and the shortest step.
_DECREASE = 1e-4
_SHORTEST = 1e-10
# Relative rounding of the objective: the last steps lower the gap, not the objective.
_ROUNDING = 1e-14


def density_ratio(X: Floats, other: Floats, *, rho: float = 1.0, nu: float = -0.25, ridge: Ridge = 0.0) -> Floats:
    """Return the weight w_i of each labeled row (N,), with both densities in units of the greatest g(.|eta).

    A weight is infinite where it overflows; with rho > 0 none does.
    """
    columns = np.arange(X.shape[1])
    own = sample_moments(X, ridge)
    greatest = log_density(own.mean[None, :], own, columns)
    floor = np.log(rho) + nu * np.log(len(X)) if rho > 0.0 else -np.inf
    log_g = log_density(X, own, columns) - greatest
    log_other = log_density(X, sample_moments(other, ridge), columns) - greatest
    with np.errstate(over="ignore"):
        weight: Floats = np.exp(np.logaddexp(log_other, floor) - np.logaddexp(log_g, floor))
    return weight


def weighted_logistic(
    X: Floats, y: Floats, weight: Floats, *, lam: float, tol: float = 1e-9, max_iter: int = 200
) -> Solution:
    """Minimize sum_i w_i log(1 + exp(-y_i f_i)) + lam/2 |beta|^2, f = X beta + beta_0, by Newton steps."""
    center, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    Z = np.column_stack([(X - center) / scale, np.ones(len(X))]) * y[:, None]
    ridge = np.append(lam / scale**2, 0.0)

    def value(w: Floats) -> float:
        return float(weight @ np.logaddexp(0.0, -(Z @ w)) + 0.5 * ridge @ w**2)

    w, n_iter = np.zeros(Z.shape[1]), 0
    objective, stop = value(w), tol * float(weight.sum())
    while True:
        wrong = expit(-(Z @ w))
        gap = max(objective - _dual(Z[:, :-1], y, weight, wrong, ridge[:-1]), 0.0)
        if gap <= stop or n_iter >= max_iter:
            break
        slope = ridge * w - Z.T @ (weight * wrong)
        curvature = (Z * (weight * wrong * (1.0 - wrong))[:, None]).T @ Z + np.diag(ridge)
        if not np.isfinite(curvature).all():  # LAPACK may not return
            raise np.linalg.LinAlgError("the curvature of the logistic loss overflows")
        unit = 1.0 / np.sqrt(np.maximum(np.diag(curvature), 1e-300))
        direction = -unit * np.linalg.lstsq(curvature * np.outer(unit, unit), unit * slope)[0]
        fall, step = slope @ direction, 1.0
        highest = objective * (1.0 + _ROUNDING)
        while step >= _SHORTEST and not value(w + step * direction) <= highest + _DECREASE * step * fall:
            step *= 0.5
        if step < _SHORTEST:
            break  # rounding has ended the progress
        w = w + step * direction
        objective, n_iter = value(w), n_iter + 1
    coef = w[:-1] / scale
    return Solution(
        coef=np.append(coef, w[-1] - coef @ center), objective=objective, gap=gap, n_iter=n_iter, converged=gap <= stop
    )


def _dual(Z: Floats, y: Floats, weight: Floats, wrong: Floats, ridge: Floats) -> float:
    """Return the dual value at probabilities of error `wrong` (N,), first scaled so that both classes have equal sums.

    With a_i in [0, 1]: sum_i w_i entropy(a_i) - |sum_i w_i a_i y_i x_i|^2 / (2 lam) subject to sum_i w_i a_i y_i = 0.
    """
    sums = np.array([weight[y < 0] @ wrong[y < 0], weight[y > 0] @ wrong[y > 0]])
    a = wrong * np.where(y > 0, *(sums.min() / np.maximum(sums[::-1], 1e-300)))
    slopes = Z.T @ (weight * a)
    return float(weight @ (entr(a) + entr(1.0 - a)) - 0.5 * np.sum(slopes**2 / ridge))
