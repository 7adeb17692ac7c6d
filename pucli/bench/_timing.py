"""Timing one call: the best of several, after one that is not counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def best_of(call: Callable[[], Any], repeats: int = 7, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the shortest time of `call` in seconds, after one warm-up, by the wall clock or another one."""
    call()
    times = []
    for _ in range(repeats):
        started = clock()
        call()
        times.append(clock() - started)
    return min(times)
