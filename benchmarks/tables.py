"""Tables of the GLPUAL thesis: the whole protocol, on two cores.

Table 3.1, linear form, is run in full. Of the others one repeat is run (all data sets and settings, full grids and
refinement), and its time is multiplied by the number of repeats, ten or five. The floor is the time of the
factorisations alone: r^3/3 operations for each (fold, width, sigma, lam, c_u) of the rkhs grid of Table 3.3, at
LAPACK's measured rate.
"""

from __future__ import annotations

import tempfile
import time
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import Progress, best_of, row, silent
from pucli.core.errors import RunError
from pucli.core.seeding import stream
from pucli.data import load_dataset, make_split
from pucli.runner import load_experiment
from pucli.runner import run as run_experiment
from pucli.solvers.kernels.graph import squared_distances
from pucli.solvers.kernels.low_rank import pivoted_cholesky, rbf_from_distances
from pucli.tuning.folds import pu_folds
from pucli.tuning.grids import resolve

WORKERS = 2
# Experiment, repeats, target; every column of the table.
FAMILY = (("table-4.1", 5, "under 10 min"), ("table-5.1", 5, "under 10 min"), ("table-5.3", 10, "under 30 min"))


def run(progress: Progress = silent) -> dict[str, Any]:
    """Return the table of benchmark `tables`; the data of Table 3.3 must be at hand (`pucli fetch`)."""
    steps = 4 + len(FAMILY)
    rows: list[dict[str, Any]] = []
    seconds, *_ = _timed("table-3.1", ["glpual/linear", "gllc/linear"], None)
    fits = 2 * 25 * 80_000
    note = f"{fits:,} fits, {seconds * WORKERS / fits * 1e6:.1f} microseconds a fit and core"
    rows.append(row("table 3.1, linear, both methods", seconds, "under 60 s", note))
    progress(1, steps)
    for step, (form, target) in enumerate((("thesis", "under 15 min"), ("rkhs", "under 40 min"))):
        seconds, cells, cpu = _timed("table-3.3", [f"glpual/{form}", f"gllc/{form}"], 1)
        note = f"{cells} cells in {seconds:.0f} s, {cpu:.0f} processor seconds"
        rows.append(row(f"table 3.3, {form} form, both methods: ten times one repeat", 10 * seconds, target, note))
        progress(step + 2, steps)
    floor = _factorisation_floor()
    note, spent = f"{floor:.1f} processor seconds a repeat", 10 * floor / WORKERS
    rows.append(row("floor of the rkhs form: its factorisations", spent, "within 3 times", note, ratio=cpu / floor))
    progress(4, steps)
    for step, (name, repeats, target) in enumerate(FAMILY):
        seconds, cells, _ = _timed(name, None, 1)
        what = f"{name.replace('-', ' ')}, all columns: {repeats} times one repeat"
        rows.append(row(what, repeats * seconds, target, f"{cells} cells in {seconds:.0f} s"))
        progress(step + 5, steps)
    ratio = "ratio: processor seconds of the rkhs form over those of its floor"
    return {"title": f"Whole protocols on {WORKERS} worker processes; {ratio}", "rows": rows}


def _timed(name: str, methods: list[str] | None, repeats: int | None) -> tuple[float, int, float]:
    """Run an experiment in an empty folder; return the seconds, the number of cells, and the processor seconds."""
    experiment = load_experiment(name)
    if repeats is not None:
        experiment.split.repeats = repeats
    with tempfile.TemporaryDirectory() as folder:
        cpu, started = _processor_seconds(), time.perf_counter()
        summary = run_experiment(experiment, methods=methods, n_jobs=WORKERS, results_dir=folder)
        seconds = time.perf_counter() - started
        cpu = _processor_seconds() - cpu
    if summary.failed:
        raise RunError(f"{summary.failed} cells of {name} failed; `pucli reproduce {name}` shows the reasons.")
    return seconds, summary.ran, cpu


def _processor_seconds() -> float:
    """Return the processor seconds of this process and of its workers, which are ended first: they count only then."""
    from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)
    return sum(sum(getrusage(who)[:2]) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))


def _factorisation_floor() -> float:
    """Return the seconds on one core for the Cholesky factorisations of one repeat of the rkhs form of Table 3.3."""
    experiment = load_experiment("table-3.3")
    entry = experiment.methods["glpual/rkhs"]
    grid = resolve(entry.grid or {})
    per_width = len(grid["sigma"]) * len(grid["lam"]) * len(grid["c_u"]) * (entry.tuning.cv_repeats or 1)
    operations = 0.0
    with threadpool_limits(1):
        for name in experiment.data.names:
            data = load_dataset(name)
            for frequency in experiment.split.label_frequencies:
                split = make_split("case-control", data.y, frequency, rng=stream(0, "bench", name))
                X = data.X[split.train]
                spread = np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 1.0)
                D = squared_distances(np.ascontiguousarray((X - X.mean(axis=0)) / spread))
                for train, _ in pu_folds(split.s, 4, 0)[0]:
                    for width in grid["width"]:
                        K = rbf_from_distances(D[np.ix_(train, train)], width)
                        operations += per_width * pivoted_cholesky(K).L.shape[1] ** 3 / 3
        return operations / _cholesky_rate()


def _cholesky_rate(r: int = 400) -> float:
    """Return the operations per second of LAPACK's Cholesky factorisation at order r, on one thread."""
    A = np.eye(r) * r + np.ones((r, r))
    return r**3 / 3 / best_of(lambda: dpotrf(A, lower=1), 30)
