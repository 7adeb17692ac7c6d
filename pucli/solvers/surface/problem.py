"""The problem of elastic kernel-free GLPUAL (Wang 2024, eq. 4.26) in matrices, and its certificate.

    J(w) = lam1/2 sum_j |alpha_[j]| + lam2/2 alpha'G alpha + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf

for w = (alpha, beta_0) and f = Z w, Z the rows (s(x_i), 1) of `pucli.kernels.quadratic_surface`; groups overlap. What
is quadratic is one matrix A and one vector b, built once, so that no step depends on the number of unlabeled rows. Dual
variables are the slopes p in [-c_p, 0] of the hinges and v_j in balls of radius lam1/2 for the groups, t = D alpha.

Certificate: the quadratic is |Bw + d|^2 / 2, with the multiplier Bw + d. Where A w + b + Zp'p + D'v = 0, every common
scaling s in [0, 1] of the multipliers that keeps v in the balls is dual feasible, with value
s (b'w + 2 const - 1'p) - s^2/2 (w'Aw + 2 b'w + 2 const). The w that meets the condition for given p and v is found with
a slightly ridged A, and what the ridge leaves is absorbed by v: a singular A does no harm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.kernels.graph import laplacian_product
from pucli.kernels.quadratic_surface import surface_coordinates, surface_groups
from pucli.solvers.elastic.dual import best_intercept

# The bound is also taken with multipliers this much smaller, which leaves room in the balls for rounding.
ROOM = (1.0, 1.0 - 1e-4, 1.0 - 1e-2)


class SurfaceProblem(NamedTuple):
    """What J is made of, whatever lam1 is.

    A : (r, r); factor : Cholesky factor of D A D plus a small ridge, and D; b : (r,); Zp : (n_p, r) labelled rows,
    intercept last, r = m* + 1; c_p; constant : c_u n_u; m features.
    """

    A: np.ndarray
    factor: tuple
    b: np.ndarray
    Zp: np.ndarray
    c_p: float
    constant: float
    m: int


class SurfaceFit(NamedTuple):
    """A sparse quadratic surface and its certificate.

    w : (r,) alpha and intercept, zeros exact; p : (n_p,) slopes of hinges; v : (m, m + 1) multipliers of groups; gap :
    proven bound on objective minus the optimum; n_iter : iterations of either kind.
    """

    w: np.ndarray
    p: np.ndarray
    v: np.ndarray
    objective: float
    gap: float
    n_iter: int
    converged: bool


def surface_problem(Z, G, labelled, edges, lam2, c_p, c_u) -> SurfaceProblem:
    """Build A and b.

    Z : (n, r) rows with a last column of ones; G : (r - 1, r - 1) of `surface_ridge`; the rest as in
    `pucli.solvers.elastic.dual.solve_elastic`.
    """
    i, j, weight = edges
    Zu = Z[~labelled]
    return assemble(Z, G, labelled, Zu.T @ Zu, Z.T @ laplacian_product(i, j, weight, Z), lam2, c_p, c_u)


def assemble(Z, G, labelled, ZuZu, similarity, lam2, c_p, c_u) -> SurfaceProblem:
    """As `surface_problem`, from the products that do not depend on the weights: Zu'Zu and Z'RZ, each (r, r)."""
    A = 2.0 * c_u * ZuZu + 2.0 * similarity
    A = 0.5 * (A + A.T)
    A[:-1, :-1] += lam2 * G
    b = 2.0 * c_u * Z[~labelled].sum(axis=0)
    m = round((np.sqrt(9 + 8 * (Z.shape[1] - 1)) - 3) / 2)
    constant = c_u * float(np.count_nonzero(~labelled))
    return SurfaceProblem(A, scaled_cholesky(A), b, np.ascontiguousarray(Z[labelled]), c_p, constant, m)


def surface_objective(problem: SurfaceProblem, w, lam1) -> float:
    """Return J(w)."""
    norms = np.linalg.norm(w[surface_groups(problem.m)], axis=1)
    hinge = problem.c_p * np.maximum(1.0 - problem.Zp @ w, 0.0).sum()
    quadratic = 0.5 * w @ problem.A @ w + problem.b @ w + problem.constant
    return float(quadratic + hinge + 0.5 * lam1 * norms.sum())


def constant_model(problem: SurfaceProblem) -> tuple[np.ndarray, np.ndarray]:
    """Return w of the best constant f and slopes p (n_p,), all equal, with which its intercept is stationary."""
    w = np.zeros(len(problem.b))
    w[-1] = best_intercept(w, problem.A, problem.b, problem.Zp, problem.c_p)
    n_p = len(problem.Zp)
    return w, np.full(n_p, -(problem.A[-1, -1] * w[-1] + problem.b[-1]) / n_p)


def surface_lam1_max(problem: SurfaceProblem) -> float:
    """Return a lam1 from which on every group is zero.

    At the best constant the gradient of the rest, with that of a_jk shared evenly by its two groups, must fit into
    the balls. Other shares, or other slopes of hinges on their kink, may fit at a somewhat smaller lam1.
    """
    w, p = constant_model(problem)
    gradient = problem.A @ w + problem.b + problem.Zp.T @ p
    return 2.0 * float(np.max(np.linalg.norm(shared(gradient[:-1], problem.m), axis=1), initial=0.0))


def restricted(problem: SurfaceProblem, features) -> tuple[SurfaceProblem, np.ndarray]:
    """Return the problem on the surface of some features, and the positions of its w in the whole one's."""
    place = np.append(surface_coordinates(features, problem.m), len(problem.b) - 1)
    A = np.ascontiguousarray(problem.A[np.ix_(place, place)])
    Zp = np.ascontiguousarray(problem.Zp[:, place])
    return problem._replace(A=A, factor=scaled_cholesky(A), b=problem.b[place], Zp=Zp, m=len(features)), place


def with_exact_zeros(problem: SurfaceProblem, w, zero) -> np.ndarray:
    """Return w with the groups `zero` (m,) bool at zero, and the intercept that is best then."""
    w = w.copy()
    w[np.unique(surface_groups(problem.m)[zero])] = 0.0
    w[-1] = best_intercept(w, problem.A, problem.b, problem.Zp, problem.c_p)
    return w


def shared(gradient, m, chosen=None):
    """Return v (m, m + 1) with D'v = gradient.

    A coefficient of two groups is shared evenly, except that a feature outside `chosen` (m,) bears it alone when the
    other one is inside: the groups of non-zero coefficients have no room for it.
    """
    share = np.full((m, m), 0.5)
    if chosen is not None:
        share[np.ix_(chosen, ~chosen)] = 0.0
        share[np.ix_(~chosen, chosen)] = 1.0
    share[np.diag_indices(m)] = 1.0
    return gradient[surface_groups(m)] * np.column_stack([share, np.ones(m)])


def surface_bound(problem: SurfaceProblem, w, p, v, lam1, chosen) -> tuple[float, np.ndarray, np.ndarray]:
    """Return a lower bound on the minimum of J, the norms that each group's multiplier needs (m,), and multipliers.

    p : slopes in their box; v : multipliers (m, m + 1); chosen : (m,) bool, features that v was found for. The bound
    is taken at w and at the point that meets the stationarity condition with p and v, the better one is returned; the
    other two are those of w. There, features outside `chosen` have the multipliers that w needs, cut to their balls.
    """
    bound, needed, moved = _bound_at(problem, w, p, v, lam1, chosen)
    cut = moved * np.minimum(1.0, 0.5 * lam1 / np.maximum(needed, 1e-300))[:, None]
    v = np.where(chosen[:, None], v, cut)
    d, factor = problem.factor
    for share in ROOM:
        pull = problem.b + problem.Zp.T @ p
        np.add.at(pull, surface_groups(problem.m).ravel(), share * v.ravel())
        stationary = -d * cho_solve(factor, d * pull, check_finite=False)
        bound = max(bound, _bound_at(problem, stationary, p, share * v, lam1, chosen)[0])
    return bound, needed, moved


def _bound_at(problem, w, p, v, lam1, chosen):
    """Move v so that w is stationary, scale all multipliers into the balls, and return as `surface_bound` does."""
    A, b, constant, m = problem.A, problem.b, problem.constant, problem.m
    w = w.copy()
    w[-1] -= float(A[-1] @ w + b[-1] + p.sum()) / A[-1, -1]  # the intercept's condition has no multiplier to move
    Aw = A @ w
    residual = (Aw + b + problem.Zp.T @ p)[:-1]
    np.add.at(residual, surface_groups(m).ravel(), v.ravel())
    moved = v - shared(residual, m, chosen)
    norms = np.linalg.norm(moved, axis=1)
    largest = float(norms.max(initial=0.0))
    quadratic = float(w @ Aw + 2.0 * b @ w + 2.0 * constant)
    linear = float(b @ w) + 2.0 * constant - float(p.sum())
    limit = 1.0 if largest == 0.0 else min(1.0, 0.5 * lam1 / largest)
    s = min(max(linear / quadratic, 0.0), limit) if quadratic > 0.0 else limit
    return s * linear - 0.5 * s * s * quadratic, norms, moved


def scaled_cholesky(H):
    """Return d and the Cholesky factor of the matrix D H D + ridge, D = diag(d), which has a diagonal of about one."""
    d = 1.0 / np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    scaled = H * d[:, None] * d
    scaled[np.diag_indices(len(d))] += 1e-13 * len(d)
    return d, cho_factor(scaled, lower=True, check_finite=False)
