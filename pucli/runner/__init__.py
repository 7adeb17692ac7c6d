"""Declared experiments: plan their cells, run them in processes, store the results.

experiment = load_experiment("table-3.1")
run(experiment, profile="quick", n_jobs=2)
report = pucli.report.collect(experiment, profile="quick")
"""

from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.dry_run import DryRun, dry_run
from pucli.runner.experiment import Experiment
from pucli.runner.loading import experiment_names, experiment_schema, load_experiment, parse_experiment
from pucli.runner.plan import describe, plan, results_folder
from pucli.runner.provenance import check_committed
from pucli.runner.run import Event, Interrupted, RunSummary, merge_stores, run
from pucli.runner.store import StoredRow, StoredRows, read_rows, read_trials

__all__ = [
    "Cell", "CellResult", "Context", "DryRun", "Event", "Experiment", "Interrupted", "RunSummary", "StoredRow",
    "StoredRows", "check_committed", "describe", "dry_run", "experiment_names", "experiment_schema",
    "load_experiment", "merge_stores", "parse_experiment", "plan", "read_rows", "read_trials", "results_folder",
    "run",
]  # fmt: skip
