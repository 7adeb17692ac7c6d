"""EKF-GLPUAL by the updates of its author's public scripts, a given number of times.

They differ from the printed ones (`pucli.solvers.surface.admm`) in the graph, the group step and the end, as read from
the scripts (GitHub, tkks22123/GKF-PUAL; no line of them is copied): W has all pairs of rows, exp(-d^2 / sigma) with
sigma 2, and R = D - W is not divided by n; a group is shrunk by its one-norm in place of its length; everything starts
at 0.01, the multipliers of the groups at 10; and a group is zero if no coefficient of t exceeds 1e-6. So they minimise
no stated objective, and there is no certificate.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Floats
from pucli.solvers.glpual.admm import shrink_hinge
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.cholesky import scaled_cholesky
from pucli.solvers.kernels.graph import squared_distances
from pucli.solvers.kernels.quadratic_surface import surface_groups
from pucli.solvers.result import Solution

START, FIRST_MULTIPLIER, SMALLEST = 0.01, 10.0, 1e-6


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
    rows: GlobalLocalProblem, G: Floats, R: Floats, lam1: float, mu: float = 0.01, n_iter: int = 300
) -> Solution:
    """Run the updates.

    Parameters
    ----------
    rows : GlobalLocalProblem
        Surface features of the rows (n, r), with a last column of ones; the ridge is lam2, on the gradients of f. Its
        edges are not used.
    G : ndarray of shape (r - 1, r - 1)
        Matrix of `pucli.solvers.kernels.quadratic_surface.surface_ridge`.
    R : ndarray of shape (n, n)
        Matrix from `full_laplacian`.
    lam1 : float
        Group penalty, positive.
    mu : float, default 0.01
        Penalty of the splitting, positive.
    n_iter : int, default 300
        Number of updates.

    Returns
    -------
    Solution
        The coefficients of the last update, with groups of zero set to zero. `residual` is the largest difference of
        a group's coefficients from their copy t.
    """
    Z, labelled, _, lam2, c_p, c_u = rows
    n, r = Z.shape
    groups = surface_groups(round((np.sqrt(9 + 8 * (r - 1)) - 3) / 2))
    Zp, Zu = rows.Zp, rows.Zu
    system = mu * (Zp.T @ Zp + Zu.T @ Zu + Z.T @ Z)
    system[:-1, :-1] += lam2 * G
    system[np.diag_indices(r - 1)] += mu * np.bincount(groups.ravel(), minlength=r - 1)
    scale, factor = scaled_cholesky(system, overwrite=True)
    smoother = cho_factor(2.0 * R + mu * np.eye(n), lower=True, check_finite=False)
    h, a, t, b = (np.full(shape, START) for shape in (len(Zp), len(Zu), groups.shape, n))
    u_h, u_a, v, q = np.full(len(Zp), START), np.full(len(Zu), START), np.full(groups.shape, FIRST_MULTIPLIER), b.copy()
    w = np.zeros(r)
    for _ in range(n_iter):
        rhs = Zp.T @ (u_h + mu * (1.0 - h)) - Zu.T @ (u_a + mu * (1.0 - a)) + Z.T @ (mu * b - q)
        np.add.at(rhs, groups.ravel(), (mu * t - v).ravel())
        w = scale * cho_solve(factor, scale * rhs, check_finite=False)
        f = Z @ w
        f_p, f_u = f[labelled], f[~labelled]
        h = shrink_hinge(1.0 + u_h / mu - f_p, c_p / mu)
        a = (u_a + mu * (1.0 + f_u)) / (2.0 * c_u + mu)
        b = cho_solve(smoother, q + mu * f, check_finite=False)
        t = shrink_by_one_norm(w[groups] + v / mu, 0.5 * lam1 / mu)
        u_h = u_h + mu * (1.0 - f_p - h)
        u_a = u_a + mu * (1.0 + f_u - a)
        v = v + mu * (w[groups] - t)
        q = q + mu * (f - b)
    residual = float(np.abs(w[groups] - t).max())
    w[np.unique(groups[~np.any(np.abs(t) >= SMALLEST, axis=1)])] = 0.0
    return Solution(coef=w, objective=np.nan, residual=residual, n_iter=n_iter, converged=bool(np.isfinite(residual)))
