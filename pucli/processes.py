"""Ctrl-C and worker processes: the parent alone takes it."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Deliver a Ctrl-C afterwards; processes started within inherit the blocked signal and leave it to the parent."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts(parent: int) -> None:
    """Leave Ctrl-C to the process number `parent`; called in a worker, which may be that process itself."""
    if parent != os.getpid():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
