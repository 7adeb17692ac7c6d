"""What damaged files and files that unpack beyond all bounds are told as."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from pathlib import Path
from typing import IO, Any

from pucli.data.archives import FREE, RATIO
from pucli.errors import UsageError

# What a reader's library says -> what is wrong with the file.
_FOUND = (
    (r"EOF inside string starting at row (\d+)", "a quote that opens in data row {0} is never closed"),
    (r"could not convert string to float: b?(.{1,40})", "it has {0} where a number belongs"),
    (r"Object arrays", "it holds Python objects, which could run code, and is refused"),
    (
        r"Error -\d|CRC|Compressed file ended|zip file|end-of-stream|Bad magic|truncated|unexpected end|EOF",
        "it is cut short, or bytes of it have changed",
    ),
)


def damaged(path: Path, error: BaseException) -> UsageError:
    """Return the error for a file that its reader does not understand."""
    kind = path.suffix.lstrip(".").upper()
    message, detail = " ".join(str(error).split()), ""
    for pattern, words in _FOUND:
        if found := re.search(pattern, message):
            shown = [ascii(group) if not group.isdigit() else group for group in found.groups()]
            detail = f" ({words.format(*shown)})"
            break
    return UsageError(f"{path} is damaged or not {kind}{detail}; save it again, or correct its extension")


def check_unpacked(path: Path, free: int = FREE) -> None:
    """Raise UsageError for a zip archive whose members claim more than `RATIO` times its size and `free` bytes."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > max(RATIO * path.stat().st_size, free):
        raise too_large(path)


def too_large(path: Path) -> UsageError:
    """Return the error for a file that unpacks to much more than data do."""
    return UsageError(
        f"{path} unpacks to more than {RATIO} times its size, which no table does; save it again, unpacked"
    )


class Bounded(io.RawIOBase):
    """An unpacked stream; UsageError from the byte on that is more than `RATIO` times the size of its file.

    `failure` is what was last raised.
    """

    def __init__(self, path: Path, stream: IO[bytes] | gzip.GzipFile) -> None:
        self._path, self._stream = path, stream
        self.failure: Exception | None = None
        self._left = max(RATIO * path.stat().st_size, FREE)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read as many bytes as `buffer` holds, or fewer, and return how many."""
        try:
            content = self._stream.read(len(buffer))
        except Exception as error:
            self.failure = error
            raise
        self._left -= len(content)
        if self._left < 0:
            self.failure = too_large(self._path)
            raise self.failure
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file too."""
        self._stream.close()
        super().close()
