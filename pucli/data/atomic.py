"""Writing a file in one step: readers see the old file or the whole new one, never a part.

One rule for every file that pucli writes: missing folders are made, a place that cannot be written is wrong usage, a
disk that is full is a failure of the run (`pucli.errors.unwritable`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pucli.errors import UsageError, unwritable


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; on success it takes the place of `path`, otherwise it is removed.

    Parameters
    ----------
    path : str or Path
        The file; its folder is made if it does not exist.

    Raises
    ------
    UsageError
        The place cannot be written, or `path` is a folder, a device or a pipe.
    RunError
        The disk is full.
    """
    path = Path(path)
    _check_kind(path, "")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as scratch:
            partial = Path(scratch) / path.name
            yield partial
            with partial.open("rb") as stream:
                os.fsync(stream.fileno())
            partial.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error


def check_output(path: Path, option: str = "") -> None:
    """Raise UsageError if no file can be written at `path`, before the work whose result goes there.

    Parameters
    ----------
    path : Path
        The file that will be written.
    option : str
        The option that names it, for the message.
    """
    _check_kind(path, option)
    check_folder(path.parent, option, path)


def check_folder(folder: Path, option: str = "", named: Path | None = None) -> None:
    """Raise UsageError if `folder` cannot be made or written; nothing is left behind.

    `option` and `named` are the option and the path that the message names.
    """
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryDirectory(dir=there, prefix=".pucli-"):
            pass
    except OSError as error:
        raise unwritable(named or folder, error, option) from error


def _check_kind(path: Path, option: str) -> None:
    named = f"{option} {path}".strip()
    if path.is_dir():
        raise UsageError(f"{named} is a folder; give the name of a file.")
    if path.exists() and not path.is_file():
        raise UsageError(f"{named} is not a file that can be replaced; give the name of a file.")
