"""CPB-GLPUAL by the alternating direction method of Wang 2024, section 5.4 (eq. 5.13-5.30), order a, h, (beta, beta_0).

The objective is split as h = 1 - f on labeled rows and a = 1 + f on all rows. The update of `a` solves its non-convex
problem exactly. Where the printed thresholds contradict the derivation, those of the derivation are used: 1/(mu_2 n_u)
for unlabeled rows in (5.23), prior/(n_p mu_1) for h in (5.27). `solve_cpb_thesis` is the printed kernel form, (5.33)
and (5.39)-(5.43), with the RBF Gram matrix in place of its Phi. There R enters as R1 = 0 only, so sigma and lam have no
effect, and the signs of (5.33) are those of the derivation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Bools, Floats
from pucli.solvers.cpb.dc import CPBSolution
from pucli.solvers.cpb.problem import CPBProblem
from pucli.solvers.elastic.admm import soft_threshold
from pucli.solvers.glpual.admm import shrink_hinge
from pucli.solvers.kernels.graph import similarity_form
from pucli.solvers.kernels.intercept import with_offset, without_offset
from pucli.solvers.result import Solution


@dataclass(frozen=True, kw_only=True)
class CPBThesisSolution(Solution):
    """The kernel model after the last update.

    `coef` (n,) holds the coefficients of the kernel at the training rows. There is no objective. `residual` is the
    largest |1 + f - a| or |1 - f - h|, and `converged` means that everything is finite.
    """

    intercept: float  # beta_0


def _push_from_zero(d: Floats, c: float | Floats) -> Floats:
    """Return argmin_a -c |a| + (a - d)^2 / 2 for c > 0, elementwise (5.18); at d = 0 the positive minimizer."""
    return np.where(d < 0.0, d - c, d + c)


def _update_a(d: Floats, labeled: Bools, prior: float, mu: float) -> Floats:
    """Return the new a (n,), (5.19) and (5.23), at d = 1 + u_a / mu + f."""
    n_p, n_u = np.count_nonzero(labeled), np.count_nonzero(~labeled)
    return np.where(labeled, _push_from_zero(d, prior / (mu * n_p)), soft_threshold(d, 1.0 / (mu * n_u)))


class _Splitting:
    """The copies a and h of (5.13), and their multipliers, from zero."""

    def __init__(self, labeled: Bools, prior: float, mu: float) -> None:
        self.labeled, self.prior, self.mu, self.n_p = labeled, prior, mu, np.count_nonzero(labeled)
        self.u_h, self.u_a = np.zeros(self.n_p), np.zeros(len(labeled))

    def pulls(self, f: Floats) -> tuple[Floats, Floats]:
        """Update a and h at the scores f (n,); return what pulls the labeled scores up, and all of them down."""
        mu = self.mu
        self.a = _update_a(1.0 + self.u_a / mu + f, self.labeled, self.prior, mu)
        self.h = shrink_hinge(1.0 + self.u_h / mu - f[self.labeled], self.prior / (self.n_p * mu))  # (5.27)
        return self.u_h + mu * (1.0 - self.h), self.u_a + mu * (1.0 - self.a)

    def violations(self, f: Floats) -> tuple[Floats, Floats]:
        """Update the multipliers at new scores f (n,); return what is violated, of labeled rows and of all."""
        of_h, of_a = 1.0 - f[self.labeled] - self.h, 1.0 + f - self.a
        self.u_h, self.u_a = self.u_h + self.mu * of_h, self.u_a + self.mu * of_a
        return of_h, of_a


def solve_cpb_admm(
    problem: CPBProblem,
    mu: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 5000,
) -> CPBSolution:
    """Run the printed updates on a linear model, from w = 0."""
    Z, center = without_offset(problem.Z)
    problem = problem._replace(Z=Z)
    _, labeled, edges, prior, lam = problem
    n, r = Z.shape
    mu = 1.0 / n if mu is None else mu
    Zp = Z[labeled]
    system = similarity_form(Z, edges) + mu * (Zp.T @ Zp + Z.T @ Z)
    system[np.diag_indices(r - 1)] += lam
    factor = cho_factor(system, lower=True, check_finite=False)
    split, w, f = _Splitting(labeled, prior, mu), np.zeros(r), np.zeros(n)
    best, best_value, best_residual = w, problem.objective(w), 1.0
    values = []
    for _ in range(max_iter):
        up, down = split.pulls(f)
        w = cho_solve(factor, Zp.T @ up - Z.T @ down, check_finite=False)  # (5.30)
        previous, f = f, Z @ w
        value = problem.objective(w)
        residual = max(float(np.max(np.abs(part))) for part in (*split.violations(f), f - previous))
        values.append(value)
        if value < best_value or residual <= tol:
            best, best_value, best_residual = w, value, residual
        if residual <= tol:
            break
    return CPBSolution(
        coef=with_offset(best, center),
        objective=best_value,
        residual=best_residual,
        n_iter=len(values),
        converged=bool(best_residual <= tol),
        objectives=np.array(values),
    )


def solve_cpb_thesis(K: Floats, labeled: Bools, prior: float, mu: float = 1.0, n_iter: int = 20) -> CPBThesisSolution:
    """Run the printed kernel updates from omega = 0 and multipliers of zero.

    They minimize no fixed objective: with a large mu, f grows geometrically and its direction converges; with a small
    mu, f approaches a constant near -1. An iteration is one product with K.
    """
    n, split = len(K), _Splitting(labeled, prior, mu)
    M22 = mu * (split.n_p + n)
    f, omega, intercept, residual = np.zeros(n), np.zeros(n), 0.0, np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(n_iter):
            up, down = split.pulls(f)
            omega = -down
            omega[labeled] += up
            share = omega.sum() / M22  # m_2 / M_22
            omega -= mu * share * (1.0 + labeled)
            g = K @ omega
            intercept = share - mu * float(g.sum() + g[labeled].sum()) / M22  # (5.41)
            f = g + intercept
            violations = split.violations(f)
        residual = max(float(np.max(np.abs(part))) for part in violations)
    finite = bool(np.isfinite(residual) and np.all(np.isfinite(omega)))
    return CPBThesisSolution(
        coef=omega, intercept=float(intercept), objective=np.nan, residual=residual, n_iter=n_iter, converged=finite
    )
