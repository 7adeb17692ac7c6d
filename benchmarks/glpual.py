"""One linear GLPUAL fit against Clarabel, OSQP, ADMM and GLLC.

n = 1000 rows, m = 20 features, 200 labelled, relative gap 1e-6, one BLAS thread. The times are of the solvers alone:
ours runs from the feature matrix and the graph to the certificate; for the others it is the solver time of cvxpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import Progress, best_of, row, silent
from pucli.core.arrays import Bools, Floats
from pucli.estimators.global_local.glpual import GLPUAL
from pucli.solvers.glpual.admm import solve_glpual_admm
from pucli.solvers.glpual.dual import solve_glpual
from pucli.solvers.glpual.gllc import solve_gllc
from pucli.solvers.glpual.problem import GlobalLocalProblem
from pucli.solvers.kernels.graph import Edges, mutual_knn
from pucli.solvers.kernels.intercept import with_intercept

SIZE = {"n": 1000, "m": 20, "labelled": 200}
LAM, C_P, C_U, SIGMA = 1.0, 1.0, 0.1, 20.0
GAP = 1e-6


def run(progress: Progress = silent) -> dict[str, Any]:
    """Return the table of benchmark `glpual`."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SIZE["n"], SIZE["m"]))
    X[: SIZE["labelled"]] += 0.5
    labelled = np.arange(SIZE["n"]) < SIZE["labelled"]
    graph = mutual_knn(X, 5)
    edges = graph.edges(SIGMA)
    problem = GlobalLocalProblem(with_intercept(X), labelled, edges, LAM, C_P, C_U)
    with threadpool_limits(1):
        ours = best_of(lambda: solve_glpual(problem, tol=GAP), 50)
        gllc = best_of(lambda: solve_gllc(problem), 50)
        admm = best_of(lambda: solve_glpual_admm(problem, tol=GAP), 5)
        whole = best_of(lambda: GLPUAL(lam=LAM, c_u=C_U, sigma=SIGMA).fit(X, labelled), 5)
        progress(1, 3)
        fit = solve_glpual(problem, tol=GAP)
        rows = [
            row("GLPUAL, dual ascent", ours, note=f"relative gap {fit.gap / fit.objective:.1e}"),
            row("GLLC, one linear system", gllc, "at most 1.5", ratio=ours / gllc),
            row("GLPUAL, printed ADMM", admm, ratio=admm / ours),
            row("GLPUAL.fit, graph and checks included", whole),
        ]
        for step, (solver, target) in enumerate((("CLARABEL", "at least 100"), ("OSQP", "at least 20"))):
            seconds, point = _in_cvxpy(solver, X, labelled, edges)
            name = f"{solver.capitalize() if solver == 'CLARABEL' else solver} through cvxpy, solver time"
            note = f"its objective minus ours: {problem.objective(point) - fit.objective:.1e}"
            rows.append(row(name, seconds, target, note, ratio=seconds / ours))
            progress(step + 2, 3)
    size = f"n = {SIZE['n']}, m = {SIZE['m']}, {SIZE['labelled']} labelled, relative gap {GAP:g}"
    return {"title": f"One linear GLPUAL fit ({size}); ratio: GLPUAL over GLLC, the others over GLPUAL", "rows": rows}


def _in_cvxpy(solver: str, X: Floats, labelled: Bools, edges: Edges) -> tuple[float, Floats]:
    """Return the shortest solver time of five runs, and the coefficients with the intercept last."""
    import cvxpy as cp

    i, j, weight = edges
    w: Any = cp.Variable(SIZE["m"])
    b: Any = cp.Variable()
    f = X @ w + b
    similarity = cp.sum_squares(cp.multiply(np.sqrt(weight), f[i] - f[j]))
    unlabeled = C_U * cp.sum_squares(1 + f[~labelled])
    goal = LAM / 2 * cp.sum_squares(w) + C_P * cp.sum(cp.pos(1 - f[labelled])) + unlabeled + similarity
    task = cp.Problem(cp.Minimize(goal))
    accuracy: dict[str, dict[str, Any]] = {
        "CLARABEL": {"tol_gap_rel": GAP},
        "OSQP": {"eps_abs": GAP, "eps_rel": GAP, "max_iter": 100_000},
    }
    times = []
    for _ in range(5):
        task.solve(solver=solver, **accuracy[solver])
        times.append(float(task.solver_stats.solve_time or np.nan))
    return min(times), np.r_[w.value, b.value]
