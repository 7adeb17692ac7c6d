"""The lines of a text file without those after the last row: totals, remarks, a second table.

The last lines are held back until the file ends, so that a stream is read like a file.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import IO

from pucli.data.columns.doubtful_rows import UsualLines, after_last, footer
from pucli.data.files.text.layout import TextLayout
from pucli.data.files.text.records import Record, RecordShape, split_records

TAIL = 2**14  # bytes of the last lines
MOST_HELD = 2**22
_CHUNK = 2**18


class TextBody:
    """Stream of a text file up to its last row.

    Parameters
    ----------
    source : binary stream
        The whole file as UTF-8.
    path : Path
        Name for messages.
    layout : TextLayout
        Layout of the file, with the option of how many lines to leave out.
    """

    def __init__(self, source: IO[bytes], path: Path, layout: TextLayout) -> None:
        self._source, self._path, self._layout = source, path, layout
        self._least = (layout.reading.skip_footer or 0) + 1  # lines to hold back
        self._held, self._ready, self._ended = b"", b"", layout.reading.skip_footer == 0
        self._line, self._quotes = 1 + layout.reading.skip_rows, 0  # before the lines that are held back
        self._notes: list[str] = []

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; b"" at the end."""
        while not self._ready and not self._ended:
            self._ready = self._next()
        ready, self._ready = self._ready[:size], self._ready[size:]
        return ready or (self._source.read(size) if self._ended else b"")

    def _next(self) -> bytes:
        """Return further bytes before the lines that are held back, maybe none yet."""
        chunk = self._source.read(_CHUNK)
        if not chunk:
            self._ended = True
            return self._without_footer()
        self._held += chunk.replace(b"\r", b"\n") if self._layout.shape.returns else chunk
        size, cut = TAIL, 1
        while cut and (size == TAIL or sum(map(bool, map(bytes.strip, self._held[cut:].split(b"\n")))) < self._least):
            cut = self._held.rfind(b"\n", 0, max(len(self._held) - size, 0)) + 1
            size *= 2
        if len(self._held) > MOST_HELD:  # a line that may never end, which `CheckedRecords` refuses
            cut = max(cut, len(self._held) - TAIL)
        ready, self._held = self._held[:cut], self._held[cut:]
        self._line += ready.count(b"\n")
        self._quotes += ready.count(b'"') if self._layout.shape.quotes else 0
        return ready

    def notes(self) -> list[str]:
        """Return which lines were left out, once all are read."""
        return self._notes

    def _without_footer(self) -> bytes:
        """Return the lines that were held back, up to the last row."""
        lines = self._held.split(b"\n")
        first = 0  # that does not lie within a quoted cell
        while self._quotes % 2 and first < len(lines):
            self._quotes += lines[first].count(b'"')
            first += 1
        shape, reading = self._layout.shape, self._layout.reading
        below = shape.first_line + reading.skip_rows
        first = max(first, below - self._line)
        text = b"\n".join(lines[first:]).decode(errors="replace")
        records = last_records(text, shape)
        if reading.skip_footer:
            filled = [place for place, record in enumerate(records) if not record.blank]
            start = filled[-min(reading.skip_footer, len(filled))] if filled else 0
        else:
            start = footer([record.fields for record in records], self._layout.usual, complete=self._line <= below)
        while 0 < start < len(records) and records[start - 1].blank:
            start -= 1
        left = [record for record in records[start:] if not record.blank]
        if not left or _is_of_another_file(left[0], shape):
            return self._held
        if not reading.skip_footer:
            numbers = [self._line + first + record.line - 1 for record in left]
            self._notes.append(f"{self._path}: {after_last(numbers, [record.fields for record in left])}")
        return b"\n".join([*lines[: first + records[start].line - 1], b""])


def _is_of_another_file(record: Record, shape: RecordShape) -> bool:
    """Return whether another separator splits a record into as many fields as there are columns, as in joined files."""
    text = record.fields[0]
    return len(record.fields) == 1 and any(
        text.count(sign) - text.count(sign + " ") == shape.n_fields - 1 > 1 for sign in ",;\t|"
    )


def last_records(text: str, shape: RecordShape) -> list[Record]:
    """Return the records of the last lines of a text; none if they cannot be read."""
    lines = io.StringIO(text, newline="\n")
    try:
        return list(split_records(lines, shape.separator, escape=shape.escape, quotes=shape.quotes))
    except csv.Error:
        return []


def has_footer(text: str, separator: str, usual: UsualLines) -> bool:
    """Return whether lines after the last row are no rows, by the last lines of a file without quotes."""
    lines = [line.split(separator) for line in text.split("\n")[1:]]
    return footer(lines, usual) < len(lines)
