"""Tables of the GLPUAL thesis: the whole protocol, on two cores.

Table 3.1, linear form, is run in full. Of the others one repeat is run (all data sets and settings, full grids and
refinement), and its time is multiplied by the number of repeats, ten or five.
"""

from __future__ import annotations

import tempfile
import time
from typing import Any

from benchmarks.common.timing import Progress, row, silent
from pucli.core.errors import RunError
from pucli.runner import load_experiment
from pucli.runner import run as run_experiment

WORKERS = 2
# Experiment, its columns (None for all), how often the time of one repeat counts (None to run the whole), and target.
TABLES = (
    ("table-3.1", ("glpual/linear", "gllc/linear"), None, "under 60 s"),
    ("table-3.3", ("glpual/thesis", "gllc/thesis"), 10, "under 15 min"),
    ("table-3.3", ("glpual/rkhs", "gllc/rkhs"), 10, "under 40 min"),
    ("table-4.1", None, 5, "under 10 min"),
    ("table-5.1", None, 5, "under 10 min"),
    ("table-5.3", None, 10, "under 30 min"),
)


def run(progress: Progress = silent) -> dict[str, Any]:
    """Return the table of benchmark `tables`; the data of Table 3.3 must be at hand (`pucli fetch`)."""
    rows = []
    for done, (name, columns, repeats, target) in enumerate(TABLES, start=1):
        experiment = load_experiment(name)
        if repeats is not None:
            experiment.split.repeats = 1
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            summary = run_experiment(experiment, methods=columns, n_jobs=WORKERS, results_dir=folder)
            seconds = time.perf_counter() - started
        if summary.failed:
            raise RunError(f"{summary.failed} cells of {name} failed; `pucli reproduce {name}` shows the reasons.")
        what = f"{name.replace('-', ' ')}, {' and '.join(columns) if columns else 'all columns'}"
        what += f": {repeats} times one repeat" if repeats else ""
        rows.append(row(what, (repeats or 1) * seconds, target, f"{summary.ran} cells in {seconds:.0f} s"))
        progress(done, len(TABLES))
    return {"title": f"Whole protocols on {WORKERS} worker processes", "rows": rows}
