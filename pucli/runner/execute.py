"""Execution of groups of cells: in this process, in worker processes (joblib's loky), or on Dask workers.

Each process uses one BLAS thread, so that the result of a cell does not depend on where it runs.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pucli.core.errors import PucliError, naming_options, unknown
from pucli.core.processes import dask_client, explained_lost_workers, in_workers
from pucli.runner.cells import Cell, CellResult, Context, protocol_steps
from pucli.runner.store import encode_trials

BACKENDS = ("loky", "dask")
OF_CELLS = ("group of runs", "leave out the data set or the method", "Finished runs are kept. ")


@dataclass(frozen=True)
class Finished:
    """A finished cell before it is stored; trials are compressed in the worker."""

    cell: Cell
    result: CellResult
    trials: bytes


def execute(
    groups: Sequence[Sequence[Cell]], context: Context, *, n_jobs: int, backend: str
) -> Generator[Finished, None, None]:
    """Yield cells as they finish; closing the iterator stops the workers."""
    if backend not in BACKENDS:
        raise unknown("backend", backend, BACKENDS)
    if backend == "dask":
        yield from _on_dask(groups, context, n_jobs)
    elif n_jobs == 1 or len(groups) <= 1:
        for group in groups:
            yield from _run_cells(group, context.fresh())
    else:
        jobs = ((group, context) for group in groups)
        for finished in in_workers(run_group, jobs, n_jobs, ordered=False, kept="Finished runs are kept. "):
            yield from finished


def _on_dask(groups: Sequence[Sequence[Cell]], context: Context, n_jobs: int) -> Iterator[Finished]:
    """Submit the groups to a scheduler, or to local workers if none is given."""
    with dask_client(n_jobs) as client:
        from distributed import as_completed

        # pure=False: equal cells of two runs are separate tasks; the group of a dead worker is tried elsewhere
        futures = [client.submit(run_group, group, context, pure=False) for group in groups]
        try:
            with explained_lost_workers(*OF_CELLS):
                for future in as_completed(futures):
                    yield from future.result()
                    future.release()
        finally:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.cancel(futures)


def run_group(group: Sequence[Cell], context: Context) -> list[Finished]:
    """Run the cells of a group in a worker."""
    context.enter()
    return list(_run_cells(group, context.fresh()))


def _run_cells(group: Sequence[Cell], context: Context) -> Iterator[Finished]:
    # the limit on threads does not apply to libraries that are loaded later
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    for cell in group:
        protocol = protocol_steps(cell.protocol)
        with threadpool_limits(limits=1), naming_options(wanted=False):  # notes are the same for any worker
            # if warming up fails, the cell fails too and records the reason
            with contextlib.suppress(Exception):
                protocol.warm_up(cell)
            try:
                result = protocol.run_cell(cell, context)
                result.flag_constant()
                trials = encode_trials(result.trials)
            except Exception as error:
                result, trials = CellResult(status="failed", error=_describe(error)), b""
        result.trials = {}
        yield Finished(cell, result, trials)


def _describe(error: Exception) -> str:
    """Describe the error and its location, without paths of the machine."""
    text = " ".join(str(error).split()) or "no message"
    if isinstance(error, PucliError):
        return text
    frames = traceback.extract_tb(error.__traceback__)
    where = ""
    for frame in reversed(frames):
        parts = Path(frame.filename).parts
        if "pucli" in parts:
            start = len(parts) - 1 - parts[::-1].index("pucli")
            where = f" (at {'/'.join(parts[start:])}:{frame.lineno})"
            break
    return f"{type(error).__name__}: {text}{where}"
