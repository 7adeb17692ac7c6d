"""USMO against SVR on stacked rows: time, gap, memory, and growth with n.

Two Gaussians in 20 dimensions, 100 labeled rows, Gaussian kernel of width 3, lam = 0.01, one BLAS thread. Every solver
is stopped at a relative duality gap of 1e-4, measured by the same function for all. SVR gets the loosest tolerance that
reaches it, and a target M that is known to be large enough. Memory is the peak of a separate process, including
interpreter, libraries and data.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import Progress, once, row, silent
from pucli.core.arrays import Bools, Floats
from pucli.core.errors import RunError
from pucli.estimators.unbiased.usmo import USMO
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.row_losses.losses import dual_value, intercept_and_gap, relative_scale
from pucli.solvers.usmo.blocks import KernelProblem, solve_kernel
from pucli.solvers.usmo.problem import double_hinge_problem
from pucli.solvers.usmo.start import subsample_start

if TYPE_CHECKING:
    from pucli.solvers.usmo.blocks import KernelSolution
    from pucli.solvers.usmo.problem import DoubleHingeProblem

LABELED, FEATURES, PRIOR, LAM, WIDTH = 100, 20, 0.4, 0.01, 3.0
GAP = 1e-4
SIZES = (1000, 2000, 5000)
MEMORY_ROWS = (5000, 10_000)
MEMORY_FEATURES = 784
FULL = {"sizes": (1000, 2000, 5000, 10_000, 20_000), "memory_rows": (5000, 10_000, 20_000, 60_000)}
SVR_TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4)


def run(
    progress: Progress = silent,
    *,
    sizes: tuple[int, ...] = SIZES,
    memory_rows: tuple[int, ...] = MEMORY_ROWS,
) -> dict[str, Any]:
    """Return the table of benchmark `usmo`.

    Numbers of unlabeled rows: sizes, against SVR; memory_rows, for peak memory at 784 features. Those of `FULL` take
    half an hour, most of it for SVR at 20,000 rows.
    """
    steps = len(sizes) + len(memory_rows)
    rows = []
    with threadpool_limits(1):
        _usmo(_problem(500))
        seconds = []
        for done, n in enumerate(sizes):
            rows += _against_svr(n)
            seconds.append(rows[-2]["seconds"])
            progress(done + 1, steps)
        if len(sizes) > 1:
            exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
            rows.append(row("USMO, exponent of n fitted to its times", note=f"{exponent:.2f}"))
    for done, n in enumerate(memory_rows):
        rows.append(_peak_of(n))
        progress(len(sizes) + 1 + done, steps)
    if len(memory_rows) > 1:
        rows.append(_memory_growth(memory_rows, [one["peak_mb"] for one in rows[-len(memory_rows) :]]))
    title = (
        f"USMO: {FEATURES} features, {LABELED} labeled, Gaussian kernel, relative gap {GAP:g}; "
        "CPU seconds of one thread; ratio: the peer's over USMO's"
    )
    return {"title": title, "rows": rows}


def _memory_growth(n: tuple[int, ...], peak_mb: list[float]) -> dict[str, Any]:
    """Return the row on the growth of peak memory, which is linear if its increments are equal."""
    steps = np.diff(peak_mb) / np.diff(n) * 1000
    shown = ", ".join(f"{step:.1f}" for step in steps)
    note = f"{shown} MB for 1000 more rows; X itself takes {MEMORY_FEATURES * 8e-3:.1f}"
    return row("USMO, growth of peak memory from each n to the next", None, "equal (linear)", note)


def _data(n: int, features: int = FEATURES) -> tuple[Floats, Bools]:
    rng = np.random.default_rng(n)
    center = np.ones(features) / np.sqrt(features)
    X = rng.normal(size=(LABELED + n, features))
    X[:LABELED] += center
    X[LABELED:] += np.where(rng.random(n) < PRIOR, 1.0, -1.0)[:, None] * center
    return X, np.arange(LABELED + n) < LABELED


def _problem(n: int) -> DoubleHingeProblem:
    X, labeled = _data(n)
    return double_hinge_problem(X, labeled, Kernel("rbf", WIDTH), PRIOR, LAM)


def _usmo(problem: DoubleHingeProblem) -> KernelSolution:
    """Solve from the default start, as an estimator does after checking its input."""
    cache_bytes = 200e6
    return solve_kernel(
        KernelProblem.of(problem),
        subsample_start(problem, np.random.default_rng(0), cache_bytes=cache_bytes),
        tol=GAP,
        cache_bytes=cache_bytes,
    )


def _relative_gap(problem: DoubleHingeProblem, sigma: Floats) -> float:
    G = problem.kernel.combination(problem.X_u, problem.X_u, sigma) - problem.a_X
    _, gap = intercept_and_gap(problem.losses, problem.total, sigma, G)
    dual = dual_value(problem.losses, sigma, G, problem.a_X, problem.a_norm)
    return gap / relative_scale(dual + gap, gap, problem.trivial)


def _best(problem: DoubleHingeProblem, n: int) -> tuple[float, KernelSolution]:
    """Return the shortest of a few runs of USMO; for large n there is one run."""
    runs = [once(lambda: _usmo(problem)) for _ in range(5 if n <= 2000 else 2 if n <= 5000 else 1)]
    return min(runs, key=lambda pair: pair[0])


def _against_svr(n: int) -> list[dict[str, Any]]:
    from pucli.solvers.usmo.svr import solve_svr

    problem = _problem(n)
    ours, solution = _best(problem, n)
    if n <= 2000:
        _, far = solve_svr(problem, tol=SVR_TOLERANCES[0])
    else:
        far = 10.0
    for tol in SVR_TOLERANCES if n <= 2000 else SVR_TOLERANCES[1:]:
        theirs, (sigma, used) = once(partial(solve_svr, problem, tol=tol, first_target=far))
        gap = _relative_gap(problem, sigma)
        if gap <= GAP:
            break
    target, note = "at least 5" if n >= 5000 else "at least 1", f"gap {gap:.1e}, its tol {tol:g}, M = {used:g}"
    return [
        row(f"USMO, n = {n}", ours, note=f"gap {_relative_gap(problem, solution.dual):.1e}"),
        row(f"SVR on stacked rows, n = {n}", theirs, target, note, ratio=theirs / ours),
    ]


def _peak_of(n: int) -> dict[str, Any]:
    """Return the row on a fit to n rows in a separate process, with its own peak memory."""
    code = f"import json; from benchmarks.usmo import fit_alone; print(json.dumps(fit_alone({n})))"
    root = Path(__file__).resolve().parents[1]
    finished = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise RunError(f"the benchmark's separate process failed: {finished.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(finished.stdout)
    return found


def _peak_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss of a Linux process starts at its parent's
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def fit_alone(n: int) -> dict[str, Any]:
    """Return the row on a fit to n rows with the peak memory of this process."""
    X, labeled = _data(n, MEMORY_FEATURES)
    model = USMO(prior=PRIOR, lam=LAM, width=20.0, tol=1e-3, random_state=0)
    with threadpool_limits(1):
        seconds, _ = once(lambda: model.fit(X, labeled))
    peak = _peak_mb()
    name, note = f"n = {n} x {MEMORY_FEATURES}", f"converged at 1e-3: {model.converged_}, peak {peak:.0f} MB"
    found = row(f"USMO, Gaussian kernel, {name}", seconds, "1500 MB at n = 60,000", note)
    return {**found, "peak_mb": peak}
