"""CPLS against the printed quadratic programme, its memory, and MCPL-LDA to a saddle gap.

Times are CPU seconds of one thread for whole fits, from arrays to the certificate. Clarabel's time is the solver time
of the printed programme (Prop. 3.12), without the work of cvxpy before and after.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import Progress, best_of, row, silent, timed
from pucli.core.arrays import Floats, Ints
from pucli.estimators.safe.mcpl import MCPLLDA
from pucli.solvers.safe.least_squares import safe_least_squares

CPLS_SIZE = {"labelled": 100, "unlabeled": 10_000, "features": 50}
QP_UNLABELED = 1000
LDA_SIZE = {"labelled": 100, "unlabeled": 10_000, "features": 20, "classes": 3}
LDA_GAP = 1e-6


def _draw(rng: np.random.Generator, n: int, features: int, classes: int) -> tuple[Floats, Ints]:
    y = np.arange(n) % classes
    return rng.normal(size=(n, features)) + 2.0 * np.eye(classes, features)[y], y


def _peak(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def run(progress: Progress = silent) -> dict[str, Any]:
    """Return the table of benchmark `semi_supervised`."""
    rng = np.random.default_rng(0)
    M, D = CPLS_SIZE["unlabeled"], CPLS_SIZE["features"]
    X, classes = _draw(rng, CPLS_SIZE["labelled"], D, 2)
    U, _ = _draw(rng, 2 * M, D, 2)
    y = classes.astype(float)
    rows: list[dict[str, Any]] = []
    with threadpool_limits(1):
        rows += _large(X, y, U, M)
        progress(1, 3)
        rows += _against_printed_programme(X, y, U[:QP_UNLABELED])
        progress(2, 3)
        rows.append(_lda(rng))
        progress(3, 3)
    title = "Safe semi-supervised learning; CPU seconds of one thread; ratio: as named, Clarabel's over ours"
    return {"title": title, "rows": rows}


def _large(X: Floats, y: Floats, U: Floats, M: int) -> list[dict[str, Any]]:
    """Return the time and the memory of CPLS with M unlabeled rows, and the memory with all of U."""
    fit = safe_least_squares(X, y, U[:M], tol=1e-10)
    seconds = best_of(lambda: safe_least_squares(X, y, U[:M], tol=1e-10), clock=time.process_time)
    peak = _peak(lambda: safe_least_squares(X, y, U[:M], tol=1e-10))
    peak_of_two = _peak(lambda: safe_least_squares(X, y, U, tol=1e-10))
    note = f"gap per row {fit.gap / (len(X) + M):.1e}; peak {peak / 2**20:.0f} MiB"
    memory = f"CPLS, memory of M = {2 * M} over M = {M}"
    return [
        row(f"CPLS, M = {M}, D = {X.shape[1]}", seconds, "under 1 s", note),
        row(memory, target="at most 2.2 (linear)", ratio=peak_of_two / peak),
    ]


def _against_printed_programme(X: Floats, y: Floats, U: Floats) -> list[dict[str, Any]]:
    """Return the time of CPLS, and of Clarabel on the quadratic programme as it is printed (Prop. 3.12)."""
    import cvxpy as cp

    N, M = len(X), len(U)
    seconds = best_of(lambda: safe_least_squares(X, y, U, tol=1e-10), clock=time.process_time)
    rows = np.hstack([np.vstack([X, U]), np.ones((N + M, 1))])
    w_sup = np.linalg.lstsq(rows[:N], y)[0]
    labels: Any = cp.Variable(len(rows))
    hat = cp.psd_wrap(rows @ np.linalg.solve(rows.T @ rows, rows.T))
    task = cp.Problem(
        cp.Minimize(cp.quad_form(labels, hat) - 2.0 * (rows @ w_sup) @ labels),
        [labels[:N] == y, labels[N:] >= 0, labels[N:] <= 1],
    )
    data, chain, inverse = task.get_problem_data(cp.CLARABEL, solver_opts={})
    printed = best_of(lambda: chain.solve_via_data(task, data, solver_opts={}), 2, clock=time.process_time)
    task.unpack_results(chain.solve_via_data(task, data, solver_opts={}), chain, inverse)
    ours = safe_least_squares(X, y, U, tol=1e-10)
    optimum = -ours.objective - w_sup @ (rows.T @ (rows @ w_sup))
    name = f"Clarabel on the printed programme through cvxpy, M = {M}, solver time"
    note = f"its objective minus ours: {task.value - optimum:.1e}"
    return [row(f"CPLS, M = {M}", seconds), row(name, printed, "at least 50", note, ratio=printed / seconds)]


def _lda(rng: np.random.Generator) -> dict[str, Any]:
    Z, classes = _draw(rng, LDA_SIZE["labelled"], LDA_SIZE["features"], LDA_SIZE["classes"])
    V, _ = _draw(rng, LDA_SIZE["unlabeled"], LDA_SIZE["features"], LDA_SIZE["classes"])
    both = np.vstack([Z, V])
    partial = np.concatenate([classes, np.full(len(V), -1)])
    seconds, lda = timed(lambda: MCPLLDA(tol=LDA_GAP).fit(both, partial), 3)
    name = f"MCPL-LDA, M = {LDA_SIZE['unlabeled']}, D = {LDA_SIZE['features']}, {LDA_SIZE['classes']} classes"
    note = f"saddle gap per row {lda.gap_ / len(both):.1e} in {lda.n_iter_} Newton steps"
    return row(name, seconds, "under 2 s", note)
