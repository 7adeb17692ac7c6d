"""Ctrl-C that is noticed wherever it falls.

Compiled modules that are interrupted while they are imported raise ImportError, and libraries wrap KeyboardInterrupt in
errors of their own. What counts is that the user pressed Ctrl-C, so the signal is remembered.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# Seconds that a library has to come back to Python after Ctrl-C.
PATIENCE = 2.0


class Interrupts:
    """Whether Ctrl-C was pressed while the command ran, and what to say where Python cannot."""

    seen = False

    def __init__(self) -> None:
        self.farewell: Callable[[], None] = _say_interrupted

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal as Python does, and remember it."""
        self.seen = True
        raise KeyboardInterrupt


def _say_interrupted() -> None:
    print("pucli: interrupted.", file=sys.stderr, flush=True)


interrupts = Interrupts()


@contextmanager
def noticed() -> Iterator[None]:
    """Remember Ctrl-C within; a process that ignores it, such as one in the background, goes on ignoring it.

    Python handles a signal when the main thread is back from compiled code, which may be minutes later. A second thread
    ends the process where that takes more than `PATIENCE`. Files are written in one step, so none is left half done.
    """
    interrupts.seen = False
    interrupts.farewell = _say_interrupted
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        signal.signal(signal.SIGINT, interrupts)
    except ValueError:  # not in the main thread
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        writer.close()  # the thread reads the end and ends


def _watch(reader: socket.socket) -> None:
    """End the process if a Ctrl-C that has arrived is not handled soon."""
    with reader:
        while number := reader.recv(1):
            if number[0] != signal.SIGINT:
                continue
            time.sleep(PATIENCE)
            if not interrupts.seen:
                interrupts.farewell()
                os._exit(130)
