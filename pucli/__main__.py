"""The command ``pucli``, also ``python -m pucli``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process and return its exit code; Ctrl-C while it is being loaded, too, is 130."""
    try:
        from pucli.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        print("pucli: interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
