"""Elastic kernel-free GLPUAL by the five-block alternating direction method of Wang 2024, section 4.4 (eq. 4.27-4.43).

All terms are split: h = 1 - f on labeled rows, a = 1 + f on unlabeled rows, t = D alpha and b = f. An iteration costs
products with all rows. The threshold of (4.33) is c_p / mu, as derived, not the printed c_p. The method is kept for
comparison with `pucli.solvers.surface.working_set`. One penalty `mu` replaces the four of the text.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Floats
from pucli.solvers.elastic.admm import CHECK_EVERY, RowSplitting, shifted_laplacian
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.quadratic_surface import n_features_of, surface_groups
from pucli.solvers.surface.problem import (
    SurfaceSolution,
    surface_bound,
    surface_objective,
    surface_problem,
    with_exact_zeros,
)


def shrink_groups(d: Floats, c: float) -> Floats:
    """Return argmin_t c sum_j |t_j| + |t - d|^2 / 2 for the rows t_j (4.42)."""
    norms = np.linalg.norm(d, axis=1, keepdims=True)
    t: Floats = np.maximum(1.0 - c / np.maximum(norms, 1e-300), 0.0) * d
    return t


class SurfaceUpdates(RowSplitting):
    """The updates of `RowSplitting` with t, one row for each group, its multipliers v, and the system of (4.30).

    Parameters
    ----------
    rows : GlobalLocalProblem
        Surface features of the rows (n, r), with a last column of ones; the ridge is lam2, on the gradients of f.
    G : ndarray of shape (r - 1, r - 1)
        Matrix of `pucli.solvers.kernels.quadratic_surface.surface_ridge`.
    mu, smooth : float and callable
        As in `RowSplitting`.
    start : tuple of two float
        First values of h and a, and of t and b.
    multipliers : tuple of two float
        First values of u_h, u_a and q, and of v.
    """

    def __init__(
        self,
        rows: GlobalLocalProblem,
        G: Floats,
        mu: float,
        smooth: Callable[[Floats], Floats],
        start: tuple[float, float],
        multipliers: tuple[float, float],
    ) -> None:
        super().__init__(rows, mu, smooth, start, multipliers[0])
        m_star = len(G)
        self.groups = groups = surface_groups(n_features_of(m_star))
        self.system[:-1, :-1] += rows.lam * G
        self.system[np.diag_indices(m_star)] += mu * np.bincount(groups.ravel(), minlength=m_star)
        self.t, self.v = np.full(groups.shape, start[1]), np.full(groups.shape, multipliers[1])

    def right_side(self) -> Floats:
        """Return the right-hand side (r,) of (4.30)."""
        of_losses, of_copies = self.pulls()
        rhs: Floats = of_losses + of_copies
        np.add.at(rhs, self.groups.ravel(), (self.mu * self.t - self.v).ravel())
        return rhs

    def take(self, w: Floats, t: Floats) -> None:
        """Take the other updates, given w (r,) and t (m, m + 1)."""
        self.follow(w)
        self.t, self.v = t, self.v + self.mu * (w[self.groups] - t)


def solve_surface_admm(
    rows: GlobalLocalProblem,
    G: Floats,
    lam1: float,
    mu: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 20000,
) -> SurfaceSolution:
    """Minimize EKF-GLPUAL's objective (4.26) by the printed updates (4.28)."""
    problem = surface_problem(rows, G)
    smooth = shifted_laplacian(rows.edges, len(rows.Z), mu).solve
    step = SurfaceUpdates(rows, G, mu, smooth, start=(1.0, 0.0), multipliers=(0.0, 0.0))
    factor = cho_factor(step.system, lower=True, check_finite=False)
    best: SurfaceSolution | None = None
    iteration = 0
    while iteration < max_iter:
        iteration += 1
        w = cho_solve(factor, step.right_side(), check_finite=False)  # (4.30)
        t = shrink_groups(w[step.groups] + step.v / mu, 0.5 * lam1 / mu)  # (4.43)
        step.take(w, t)
        if iteration % CHECK_EVERY == 0 or iteration == max_iter:
            zero = ~np.any(t != 0.0, axis=1)
            sparse = with_exact_zeros(problem, w, zero)
            p = -np.clip(step.u_h, 0.0, rows.c_p)
            value = surface_objective(problem, sparse, lam1)
            bound, _, multipliers = surface_bound(problem, sparse, p, step.v, lam1, ~zero)
            gap = max(value - bound, 0.0)
            best = SurfaceSolution(
                coef=sparse,
                dual=p,
                multipliers=multipliers,
                objective=value,
                gap=gap,
                n_iter=iteration,
                converged=bool(gap <= tol * value),
            )
            if best.converged:
                break
    assert best is not None
    return best
