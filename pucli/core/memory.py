"""Checks of the available memory before work starts, and the return of memory that a reader kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Files of a container's memory limit and its use, of either version of control groups.
CONTAINER = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def available_bytes() -> int | None:
    """Return the number of bytes that this process can still take, or None if the system does not report it.

    It is the least of the free memory of the machine and the remaining limits of the container and the process.
    """
    found = [one for one in (_of_machine(), *map(_of_container, CONTAINER), _of_process()) if one is not None]
    return max(min(found), 0) if found else None


def total_bytes() -> int | None:
    """Return the bytes of memory of the machine, or of the container if it has fewer; None as `available_bytes`."""
    found = [one for one in (_installed(), *(_number(limit) for limit, _ in CONTAINER)) if one is not None]
    return min(found, default=None)


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return _installed()


def _installed() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None


def _of_container(files: tuple[Path, Path]) -> int | None:
    limit, used = map(_number, files)
    return None if limit is None or used is None else limit - used


def _number(file: Path) -> int | None:
    """Return the number in a file; None if there is no container, or no limit ("max")."""
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _of_process() -> int | None:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return limit - pages * resource.getpagesize()
    except (ImportError, OSError, ValueError):  # Windows has no such limits
        return None


def check_memory(needed: float, what: str, way_out: str) -> None:
    """Raise ValueError if `what` needs more bytes than are available; the message states both and the remedy.

    Examples
    --------
    >>> check_memory(1e30, "the kernel matrix of 1e14 rows", "use fewer rows")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: the kernel matrix of 1e14 rows takes 1e+21 GB of memory, and ... are available; use fewer rows
    """
    there = available_bytes()
    if there is not None and needed > there:
        raise ValueError(
            f"{what} takes {needed / 1e9:.3g} GB of memory, and {there / 1e9:.3g} GB are available; {way_out}"
        )


def check_fit(estimator: object, rows: int, columns: int, needed: float, instead: str) -> None:
    """Raise ValueError if a fit needs more bytes than are available."""
    check_memory(needed, f"{type(estimator).__name__} on {rows:,} rows and {columns:,} columns", instead)


def return_memory_of_reader() -> None:
    """Return the memory that pyarrow keeps for its next table: 450 MB after a file of 1e6 rows and 20 columns."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
