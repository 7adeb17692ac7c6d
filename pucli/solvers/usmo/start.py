"""Starting points for USMO. Any feasible point is valid; a good one saves most of the kernel rows.

`subsample_start` solves the problem on an eighth of the rows and derives the dual variables of all rows from its f.
`one_class_start` is the heuristic of Sansone et al. (2019), section 4.5: a one-class machine on the labeled rows ranks
the unlabeled rows, and five groups along the ranking are placed at the five kinds of corner.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats
from pucli.solvers.row_losses.losses import RowLosses, optimal_intercept, restore_total
from pucli.solvers.usmo.blocks import KernelProblem, solve_kernel
from pucli.solvers.usmo.problem import DoubleHingeProblem, double_hinge_losses

# The subsample is one row in eight; below this size the whole problem is as fast.
SUBSAMPLE_SHARE = 8
SMALLEST_SUBSAMPLE = 500
SUBSAMPLE_TOL = 1e-2
# Share of the labeled rows that may be outside of the one-class machine's region.
ONE_CLASS_NU = 0.5


def uniform_start(losses: RowLosses, total: float) -> Floats:
    """Return dual variables (n,), all at the same share of their box."""
    return restore_total(losses.lower.copy(), losses, total)


def subsample_start(problem: DoubleHingeProblem, rng: np.random.Generator, *, cache_bytes: float) -> Floats:
    """Return feasible dual variables (n,) from the solution on a random eighth of the unlabeled rows.

    With fewer than 4000 rows it is `uniform_start`. The subproblem itself starts from a subsample.
    """
    n = len(problem.X_u)
    size = n // SUBSAMPLE_SHARE
    if size < SMALLEST_SUBSAMPLE:
        return uniform_start(problem.losses, problem.total)
    rows = np.sort(rng.choice(n, size, replace=False))
    c2 = problem.c2 * n / size
    part = problem._replace(X_u=problem.X_u[rows], c2=c2, losses=double_hinge_losses(size, c2), a_X=problem.a_X[rows])
    sigma = solve_kernel(
        KernelProblem.of(part),
        subsample_start(part, rng, cache_bytes=cache_bytes),
        tol=SUBSAMPLE_TOL,
        cache_bytes=cache_bytes,
    ).dual
    support = np.flatnonzero(sigma)
    f = problem.a_X - problem.kernel.combination(problem.X_u, part.X_u[support], sigma[support])
    f += optimal_intercept(problem.losses, problem.total, f)
    corner = np.where(f < -1.0, 0.0, np.where(f < 1.0, 0.5, 1.0))
    return restore_total(problem.c2 * corner, problem.losses, problem.total)


def averaged_intercept(problem: DoubleHingeProblem, sigma: Floats) -> float:
    """Return the intercept of (16): the mean, over rows between corners, of what puts f on the kink, or 0."""
    support = np.flatnonzero(sigma)
    g = problem.a_X - problem.kernel.combination(problem.X_u, problem.X_u[support], sigma[support])
    knot, c2 = problem.losses.knot, problem.c2
    between = (sigma > 0.0) & (sigma < c2) & (sigma != knot)
    return float(np.where(sigma < knot, -1.0 - g, 1.0 - g)[between].mean()) if between.any() else 0.0


def one_class_start(problem: DoubleHingeProblem, prior: float) -> Floats:
    """Return the dual variables (n,) of section 4.5.

    (18) requires group sizes whose sum is nearest to c1 p. With second and fourth groups of log(n) rows each, at three
    quarters and one quarter of the box, it is met with the largest share of rows at the two ends. The remainder from
    rounding is spread over the rows between corners.
    """
    p, n, c2 = len(problem.X_p), len(problem.X_u), problem.c2
    bound = np.full(p, 1.0 / max(ONE_CLASS_NU * p, 1.0))
    machine = RowLosses(np.zeros(p), bound, bound, np.zeros(p), np.zeros(p))
    zero = np.zeros(p)
    start = uniform_start(machine, 1.0)
    weights = solve_kernel(KernelProblem(problem.X_p, problem.kernel, machine, 1.0, zero, 0.0), start, tol=1e-3).dual
    order = np.argsort(-problem.kernel.combination(problem.X_u, problem.X_p, weights), kind="stable")
    between = min(max(int(np.log(n)), 1), n // 4)
    at_ends = max(n - 2 * between - 1, 0)
    top, bottom = int(prior * at_ends), int((1.0 - prior) * at_ends)
    sigma = np.full(n, 0.5 * c2)
    sigma[order[:top]] = c2
    sigma[order[top : top + between]] = 0.75 * c2
    sigma[order[n - bottom :]] = 0.0
    sigma[order[n - bottom - between : n - bottom]] = 0.25 * c2
    return restore_total(sigma, problem.losses, problem.total)
