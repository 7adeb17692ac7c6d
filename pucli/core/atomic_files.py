"""Atomic writing of files: readers see the complete old file or the complete new one.

The same rule holds for every file that pucli writes: missing folders are created, a path that cannot be written is
wrong usage, and a full disk is a failure of the run (`pucli.core.errors.unwritable`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pucli.core.errors import UsageError, unwritable


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; on success it replaces `path`, otherwise it is removed.

    Parameters
    ----------
    path : str or Path
        The file; its folder is created if it does not exist.

    Raises
    ------
    UsageError
        The path cannot be written, or is a folder, a device or a pipe.
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
    """Raise UsageError if no file can be written at `path`; to be called before the work starts.

    Parameters
    ----------
    path : Path
        The file that will be written.
    option : str
        The option that names the file, for the message.
    """
    _check_kind(path, option)
    check_folder(path.parent, option, path)


def check_folder(folder: Path, option: str = "", named: Path | None = None) -> None:
    """Raise UsageError if `folder` cannot be created or written; no files are left behind.

    `option` and `named` are the option and the path to name in the message.
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
