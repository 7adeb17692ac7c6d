"""Small problems, and the optima that an independent solver finds for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.graph import mutual_knn
from pucli.solvers.kernels.intercept import with_intercept

# Clarabel's tolerances where a test asks for none.
ACCURACY = 1e-10


def problem(
    seed: int,
    n: int = 60,
    m: int = 3,
    n_p: int = 15,
    *,
    shift: float = 1.0,
    moved: int | None = None,
    relevant: int | None = None,
    scales: tuple[float, float] = (0.3, 3.0),
) -> tuple[Floats, Floats]:
    """Return random rows X (n, m) and labels y (n,), 1 for the labeled positives and 0 for the rest.

    Parameters
    ----------
    seed : int
        Of the generator.
    n, m, n_p : int
        Number of rows, features, and labeled rows.
    shift : float
        Added to the rows that stand apart.
    moved : int, optional
        How many rows stand apart, the labeled ones first. The labeled rows alone by default.
    relevant : int, optional
        In how many of the features they do, the first ones. In all by default.
    scales : pair of float
        Interval of the standard deviations of the features.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * rng.uniform(*scales, size=m)
    order = rng.permutation(n)
    y = np.zeros(n)
    y[order[:n_p]] = 1
    X[order[: n_p if moved is None else moved], : m if relevant is None else relevant] += shift
    return X, y


def with_graph(X: Floats, y: Floats, sigma: float = 1.0, n_neighbors: int = 5) -> tuple[Floats, Bools, Any]:
    """Return what the solvers of the GLPUAL family take: rows with an intercept, labeled rows, weighted edges."""
    graph = mutual_knn(X, n_neighbors)
    return with_intercept(X), y == 1, graph.edges(sigma)


def clarabel(goal: Any, constraints: Any = (), accuracy: float | None = ACCURACY) -> float:
    """Return the minimum of a cvxpy expression, by Clarabel; its variables then hold the minimizer.

    `accuracy` is the absolute and relative gap and infeasibility to stop at; None is Clarabel's own. An infeasible
    problem has an infinite minimum.
    """
    import cvxpy as cp

    task = cp.Problem(cp.Minimize(goal), list(constraints))
    tolerances = {} if accuracy is None else dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), accuracy)
    task.solve(solver=cp.CLARABEL, **tolerances)
    return np.inf if task.value is None else float(task.value)
