"""Files that can be read only once, such as pipes, copied to temporary files."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pucli.core.errors import PucliError, UsageError
from pucli.core.memory import available_bytes
from pucli.data.files.disguises import recognised
from pucli.data.reading import WANTED

STDIN = Path("-")
_CHUNK = 2**20
_copies: dict[str, tuple[object, Path]] = {}  # the stream and its copy
_folders: list[tempfile.TemporaryDirectory[str]] = []  # removed at exit


def is_stream(path: Path) -> bool:
    """Return whether a path is stdin, a pipe or a device, which can be read only once."""
    if path == STDIN:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def check_ends(path: Path) -> None:
    """Raise UsageError for a device such as /dev/zero, which never ends; a terminal and /dev/null do."""
    try:
        if stat.S_ISBLK(path.stat().st_mode):
            raise UsageError(f"{path} is a device; give a file")
        if not stat.S_ISCHR(path.stat().st_mode) or path.samefile(os.devnull):
            return
        with path.open("rb") as stream:
            ends = stream.isatty()
    except OSError:  # its reader says why
        return
    if not ends:
        raise UsageError(f"{path} is a device; give a file")


def shown(path: Path) -> str:
    """Return the name of a file for messages."""
    return "stdin" if path == STDIN else str(path)


@contextmanager
def reread(path: Path, stream: IO[bytes] | None = None) -> Iterator[Path]:
    """Give a file that can be read several times: the file itself, or a copy of a stream.

    A stream is copied once; errors about the copy name the stream. `stream` is that of `path` if it is open already.

    Raises
    ------
    UsageError
        The stream holds more than the memory.
    """
    if not is_stream(path):
        yield path
        return
    copy = _copy(path, stream)
    try:
        yield copy
    except PucliError as error:
        error.args = (str(error).replace(str(copy), shown(path)), *error.args[1:])
        raise


def spooled_size(path: Path) -> int | None:
    """Return the size of the copy of a stream in bytes; None if the file is no stream that was copied."""
    _, copy = _copies.get(str(path), (None, None))
    return None if copy is None else copy.stat().st_size


def _copy(path: Path, opened: IO[bytes] | None) -> Path:
    source = sys.stdin.buffer if path == STDIN else None
    known, copy = _copies.get(str(path), (None, None))
    if copy is not None and known is source:
        return copy
    folder = tempfile.TemporaryDirectory(prefix="pucli-")
    _folders.append(folder)
    target = Path(folder.name) / "stdin"
    most = available_bytes() or float("inf")
    if opened is not None or source is not None:
        _write(opened or source, target, most, path)  # type: ignore[arg-type]
    else:
        with path.open("rb") as stream:
            _write(stream, target, most, path)
    with target.open("rb") as stream:
        found = recognised(stream.read(65536), target)
    if found is not None and found.suffix:
        target = target.rename(target.with_suffix(found.suffix))
    _copies[str(path)] = source, target
    return target


def _write(stream: IO[bytes], target: Path, most: float, path: Path) -> None:
    size = 0
    with target.open("wb") as output:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            if size > most:
                output.close()
                target.unlink()
                raise UsageError(
                    f"{shown(path)} holds more than the {most / 1e9:.3g} GB of free memory, into which a table must "
                    "fit; write it to a file and take fewer rows"
                )
            output.write(chunk)
    if not size:
        raise UsageError(f"{shown(path)} is empty; {WANTED}")
