"""EKF-GLPUAL by the updates of its author's public scripts, a given number of times.

They differ from the printed ones (`pucli.solvers.surface.admm`) in the graph, the group step and the end, as read from
the scripts (GitHub, tkks22123/GKF-PUAL; no line of them is copied): W has all pairs of rows, exp(-d^2 / sigma) with
sigma 2, and R = D - W is not divided by n; a group is shrunk by its one-norm in place of its length; the multipliers of
the groups start at 10; and a group is zero if no coefficient of t exceeds 1e-6. So they minimize no stated objective,
and there is no certificate. `EKFGLPUAL` starts all else at 0.01; the scripts start the copies of the rows at the
function whose coefficients are 0.01, and their multipliers at 0.5 for labeled rows and 0 for the others.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Floats
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.cholesky import scaled_cholesky
from pucli.solvers.kernels.graph import squared_distances
from pucli.solvers.result import Solution
from pucli.solvers.surface.admm import SurfaceUpdates

START, FIRST_MULTIPLIER, FIRST_OF_LABELED, SMALLEST = 0.01, 10.0, 0.5, 1e-6


def full_laplacian(X: Floats, sigma: float) -> Floats:
    """Return D - W (n, n) of the weights exp(-d^2 / sigma) of all pairs of rows."""
    W = np.exp(-squared_distances(X) / sigma)
    return np.diag(W.sum(axis=1)) - W


def shrink_by_one_norm(d: Floats, c: float) -> Floats:
    """Return the rows d_j of d times [1 - c / |d_j|_1]_+; with the length of d_j it would be (4.42)."""
    sizes = np.abs(d).sum(axis=1, keepdims=True)
    t: Floats = np.maximum(1.0 - c / np.maximum(sizes, 1e-300), 0.0) * d
    return t


def solve_surface_author(
    rows: GlobalLocalProblem,
    G: Floats,
    R: Floats,
    lam1: float,
    mu: float = 0.01,
    n_iter: int = 300,
    *,
    start_as_scripts: bool = False,
) -> Solution:
    """Run the updates."""
    smoother = cho_factor(2.0 * R + mu * np.eye(len(R)), lower=True, check_finite=False)

    def smooth(right_side: Floats) -> Floats:
        b: Floats = cho_solve(smoother, right_side, check_finite=False)
        return b

    step = SurfaceUpdates(rows, G, mu, smooth, start=(START, START), multipliers=(START, FIRST_MULTIPLIER))
    if start_as_scripts:
        f = rows.Z[:, :-1].sum(axis=1) * START
        step.h, step.a, step.b = 1.0 - f[rows.labeled], 1.0 + f[~rows.labeled], f
        step.u_h[:], step.u_a[:], step.q[:] = FIRST_OF_LABELED, 0.0, 0.0
    groups = step.groups
    scale, factor = scaled_cholesky(step.system, overwrite=True)
    w = np.zeros(rows.Z.shape[1])
    for _ in range(n_iter):
        w = scale * cho_solve(factor, scale * step.right_side(), check_finite=False)
        t = shrink_by_one_norm(w[groups] + step.v / mu, 0.5 * lam1 / mu)
        step.take(w, t)
    residual = float(np.abs(w[groups] - step.t).max())
    w[np.unique(groups[~np.any(np.abs(step.t) >= SMALLEST, axis=1)])] = 0.0
    return Solution(coef=w, objective=np.nan, residual=residual, n_iter=n_iter, converged=bool(np.isfinite(residual)))
