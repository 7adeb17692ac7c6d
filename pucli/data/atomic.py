"""Writing a file in one step: readers see the old file or the whole new one, never a part."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pucli.errors import UsageError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; on success it takes the place of `path`, otherwise it is removed.

    The folder is made if it does not exist. File-system errors (OSError) are the caller's. UsageError where `path` is a
    device or a pipe, which must not be replaced.
    """
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise UsageError(f"{path} is not a file that can be replaced; give the name of a file.")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder = tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    with folder as scratch:
        partial = Path(scratch) / path.name
        yield partial
        partial.replace(path)
