"""``python -m pucli`` is the command ``pucli``."""

import sys

from pucli.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
