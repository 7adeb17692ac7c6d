"""Reliable handling of Ctrl-C, and of the signals that end a process (SIGTERM, SIGHUP) in the same way.

Compiled modules that are interrupted during import raise ImportError, and some libraries wrap KeyboardInterrupt in
errors of their own. The signal itself is therefore recorded.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# Signals that ask a process to end; a system may lack one.
ENDS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
# Seconds that compiled code has to return to Python after Ctrl-C.
PATIENCE = 2.0


class Interrupts:
    """Record of Ctrl-C during a command, and the message to print if Python cannot print it."""

    seen = False

    def __init__(self) -> None:
        self.farewell: Callable[[], None] = _say_interrupted

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Record the signal and handle it as Python does."""
        self.seen = True
        raise KeyboardInterrupt


def _say_interrupted() -> None:
    with contextlib.suppress(OSError):
        print("pucli: interrupted.", file=sys.stderr, flush=True)


interrupts = Interrupts()


@contextmanager
def noticed() -> Iterator[None]:
    """Record Ctrl-C within the context; a process that ignores it, such as a background job, still does.

    Python handles a signal when the main thread has returned from compiled code, which may be minutes later. A second
    thread ends the process if that takes longer than `PATIENCE`. Files are written atomically, so none is incomplete.
    """
    interrupts.seen = False
    interrupts.farewell = _say_interrupted
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    before_ours = {number: signal.getsignal(number) for number in ENDS}
    ours = [
        number for number, handler in before_ours.items() if handler in (signal.default_int_handler, signal.SIG_DFL)
    ]
    try:
        for number in ours:
            signal.signal(number, interrupts)
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
        for number in ours:
            signal.signal(number, before_ours[number])
        writer.close()  # the thread reads the end of the stream and returns


def _watch(reader: socket.socket) -> None:
    """End the process if a received Ctrl-C is not handled in time."""
    with reader:
        while number := reader.recv(1):
            if number[0] not in ENDS:
                continue
            time.sleep(PATIENCE)
            if not interrupts.seen:
                interrupts.farewell()
                os._exit(130)
