"""Errors in reading a file, in one line that names the file and the way out."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pucli.core.errors import UsageError, did_you_mean
from pucli.data.files.damaged import damaged
from pucli.data.files.disguises import check_not_address
from pucli.data.files.file_kinds import BINARY, FEATHER
from pucli.data.files.spool import STDIN, check_ends, shown
from pucli.data.files.text.encodings import SAMPLE, choices
from pucli.data.files.unpacking import opened
from pucli.data.frames import TableError
from pucli.data.reading import WANTED


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn every error in reading `path` into a UsageError that describes it."""
    try:
        check_not_address(path)
        check_ends(path)
        if path == STDIN:
            path = Path(shown(path))
        else:
            _check_filled(path)
        before = _state(path)
        yield
        _check_same(path, before)
    except UnicodeDecodeError as error:
        if path.suffix.lower() in BINARY:  # a name inside of it
            raise damaged(path, error) from error
        place, line, sample = error.start, 0, _lines_at(error.object, error.start)
        if path.is_file():
            place, line, sample = _not_utf8(path)
        where = f"line {line}, byte {place + 1}" if line else f"byte {place + 1}"
        fitting = choices(sample) or "cp1252 for a file from Windows"
        raise UsageError(
            f"{path} is not UTF-8 text ({where}); give its encoding, e.g. --encoding {fitting}, or save it as UTF-8"
        ) from error
    except FileNotFoundError as error:
        raise _missing(path) from error
    except ImportError as error:
        raise UsageError(f"{path}: {_needed(path, error)}") from error
    except TableError as error:  # of a table, which does not know its file
        raise UsageError(f"{path}: {error}") from error
    except (UsageError, MemoryError):
        raise
    except OSError as error:
        if error.errno is None:  # a library's own, not the system's
            raise damaged(path, error) from error
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except Exception as error:  # the readers' libraries raise whatever they like on a damaged file
        raise damaged(path, error) from error


def _state(path: Path) -> tuple[int, int] | None:
    """Return what changes with the content of a file; None for a stream, and for a file that is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _check_same(path: Path, before: tuple[int, int] | None) -> None:
    """Raise UsageError if a file has changed since `before`, its state; rows may be lost, or belong to two files."""
    now = _state(path)
    if before and before[0] and now and now != before:
        raise UsageError(f"{path} changed while it was read; take a copy of it, or run this once it is written")


def _check_filled(path: Path) -> None:
    """Raise UsageError for a folder and an empty file; files of /proc and of some remote folders only look empty."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give a file")
    if path.is_file() and path.stat().st_size == 0:
        with path.open("rb") as stream:
            if not stream.read(1):
                raise UsageError(f"{path} is empty; {WANTED}")


def _needed(path: Path, error: ImportError) -> str:
    """Return which package a file needs; pandas raises ImportError for one that is missing and for one too old."""
    needed = {".xlsx": ("XLSX", "openpyxl"), ".xls": ("XLS", "xlrd")}
    if path.suffix.lower() in needed:
        form, package = needed[path.suffix.lower()]
        return f"reading {form} needs {package}, no older than pandas asks: pip install --upgrade {package} ({error})"
    if path.suffix.lower() == ".ods":
        return "reading ODS needs odfpy: pip install 'pucli[ods]'"
    if path.suffix.lower() in FEATHER:
        return "reading Feather needs pyarrow: pip install 'pucli[parquet]'"
    return "reading Parquet needs pyarrow: pip install 'pucli[parquet]'"


def _not_utf8(path: Path) -> tuple[int, int, bytes]:
    """Return the position of the first byte that is not valid UTF-8, its line from 1, and that line and some below."""
    import codecs

    decoder, place, line = codecs.getincrementaldecoder("utf-8")(), 0, 1
    with opened(path) as stream:
        while raw := stream.read(2**20):
            kept = len(decoder.getstate()[0])
            try:
                decoder.decode(raw)
            except UnicodeDecodeError as error:
                at = max(error.start - kept, 0)
                lines = _lines_at(raw + stream.read(SAMPLE), at)
                return place - kept + error.start, line + raw[:at].count(b"\n"), lines
            place, line = place + len(raw), line + raw.count(b"\n")
    return place, line, b""


def _lines_at(raw: bytes, place: int) -> bytes:
    """Return some lines of a text, from that of a byte on."""
    first = raw.rfind(b"\n", 0, place) + 1
    lines = raw[first : first + SAMPLE].splitlines(keepends=True)
    return b"".join(lines[:-1] or lines)


def _missing(path: Path) -> UsageError:
    if not path.parent.is_dir():
        return UsageError(f"no file {path}: the folder {path.parent} does not exist")
    near = did_you_mean(path.name, sorted(entry.name for entry in path.parent.iterdir() if entry.is_file()))
    return UsageError(f"no file {path}" + (f"; {near}" if near else ""))
