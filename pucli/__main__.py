"""The command ``pucli``, and ``python -m pucli``."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading

INTERRUPTED = 130


def main() -> int:
    """Run the command line of this process and return its exit code, which is 130 also for Ctrl-C during import.

    Once the command has ended, Ctrl-C is ignored: it would only interrupt Python while it closes its threads.
    """
    gc.set_threshold(100_000)  # imports make many objects and little garbage
    _open_closed_streams()
    try:
        from pucli.cli.main import main as run

        code = run()
    except KeyboardInterrupt:
        print("pucli: interrupted.", file=sys.stderr)
        code = INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code == INTERRUPTED and _threads_at_work():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # their compiled code would crash while Python frees what it works on
    return code


def _open_closed_streams() -> None:
    """Connect a stream that is closed (``2>&-``) to nothing: else warnings go to the next file that is opened."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def _threads_at_work() -> bool:
    """Return whether a pool of threads was interrupted."""
    pools = sys.modules.get("multiprocessing.dummy")
    return pools is not None and any(isinstance(one, pools.DummyProcess) for one in threading.enumerate())


if __name__ == "__main__":
    sys.exit(main())
