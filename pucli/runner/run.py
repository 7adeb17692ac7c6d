"""Running of an experiment: plan its cells, execute those without a result, and store each as it finishes."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pucli.core.declared_files import named_catalogues
from pucli.core.errors import PucliError, RunError, UsageError
from pucli.core.processes import number_of_jobs
from pucli.runner.cells import Cell, Context
from pucli.runner.cost import Pace, TimeLeft
from pucli.runner.execute import Finished, execute
from pucli.runner.experiment import Experiment
from pucli.runner.plan import describe, part_of, plan, results_folder
from pucli.runner.provenance import provenance
from pucli.runner.store import Store, StoredRows, read_rows
from pucli.runner.store_files import STORE
from pucli.runner.stored_rows import differing


class Interrupted(PucliError):
    """Ctrl-C: the run stopped cleanly."""

    exit_code = 130


@dataclass(frozen=True)
class Event:
    """Event passed to `on_event`.

    Parameters
    ----------
    kind : str
        "fetch" (the file `text` is downloaded), "plan" (before the first cell), "cell" (a cell was stored) or "end".
    done, failed, total : int
        Numbers of cells of the plan with a result, failed, and in total.
    cell : Cell or None, default=None
        The stored cell.
    text : str, default=""
        The file that is downloaded.
    status, error : str, default=""
        Status and error of the stored cell.
    seconds : float, default=0
        Time of the stored cell.
    remaining_seconds : float or None, default=None
        Estimated time left, from the cost of each kind of cell; None if cells of some kind have not run yet.
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


Listener = Callable[[Event], None]


@dataclass(frozen=True)
class Unavailable:
    """A data set whose files could not be had, and why."""

    name: str
    message: str


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run.

    Parameters
    ----------
    experiment, profile : str
        Names.
    folder : Path
        Results folder of the experiment.
    total, already_done, ran, failed : int
        Numbers of cells planned, done before, run now and failed now.
    seconds : float
        Wall-clock time.
    errors : list of str
        Errors of failed cells.
    left : int
        Number of cells still without a result: those beyond `max_cells`, in other shards, failed, or without data.
    unavailable : list of Unavailable
        Data sets whose files could not be had; their cells did not run.
    """

    experiment: str
    profile: str
    folder: Path
    total: int
    already_done: int
    ran: int
    failed: int
    seconds: float
    errors: list[str] = field(default_factory=list)
    left: int = 0
    unavailable: list[Unavailable] = field(default_factory=list)


def run(  # noqa: PLR0913
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
    max_cells: int | None = None,
    shard: tuple[int, int] | None = None,
    on_event: Listener | None = None,
) -> RunSummary:
    """Run the cells without a result; failed cells are tried again.

    Cells of a data set whose files cannot be had are left out, and the others run.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    profile : str
        Name of a profile.
    methods, datasets : sequence of str, optional
        Selection of cells, see `plan`.
    n_jobs : int, default=1
        Number of worker processes, each with one BLAS thread; -1 for the number of processors. The results are
        identical, to the last bit, for any number.
    backend : {"loky", "dask"}, default="loky"
        Processes of this machine, or the Dask scheduler at DASK_SCHEDULER_ADDRESS (without it, local workers).
    results_dir : path, optional
        Folder of all experiments, by default results; that of this experiment is `results_dir`/<name>.
    mirror, offline : optional
        See `pucli.data.fetch`.
    max_cells : int, optional
        Stop after this number of cells.
    shard : (int, int), optional
        ``(2, 8)`` runs the second of eight parts; `merge_stores` combines the stores of all parts.
    on_event : callable, optional
        Called in this process for each stored cell.

    Raises
    ------
    UsageError
        A name is unknown, another run uses the same folder, the folder cannot be written, or the store is damaged.
    RunError
        No space is left, no data set is available, or a worker was killed.
    Interrupted
        Ctrl-C was pressed. All finished cells are stored.
    """
    started = time.perf_counter()
    by_key = {cell.key: cell for cell in plan(experiment, profile, methods, datasets)}
    n_jobs = number_of_jobs(n_jobs)
    folder = results_folder(experiment, results_dir)
    unfinished = folder / "unfinished"
    with Store(folder) as store:
        known = _with_reused(store, by_key, experiment, folder)
        status = {key: known[key]["status"] for key in by_key if key in known}
        left = [cell for key, cell in by_key.items() if status.get(key) != "done"]
        todo = part_of(list(by_key.values()), shard) if shard else by_key.values()
        wanted = {cell.key for cell in todo}
        pace = Pace(known)
        progress = _Progress(len(by_key), len(by_key) - len(left), on_event)
        unavailable: dict[str, str] = {}
        try:
            cells = [cell for cell in left if cell.key in wanted]
            if cells:
                _check_packages(cells)
                unavailable = _fetch(cells, mirror, offline, lambda text: progress.tell("fetch", text=text))
                cells = [cell for cell in cells if cell.dataset not in unavailable]
                if not cells and not progress.done:
                    raise RunError(" ".join(unavailable.values()))
            groups = _ordered_groups(cells, pace, max_cells)
            cells = [cell for group in groups for cell in group]
            progress.time_left = TimeLeft(pace, cells, n_jobs)
            progress.tell("plan", remaining_seconds=progress.time_left.seconds())
            if cells:
                made_by = store.provenance_id(provenance(experiment, n_jobs=n_jobs, backend=backend))
                context = Context(
                    None if mirror is None else str(mirror),
                    offline,
                    catalogues=tuple(map(str, named_catalogues())),
                    folders=_module_folders(experiment),
                    unfinished=None if backend == "dask" else str(unfinished.resolve()),
                )
                results = execute(groups, context, n_jobs=n_jobs, backend=backend)
                with contextlib.closing(results):  # stops the workers at once, however the loop ends
                    for finished in results:
                        store.save(finished.cell, finished.result, finished.trials, made_by)
                        progress.stored(finished)
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted: {progress.done} of {len(by_key)} runs are done and kept in {folder}. "
                "Run the same command again to continue."
            ) from None
        store.check_place()
        kept = sum(row["status"] == "done" for row in store.rows(by_key).values())
        if kept < progress.done:
            raise RunError(
                f"only {kept} of the {progress.done} finished runs are in {folder}; something else wrote to the "
                "store. Run the same command again to compute the others."
            )
        progress.tell("end")
        with contextlib.suppress(OSError):  # some cell was interrupted, or none is kept
            unfinished.rmdir()
    return RunSummary(
        experiment.name,
        profile,
        folder,
        total=len(by_key),
        already_done=len(by_key) - len(left),
        ran=progress.ran,
        failed=len(progress.errors),
        seconds=time.perf_counter() - started,
        errors=progress.errors,
        left=len(by_key) - progress.done,
        unavailable=[Unavailable(name, message) for name, message in unavailable.items()],
    )


def merge_stores(
    experiment: Experiment,
    folders: Iterable[str | Path],
    *,
    profile: str = "full",
    results_dir: str | Path | None = None,
) -> int:
    """Import finished cells from other results folders, e.g. those of shards.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    folders : iterable of path
        Results folders of the other runs (`results_dir`), or their subfolders of this experiment.
    profile : str, default="full"
        The profile whose cells are imported.
    results_dir : path, optional
        Destination, see `run`.

    Returns
    -------
    int
        Number of imported cells; existing cells are kept.

    Raises
    ------
    UsageError
        A folder has no store of this experiment.
    """
    sources = _stores(experiment, folders)
    cells = plan(experiment, profile)
    taken, unequal = 0, []
    with Store(results_folder(experiment, results_dir)) as store:
        for source in sources:
            known = store.rows()
            for key, row in read_rows(source, [cell.key for cell in cells]).items():
                same = known.get(key)
                if same and same["status"] == row["status"] == "done" and (names := differing(same, row)):
                    where = f"{row['dataset']}, repeat {row['repeat']}, {row['method']} of {source}"
                    unequal.append(f"{where}: {', '.join(names)}")
            missing = [cell for cell in cells if cell.key not in known or known[cell.key]["status"] != "done"]
            taken += store.adopt(source, missing)
    if unequal:
        warnings.warn(
            f"{len(unequal)} runs have another result in a later folder, and the first is kept: {unequal[0]}"
            + (", ..." if len(unequal) > 1 else ""),
            stacklevel=2,
        )
    return taken


def cells_of_other_profiles(experiment: Experiment, folders: Iterable[str | Path], profile: str) -> int:
    """Return how many finished cells of other results folders `merge_stores` leaves out: those not of the profile."""
    planned = {cell.key for cell in plan(experiment, profile)}
    rows = [row for source in _stores(experiment, folders) for row in read_rows(source).values()]
    return len({row["key"] for row in rows if row["status"] == "done" and row["key"] not in planned})


def _stores(experiment: Experiment, folders: Iterable[str | Path]) -> list[Path]:
    """Return the folders of the experiment's stores; raise UsageError for one without."""
    found = []
    for folder in map(Path, folders):
        source = next((path for path in (folder / experiment.name, folder) if (path / STORE).is_file()), None)
        if source is None:
            raise UsageError(f"{folder}: no store of {experiment.name}; give the --results folder of the other run.")
        found.append(source)
    return found


class _Progress:
    """Counter of finished cells that reports to a listener."""

    time_left: TimeLeft

    def __init__(self, total: int, done: int, listener: Listener | None) -> None:
        self.total, self.done = total, done
        self.ran = 0
        self.errors: list[str] = []
        self._listener = listener

    def tell(self, kind: str, **more: Any) -> None:
        if self._listener is not None:
            self._listener(Event(kind, self.done, len(self.errors), self.total, **more))

    def stored(self, finished: Finished) -> None:
        cell, result = finished.cell, finished.result
        seconds = sum(result.seconds.values())
        self.ran += 1
        if result.status == "done":
            self.done += 1
        else:
            self.errors.append(f"{describe(cell)}: {result.error}")
        self.time_left.finish(cell, seconds, result.n_fits)
        self.tell(
            "cell",
            cell=cell,
            status=result.status,
            error=result.error,
            seconds=seconds,
            remaining_seconds=self.time_left.seconds(),
        )


def _with_reused(store: Store, by_key: dict[str, Cell], experiment: Experiment, folder: Path) -> StoredRows:
    """Return the stored rows, including those reused from other experiments."""
    known = store.rows()
    missing = [cell for key, cell in by_key.items() if key not in known]
    for other in experiment.reuses if missing else ():
        if store.adopt(folder.with_name(other), missing):
            known = store.rows()
    return known


def _check_packages(cells: Sequence[Cell]) -> None:
    """Raise one error for all missing packages, before the first cell."""
    from pucli.methods import get_method

    for name in dict.fromkeys(cell.declared["method"]["name"] for cell in cells):
        method = get_method(name)
        if method.extra == "deep" and not method.package:
            from pucli.solvers.deep import require_torch

            try:
                require_torch()
            except ImportError as error:
                raise UsageError(f"{name}: {error}") from None


def _fetch(
    cells: Sequence[Cell], mirror: str | Path | None, offline: bool | None, tell: Callable[[str], None]
) -> dict[str, str]:
    """Download all files before the workers start, so that the workers need not; return what could not be had."""
    from pucli.data import dataset_entry, fetch

    unavailable = {}
    for name in dict.fromkeys(cell.dataset for cell in cells):
        if dataset_entry(name).files:
            try:
                fetch(name, mirror=mirror, offline=offline, progress=lambda file, done, total: tell(file))
            except RunError as error:
                unavailable[name] = str(error)
    return unavailable


def _module_folders(experiment: Experiment) -> tuple[str, ...]:
    """Return the folder of the experiment file if a column names a class of a module."""
    named = any(":" in entry.method for entry in experiment.methods.values())
    return (str(experiment.path.resolve().parent),) if named and experiment.path is not None else ()


def _ordered_groups(cells: Sequence[Cell], pace: Pace, max_cells: int | None) -> list[list[Cell]]:
    """Return up to `max_cells` cells in groups, by repeat, so that a partial table is even, then long groups first."""
    if max_cells is not None and max_cells < 1:
        raise UsageError(f"--max-cells must be at least 1, got {max_cells}.")
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.group, []).append(cell)
    longest = {name: sum(pace.seconds(cell) or cell.n_fits * 1e-4 for cell in group) for name, group in groups.items()}
    ordered = [groups[name] for name in sorted(groups, key=lambda name: (groups[name][0].repeat, -longest[name], name))]
    if max_cells is None:
        return ordered
    kept, room = [], max_cells
    for group in ordered:
        if room > 0:
            kept.append(group[:room])
            room -= len(kept[-1])
    return kept
