"""The kernel form of GLPUAL as printed in Wang 2024, eq. (3.17) and (3.24)-(3.26), and its GLLC counterpart.

The score is f(x) = sum_i omega_i k(x, x_i) + beta_0 over all training rows. The printed updates are a fixed-point
iteration, not the minimiser of a fixed objective: the similarity enters as R1 = 0 only, so sigma has no effect, and
all unlabeled rows have one common coefficient. With t = m_2 / M_22,

    M_22 = 2 c_u n_u + mu n_p,    m_2 = -2 c_u n_u + 1'u + mu 1'(1 - h),
    omega_p = u + mu (1 - h) - mu t,    omega_u = -2 c_u (1 + t),
    beta_0 = t - (2 c_u 1'f_u + mu 1'f_p) / M_22          (f without its intercept)
    h = s_{c_p/mu}(1 + u/mu - f_p),    u <- u + mu (1 - f_p - h).

Everything an iteration needs is K_pp and two row sums of the kernel matrix, so it costs n_p^2 whatever n_u is. GLLC's
updates with the squared loss have the closed form of `gllc_thesis`: mu becomes 2 c_p, and nothing is left to iterate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class ThesisFit(NamedTuple):
    """omega_p (n_p,), common coefficient omega_u, intercept; residual = max |1 - f_p - h|; converged: it is finite."""

    omega_p: np.ndarray
    omega_u: float
    intercept: float
    residual: float
    n_iter: int
    converged: bool


@njit(cache=True)
def glpual_thesis(K_pp, k_pu, s_uu, n_u, c_p, c_u, mu, n_iter):
    """Run the printed updates `n_iter` times from h = 1, u = 0.

    K_pp : (n_p, n_p) kernel of labelled rows; k_pu : (n_p,) sums over unlabeled rows of the kernel with each labelled
    row; s_uu : the sum over all pairs of unlabeled rows. Returns (omega_p, omega_u, intercept, residual).
    """
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
def gllc_thesis(K_pp, k_pu, s_uu, n_u, c_p, c_u):
    """Return (omega_p, omega_u, intercept, 0) of GLLC by the same necessary condition, in closed form.

    The squared loss replaces the split: M_22 = 2 c_u n_u + 2 c_p n_p, m_2 = 2 c_p n_p - 2 c_u n_u, and
    omega_p = 2 c_p (1 - t), omega_u = -2 c_u (1 + t). Arguments as in `glpual_thesis`.
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


def solve_thesis(K, labelled, c_p=1.0, c_u=0.1, mu=0.01, n_iter=150, squared=False) -> ThesisFit:
    """Fit the printed kernel form of GLPUAL, or of GLLC where `squared`.

    K : (n, n) kernel matrix of the training rows; labelled : (n,) bool; n_iter : number of updates, part of the
    method's definition, since the published tables stop long before a fixed point.
    """
    K_pp = np.ascontiguousarray(K[np.ix_(labelled, labelled)])
    k_pu = K[labelled][:, ~labelled].sum(axis=1)
    s_uu = float(K[~labelled][:, ~labelled].sum())
    n_u = int(np.count_nonzero(~labelled))
    if squared:
        omega, omega_u, intercept, residual = gllc_thesis(K_pp, k_pu, s_uu, n_u, c_p, c_u)
        n_iter = 1
    else:
        omega, omega_u, intercept, residual = glpual_thesis(K_pp, k_pu, s_uu, n_u, c_p, c_u, mu, n_iter)
    finite = bool(np.isfinite(residual) and np.isfinite(intercept) and np.all(np.isfinite(omega)))
    return ThesisFit(omega, float(omega_u), float(intercept), float(residual), n_iter, finite)
