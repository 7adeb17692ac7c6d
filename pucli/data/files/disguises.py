"""Recognition of files by their first bytes, where their extension is wrong or they are packed."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import NamedTuple

from pucli.core.errors import UsageError
from pucli.core.plug_ins import own_entries

NO_SEPARATOR_IN_PATH = re.compile(r"[a-z][a-z0-9+.-]{1,9}:/{1,2}[^/]", re.IGNORECASE)

_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
)


class Disguise(NamedTuple):
    """What a file is.

    name : str
        With its article: "a PDF document".
    suffix : str
        The extension by which pucli reads it, "" if it does not.
    advice : str
        What to do.
    """

    name: str
    suffix: str = ""
    advice: str = ""


_SAVE = "save the table in it as CSV"
_KNOWN = own_entries(Path(__file__).with_suffix(".yaml"))
_BINARY = [(start.encode("latin-1"), Disguise(**found)) for start, found in _KNOWN["binary"].items()]
_TEXT = [(re.compile(start.encode()), Disguise(**found)) for start, found in _KNOWN["text"].items()]


def packing(head: bytes) -> str:
    """Return how a file is packed, by its first bytes: gzip, bzip2, xz, zstd or zip, "" if it is not."""
    return next((name for magic, name in _MAGIC if head.startswith(magic)), "")


def recognized(head: bytes, path: Path | None = None) -> Disguise | None:
    """Return what a file is by its first bytes, None for a text table."""
    for magic, found in _BINARY:
        if head.startswith(magic):
            return found
    if head.startswith(b"PK\x03\x04") and path is not None:
        return _in_zip(path)
    if head[257:262] == b"ustar":
        return Disguise("a tar archive", "", "unpack it and give the file inside")
    text = head.removeprefix(b"\xef\xbb\xbf")
    for pattern, found in _TEXT:
        if pattern.match(text):
            return found
    return _json(text)


def check_is_text(head: bytes, path: Path) -> None:
    """Raise UsageError if a file that is to be read as CSV is of another kind."""
    found = recognized(head, path)
    if found is None:
        return
    way_out = found.advice or f"name it {Path(path.name).stem}{found.suffix}"
    raise UsageError(f"{path} is {found.name}; {way_out}")


def check_not_address(path: Path) -> None:
    """Raise UsageError for the address of a page instead of a file."""
    if NO_SEPARATOR_IN_PATH.match(str(path)):
        address = re.sub(":/+", "://", str(path), count=1)
        raise UsageError(f"{address} is an address, not a file; download the file first and give its name")


def _in_zip(path: Path) -> Disguise | None:
    """Return what a zip archive is, None if it holds plain files."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and b"opendocument.spreadsheet" in archive.read("mimetype")[:100]:
                return Disguise("a workbook (ODS)", ".ods")
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
        return None
    if "xl/workbook.bin" in names:
        return Disguise("a binary workbook (XLSB)", "", "save it as .xlsx")
    if "Index/Document.iwa" in names:
        return Disguise("a Numbers or Pages document", "", _SAVE)
    if any(name.startswith("xl/") for name in names):
        return Disguise("a workbook", ".xlsx")
    if any(name.startswith("word/") for name in names):
        return Disguise("a text document (DOCX)", "", _SAVE)
    if "model.json" in names:
        return Disguise("a model file", "", "give the table with --data and the model with --model")
    return Disguise("a NumPy archive", ".npz") if names and all(name.endswith(".npy") for name in names) else None


def _json(text: bytes) -> Disguise | None:
    """Return whether a text is JSON: one object a line, or an array of objects."""
    start = text.lstrip()
    if start[:1] == b"[" and start[1:].lstrip()[:1] == b"{":
        return Disguise("JSON", ".json")
    if start[:1] != b"{":
        return None
    line = start.split(b"\n", 1)[0]
    try:
        return Disguise("JSON lines", ".jsonl") if isinstance(json.loads(line), dict) else None
    except (ValueError, RecursionError):
        keyed = re.match(rb'\{\s*"(\\.|[^"\\])*"\s*:', start)
        return Disguise("a JSON document", ".json") if keyed else None
