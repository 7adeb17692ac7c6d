"""A remark while Numba compiles solvers, which it does once on each machine."""

from __future__ import annotations

import sys
import time
from typing import Any

from pucli.cli.output import Output

TEXT = "Compiling solvers, once on this machine: about 8 s."
NOT_KEPT = "Compiling solvers, 8 s at each start; to keep them, set NUMBA_CACHE_DIR to a folder that can be written."
# No remark is written for compilations that take less in total.
LEAST_SECONDS = 0.5


def announce_compiling(out: Output) -> None:
    """Write the remark, once, when compilations of this process have taken a while.

    Nothing is written if Numba was not imported.
    """
    if "numba" not in sys.modules:
        return
    import numba.core.event

    from pucli.solvers import KEEPS_COMPILED

    event: Any = numba.core.event

    class Listener(event.Listener):
        first: float | None = None
        said = False

        def on_start(self, _: Any) -> None:
            now = time.monotonic()
            self.first = self.first or now
            if not self.said and now - self.first >= LEAST_SECONDS:
                self.said = True
                out.remark(TEXT if KEEPS_COMPILED else NOT_KEPT, now=True)

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
