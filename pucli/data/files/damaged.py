"""Error messages for damaged files and decompression bombs."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from pucli.core.errors import UsageError
from pucli.data.files.archives import FREE, RATIO

MOST_MEMBERS = 10_000  # of a zip archive that holds one table
# Message of a reader's library -> what is wrong with the file.
_FOUND = (
    (r"EOF inside string starting at row (\d+)", "a quote that opens in data row {0} is never closed"),
    (r"could not convert string to float: b?(.{1,40})", "it has {0} where a number belongs"),
    (r"encrypted|password", "it is protected by a password"),
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


def check_unpacked(path: Path, free: int | None = None) -> None:
    """Raise UsageError for a zip archive whose members state more than `RATIO` times its size and `free` bytes.

    So does one with a name twice, of which readers take different ones, or with far more members than a table needs.
    Other packed files are checked while they are unpacked (`pucli.data.files.unpacking`).
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            names = [name.removesuffix(".npy") for name in archive.namelist()]
        if len(names) > MOST_MEMBERS:
            raise UsageError(f"{path} has {len(names)} parts, which no table has; save it again")
        if len(set(names)) < len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise UsageError(f"{path} is damaged: it has the part {twice!r:.80} twice; save it again")
        check_size(path, path.stat().st_size, size, free)


def check_size(path: Path, packed: int, size: int, free: int | None = None) -> None:
    """Check that an unpacked file is not suspiciously large.

    Parameters
    ----------
    path : Path
        The file, for the message.
    packed : int
        Its size in bytes.
    size : int
        Its size in bytes after unpacking.
    free : int, optional
        Number of bytes that any file may unpack to, by default `FREE`.

    Raises
    ------
    UsageError
        `size` is more than `free` and more than `RATIO` times `packed`.
    """
    if size > max(RATIO * packed, FREE if free is None else free):
        raise UsageError(
            f"{path} unpacks to more than {RATIO} times its size, which no table does; save it again, unpacked"
        )
