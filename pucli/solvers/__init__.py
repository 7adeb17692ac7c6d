"""Algorithms on arrays, one folder per family, without estimators, files or command-line options."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path


def _keeps_compiled() -> bool:
    """Return whether Numba can keep compiled solvers, beside them or in the user's cache; else it gets a folder.

    Without one, as in a read-only container, it would refuse to work. The folder is private and lasts as long as the
    process, since files in it are trusted.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  # "~" if there is none
    if os.environ.get("NUMBA_CACHE_DIR") or any(map(_is_writable, (Path(__file__).parent, Path(cache)))):
        return True
    folder = tempfile.mkdtemp(prefix="pucli-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder  # also of worker processes
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = folder
    return False


def _is_writable(folder: Path) -> bool:
    """Return whether a folder, or the nearest one above it that exists, can be written."""
    return os.access(next(there for there in (folder, *folder.parents) if there.exists()), os.W_OK)


KEEPS_COMPILED = _keeps_compiled()
