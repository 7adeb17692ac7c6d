"""The problem of elastic kernel-free GLPUAL (Wang 2024, eq. 4.26) in matrices, and its certificate.

    J(w) = lam1/2 sum_j |alpha_[j]| + lam2/2 alpha'G alpha + c_p sum_p [1 - f_i]_+ + c_u sum_u (1 + f_i)^2 + f'Rf

for w = (alpha, beta_0) and f = Z w, with Z the rows (s(x_i), 1) of `pucli.solvers.kernels.quadratic_surface` and
overlapping groups. The quadratic terms are one matrix A and one vector b, computed once, so that no step depends on the
number of unlabeled rows. The dual variables are the slopes p in [-c_p, 0] of the hinges, and for the groups, t = D
alpha, vectors v_j in balls of radius lam1/2.

Certificate: the quadratic is |Bw + d|^2 / 2, with the multiplier Bw + d. Where A w + b + Zp'p + D'v = 0, all
multipliers times a common s in [0, 1] that keeps v in the balls are dual feasible, with the value
s (b'w + 2 const - 1'p) - s^2/2 (w'Aw + 2 b'w + 2 const). The w that meets the condition for given p and v is computed
with a small ridge on A, and v compensates for the ridge, so that A may be singular.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve

from pucli.core.arrays import Bools, Floats, Ints
from pucli.solvers.elastic.dual import best_intercept
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.cholesky import Cholesky, scaled_cholesky
from pucli.solvers.kernels.graph import similarity_form
from pucli.solvers.kernels.quadratic_surface import n_features_of, surface_coordinates, surface_groups
from pucli.solvers.result import Solution

# The bound is also computed with the multipliers times these factors, which leaves room in the balls for rounding.
ROOM = (1.0, 1.0 - 1e-4, 1.0 - 1e-2)
# Relative rounding of a quadratic form, and the share of a bound from which on it is subtracted.
ROUNDING, LEAST_ROUNDING = 8.0 * np.finfo(float).eps, 1e-10


@dataclass(frozen=True)
class SurfaceProblem:
    """The parts of J that do not depend on lam1."""

    A: Floats  # (r, r), the quadratic; r = m* + 1
    b: Floats  # (r,), the linear term
    Zp: Floats  # (n_p, r), labeled rows, with a last column of ones
    c_p: float  # weight of each labeled row
    constant: float  # c_u n_u
    m: int  # number of features

    @functools.cached_property
    def factor(self) -> tuple[Floats, Cholesky]:
        """Return `scaled_cholesky` of A, computed when it is first needed."""
        return scaled_cholesky(self.A)


@dataclass(frozen=True, kw_only=True)
class SurfaceSolution(Solution):
    """A sparse quadratic surface.

    `coef` (r,) is alpha, with exact zeros, and the intercept. `n_iter` counts alternating steps and Newton steps.
    """

    dual: Floats  # (n_p,), slopes of the hinges, in [-c_p, 0]
    multipliers: Floats  # (m, m + 1), dual variables of the groups


def surface_problem(rows: GlobalLocalProblem, G: Floats) -> SurfaceProblem:
    """Return the problem for any lam1, with A and b computed."""
    Z, labeled, edges, lam2, c_p, c_u = rows
    Zu = rows.Zu
    A = quadratic(G, Zu.T @ Zu, similarity_form(Z, edges), lam2, c_u)
    return assemble(Z, A, labeled, c_p, c_u)


def quadratic(G: Floats, ZuZu: Floats, similarity: Floats, lam2: float, c_u: float) -> Floats:
    """Return the matrix A of the quadratic terms, shape (r, r)."""
    A = 2.0 * c_u * ZuZu + similarity
    A = 0.5 * (A + A.T)
    A[:-1, :-1] += lam2 * G
    return A


def assemble(Z: Floats, A: Floats, labeled: Bools, c_p: float, c_u: float) -> SurfaceProblem:
    """Return the problem with a given quadratic."""
    b = 2.0 * c_u * Z[~labeled].sum(axis=0)
    constant = c_u * float(np.count_nonzero(~labeled))
    return SurfaceProblem(A, b, np.ascontiguousarray(Z[labeled]), c_p, constant, n_features_of(Z.shape[1] - 1))


def surface_objective(problem: SurfaceProblem, w: Floats, lam1: float) -> float:
    """Return J(w)."""
    norms = np.linalg.norm(w[surface_groups(problem.m)], axis=1)
    hinge = problem.c_p * np.maximum(1.0 - problem.Zp @ w, 0.0).sum()
    quadratic = 0.5 * w @ problem.A @ w + problem.b @ w + problem.constant
    return float(quadratic + hinge + 0.5 * lam1 * norms.sum())


def constant_model(problem: SurfaceProblem) -> tuple[Floats, Floats]:
    """Return w of the best constant f, and slopes p (n_p,), all equal, for which its intercept is stationary."""
    w = np.zeros(len(problem.b))
    w[-1] = best_intercept(w, problem.A, problem.b, problem.Zp, problem.c_p)
    n_p = len(problem.Zp)
    return w, np.full(n_p, -(problem.A[-1, -1] * w[-1] + problem.b[-1]) / n_p)


def restricted(problem: SurfaceProblem, features: Ints) -> tuple[SurfaceProblem, Ints]:
    """Return the problem on the surface of some features, and the positions of its w in that of the whole problem."""
    place = np.append(surface_coordinates(features, problem.m), len(problem.b) - 1)
    if len(features) == problem.m:
        return problem, place
    A = np.ascontiguousarray(problem.A[np.ix_(place, place)])
    Zp = np.ascontiguousarray(problem.Zp[:, place])
    return replace(problem, A=A, b=problem.b[place], Zp=Zp, m=len(features)), place


def with_exact_zeros(problem: SurfaceProblem, w: Floats, zero: Bools) -> Floats:
    """Return w with some groups set to zero and the intercept that is then optimal."""
    w = w.copy()
    w[np.unique(surface_groups(problem.m)[zero])] = 0.0
    w[-1] = best_intercept(w, problem.A, problem.b, problem.Zp, problem.c_p)
    return w


def shared(gradient: Floats, m: int, chosen: Bools | None = None) -> Floats:
    """Return v with D'v = gradient, shape (m, m + 1).

    The gradient of a coefficient in two groups is shared evenly between them. If only one of the two features is
    chosen, the other one takes all of it, since groups of non-zero coefficients have no room for it.
    """
    share = np.full((m, m), 0.5)
    if chosen is not None and not chosen.all():
        share[np.ix_(chosen, ~chosen)] = 0.0
        share[np.ix_(~chosen, chosen)] = 1.0
    share[np.diag_indices(m)] = 1.0
    v: Floats = gradient[surface_groups(m)] * np.column_stack([share, np.ones(m)])
    return v


def surface_bound(
    problem: SurfaceProblem,
    w: Floats,
    p: Floats,
    v: Floats,
    lam1: float,
    chosen: Bools,
    enough: float = np.inf,
) -> tuple[float, Floats, Floats]:
    """Return a lower bound of J, and the multipliers (m, m + 1) that make w stationary after their norms (m,).

    The bound is the largest of those at w and at points that meet the stationarity condition with p and v. There,
    features outside `chosen` have the multipliers that w needs, shortened to fit into their balls.
    """
    bound, needed, moved = _bound_at(problem, w, p, v, lam1, chosen)
    if bound >= enough:
        return bound, needed, moved
    cut = moved * (0.5 * lam1 / np.maximum(needed, max(0.5 * lam1, 1e-300)))[:, None]
    v = np.where(chosen[:, None], v, cut)
    d, factor = problem.factor
    pull = np.zeros((len(w), 2), order="F")
    pull[:, 0] = problem.b + problem.Zp.T @ p
    np.add.at(pull[:, 1], surface_groups(problem.m).ravel(), v.ravel())
    stationary = -d[:, None] * cho_solve(factor, d[:, None] * pull, check_finite=False)
    for share in ROOM:
        at = stationary[:, 0] + share * stationary[:, 1]
        bound = max(bound, _bound_at(problem, at, p, share * v, lam1, chosen)[0])
        if bound >= enough:
            break
    return bound, needed, moved


def _bound_at(
    problem: SurfaceProblem, w: Floats, p: Floats, v: Floats, lam1: float, chosen: Bools
) -> tuple[float, Floats, Floats]:
    """Change v so that w is stationary, and scale all multipliers into the balls; results as in `surface_bound`."""
    A, b, constant, m = problem.A, problem.b, problem.constant, problem.m
    w = w.copy()
    w[-1] -= float(A[-1] @ w + b[-1] + p.sum()) / A[-1, -1]  # the intercept has no multiplier to change
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
    bound = s * linear - 0.5 * s * s * quadratic
    size = np.abs(w)
    # A is semidefinite: no entry exceeds the root of the product of its two diagonal entries
    most = float(np.sqrt(np.maximum(np.diagonal(A), 0.0)) @ size) ** 2
    pulled = float(np.abs(b) @ size)
    if not ROUNDING * (most + pulled) <= LEAST_ROUNDING * abs(bound):
        rounding = ROUNDING * float(size @ (np.abs(A) @ size) + pulled)
        if not rounding <= LEAST_ROUNDING * abs(bound):  # a singular A: w is far too long
            bound -= rounding
    return bound, norms, moved
