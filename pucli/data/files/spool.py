"""Files that can be read only once, such as pipes, copied to temporary files."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

from pucli.core.errors import PucliError, UsageError
from pucli.core.inert_text import one_line
from pucli.core.memory import available_bytes
from pucli.data.files.disguises import packing, recognized
from pucli.data.files.text.records import LONGEST, endless_line
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
        found = os.fstat(sys.stdin.fileno()) if path == STDIN else path.stat()
        if stat.S_ISCHR(found.st_mode) and not os.path.samestat(found, os.stat(os.devnull)):  # noqa: PTH116
            with nullcontext(sys.stdin) if path == STDIN else path.open("rb") as stream:
                ends = stream.isatty()
        else:
            ends = not stat.S_ISBLK(found.st_mode)
    except (OSError, ValueError, AttributeError):  # its reader says why
        return
    if not ends:
        raise UsageError(f"{shown(path)} is a device; give a file")


def shown(path: Path) -> str:
    """Return the name of a file for messages."""
    return "stdin" if path == STDIN else one_line(str(path))


@contextmanager
def reread(path: Path, stream: IO[bytes] | None = None) -> Iterator[Path]:
    """Give a file that can be read several times: the file itself, or a copy of a stream.

    A stream is copied once; errors about the copy name the stream. `stream` is that of `path` if it is open already.
    """
    if not is_stream(path):
        yield path
        return
    copy = _copy(path, stream)
    try:
        yield copy
    except PucliError as error:
        error.args = (by_streams(str(error)), *error.args[1:])
        raise


def by_streams(text: str) -> str:
    """Return a message that names streams in place of their copies."""
    for path, (_, copy) in _copies.items():
        text = text.replace(str(copy), shown(Path(path)))
    return text


def spooled_size(path: Path) -> int | None:
    """Return the size of the copy of a stream in bytes; None if the file is no stream that was copied."""
    _, copy = _copies.get(str(path), (None, None))
    return None if copy is None else copy.stat().st_size


def _check_room(path: Path, folder: Path, size: int) -> None:
    """Raise UsageError if so many bytes of a stream fit neither into the memory nor into the folder of its copy."""
    memory, disk = available_bytes() or float("inf"), shutil.disk_usage(folder).free
    if size > memory:
        raise UsageError(
            f"{shown(path)} holds more than the {memory / 1e9:.3g} GB of free memory, into which a table must "
            "fit; write it to a file and take fewer rows"
        )
    if disk < _CHUNK:
        raise UsageError(
            f"{shown(path)} holds more than there is room for in {folder.parent}; free some, name another folder in "
            "TMPDIR, or give a file"
        )


def _copy(path: Path, opened: IO[bytes] | None) -> Path:
    source = sys.stdin.buffer if path == STDIN else None
    known, copy = _copies.get(str(path), (None, None))
    if copy is not None and known is source:
        return copy
    folder = tempfile.TemporaryDirectory(prefix="pucli-")
    _folders.append(folder)
    target = Path(folder.name) / "stdin"
    given = opened or source
    with nullcontext(given) if given is not None else path.open("rb") as stream:
        _write(stream, target, path)
    with target.open("rb") as stream:
        found = recognized(stream.read(65536), target)
    if found is not None and found.suffix:
        target = target.rename(target.with_suffix(found.suffix))
    _copies[str(path)] = source, target
    return target


def _write(stream: IO[bytes], target: Path, path: Path) -> None:
    size, lines = 0, False
    try:
        with target.open("wb") as output:
            while chunk := stream.read(_CHUNK):
                _check_room(path, target.parent, size + len(chunk))
                lines = lines or b"\n" in chunk or b"\r" in chunk
                if not size:
                    lines = lines or bool(packing(chunk)) or recognized(chunk) is not None
                size += len(chunk)
                if size > LONGEST and not lines:
                    raise endless_line(Path(shown(path)), 1)
                output.write(chunk)
    except BaseException:
        target.unlink()
        raise
    if not size:
        raise UsageError(f"{shown(path)} is empty; {WANTED}")
