"""Checks of the available memory before work starts, and the return of memory that a reader kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def available_bytes() -> int | None:
    """Return the number of available bytes, or None if the system does not report it."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(needed: float, what: str, way_out: str) -> None:
    """Raise ValueError if `what` needs more bytes than are available; the message states both and the remedy.

    Parameters
    ----------
    needed : float
        Bytes.
    what, way_out : str
        Name of the work, and the remedy.

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


def return_memory_of_reader() -> None:
    """Return the memory that pyarrow keeps for its next table: 450 MB after a file of 1e6 rows and 20 columns."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
