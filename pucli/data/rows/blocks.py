"""Reading of a file or of stdin in blocks of rows, with constant memory.

In every format, each block but the last has `BLOCK` rows. A model therefore sees the same blocks, and gives the same
bits, for a CSV file, its Parquet copy and a pipe.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from pucli.core.errors import UsageError
from pucli.data.files.decimal_comma import with_decimal_points
from pucli.data.files.formats import Table, file_kind, open_table, reading
from pucli.data.files.text_files import (
    SUFFIXES,
    TextLayout,
    head_text,
    line_of,
    read_head,
    read_text,
    text_head,
    text_layout,
)
from pucli.data.rows.tables import existing_column

BLOCK = 8192
"""Number of rows in a block; a multiple of the block sizes of linear algebra libraries."""

STDIN = Path("-")


def read_blocks(
    path: Path, needed: Sequence[str], *, as_text: Collection[str] = (), rows: int = BLOCK
) -> Iterator[Table]:
    """Read some columns of a file in blocks of rows.

    Parameters
    ----------
    path : Path
        Text files and Parquet are streamed; other formats are read at once. "-" is stdin, as text or Parquet.
    needed : sequence of str
        The columns to read.
    as_text : collection of str
        Columns of a text file whose cells are kept as text.
    rows : int

    Yields
    ------
    table : Table
        A block. Its `place` takes the position of a row in the whole file.

    Raises
    ------
    UsageError
        The file or a column is missing, or the content does not match the file extension.
    """
    found = False
    for table in _blocks(path, needed, as_text, rows):
        found |= len(table.frame) > 0
        yield table
    if not found:
        raise UsageError(f"{'stdin' if path == STDIN else path} has no data rows")


def _blocks(path: Path, needed: Sequence[str], as_text: Collection[str], rows: int) -> Iterator[Table]:
    if path == STDIN:
        yield from _from_stdin(needed, as_text, rows)
        return
    with reading(path):
        kind = file_kind(path)
        if kind in SUFFIXES:
            layout = text_layout(path, text_head(path), needed)
            yield from _text_blocks(path, layout, None, needed, as_text, rows)
        elif kind == ".parquet":
            yield from _parquet_blocks(path, path, needed, rows)
        else:
            table = open_table(path, None, known=needed, as_text=as_text, as_number=needed)
            _check(path, table, needed)
            for start in range(0, len(table.frame), rows):
                yield table._replace(frame=table.frame.iloc[start : start + rows])


def _from_stdin(needed: Sequence[str], as_text: Collection[str], rows: int) -> Iterator[Table]:
    path, stream = Path("stdin"), sys.stdin.buffer
    with reading(path):
        head = read_head(stream)
        if head[:4] == b"PAR1":
            yield from _parquet_blocks(path, io.BytesIO(head + stream.read()), needed, rows)
            return
        layout = text_layout(path, head_text(head), needed)
        source = io.BufferedReader(_Rejoined(head, stream))
        yield from _text_blocks(path, layout, source, needed, as_text, rows)


def _text_blocks(
    path: Path,
    layout: TextLayout,
    source: IO[bytes] | None,
    needed: Sequence[str],
    as_text: Collection[str],
    rows: int,
) -> Iterator[Table]:
    import pandas as pd

    def place(row: int) -> str:
        return f"line {line_of(path, layout, row)}" if source is None else f"row {row + 1}"

    _check(path, Table(pd.DataFrame(columns=layout.names), place, layout.naming), needed)
    for frame in read_text(path, layout, source=source, as_text=as_text, rows=rows):
        block = frame[list(needed)].copy()
        if layout.separator != ",":
            with_decimal_points(block, as_text, needed)
        yield Table(block, place, layout.naming)


def _parquet_blocks(path: Path, source: Any, needed: Sequence[str], rows: int) -> Iterator[Table]:
    import pandas as pd
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(source, buffer_size=2**20, pre_buffer=False) as file:
        table = Table(pd.DataFrame(columns=file.schema_arrow.names), lambda row: f"row {row + 1}")
        _check(path, table, needed)
        kept: list[pd.DataFrame] = []
        for batch in file.iter_batches(batch_size=rows, columns=list(needed)):
            kept.append(batch.to_pandas())
            while sum(map(len, kept)) >= rows:
                whole = kept[0] if len(kept) == 1 else pd.concat(kept, ignore_index=True)
                yield table._replace(frame=whole.iloc[:rows])
                kept = [whole.iloc[rows:]]
        if sum(map(len, kept)):
            yield table._replace(frame=pd.concat(kept, ignore_index=True))


def _check(path: Path, table: Table, needed: Sequence[str]) -> None:
    for name in needed:
        existing_column(path, table, name)


class _Rejoined(io.RawIOBase):
    """Stream whose beginning has already been read."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)
