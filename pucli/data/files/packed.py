"""Text files of any packing and encoding as a stream of plain UTF-8, and errors for damaged files and bombs.

gzip, bzip2, xz, zip and Zstandard are recognized by their first bytes, not by their names, and unpacked as they are
read, up to a multiple of the packed size.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pucli.core.errors import UsageError
from pucli.data.files.archives import FREE, RATIO
from pucli.data.files.disguises import packing
from pucli.data.reading import AS_IT_IS, Reading

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
    Other packed files are checked while they are unpacked (`pucli.data.files.packed`).
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
    """Check that an unpacked file is not suspiciously large."""
    if size > max(RATIO * packed, FREE if free is None else free):
        raise UsageError(
            f"{path} unpacks to more than {RATIO} times its size, which no table does; save it again, unpacked"
        )


PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zip")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PEEK = 4096
_CHUNK = 2**18
_READ_AHEAD = 2**14  # of the packed bytes, which limit the unpacked ones
TEXT_BYTES = 16 * 2**20  # to which any packed text may unpack; the table of it takes ten times as much


def is_packed(path: Path) -> bool:
    """Return whether a file is packed."""
    with path.open("rb") as stream:
        return bool(packing(stream.read(8)))


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked if it is packed."""
    with path.open("rb") as raw:
        kind = packing(raw.read(8))
        raw.seek(0)
        if not kind:
            yield raw
            return
        counted = _CountingStream(raw)
        with unpacked(counted, kind, path) as stream:
            yield stream


@contextmanager
def plain_text(path: Path, reading: Reading = AS_IT_IS) -> Iterator[IO[bytes]]:
    """Open a text file as plain UTF-8, without the lines that are to be skipped."""
    with opened(path) as stream, as_plain(stream, path, reading) as text:
        yield text


@contextmanager
def plain_stream(raw: IO[bytes], path: Path, reading: Reading = AS_IT_IS) -> Iterator[IO[bytes]]:
    """Return a stream that can be read once, such as stdin, as plain UTF-8."""
    stream = buffered(raw)
    kind = packing(stream.peek(8)[:8])
    if kind == "zip":
        raise UsageError(f"{path} is a zip archive, whose list of files is at its end; unpack it, or give it as a file")
    if not kind:
        with as_plain(stream, path, reading) as text:
            yield text
        return
    counted = _CountingStream(stream)
    with unpacked(counted, kind, path) as inner, as_plain(inner, path, reading) as text:
        yield text


def buffered(raw: IO[bytes]) -> io.BufferedReader:
    """Return a stream that can be looked ahead into."""
    return raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw, _CHUNK)  # type: ignore[arg-type]


@contextmanager
def as_plain(stream: IO[bytes], path: Path, reading: Reading = AS_IT_IS) -> Iterator[IO[bytes]]:
    """Return unpacked text as UTF-8, without the skipped lines."""
    text = buffered(stream)
    if packing(text.peek(8)[:8]) and not reading.encoding:
        raise UsageError(f"{path} is packed twice; unpack it once")
    head = text.peek(_PEEK)[:_PEEK]
    marked = head.startswith(codecs.BOM_UTF8)  # which no text of another encoding begins with
    encoding = "utf-8" if marked else reading.encoding or _encoding_of(head, path)
    if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
        text = io.BufferedReader(_Recoded(text, encoding, path), _CHUNK)
    for _ in range(reading.skip_rows):
        if not text.readline():
            break
    yield text


def unpacked(raw: _CountingStream, kind: str, path: Path) -> IO[bytes]:
    """Return the unpacked content of a stream."""
    openers: dict[str, Any] = {"gzip": gzip.GzipFile, "bzip2": bz2.BZ2File, "xz": lzma.LZMAFile}
    if kind == "zip":
        archive = zipfile.ZipFile(io.BufferedReader(raw, _READ_AHEAD))
        inner: Any = archive.open(only_member(archive, path))
    elif kind == "zstd":
        inner = _zstd(raw, path)
    else:
        inner = openers[kind](fileobj=raw) if kind == "gzip" else openers[kind](raw)
    return io.BufferedReader(_Bounded(inner, path, raw), _CHUNK)


def only_member(archive: zipfile.ZipFile, path: Path) -> str:
    """Return the name of the only file in an archive; raise UsageError if there is none or several."""
    names = [info.filename for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
    if not names:
        raise UsageError(f"{path} is a zip archive without files; pack it again")
    if len(names) != 1:
        shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        raise UsageError(f"{path} is a zip archive of {len(names)} files ({shown}); unpack the one that you mean")
    return names[0]


def member_name(path: Path) -> str:
    """Return the name of the file inside a zip archive of one text file, the name of any other file without .gz etc."""
    name = path.name
    if name.lower().endswith(".zip") and path.is_file() and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return PurePosixPath(only_member(archive, path)).name
    return name[: -len(Path(name).suffix)] if name.lower().endswith(PACKED_SUFFIXES) else name


def _is_hidden(name: str) -> bool:
    return name.startswith("__MACOSX/") or PurePosixPath(name).name.startswith(".")


def _zstd(raw: _CountingStream, path: Path) -> Any:
    try:
        from compression.zstd import ZstdFile  # type: ignore[import-not-found]  # from Python 3.14

        return ZstdFile(raw)
    except ImportError:
        pass
    try:
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
    except ImportError as error:
        raise UsageError(f"{path}: unpacking Zstandard needs pyarrow: pip install 'pucli[parquet]'") from error


def _encoding_of(head: bytes, path: Path) -> str:
    """Return the encoding that a byte-order mark names, utf-8 without one."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        here, other = head[first::2], head[1 - first :: 2]
        if len(head) >= 16 and here.count(0) > 0.7 * len(here) and other.count(0) == 0:
            raise UsageError(f"{path} looks like {name} without a byte-order mark; --encoding {name} reads it")
    return "utf-8"


class _CountingStream(io.RawIOBase):
    """Stream that counts the bytes read from it, a few at a time: gzip of Python 3.12 asks for 128 KiB at once."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.count = stream, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: Any) -> int:
        most = min(len(buffer), _READ_AHEAD)
        chunk = self._stream.read1(most) if hasattr(self._stream, "read1") else self._stream.read(most)
        buffer[: len(chunk)] = chunk
        self.count += len(chunk)
        return len(chunk)


class _Bounded(io.RawIOBase):
    """Unpacked stream that raises UsageError beyond a multiple of the packed size."""

    def __init__(self, stream: Any, path: Path, packed: _CountingStream) -> None:
        self._stream, self._path, self._packed, self._size = stream, path, packed, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            chunk = self._stream.read(len(buffer))
        except (
            EOFError,
            zlib.error,
            lzma.LZMAError,
            gzip.BadGzipFile,
            zipfile.BadZipFile,
            OSError,
            RuntimeError,
        ) as error:
            if isinstance(error, OSError) and error.errno is not None and not isinstance(error, gzip.BadGzipFile):
                raise
            raise damaged(self._path, EOFError(f"unexpected end: {error}")) from error
        buffer[: len(chunk)] = chunk
        self._size += len(chunk)
        check_size(self._path, self._packed.count, self._size, TEXT_BYTES)
        return len(chunk)


class _Recoded(io.RawIOBase):
    """Text of another encoding as UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str, path: Path) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready, self._place, self._ended = b"", 0, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            raw = self._stream.read(_CHUNK)
            self._ended = not raw
            held = len(self._decoder.getstate()[0])
            try:
                self._ready = self._decoder.decode(raw, final=self._ended).encode()
            except UnicodeError as error:  # also of UTF-16 without a byte-order mark
                place = self._place - held + getattr(error, "start", 0) + 1
                raise UsageError(
                    f"{self._path} is not {self._encoding} text (byte {place}); give its encoding with --encoding"
                ) from error
            self._place += len(raw)
        chunk = self._ready[: len(buffer)]
        self._ready = self._ready[len(chunk) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)
