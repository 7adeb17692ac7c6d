"""Errors of Dask about workers and schedulers that are gone, in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pucli.core.errors import RunError


@contextmanager
def told_of_lost_workers(work: str, way_out: str, kept: str = "") -> Iterator[None]:
    """Replace Dask's messages about workers and a scheduler that are gone.

    Parameters
    ----------
    work : str
        What a worker works on, such as "block".
    way_out : str
        What to do if it is too much for a worker, beside more memory.
    kept : str, default=""
        What is not lost, as a sentence with a blank at its end.
    """
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


def local_client(**how: Any) -> Any:
    """Return a client of workers on this machine, which end when it is closed; raise RunError if they do not start.

    Parameters
    ----------
    **how : Any
        Arguments of `distributed.LocalCluster`.
    """
    from distributed import Client

    try:
        return Client(processes=True, threads_per_worker=1, dashboard_address=None, **how)
    except (RuntimeError, OSError, TimeoutError) as error:
        raise RunError(
            f"--backend dask: the workers on this machine did not start ({error}); see that memory is free, and run "
            "the command again."
        ) from error
