"""Timing of calls: the shortest of several, after a warm-up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import scipy.linalg  # noqa: F401  a library that is loaded later escapes a limit on threads

Result = TypeVar("Result")
# Called with the number of finished steps and their total number.
Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Report no progress."""


def row(
    name: str, seconds: float | None = None, target: object = None, note: str = "", *, ratio: float | None = None
) -> dict[str, Any]:
    """Return a row of a table of times, without what is not given.

    `target` is what the time or the ratio should be; the ratio is that of the baseline over ours, unless the name
    states another.
    """
    given = {"seconds": seconds, "ratio": ratio, "target": target, "note": note or None}
    return {"name": name, **{key: value for key, value in given.items() if value is not None}}


def best_of(call: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of `call` in seconds of the wall clock, after one warm-up."""
    return timed(call, repeats, time.perf_counter)[0]


def timed(
    call: Callable[[], Result], repeats: int = 5, clock: Callable[[], float] = time.process_time
) -> tuple[float, Result]:
    """Return the shortest time of `call` after one warm-up, and its last result."""
    result = call()
    times = []
    for _ in range(repeats):
        started = clock()
        result = call()
        times.append(clock() - started)
    return min(times), result


def once(call: Callable[[], Result]) -> tuple[float, Result]:
    """Return the processor time of one call without warm-up, and its result."""
    started = time.process_time()
    result = call()
    return time.process_time() - started, result
