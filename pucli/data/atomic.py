"""Writing a file in one step: readers see the old file or the whole new one, never a part."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; on success it takes the place of `path`, otherwise it is removed.

    The folder is made if it does not exist. File-system errors (OSError) are the caller's.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as scratch:
        partial = Path(scratch) / path.name
        yield partial
        partial.replace(path)
