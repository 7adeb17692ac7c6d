"""Handling of Ctrl-C with worker processes: only the parent reacts to it."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Delay Ctrl-C until the end of the context; processes started within inherit the blocked signal and ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts(parent: int) -> None:
    """Ignore Ctrl-C in a worker, unless the worker is the process `parent` itself."""
    if parent != os.getpid():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
