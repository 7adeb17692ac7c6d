"""The command ``pucli``, and ``python -m pucli``."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line of this process and return its exit code, which is 130 also for Ctrl-C during import.

    Once the command has ended, Ctrl-C is ignored: it would only interrupt Python while it closes its threads.
    """
    try:
        from pucli.cli.main import main as run

        code = run()
    except KeyboardInterrupt:
        print("pucli: interrupted.", file=sys.stderr)
        code = 130
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


if __name__ == "__main__":
    sys.exit(main())
