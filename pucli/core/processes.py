"""Worker processes: only the parent reacts to Ctrl-C, and workers end with it; lost workers of Dask."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from pucli.core.errors import RunError, UsageError

LEAST_LIMIT = 32  # processes that may be asked for however few processors there are; above, twice the processors


def number_of_jobs(n_jobs: int, name: str = "") -> int:
    """Return the number of processes for `--n-jobs`, or `name` in messages; -1 is the number of processors."""
    name = name or f"--n-jobs {n_jobs}"
    if n_jobs == 0:
        raise UsageError(
            f"{name}: give a number of worker processes of at least 1, or a negative one: -1 takes all processors, -2 "
            "all but one."
        )
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        available = os.cpu_count() or 1
    most = max(LEAST_LIMIT, 2 * available)
    if n_jobs > most:
        raise UsageError(f"{name}: at most {most} worker processes on this machine, which has {available} processors.")
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


def in_workers(
    work: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], n_jobs: int, *, ordered: bool = True, kept: str = ""
) -> Generator[Any, None, None]:
    """Yield the result of `work` for each job, from processes with one BLAS thread; closing ends the processes."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    as_done = "generator" if ordered else "generator_unordered"
    results: Any = iter(())
    try:
        with parallel_config(backend="loky", inner_max_num_threads=1):
            parallel = Parallel(n_jobs=n_jobs, batch_size=1, pre_dispatch="2*n_jobs", return_as=as_done)
            with interrupts_held_back():  # Ctrl-C is raised at its end
                results = parallel(delayed(_in_worker)(work, job, os.getpid()) for job in jobs)
        yield from results
    except TerminatedWorkerError:
        raise RunError(
            f"a worker process was killed, probably for lack of memory. {kept}Run the same command again with fewer "
            f"processes (--n-jobs){' to continue' if kept else ''}."
        ) from None
    finally:
        with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
            results.close()  # joblib warns of lost tasks


def _in_worker(work: Callable[..., Any], job: tuple[Any, ...], parent: int) -> Any:
    if parent != os.getpid():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _end_with(parent)
    return work(*job)


@functools.cache
def _end_with(parent: int) -> None:
    """End this process when its parent has ended, since nobody would receive its results."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Delay Ctrl-C until the end of the context; processes started within inherit the blocked signal."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    _start_trackers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_trackers() -> None:
    """Start the processes that clean up after workers.

    Python before 3.12 unblocks Ctrl-C when it starts one, so they must run before the signal is blocked.
    """
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as resource_tracker_of_loky

    for tracker in (resource_tracker, resource_tracker_of_loky):
        tracker.ensure_running()


@contextlib.contextmanager
def explained_lost_workers(work: str, way_out: str, kept: str = "") -> Iterator[None]:
    """Replace Dask's messages about workers and a scheduler that are gone."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError
    from distributed.utils import CancelledError  # of one future or, where several are gathered, of all

    try:
        yield
    except KilledWorker as error:
        raise RunError(
            f"--backend dask: {error.allowed_failures + 1} workers died on one {work}, probably from too little "
            f"memory. {kept}Give the workers more memory, or {way_out}."
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise RunError(
            f"--backend dask: the connection to the scheduler was lost. {kept}See that it runs, and run the command "
            "again."
        ) from error


@contextlib.contextmanager
def dask_client(n_workers: int | None = None) -> Iterator[Any]:
    """Connect to the scheduler at DASK_SCHEDULER_ADDRESS, or start workers here for as long as the block lasts."""
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError(
            f"--backend dask needs the package {error.name!r}; install it with `pip install 'pucli[dask]'`."
        ) from None
    where = "DASK_SCHEDULER_ADDRESS"
    address = os.environ.get(where)
    try:
        if address:
            client = Client(address, timeout="30s")
        else:
            client = Client(processes=True, threads_per_worker=1, dashboard_address=None, n_workers=n_workers)
    except ValueError as error:
        raise UsageError(f"{where} {address}: no address of a Dask scheduler ({error}).") from error
    except (RuntimeError, OSError, TimeoutError) as error:
        if address:
            raise RunError(f"{where} {address}: no Dask scheduler answers there ({error}); start it.") from error
        raise RunError(
            f"--backend dask: the workers on this machine did not start ({error}); see that memory is free, and run "
            "the command again."
        ) from error
    with client:
        if not address:
            client.run(os.dup2, 2, 1)  # what workers print must not mix with the command's output
        yield client
