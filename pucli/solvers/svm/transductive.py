"""Transductive support vector machine by gradient steps (Chapelle and Zien 2005, section 4).

On rows z_i with f_i = w.z_i + b, minimizes

    J = |w|^2 / 2 + C sum_labeled [1 - y_i f_i]_+^2 + C_u sum_unlabeled exp(-3 f_i^2)

with the mean of f over the unlabeled rows held at the mean of y, so that they are not all called one class. J is not
convex: C_u rises from C / 1024 to C by factors of two, each stage starting from the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from pucli.core.arrays import Floats, Ints
from pucli.solvers.result import Solution

# Times C_u is doubled, from C / 2^STAGES to C.
STAGES = 10
STEEPNESS = 3.0


@dataclass(frozen=True, kw_only=True)
class TransductiveSolution(Solution):
    """A transductive SVM; `coef` (p,) is w, `residual` the largest slope, relative as `tol` is."""

    offset: float  # b


def transductive_loss(point: Floats, Z: Floats, y: Floats, C: float, C_u: float) -> tuple[float, Floats]:
    """Return J and its gradient at `point`: w (p,), then b (1,) if there are no unlabeled rows."""
    p = Z.shape[1]
    labeled = y != 0.0
    free = len(point) > p
    f = Z @ point[:p] + (point[p] if free else y[labeled].mean())
    margin = np.where(labeled, np.maximum(1.0 - y * f, 0.0), 0.0)
    bump = np.where(labeled, 0.0, np.exp(-STEEPNESS * f * f))
    value = 0.5 * point[:p] @ point[:p] + C * margin @ margin + C_u * bump.sum()
    slopes = -2.0 * C * y * margin - 2.0 * C_u * STEEPNESS * f * bump
    gradient = point[:p] + Z.T @ slopes
    return float(value), np.append(gradient, slopes.sum()) if free else gradient


def solve_transductive(Z: Floats, y: Ints, C: float, tol: float, max_iter: int) -> TransductiveSolution:
    """Find a stationary point of J by rising C_u."""
    signs = y.astype(float)
    unlabeled = y == 0
    shift = Z[unlabeled].mean(axis=0) if unlabeled.any() else np.zeros(Z.shape[1])
    rows = Z - shift
    point = np.zeros(Z.shape[1] + (not unlabeled.any()))
    unit = float(np.abs(transductive_loss(point, rows, signs, C, 0.0)[1]).max()) or 1.0
    stages = 2.0 ** np.arange(-STAGES, 1) * C if unlabeled.any() else [0.0]
    n_iter, value, residual = 0, np.nan, np.inf
    for C_u in stages:
        limits = {"maxiter": max_iter, "gtol": tol * unit, "ftol": 0.0, "maxfun": 10 * max_iter + 100}
        found = minimize(
            transductive_loss, point, (rows, signs, C, float(C_u)), jac=True, method="L-BFGS-B", options=limits
        )
        point, value, n_iter = found.x, float(found.fun), n_iter + int(found.nit)
        residual = float(np.abs(found.jac).max()) / unit
    p = Z.shape[1]
    b = float(point[p]) if len(point) > p else float(signs[~unlabeled].mean())
    return TransductiveSolution(
        coef=point[:p],
        offset=b - float(shift @ point[:p]),
        objective=value,
        n_iter=n_iter,
        residual=residual,
        converged=residual <= tol,
    )
