"""Timing one call: the best of several, after one that is not counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def best_of(call: Callable[[], Any], repeats: int = 7) -> float:
    """Return the shortest wall-clock time of `call` in seconds, after one warm-up."""
    call()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)
