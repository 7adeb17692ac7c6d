"""Ctrl-C that is noticed wherever it falls.

Compiled modules that are interrupted while they are imported raise ImportError, and libraries wrap KeyboardInterrupt in
errors of their own. What counts is that the user pressed Ctrl-C, so the signal is remembered.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Whether Ctrl-C was pressed while the command ran."""

    seen = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal as Python does, and remember it."""
        self.seen = True
        raise KeyboardInterrupt


interrupts = Interrupts()


@contextmanager
def noticed() -> Iterator[None]:
    """Remember Ctrl-C within; a process that ignores it, such as one in the background, goes on ignoring it."""
    interrupts.seen = False
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        signal.signal(signal.SIGINT, interrupts)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
