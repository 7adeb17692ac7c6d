"""Run an experiment: plan its cells, execute those without a result, store each as it finishes."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pucli.errors import PucliError, UsageError
from pucli.runner.cells import Cell, Context, protocol_module
from pucli.runner.execute import Finished, execute
from pucli.runner.experiment import Experiment
from pucli.runner.pace import Pace
from pucli.runner.profiles import Scope, scope
from pucli.runner.store import Store, StoredRows

DEFAULT_RESULTS = Path("results")


class Interrupted(PucliError):
    """Ctrl-C: the run stopped cleanly."""

    exit_code = 130


@dataclass(frozen=True)
class Event:
    """What `on_event` is told.

    Parameters
    ----------
    kind : "plan" (before the first cell), "fetch" (a file comes in; `text` says which), "cell" (one is stored), "end".
    done, failed, total : cells of the plan that have a result, that failed, in all.
    cell, status, error, seconds : of the stored cell.
    remaining_seconds : time to go, judged by this run, None before the first cell.
    """

    kind: str
    done: int
    failed: int
    total: int
    cell: Cell | None = None
    text: str = ""
    status: str = ""
    error: str = ""
    seconds: float = 0.0
    remaining_seconds: float | None = None


@dataclass(frozen=True)
class RunSummary:
    """What a run did; `to_json` for --json."""

    experiment: str
    profile: str
    folder: Path
    total: int
    already_done: int
    ran: int
    failed: int
    seconds: float
    errors: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "folder": str(self.folder)}


def plan(
    experiment: Experiment,
    profile: str = "full",
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
) -> list[Cell]:
    """Return the cells of an experiment under a profile, narrowed to `methods` (labels or names) and `datasets`."""
    return planned_cells(experiment, planned_scope(experiment, profile, methods, datasets))


def run(
    experiment: Experiment,
    *,
    profile: str = "full",
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    n_jobs: int = 1,
    backend: str = "loky",
    results_dir: str | Path | None = None,
    mirror: str | Path | None = None,
    offline: bool | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> RunSummary:
    """Run the cells that have no result yet; failed ones are tried again.

    Parameters
    ----------
    profile, methods, datasets : which cells, see `plan`.
    n_jobs : worker processes, each with one BLAS thread; -1 for as many as there are processors. Results are the
        same, to the last bit, for any number.
    backend : "loky" (this machine) or "dask" (a scheduler at DASK_SCHEDULER_ADDRESS, or local workers).
    results_dir : folder of all experiments; this one's is `results_dir`/<name>. Default: results.
    mirror, offline : where data files may come from, see `pucli.data.fetch`.
    on_event : called in this process for each stored cell.

    Raises
    ------
    UsageError
        Wrong names; a second run on the same folder; a folder that cannot be written; a damaged store.
    RunError
        No space left; a data file that cannot be had; a worker that was killed.
    Interrupted
        Ctrl-C. Everything that finished is stored.
    """
    tell = on_event or (lambda event: None)
    started = time.perf_counter()
    cells = planned_cells(experiment, planned_scope(experiment, profile, methods, datasets))
    n_jobs = number_of_jobs(n_jobs)
    folder = results_folder(experiment, results_dir)
    by_key = {cell.key: cell for cell in cells}
    with Store(folder) as store:
        known = store.rows()
        missing = [cell for key, cell in by_key.items() if key not in known]
        for other in experiment.reuses if missing else ():
            if store.adopt(folder.with_name(other), missing):
                known = store.rows()
        status = {key: known[key]["status"] for key in by_key if key in known}
        left = [cell for key, cell in by_key.items() if status.get(key) != "done"]
        before = len(by_key) - len(left)
        done, failed, ran, errors = before, 0, 0, []
        tell(Event("plan", done, failed, len(by_key)))
        try:
            if left:
                _check_packages(left)
                _fetch(left, mirror, offline, lambda text: tell(Event("fetch", done, 0, len(by_key), text=text)))
                made_by = store.provenance_id(_provenance(experiment, n_jobs, backend))
                context = Context(None if mirror is None else str(mirror), offline)
                todo = _ordered_groups(left, known)
                # closing: the workers stop at once, whatever ends the loop
                with contextlib.closing(execute(todo, context, n_jobs=n_jobs, backend=backend)) as results:
                    for finished in results:
                        store.save(finished.cell, finished.result, finished.trials, made_by)
                        ran += 1
                        done += finished.result.status == "done"
                        if finished.result.status == "failed":
                            failed += 1
                            errors.append(f"{describe(finished.cell)}: {finished.result.error}")
                        elapsed = time.perf_counter() - started
                        tell(_event(finished, done, failed, len(by_key), elapsed / ran * (len(left) - ran)))
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted: {done} of {len(by_key)} cells are done and kept in {folder}. "
                "Run the same command again to go on."
            ) from None
        tell(Event("end", done, failed, len(by_key)))
    return RunSummary(
        experiment.name, profile, folder, len(by_key), before, ran, failed, time.perf_counter() - started, errors
    )


def results_folder(experiment: Experiment, results_dir: str | Path | None = None) -> Path:
    """Return the folder of an experiment's results."""
    return Path(results_dir if results_dir is not None else DEFAULT_RESULTS) / experiment.name


def describe(cell: Cell) -> str:
    """Return a cell in words: data set, setting, method, repeat (counted from 1)."""
    setting = ", ".join(f"{key} {value}" for key, value in cell.setting.items())
    return f"{cell.dataset} ({setting}) {cell.method}, repeat {cell.repeat + 1}" if setting else (
        f"{cell.dataset} {cell.method}, repeat {cell.repeat + 1}"
    )  # fmt: skip


def planned_scope(
    experiment: Experiment, profile: str, methods: Sequence[str] | None, datasets: Sequence[str] | None
) -> Scope:
    """Return what `profile` leaves of `experiment`, narrowed to `methods` and `datasets`."""
    return scope(experiment, profile, list(methods or []) or None, list(datasets or []) or None)


def planned_cells(experiment: Experiment, planned: Scope) -> list[Cell]:
    """Return the cells that the experiment's protocol plans."""
    cells: list[Cell] = protocol_module(experiment.protocol).cells(experiment, planned)
    return cells


def number_of_jobs(n_jobs: int) -> int:
    """Return how many processes `--n-jobs` asks for: -1 is as many as there are processors."""
    if n_jobs == 0:
        raise UsageError("--n-jobs must not be 0; 1 runs in this process, -1 takes all processors.")
    if n_jobs > 0:
        return n_jobs
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        available = os.cpu_count() or 1
    return max(1, available + 1 + n_jobs)


def _check_packages(cells: Sequence[Cell]) -> None:
    """Say before the first cell, and once, what has to be installed."""
    from pucli.methods import get_method

    for name in dict.fromkeys(cell.declared["method"]["name"] for cell in cells):
        if get_method(name).extra == "deep":
            from pucli.deep import require_torch

            try:
                require_torch()
            except ImportError as error:
                raise UsageError(f"{name}: {error}") from None


def _fetch(cells: Sequence[Cell], mirror: str | Path | None, offline: bool | None, tell: Callable[[str], None]) -> None:
    """Have all files here before the workers start, so that none of them downloads."""
    from pucli.data import dataset_entry, fetch

    names = [name for name in dict.fromkeys(cell.dataset for cell in cells) if dataset_entry(name).files]
    if names:
        fetch(names, mirror=mirror, offline=offline, progress=lambda name, done, total: tell(name))


def _provenance(experiment: Experiment, n_jobs: int, backend: str) -> dict[str, Any]:
    from pucli.runner.provenance import provenance

    return provenance(n_jobs=n_jobs, backend=backend, seed=experiment.split.seed)


def _event(finished: Finished, done: int, failed: int, total: int, remaining: float) -> Event:
    result = finished.result
    return Event(
        "cell",
        done,
        failed,
        total,
        cell=finished.cell,
        status=result.status,
        error=result.error,
        seconds=sum(result.seconds.values()),
        remaining_seconds=remaining,
    )


def _ordered_groups(cells: Sequence[Cell], known: StoredRows) -> list[list[Cell]]:
    """Group cells; lower repeats first, so that a partial table is even, and long groups first among them."""
    pace = Pace(known)
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.group, []).append(cell)
    longest = {name: sum(pace.seconds(cell) or cell.n_fits * 1e-4 for cell in group) for name, group in groups.items()}
    return [groups[name] for name in sorted(groups, key=lambda name: (groups[name][0].repeat, -longest[name], name))]
