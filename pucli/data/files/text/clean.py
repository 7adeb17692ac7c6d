"""Clean files of comma-separated text, which the library's reader reads as they are.

Clean is a file of UTF-8 whose first line names the columns, and each of whose other lines has as many cells without
quotes and without blanks in front of them. Whatever else a file has is read record by record (`checked_records`).
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pucli.data.columns.cells import EMPTY, is_number
from pucli.data.columns.doubtful_rows import UsualLines, lines_below
from pucli.data.columns.doubts import na_among_codes, padded_cell
from pucli.data.files.disguises import recognized
from pucli.data.files.readers import NA, NULL, read_csv
from pucli.data.files.table import ReadRequest, Table
from pucli.data.files.table_size import MOST_COLUMNS, cells_of_text, check_fits
from pucli.data.files.text.body import TAIL, has_footer
from pucli.data.reading import AS_IT_IS

SUFFIXES = (".csv", ".txt", ".data", ".dat")
HEAD = 2**16  # bytes that tell doubtful cells
_OTHER = re.compile(rb'[\0-\x08\x0b-\x1f"]|, |\n |\n#')  # quotes, control characters, blanks before cells, comments
_NO_CELLS = re.compile(rb"\n[-= ,]*\n")  # lines without cells, and rules
_NAME = re.compile(r"[A-Za-z_][^\0-\x1f;|#\"]*(?<! )")
_WHOLE = re.compile(r"0|-?[1-9]\d{0,14}")
_PADDED = re.compile(r"(?<![\d.])(?:0\d|\d+[eE]\d)|\.\d0|NA")  # what `doubtful_texts` looks for


class Unclean(Exception):
    """The file needs the careful reader."""


class CleanLines:
    """Lines of a file below its header, each block of which is checked to be clean."""

    def __init__(self, stream: Any, names: list[bytes]) -> None:
        self._stream, self._rest, self._names = stream, b"", sorted(names)
        self._longest, self._line = max(names, key=len), b"," * (len(names) - 1) + b"\n"

    def read(self, size: int = -1) -> bytes:
        """Return whole lines of at most `size` bytes; raise Unclean if one is not clean."""
        chunk = self._stream.read(size - len(self._rest))
        data = self._rest + (chunk or b"\n" * bool(self._rest))
        end = data.rfind(b"\n") + 1
        block, self._rest = data[:end], data[end:] if chunk else b""
        if not block:
            if chunk:  # a long line
                raise Unclean
            return b""
        cells = np.frombuffer(block, dtype=np.uint8)
        signs = cells.compress((cells == ord(",")) | (cells == ord("\n"))).tobytes()
        if signs != self._line * (len(signs) // len(self._line)):
            raise Unclean
        framed = b"\n" + block
        if _OTHER.search(framed) or _NO_CELLS.search(framed) or b"\xef\xbb\xbf" in block:
            raise Unclean
        if self._longest in block:
            for line in block.split(b"\n"):
                if self._longest in line and sorted(map(bytes.strip, line.split(b","))) == self._names:
                    raise Unclean  # the header again
        return block

    def __iter__(self) -> Iterator[bytes]:
        """Not iterable by line: pandas only checks that the method exists."""
        raise io.UnsupportedOperation("lines")


def read_clean(path: Path, wanted: ReadRequest) -> Table | None:
    """Read a file, which can be read again, at once if it is clean; return None for any other."""
    label, known, as_text, ids, how = wanted.label, wanted.known, wanted.as_text, wanted.ids, wanted.how
    if path.suffix.lower() not in SUFFIXES or replace(how, missing=()) != AS_IT_IS:
        return None
    with path.open("rb") as stream:
        head = stream.read(HEAD + 1)
        lines = head[: head.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")[:-1]
        names = lines[0].split(",") if lines else []
        alike = len(set(names)) == len(names) and all(map(_NAME.fullmatch, names))
        if not alike or len(lines) < 3 or not 1 < len(names) <= MOST_COLUMNS or not lines[0].isascii():
            return None
        if any(map(is_number, [*names, *known])) or (known and names and not set(known) & set(names)):
            return None
        if recognized(head[:4096]) is not None:
            return None
        check_fits(path, cells_of_text(path, "\n".join(lines), ","))
        rows = [line.split(",") for line in lines[1:]]
        stream.seek(max(path.stat().st_size - TAIL, 0))
        tail = stream.read(TAIL).decode("utf-8", "replace")
        if lines_below(names, rows) or has_footer(tail, ",", UsualLines(rows[: len(rows) // 2])):
            return None
        by_column = zip(*rows, strict=False)
        cells = {name: set(map(str.strip, column)) for name, column in zip(names, by_column, strict=False)}
        text = {*as_text, *how.formed, *([] if label is None or is_plain(cells.get(label, ())) else [label])}
        options: dict[str, Any] = {
            "na_values": [NULL],
            "dtype": {name: str for name in names if name in text or name in ids},
        }
        if not set(names).isdisjoint(ids):
            options |= {"keep_default_na": False, "na_values": {name: [""] if name in ids else NA for name in names}}
        stream.seek(len(lines[0]) + 1)
        try:
            frame = read_csv(CleanLines(stream, lines[0].encode().split(b",")), header=None, names=names, **options)
        except Unclean:
            return None
    codes = doubtful_texts("\n".join(lines), cells)
    return Table(frame, lambda row: f"line {row + 2}", how.note, doubtful_texts=codes, clean=True)


def is_plain(cells: Collection[str]) -> bool:
    """Return whether some cells are whole numbers as pandas writes them, or empty."""
    return all(cell in NA or _WHOLE.fullmatch(cell) for cell in cells)


def doubtful_texts(head: str, columns: dict[str, set[str]]) -> dict[str, str]:
    """Return the columns that may be codes, though read as numbers or empty cells, with an example each."""
    if not _PADDED.search(head):
        return {}
    found = {}
    for name, cells in columns.items():
        filled = cells - EMPTY
        if cell := "NA" if "NA" in cells and na_among_codes(filled) else padded_cell(filled):
            found[name] = cell
    return found
