"""Extraction of one file from a gz, zip or tar archive.

The names inside an archive are only compared, never used as paths. The member is written to the path given by the
caller, so an archive with `../` or absolute names, links or devices cannot write anywhere else. A size limit stops
archives that unpack to a huge size.
"""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from pucli.data.files.disguises import packing

SIZE_LIMIT = 4 * 2**30  # bytes
# A file may unpack to RATIO times its size, or to FREE bytes. Zeros alone reach a ratio of a thousand; data of
# measurements stay below twenty.
RATIO, FREE = 200, 256 * 2**20
_CHUNK = 2**20


class ArchiveError(Exception):
    """The archive is damaged, lacks the member, or unpacks to more than the limit."""


def unpacked_limit(packed: int) -> int:
    """Return the number of bytes to which a file of `packed` bytes may unpack."""
    return min(SIZE_LIMIT, max(RATIO * packed, FREE))


def unpack(source: Path, target: Path, member: str | None = None, *, limit: int | None = None) -> None:
    """Write the content of `source` to `target`, unpacked if it is an archive."""
    limit = unpacked_limit(source.stat().st_size) if limit is None else limit
    try:
        if member is None:
            with gzip.open(source) if _is_gzip(source) else source.open("rb") as stream:
                _write(stream, target, limit)
        elif zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                names = [info.filename for info in archive.infolist() if not info.is_dir()]
                found = _find(names, member)
                _check_size(archive.getinfo(found).file_size, limit)
                with archive.open(found) as stream:
                    _write(stream, target, limit)
        elif tarfile.is_tarfile(source):
            with tarfile.open(source) as tar:
                regular = {info.name: info for info in tar.getmembers() if info.isfile()}
                inside = regular[_find(list(regular), member)]
                _check_size(inside.size, limit)
                with tar.extractfile(inside) as stream:  # type: ignore[union-attr]
                    _write(stream, target, limit)
        else:
            raise ArchiveError("neither a zip nor a tar archive")
    except (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise ArchiveError("damaged archive: it is cut short, or bytes of it have changed") from error
    except (RuntimeError, NotImplementedError, ValueError, OverflowError) as error:
        # zipfile: encrypted, or an unknown compression; tarfile: numbers that are none
        raise ArchiveError("cannot unpack: encrypted, packed in an unknown way, or damaged") from error


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise ArchiveError(f"unpacks to more than {limit} bytes")


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as stream:
        return packing(stream.read(8)) == "gzip"


def _find(names: list[str], member: str) -> str:
    if member in names:
        return member
    found = [name for name in names if PurePosixPath(name.replace("\\", "/")).name == member]
    if len(found) != 1:
        raise ArchiveError(f"{'no' if not found else 'more than one'} file {member!r} in the archive")
    return found[0]


def _write(stream: IO[bytes] | gzip.GzipFile, target: Path, limit: int) -> None:
    written = 0
    with target.open("wb") as output:
        while chunk := stream.read(_CHUNK):
            written += len(chunk)
            if written > limit:
                raise ArchiveError(f"unpacks to more than {limit} bytes")
            output.write(chunk)
