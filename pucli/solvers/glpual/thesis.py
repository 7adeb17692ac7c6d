"""The kernel form of GLPUAL as printed in Wang 2024, eq. (3.17) and (3.24)-(3.26), and its GLLC counterpart.

The score is f(x) = sum_i omega_i k(x, x_i) + beta_0 over all training rows. The printed updates are a fixed-point
iteration, not the minimizer of a fixed objective: the similarity enters as R1 = 0 only, so sigma has no effect, and
all unlabeled rows have the same coefficient. With t = m_2 / M_22,

    M_22 = 2 c_u n_u + mu n_p,    m_2 = -2 c_u n_u + 1'u + mu 1'(1 - h),
    omega_p = u + mu (1 - h) - mu t,    omega_u = -2 c_u (1 + t),
    beta_0 = t - (2 c_u 1'f_u + mu 1'f_p) / M_22          (f without its intercept)
    h = s_{c_p/mu}(1 + u/mu - f_p),    u <- u + mu (1 - f_p - h).

An iteration needs only K_pp and two sums of the kernel matrix, so it costs n_p^2 whatever n_u is. With GLLC's squared
loss, mu becomes 2 c_p and nothing is left to iterate: `gllc_thesis` is a closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pucli.core.arrays import Bools, Floats
from pucli.solvers.result import Solution


@dataclass(frozen=True, kw_only=True)
class ThesisSolution(Solution):
    """The kernel model after the last update.

    `coef` (n_p,) is omega_p. There is no objective and no gap. `residual` is the largest |1 - f_p - h|, and
    `converged` means that everything is finite.
    """

    omega_u: float  # the coefficient of all unlabeled rows
    intercept: float  # beta_0


@njit(cache=True)
def glpual_thesis(
    K_pp: Floats, k_pu: Floats, s_uu: float, n_u: int, c_p: float, c_u: float, mu: float, n_iter: int
) -> tuple[Floats, float, float, float]:
    """Run the printed updates from h = 1, u = 0; return omega_p (n_p,), omega_u, the intercept and the residual."""
    n_p = K_pp.shape[0]
    M22 = 2.0 * c_u * n_u + mu * n_p
    h = np.ones(n_p)
    u = np.zeros(n_p)
    omega = np.zeros(n_p)
    omega_u = 0.0
    intercept = 0.0
    residual = 0.0
    sum_pu = 0.0
    for i in range(n_p):
        sum_pu += k_pu[i]
    for _ in range(n_iter):
        m2 = -2.0 * c_u * n_u
        for i in range(n_p):
            m2 += u[i] + mu * (1.0 - h[i])
        t = m2 / M22
        for i in range(n_p):
            omega[i] = u[i] + mu * (1.0 - h[i]) - mu * t
        omega_u = -2.0 * c_u * (1.0 + t)
        f = np.dot(K_pp, omega)
        total_u = omega_u * s_uu
        total_p = 0.0
        for i in range(n_p):
            total_u += k_pu[i] * omega[i]
            f[i] += omega_u * k_pu[i]
            total_p += f[i]
        intercept = t - (2.0 * c_u * total_u + mu * total_p) / M22
        residual = 0.0
        for i in range(n_p):
            margin = 1.0 - f[i] - intercept
            d = margin + u[i] / mu
            if d > c_p / mu:
                h[i] = d - c_p / mu
            else:
                h[i] = min(d, 0.0)
            u[i] += mu * (margin - h[i])
            residual = max(residual, abs(margin - h[i]))
    return omega, omega_u, intercept, residual


@njit(cache=True)
def gllc_thesis(
    K_pp: Floats, k_pu: Floats, s_uu: float, n_u: int, c_p: float, c_u: float
) -> tuple[Floats, float, float, float]:
    """Compute GLLC's model by the same necessary condition, in closed form; results as in `glpual_thesis`.

    The squared loss replaces the split: M_22 = 2 c_u n_u + 2 c_p n_p, m_2 = 2 c_p n_p - 2 c_u n_u, and omega_p = 2 c_p
    (1 - t), omega_u = -2 c_u (1 + t). Nothing is iterated, so the residual is 0.
    """
    n_p = K_pp.shape[0]
    M22 = 2.0 * c_u * n_u + 2.0 * c_p * n_p
    t = (2.0 * c_p * n_p - 2.0 * c_u * n_u) / M22
    omega = np.full(n_p, 2.0 * c_p * (1.0 - t))
    omega_u = -2.0 * c_u * (1.0 + t)
    total_p = 0.0
    total_u = omega_u * s_uu
    for i in range(n_p):
        row = omega_u * k_pu[i]
        for j in range(n_p):
            row += K_pp[i, j] * omega[j]
        total_p += row
        total_u += k_pu[i] * omega[i]
    intercept = t - (2.0 * c_u * total_u + 2.0 * c_p * total_p) / M22
    return omega, omega_u, intercept, 0.0


def solve_thesis(
    K: Floats,
    labeled: Bools,
    c_p: float = 1.0,
    c_u: float = 0.1,
    mu: float = 0.01,
    n_iter: int = 150,
    squared: bool = False,
) -> ThesisSolution:
    """Fit the printed kernel form of GLPUAL or GLLC."""
    K_pp = np.ascontiguousarray(K[np.ix_(labeled, labeled)])
    k_pu = K[labeled][:, ~labeled].sum(axis=1)
    s_uu = float(K[~labeled][:, ~labeled].sum())
    n_u = int(np.count_nonzero(~labeled))
    if squared:
        omega, omega_u, intercept, residual = gllc_thesis(K_pp, k_pu, s_uu, n_u, c_p, c_u)
        n_iter = 1
    else:
        omega, omega_u, intercept, residual = glpual_thesis(K_pp, k_pu, s_uu, n_u, c_p, c_u, mu, n_iter)
    finite = bool(np.isfinite(residual) and np.isfinite(intercept) and np.all(np.isfinite(omega)))
    return ThesisSolution(
        coef=omega,
        omega_u=float(omega_u),
        intercept=float(intercept),
        objective=np.nan,
        residual=float(residual),
        n_iter=n_iter,
        converged=finite,
    )
