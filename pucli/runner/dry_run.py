"""Dry runs: the cells, fits and estimated time of a run."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pucli.core.processes import number_of_jobs
from pucli.data.catalogue.download import ToFetch, to_fetch
from pucli.runner.cells import Cell
from pucli.runner.cost import Pace, iterations, kinds
from pucli.runner.experiment import Experiment
from pucli.runner.plan import planned_cells, results_folder
from pucli.runner.profiles import scope
from pucli.runner.store import StoredRows, read_rows


@dataclass(frozen=True)
class DryRun:
    """Description of a run that has not started.

    Parameters
    ----------
    experiment, profile : str
        Names.
    reductions : list of str
        Descriptions of what the profile leaves out.
    folder : Path
        Results folder of the experiment.
    total, done, failed, left : int
        Numbers of cells planned, done, failed before, and without a result.
    fits : int
        Number of fits left.
    fits_at_least : bool
        Whether refinements of unknown length may add more fits.
    seconds : float or None
        Estimated wall-clock time; None if no similar cell has run.
    seconds_known_for : int
        Number of cells with an estimate of their time.
    n_jobs : int
        Number of processes.
    rows : list of dict
        The same for each data set and column.
    downloads : list of ToFetch
        Files that the cells left need and the cache lacks.
    """

    experiment: str
    profile: str
    reductions: list[str]
    folder: Path
    total: int
    done: int
    failed: int
    left: int
    fits: int
    fits_at_least: bool
    seconds: float | None
    seconds_known_for: int
    n_jobs: int
    rows: list[dict[str, Any]]
    downloads: list[ToFetch]


def dry_run(
    experiment: Experiment,
    *,
    profile: str = "full",
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    n_jobs: int = 1,
    results_dir: str | Path | None = None,
    earlier: StoredRows | None = None,
    elsewhere: Callable[[Set[tuple[str, str]]], Mapping[tuple[str, str], float]] | None = None,
) -> DryRun:
    """Return the cells, fits and estimated time of `run`, without running it.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    profile : str
        Name of a profile.
    methods, datasets : sequence of str, optional
        Selection of cells, see `pucli.runner.plan`.
    n_jobs : int, default=1
        Worker processes.
    results_dir : path, optional
        Folder of all experiments, see `pucli.runner.run`.
    earlier : mapping, optional
        Rows of cells.csv.gz by key, whose times count too; such cells are still to be run.
    elsewhere : callable, optional
        Function from the data sets and methods of whose cells nothing is known to the seconds of a fit of them.
    """
    planned = scope(experiment, profile, methods, datasets)
    cells = planned_cells(experiment, planned)
    folder = results_folder(experiment, results_dir)
    known = read_rows(folder)
    n_jobs = number_of_jobs(n_jobs)
    pace = Pace(known)
    by_fit = _learn(pace, experiment, {key: row for key, row in (earlier or {}).items() if key not in known})
    cells = list({cell.key: cell for cell in cells}.values())
    unknown = {
        _pair(cell) for cell in cells if pace.seconds(cell) is None and (cell.dataset, cell.method) not in by_fit
    }
    by_method = elsewhere(unknown) if elsewhere is not None and unknown else {}
    table: dict[tuple[str, str], dict[str, Any]] = {}
    judged, open_ended = 0, False
    for cell in cells:
        row = table.setdefault(
            (cell.dataset, cell.method),
            {"dataset": cell.dataset, "method": cell.method, "cells": 0, "done": 0, "failed": 0, "left": 0, "fits": 0,
             "seconds": None},
        )  # fmt: skip
        row["cells"] += 1
        state = known[cell.key]["status"] if cell.key in known else ""
        row["failed"] += state == "failed"
        if state == "done":
            row["done"] += 1
            continue
        row["left"] += 1
        cell_fits, exact = pace.fits(cell)
        row["fits"] += cell_fits
        open_ended |= not exact
        expected = pace.seconds(cell)
        if expected is None and (cell.dataset, cell.method) in by_fit:  # with another grid, or trained for longer
            expected = cell_fits * iterations(cell.declared) * by_fit[cell.dataset, cell.method]
        if expected is None and _pair(cell) in by_method:
            expected = cell_fits * by_method[_pair(cell)]
        if expected is not None:
            row["seconds"] = (row["seconds"] or 0.0) + expected
            judged += 1
    sums = {
        name: sum(row[name] or 0 for row in table.values()) for name in ("cells", "done", "failed", "fits", "seconds")
    }
    total, left = sums["cells"], sums["cells"] - sums["done"]
    return DryRun(
        experiment=experiment.name,
        profile=profile,
        reductions=planned.reductions,
        folder=folder,
        total=total,
        done=sums["done"],
        failed=sums["failed"],
        left=left,
        fits=sums["fits"],
        fits_at_least=open_ended,
        # cells without an estimate are assumed to take as long as the others
        seconds=sums["seconds"] / judged * left / n_jobs if judged else (None if left else 0.0),
        seconds_known_for=judged,
        n_jobs=n_jobs,
        rows=list(table.values()),
        downloads=list(to_fetch(row["dataset"] for row in table.values() if row["left"])),
    )


def _pair(cell: Cell) -> tuple[str, str]:
    """Return the data set and the name of the method of a cell."""
    return cell.dataset, str(cell.declared["method"]["name"])


def _learn(pace: Pace, experiment: Experiment, rows: StoredRows) -> dict[tuple[str, str], float]:
    """Add the costs of rows by the declarations of planned cells; return the mean seconds of a fit of each column.

    With a declared number of iterations, they are those of one iteration.
    """
    seconds: dict[tuple[str, str], list[float]] = {}
    if rows:
        for name in experiment.profiles:
            for cell in planned_cells(experiment, scope(experiment, name)):
                row = rows.get(cell.key)
                if row is not None and row["status"] == "done":
                    spent = sum(row["seconds"].values())
                    pace.learn(kinds(cell.dataset, cell.declared), spent, row["n_fits"])
                    steps = max(row["n_fits"], 1) * iterations(cell.declared)
                    seconds.setdefault((cell.dataset, cell.method), []).append(spent / steps)
    return {column: statistics.fmean(values) for column, values in seconds.items()}
