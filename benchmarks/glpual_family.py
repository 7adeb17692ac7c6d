"""E-GLPUAL against Clarabel, EKF-GLPUAL against the printed ADMM, and CPB-GLPUAL against GLPUAL.

The rows are Gaussian, and positives are shifted along a few features (for the quadratic surface, they lie in a ball
about the origin); a quarter of them are labeled. Times are CPU seconds of one thread, the shortest of several. Solvers
are given the graph; fits build it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import Progress, once, row, silent, timed
from pucli.core.arrays import Bools, Floats
from pucli.estimators.global_local.cpb import CPBGLPUAL
from pucli.estimators.global_local.glpual import GLPUAL
from pucli.solvers.elastic.dual import solve_elastic
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.graph import Edges, mutual_knn
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.quadratic_surface import surface_features, surface_ridge
from pucli.solvers.surface.admm import solve_surface_admm
from pucli.solvers.surface.problem import SurfaceSolution, surface_problem
from pucli.solvers.surface.working_set import solve_surface

ELASTIC = {"n": 1000, "m": 50}
ELASTIC_POINTS = ((1.0, 1.0, 0.1), (10.0, 0.1, 0.1), (100.0, 1e-3, 0.1), (30.0, 1.0, 0.01), (3.0, 1e-3, 0.05))
SURFACE = {"n": 600, "m": 21}
SURFACE_POINTS = ((1.0, 0.01, 0.1), (10.0, 0.01, 0.1), (50.0, 1e-3, 0.1))
# Penalty of the author's public scripts, and others, of which the best on each problem is a row of its own.
PRINTED_PENALTY, PENALTIES = 0.01, (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
PRINTED_ITERATIONS = 20_000
CPB_SIZES = ((600, 6, "linear"), (1000, 50, "linear"), (600, 6, "rbf"))


def run(progress: Progress = silent) -> dict[str, Any]:
    """Return the table of benchmark `glpual_family`."""
    rows: list[dict[str, Any]] = []
    parts = (_elastic, _surface, _cpb)
    with threadpool_limits(1):
        for done, part in enumerate(parts):
            rows += part()
            progress(done + 1, len(parts))
    title = "E-GLPUAL, EKF-GLPUAL, CPB-GLPUAL; CPU seconds of one thread; ratio: baseline over ours unless stated"
    return {"title": title, "rows": rows}


def _rows(n: int, m: int, shift: float = 1.0) -> tuple[Floats, Bools]:
    """Return rows, of which half are positives with a fifth of their features shifted, and which are labeled."""
    rng = np.random.default_rng([n, m])
    X = rng.normal(size=(n, m))
    X[: n // 2, : max(2, m // 5)] += shift
    return X, np.arange(n) < n // 4


def _ball(n: int, m: int) -> tuple[Floats, Bools]:
    """Return rows, of which the half nearest to the origin in three features is positive, and which are labeled."""
    rng = np.random.default_rng([n, m])
    X = rng.normal(size=(n, m))
    X = X[np.argsort(np.sum(X[:, :3] ** 2, axis=1))]
    return X, np.arange(n) < min(n // 4, 150)


def _edges(X: Floats) -> Edges:
    return mutual_knn(X, 5).edges(float(X.shape[1]))


def _elastic() -> list[dict[str, Any]]:
    X, labeled = _rows(**ELASTIC)
    edges, Z = _edges(X), with_intercept(X)
    rows = []
    for lam1, lam2, c_u in ELASTIC_POINTS:
        ours, fit = timed(partial(solve_elastic, GlobalLocalProblem(Z, labeled, edges, lam2, 1.0, c_u), lam1))
        task = _elastic_in_cvxpy(X, labeled, edges, lam1, lam2, c_u)
        theirs, value = once(partial(task.solve, solver="CLARABEL"))
        name = f"E-GLPUAL, n = 1000, m = 50, lam1 = {lam1:g}, lam2 = {lam2:g}, c_u = {c_u:g}: Clarabel / ours"
        note = f"relative gap {fit.gap / fit.objective:.0e}, above Clarabel by {(fit.objective - value) / value:.0e}"
        note += f", {np.count_nonzero(fit.coef[:-1] == 0)} zeros"
        rows.append(row(name, ours, ">= 50", note, ratio=theirs / ours))
    return rows


def _elastic_in_cvxpy(X: Floats, labeled: Bools, edges: Edges, lam1: float, lam2: float, c_u: float) -> Any:
    import cvxpy as cp

    i, j, weight = edges
    beta, intercept = cp.Variable(X.shape[1]), cp.Variable()
    f = X @ beta + intercept
    goal = lam1 / 2 * cp.norm1(beta) + lam2 / 2 * cp.sum_squares(beta) + cp.sum(cp.pos(1 - f[labeled]))
    goal += c_u * cp.sum_squares(1 + f[~labeled]) + cp.sum_squares(cp.multiply(np.sqrt(weight), f[i] - f[j]))
    return cp.Problem(cp.Minimize(goal))


def _surface() -> list[dict[str, Any]]:
    X, labeled = _ball(**SURFACE)
    Z, G, edges = with_intercept(surface_features(X)), surface_ridge(X), _edges(X)
    rows = []
    for lam1, lam2, c_u in SURFACE_POINTS:
        problem = GlobalLocalProblem(Z, labeled, edges, lam2, 1.0, c_u)
        ours, fit = timed(partial(_solved, problem, G, lam1), 3)
        matrices, _ = timed(partial(_factorized, problem, G), 3)
        found = {
            mu: once(partial(solve_surface_admm, problem, G, lam1, mu, max_iter=PRINTED_ITERATIONS))
            for mu in (PRINTED_PENALTY, *PENALTIES)
        }
        best = min((mu for mu in PENALTIES if found[mu][1].converged), key=lambda mu: found[mu][1].n_iter)
        tried = f"that with the fewest iterations of {', '.join(f'{mu:g}' for mu in PENALTIES)}"
        for mu, what in ((PRINTED_PENALTY, "the author's"), (best, tried)):
            theirs, fitted = found[mu]
            stopped = f", stopped at a gap of {fitted.gap / fitted.objective:.0e}: the ratio is a lower bound"
            name = f"EKF-GLPUAL, n = 600, m = 21, lam1 = {lam1:g}: printed ADMM with mu = {mu:g} / ours"
            note = f"mu: {what}; relative gap {fit.gap / fit.objective:.0e}; ADMM {fitted.n_iter} iterations"
            note += "" if fitted.converged else stopped
            note += f"; over making and factorizing the matrix alone: {theirs / matrices:.3g}"
            rows.append(row(name, ours, ">= 20", note, ratio=theirs / ours))
    return rows


def _solved(problem: GlobalLocalProblem, G: Floats, lam1: float) -> SurfaceSolution:
    return solve_surface(surface_problem(problem, G), lam1)


def _factorized(problem: GlobalLocalProblem, G: Floats) -> Any:
    """Make the matrix of the problem and factorize it, which every solver of the problem begins with."""
    return surface_problem(problem, G).factor


def _cpb() -> list[dict[str, Any]]:
    rows = []
    for n, m, kernel in CPB_SIZES:
        X, labeled = _rows(n, m, 2.0)
        settings: dict[str, Any] = {"kernel": kernel, "width": 2.0, "lam": 0.1}
        ours, model = timed(partial(CPBGLPUAL(prior=1 / 3, **settings).fit, X, labeled))
        glpual, _ = timed(partial(GLPUAL(c_u=0.1, **settings).fit, X, labeled))
        what = f"n = {n}, m = {m}, {kernel}"
        name = f"CPB-GLPUAL, {what}: fit over GLPUAL's fit"
        rows.append(row(name, ours, "<= 3", f"residual {model.residual_:.0e}", ratio=ours / glpual))
    return rows
