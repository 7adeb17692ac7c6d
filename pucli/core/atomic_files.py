"""Atomic writing of files: readers see the complete old file or the complete new one.

The same rule holds for every file that pucli writes: missing folders are created, a path that cannot be written is
wrong usage, and a full disk is a failure of the run (`pucli.core.errors.unwritable`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from pucli.core.errors import PucliError, UsageError, unwritable

MOST_LINKS = 40  # as Linux follows
SHOWN = 40  # characters of a name in that of its temporary folder, since names are bounded


# the files that wait, and where they go, within `together`
_waiting: ContextVar[tuple[contextlib.ExitStack, list[tuple[Path, Path]]] | None] = ContextVar("waiting", default=None)


@contextmanager
def together() -> Iterator[None]:
    """Let all files of `replacing` appear at the end; if something fails that no message explains, none appears."""
    with contextlib.ExitStack() as scratch:
        moves: list[tuple[Path, Path]] = []
        token = _waiting.set((scratch, moves))
        try:
            yield
        except PucliError:  # its message names the files
            _move(moves)
            raise
        finally:
            _waiting.reset(token)
        _move(moves)


def _move(moves: list[tuple[Path, Path]]) -> None:
    for partial, path in moves:
        try:
            partial.replace(path)
        except OSError as error:
            raise unwritable(path, error) from error


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; on success it replaces `path`, otherwise it is removed.

    The folder is created if it does not exist.
    """
    path = Path(path)
    _check_kind(path, "")
    if _is_stream(path):
        with tempfile.TemporaryDirectory(prefix="pucli-") as scratch:
            partial = Path(scratch) / f"stream{path.suffix}"
            yield partial
            _write_to_stream(partial, path)
        return
    path = path.resolve()  # a link stays, and the file that it names is replaced
    new = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as own:
            scratch = own.enter_context(tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name[:SHOWN]}-"))
            partial = Path(scratch) / path.name
            yield partial
            with partial.open("rb") as stream:
                os.fsync(stream.fileno())
            if (waiting := _waiting.get()) is None:
                partial.replace(path)
            else:
                waiting[0].push(own.pop_all())
                waiting[1].append((partial, path))
    except BaseException as error:
        with contextlib.suppress(OSError):
            for folder in new:
                folder.rmdir()
        if isinstance(error, OSError):
            raise unwritable(path, error) from error
        raise


def check_output(path: Path, option: str = "") -> None:
    """Raise UsageError if no file can be written at `path`; to be called before the work starts."""
    _check_kind(path, option)
    if not _is_stream(path):
        check_folder(path.resolve().parent, option, path)


def check_folder(folder: Path, option: str = "", named: Path | None = None) -> None:
    """Raise UsageError if `folder` cannot be created or written; no files are left behind."""
    if named is None and folder.is_file():
        raise UsageError(f"{option} {folder} is a file; give a folder.".lstrip())
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
    try:
        if _is_stream(path):
            return
        if path.is_symlink():
            path.resolve(strict=False)
    except (OSError, RuntimeError) as error:
        raise UsageError(f"{named} is a link that leads back to itself; give the name of a file.") from error
    if path.is_dir():
        raise UsageError(f"{named} is a folder; give the name of a file.")
    if path.exists() and not path.is_file():
        raise UsageError(f"{named} is not a file that can be replaced; give the name of a file.")


def _is_stream(path: Path) -> bool:
    """Return whether a path is a link to a device, a pipe or a stream of this process: /dev/stdout may name a file.

    Such a link is never replaced, because every process would lose it; writing goes to its target.
    """
    if not path.is_symlink():
        return False
    for _ in range(MOST_LINKS):
        where = Path(os.path.abspath(path)).parts  # noqa: PTH100  # without following the link
        if where[:2] in (("/", "dev"), ("/", "proc")) and where[:3] != ("/", "dev", "shm"):
            return True
        if not path.is_symlink():
            return path.exists() and not path.is_file() and not path.is_dir()
        path = path.parent / path.readlink()
    raise OSError("too many links")


def is_stdout(path: Path) -> bool:
    """Return whether a path is a link to the standard output of this process."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return _is_stream(path) and os.path.samestat(os.fstat(sys.stdout.fileno()), path.stat())
    return False


def _write_to_stream(source: Path, path: Path) -> None:
    """Write the content of a file to the target of a link, through stdout or stderr if that is the same stream."""
    try:
        there = path.stat()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                if os.path.samestat(os.fstat(stream.fileno()), there):
                    stream.flush()
                    with source.open("rb") as content, os.fdopen(os.dup(stream.fileno()), "wb") as target:
                        shutil.copyfileobj(content, target)
                    return
        with source.open("rb") as content, path.open("ab") as target:
            shutil.copyfileobj(content, target)
    except OSError as error:
        raise unwritable(path, error) from error
