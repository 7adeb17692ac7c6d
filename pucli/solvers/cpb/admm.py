"""CPB-GLPUAL by the alternating direction method of Wang 2024, section 5.4 (eq. 5.13-5.30), order a, h, (beta, beta_0).

Split as h = 1 - f on labelled rows and a = 1 + f on all rows. The update of `a` takes the non-convex term exactly.
Where the printed thresholds contradict the derivation, the derivation is taken: 1/(mu_2 n_u) for unlabeled rows in
(5.23), prior/(n_p mu_1) for h in (5.27). `solve_cpb_thesis` is the printed kernel form, (5.33) and (5.39)-(5.43), with
the RBF Gram matrix in place of its Phi; there R enters as R1 = 0 only, so sigma and lam have no effect, and the signs
of (5.33) are those of the derivation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.kernels.graph import similarity_form
from pucli.solvers.cpb.dc import CPBFit, cpb_objective
from pucli.solvers.elastic.admm import soft_threshold
from pucli.solvers.glpual.admm import shrink_hinge


class ThesisCPB(NamedTuple):
    """omega (n,), coefficients of the kernel at the training rows; residual : largest |1 + f - a| or |1 - f - h|."""

    omega: np.ndarray
    intercept: float
    residual: float
    n_iter: int
    converged: bool


def push_from_zero(d, c):
    """Return argmin_a -c |a| + (a - d)^2 / 2 for c > 0, elementwise (5.18); at d = 0 the positive one."""
    return np.where(d < 0.0, d - c, d + c)


def update_a(d, labelled, prior, mu):
    """Return the new a (n,) from d = 1 + u_a / mu + f (5.19), (5.23)."""
    n_p, n_u = np.count_nonzero(labelled), np.count_nonzero(~labelled)
    return np.where(labelled, push_from_zero(d, prior / (mu * n_p)), soft_threshold(d, 1.0 / (mu * n_u)))


def solve_cpb_admm(Z, labelled, edges, prior, lam, mu=None, tol=1e-6, max_iter=5000) -> CPBFit:
    """Run the printed updates on a linear model from w = 0; parameters as in `pucli.solvers.cpb.dc.solve_cpb`.

    mu > 0 : both penalties; None is 1/n. Stops when no constraint is violated by more than `tol` and f moved by less
    than that. If that is not reached, the w of the lowest objective on the way is returned. `residual` is the larger of
    the two at the w returned.
    """
    n, r = Z.shape
    mu = 1.0 / n if mu is None else mu
    Zp = Z[labelled]
    n_p = len(Zp)
    system = similarity_form(Z, edges) + mu * (Zp.T @ Zp + Z.T @ Z)
    system[np.diag_indices(r - 1)] += lam
    factor = cho_factor(system, lower=True, check_finite=False)
    u_h, u_a, w, f = np.zeros(n_p), np.zeros(n), np.zeros(r), np.zeros(n)
    best, best_value, best_residual = w, cpb_objective(w, Z, labelled, edges, prior, lam), 1.0
    values = []
    for _ in range(max_iter):
        a = update_a(1.0 + u_a / mu + f, labelled, prior, mu)
        h = shrink_hinge(1.0 + u_h / mu - f[labelled], prior / (n_p * mu))  # (5.27)
        rhs = Zp.T @ (u_h + mu * (1.0 - h)) - Z.T @ (u_a + mu * (1.0 - a))
        w = cho_solve(factor, rhs, check_finite=False)  # (5.30)
        previous, f = f, Z @ w
        violation_h, violation_a = 1.0 - f[labelled] - h, 1.0 + f - a
        u_h = u_h + mu * violation_h
        u_a = u_a + mu * violation_a
        value = cpb_objective(w, Z, labelled, edges, prior, lam)
        residual = max(float(np.max(np.abs(part))) for part in (violation_h, violation_a, f - previous))
        values.append(value)
        if value < best_value or residual <= tol:
            best, best_value, best_residual = w, value, residual
        if residual <= tol:
            break
    return CPBFit(best, best_value, best_residual, len(values), bool(best_residual <= tol), np.array(values))


def solve_cpb_thesis(K, labelled, prior, mu=1.0, n_iter=20) -> ThesisCPB:
    """Run the printed kernel updates `n_iter` times, from omega = 0 and multipliers of zero.

    K : (n, n) kernel matrix of the training rows. An iteration is one product with K. They minimise no fixed objective:
    with a large mu f grows geometrically in a direction that settles, with a small one it goes to a constant near -1.
    Counts as converged when finite.
    """
    n, n_p = len(K), np.count_nonzero(labelled)
    M22 = mu * (n_p + n)
    u_h, u_a, f = np.zeros(n_p), np.zeros(n), np.zeros(n)
    omega, intercept, residual = np.zeros(n), 0.0, np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(n_iter):
            a = update_a(1.0 + u_a / mu + f, labelled, prior, mu)
            h = shrink_hinge(1.0 + u_h / mu - f[labelled], prior / (n_p * mu))
            omega = -(u_a + mu * (1.0 - a))
            omega[labelled] += u_h + mu * (1.0 - h)
            share = omega.sum() / M22  # m_2 / M_22
            omega -= mu * share * (1.0 + labelled)
            g = K @ omega
            intercept = share - mu * float(g.sum() + g[labelled].sum()) / M22  # (5.41)
            f = g + intercept
            violation_h, violation_a = 1.0 - f[labelled] - h, 1.0 + f - a
            u_h = u_h + mu * violation_h
            u_a = u_a + mu * violation_a
        residual = max(float(np.max(np.abs(violation_h))), float(np.max(np.abs(violation_a))))
    finite = bool(np.isfinite(residual) and np.all(np.isfinite(omega)))
    return ThesisCPB(omega, float(intercept), residual, n_iter, finite)
