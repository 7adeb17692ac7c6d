"""Recognition of files by their first bytes, where their extension is wrong or they are packed."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import NamedTuple

from pucli.core.errors import UsageError

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
    suffix: str
    advice: str = ""


_SAVE = "save the table in it as CSV"
_PACK = "unpack it, or pack it with gzip"
_BINARY = (
    (b"PAR1", Disguise("a Parquet file", ".parquet")),
    (b"ARROW1", Disguise("a Feather (Arrow) file", ".feather")),
    (b"\xff\xff\xff\xff", Disguise("an Arrow stream", ".feather")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Disguise("a workbook of the old kind", ".xls")),
    (b"\x89HDF\r\n\x1a\n", Disguise("an HDF5 file", "", _SAVE)),
    (b"%PDF", Disguise("a PDF document", "", _SAVE)),
    (b"\x89PNG", Disguise("a picture (PNG)", "", "give the table itself")),
    (b"\xff\xd8\xff", Disguise("a picture (JPEG)", "", "give the table itself")),
    (b"GIF8", Disguise("a picture (GIF)", "", "give the table itself")),
    (b"SQLite format 3\0", Disguise("an SQLite database", "", "export the table to CSV")),
    (
        b"\x93NUMPY",
        Disguise("a NumPy file that holds a single array", "", "save features X and labels y with numpy.savez"),
    ),
    (b"$FL2", Disguise("an SPSS file", "", _SAVE)),
    (b"$FL3", Disguise("an SPSS file", "", _SAVE)),
    (b"<stata_dta>", Disguise("a Stata file", "", _SAVE)),
    *(
        (bytes((version, order, 1, 0)), Disguise("a Stata file", "", _SAVE))
        for version in (113, 114, 115)
        for order in (1, 2)
    ),
    (b"ASCII SPSS PORT", Disguise("an SPSS file", "", _SAVE)),
    (b"RDX", Disguise("an R data file", "", "write the table with write.csv")),
    (b"RDA", Disguise("an R data file", "", "write the table with write.csv")),
    (b"X\n\0\0\0", Disguise("an R data file", "", "write the table with write.csv")),
    (b"{\\rtf", Disguise("a text document (RTF)", "", _SAVE)),
    (b"7z\xbc\xaf\x27\x1c", Disguise("a 7z archive", "", "unpack it")),
    (b"Rar!", Disguise("a RAR archive", "", "unpack it")),
    (b"Obj\x01", Disguise("an Avro file", "", _SAVE)),
    (b"ORC", Disguise("an ORC file", "", "save it as Parquet")),
    *(
        (b"\x80" + protocol, Disguise("a pickle, which can run any code when it is opened", "", _SAVE))
        for protocol in (b"\x02", b"\x03", b"\x04\x95", b"\x05\x95")
    ),
    (b"\x04\x22\x4d\x18", Disguise("a file packed by LZ4", "", _PACK)),
    (b"\xff\x06\x00\x00sNaPpY", Disguise("a file packed by Snappy", "", _PACK)),
    (b"\x1f\x9d", Disguise("a file packed by compress", "", _PACK)),
    (b"MATLAB 5.0", Disguise("a MATLAB file", ".mat")),
    (b"HEADER RECORD*******LIB", Disguise("a SAS transport file", "", _SAVE)),
    (bytes(12) + b"\xc2\xea\x81\x60", Disguise("a SAS file", "", _SAVE)),
)
_AS_WORKBOOK = "open it in a spreadsheet program and save it as .xlsx"
_TEXT = (
    (
        re.compile(rb"\s*(?=<)(?!<\?xml|[^\0]*<form\b)[^\0]*?<table\b", re.IGNORECASE),
        Disguise("an HTML page with a table, as programs name .xls", "", _AS_WORKBOOK),
    ),
    (re.compile(rb"MIME-Version: ", re.IGNORECASE), Disguise("a web archive (MHTML)", "", _AS_WORKBOOK)),
    (
        re.compile(rb"\s*<\?xml[^\0]*?(Excel\.Sheet|urn:schemas-microsoft-com:office:spreadsheet)"),
        Disguise("a workbook as XML (Excel 2003)", "", _AS_WORKBOOK),
    ),
    (
        re.compile(rb"%%MatrixMarket ", re.IGNORECASE),
        Disguise(
            "a Matrix Market file, which has no labels",
            "",
            "write it with its labels as LIBSVM: sklearn.datasets.dump_svmlight_file(scipy.io.mmread(FILE).tocsr(), "
            "labels, 'rows.svm')",
        ),
    ),
    (
        re.compile(rb"\s*(<!doctype html|<html|<head|<body|<!--)", re.IGNORECASE),
        Disguise("an HTML page", "", "the server may have sent an error or a login page; download the file again"),
    ),
    (re.compile(rb"\s*<\?xml|\s*(<\w+[^<>]*>\s*){2,}[^<>,;\t]*</"), Disguise("an XML document", "", _SAVE)),
    (
        re.compile(
            rb"\s*((--[^\n]*\n|/\*[^*\n]*\*/;?|(SET|PRAGMA|BEGIN)\b[^;\n]*;)\s*)*"
            rb"(INSERT INTO|CREATE TABLE|DROP TABLE|COPY \S+ ?(\(.*\) )?FROM) ?",
            re.IGNORECASE,
        ),
        Disguise("a file of SQL statements", "", "run it, and export the table to CSV"),
    ),
    (re.compile(rb"\s*\\(begin|documentclass)\{"), Disguise("a LaTeX document", "", _SAVE)),
    (re.compile(rb"\s*\xe2(\x94\x8c|\x95\x94|\x95\xad)"), Disguise("a table drawn with lines", "", "write it as CSV")),
    (
        re.compile(rb'\s*\{\s*"(url|doc_id)"\s*:\s*"https://docs\.google\.com/'),
        Disguise("a link to a Google Sheet, not the table", "", "download the sheet as CSV"),
    ),
    (re.compile(rb"\s*(#.*\n|---\s*\n)*- +[\w\"' ]+: .*\n +[\w\"' ]+: "), Disguise("a YAML document", "", _SAVE)),
    (
        re.compile(rb"version https://git-lfs\.github\.com/spec"),
        Disguise("a Git LFS pointer, not the file itself", "", "`git lfs pull` fetches the file"),
    ),
    (
        re.compile(rb"/annex/objects/|\.?\.?/\.git/annex/"),
        Disguise("a git-annex pointer", "", "`git annex get` fetches it"),
    ),
    (re.compile(rb"\s*@relation\s", re.IGNORECASE), Disguise("an ARFF file", ".arff")),
    (re.compile(rb"\s*https?://\S+\s*\Z"), Disguise("a link, not the file itself", "", "download the file first")),
    (
        re.compile(rb"(.*\n)?\s*\|?[ \t]*:?-{2,}:?[ \t]*(\|[ \t]*:?-{2,}:?[ \t]*)+\|?[ \t]*\r?\n"),
        Disguise("a Markdown table", "", _SAVE),
    ),
)


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
