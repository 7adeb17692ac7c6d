"""Kinds of files, by their extensions and checked by their content."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pucli.core.errors import UsageError
from pucli.data.files.disguises import Disguise, recognised
from pucli.data.files.packing import packing
from pucli.data.files.spool import is_stream
from pucli.data.files.text.json_lines import JSON
from pucli.data.files.text.layout import is_text_table
from pucli.data.files.text.text_files import SUFFIXES
from pucli.data.files.unpacking import PACKED_SUFFIXES, is_packed, member_name, opened
from pucli.data.reading import AS_IT_IS, Reading

LIBSVM = (".libsvm", ".svm", ".svmlight")
SHEETS = (".xlsx", ".xls", ".ods")
FEATHER = (".feather", ".arrow")
PACKABLE = (*SUFFIXES, *JSON, ".arff", *LIBSVM)
BINARY = (*SHEETS, ".parquet", *FEATHER, ".mat", ".npz")
KNOWN = (*PACKABLE, *BINARY)
FORMATS = (
    f"{' '.join(PACKABLE)} (also {' '.join(PACKED_SUFFIXES)}), .xlsx .xls .mat .npz; with pucli[parquet]: .parquet "
    f"{' '.join(FEATHER)} and .zst; with pucli[ods]: .ods"
)
"""Known extensions, for messages."""


def check_applies(how: Reading, files: Collection[Path]) -> None:
    """Raise UsageError for an option that has no effect on any of the files."""
    if not files or how == AS_IT_IS:
        return
    kinds = {Path(member_name(path).lower()).suffix for path in files if not is_stream(path)}
    if len(kinds) < 1 or not kinds <= set(KNOWN):
        return
    shown = next(iter(files))
    if how.sheet and not kinds & set(SHEETS):
        raise UsageError(f"--sheet {how.sheet}: {shown} has no sheets; only {' '.join(SHEETS)} have")
    if how.separator and not kinds & set(SUFFIXES):
        raise UsageError(f"--sep {how.separator}: {shown} is not separated text; leave it out")
    if how.encoding and not kinds & set(PACKABLE):
        raise UsageError(f"--encoding {how.encoding}: {shown} is no text file; leave it out")
    if how.skip_rows and not kinds & {*SUFFIXES, *SHEETS}:
        raise UsageError(f"--skip-rows {how.skip_rows}: {shown} is neither separated text nor a workbook; leave it out")


def check_content(path: Path, kind: str) -> None:
    """Raise UsageError if the content of a file is of another kind than `kind`, the kind that its extension names."""
    with path.open("rb") as stream:
        head = stream.read(4096)
    packed = packing(head)
    found = recognised(head, path)
    if found is None and packed and (packed != "zip" or kind in PACKABLE):
        with opened(path) as stream:
            found = recognised(stream.read(4096))
    alike = {".xls": SHEETS, ".xlsx": SHEETS, ".ods": SHEETS, ".json": JSON, ".jsonl": JSON, ".feather": FEATHER}
    if found is None and packed and kind not in PACKABLE and path.suffix.lower() in PACKED_SUFFIXES:
        raise UsageError(f"{path} is a packed {kind} file, and only text is read packed; unpack it")
    if found is None and not packed and kind in BINARY and is_text_table(path):
        found = Disguise("a text file", ".csv")
    if found is None or kind in alike.get(found.suffix, (found.suffix,)):
        return
    stem = path.name if path.suffix.lower() not in KNOWN else path.stem
    way_out = found.advice or f"name it {stem}{found.suffix}"
    expected = "" if kind in JSON and "JSON" in found.name else f", not {kind.lstrip('.').upper()}"
    raise UsageError(f"{path} is {found.name}{expected}; {way_out}")


def file_kind(path: Path, how: Reading = AS_IT_IS) -> str:
    """Return the extension of a file, without .gz etc.; raise UsageError for an unknown one.

    A file with another extension (adult.test) is recognised by its content, as a text file if its first lines look like
    a table when they are read as `how` says.
    """
    suffix = Path(member_name(path).lower()).suffix
    if suffix in KNOWN:
        return suffix
    if path.is_file():
        with path.open("rb") as stream:
            found = recognised(stream.read(4096), path)
        if found is None and is_packed(path):
            with opened(path) as stream:
                found = recognised(stream.read(4096))
        if found is not None and found.suffix:
            return found.suffix
        if found is not None:
            raise UsageError(f"{path} is {found.name}; {found.advice}")
        if is_text_table(path, how):
            return ".txt"
    if not path.exists():
        raise FileNotFoundError(path)
    raise UsageError(f"{path}: unknown file type {suffix or path.name!r}; known: {FORMATS}")
