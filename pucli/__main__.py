"""The command ``pucli``, and ``python -m pucli``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process and return its exit code, which is 130 also for Ctrl-C during import."""
    try:
        from pucli.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        print("pucli: interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
