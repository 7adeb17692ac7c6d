"""Reading of a file or of stdin in blocks of rows, with constant memory.

In every format, each block but the last has `BLOCK` rows. A model therefore sees the same blocks, and gives the same
bits, for a CSV file, its Parquet copy and a pipe.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.data.columns.doubtful_rows import totals, words_among_numbers
from pucli.data.files.disguises import check_is_text, packing, recognized
from pucli.data.files.packed import buffered, plain_stream
from pucli.data.files.spool import STDIN, is_stream, reread, shown
from pucli.data.files.table import Table
from pucli.data.files.tables import (
    check_content,
    file_kind,
    open_table,
    partition_of,
    reader_of,
    reading,
    with_partition,
)
from pucli.data.files.text.layout import head_text, read_head, text_layout
from pucli.data.files.text.records import note
from pucli.data.files.text.text_files import SUFFIXES, text_blocks
from pucli.data.reading import AS_IT_IS, Reading, without_missing
from pucli.data.rows.tables import check_model_columns, existing_column

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 8192
"""Number of rows in a block; a multiple of the block sizes of linear algebra libraries."""


def read_blocks(
    path: Path | Sequence[Path],
    needed: Sequence[str],
    *,
    as_text: Collection[str] = (),
    rows: int = BLOCK,
    how: Reading = AS_IT_IS,
    keep: Collection[str] = (),
    optional: Collection[str] = (),
) -> Iterator[Table]:
    """Read some columns of a file in blocks of rows."""
    files = [path] if isinstance(path, Path) else list(path)
    columns = BlockColumns(tuple(needed), frozenset(as_text), frozenset(keep), frozenset(optional))
    start = 0
    for file in files:
        n_rows, empty, first = 0, 0, ""
        for table in _blocks(file, columns, rows, how):
            frame = columns.completed(without_missing(table.frame, how.missing, keep))
            without = columns.empty_rows(frame)
            if without.any():
                first = first or table.place(n_rows + int(without.argmax()))
                empty += int(without.sum())
            n_rows += len(frame)
            yield table._replace(
                frame=frame, place=_location_in(table.place, file, start) if len(files) > 1 else table.place
            )
        if empty and n_rows > empty:
            rows_are = "1 row has" if empty == 1 else f"{empty} rows have"
            text = f"{rows_are} no cell in any column of the model (first in {first}); remove what is of another table"
            note(f"{shown(file)}: {text}")
        start += n_rows


class BlockColumns(NamedTuple):
    """The columns to read: those kept as text, those of identifiers, and those that a file may lack."""

    needed: tuple[str, ...]
    as_text: frozenset[str]
    ids: frozenset[str]
    optional: frozenset[str]

    @property
    def required(self) -> list[str]:
        """Return the columns that a file must have."""
        return [name for name in self.needed if name not in self.optional]

    def of(self, path: Path, table: Table) -> list[str]:
        """Return the columns that a table has; raise MissingColumn if it lacks a required one."""
        there = set(map(str, table.frame.columns))
        check_model_columns(path, table, [name for name in self.required if name not in self.ids])
        return [
            existing_column(path, table, name) for name in self.needed if name in there or name not in self.optional
        ]

    def empty_rows(self, frame: pd.DataFrame) -> Any:
        """Return which rows (n,) of a block have no cell in any required column that is no identifier."""
        names = [name for name in self.required if name not in self.ids]
        found = np.full(len(frame), len(names) > 1)
        for name in names:
            if not found.any():  # as nearly always after the first column
                break
            found &= frame[name].isna().to_numpy()
        return found

    def completed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a block with the optional columns that it lacks, empty."""
        import pandas as pd

        lacking = [name for name in self.needed if name in self.optional and name not in frame.columns]
        empty = {name: pd.Series(None, frame.index, dtype="str") for name in lacking}
        return frame.assign(**empty) if lacking else frame


def _location_in(place: Callable[[int], str], file: Path, start: int) -> Callable[[int], str]:
    """Return the place of a row of several files, of which those before `file` have `start` rows."""
    return lambda row: f"{place(row - start)} of {file}"


def _blocks(path: Path, columns: BlockColumns, rows: int, how: Reading) -> Iterator[Table]:
    if is_stream(path):
        yield from _from_stream(path, columns, rows, how)
        return
    with reading(path):
        kind = file_kind(path, how)
        check_content(path, kind)
        blocks = reader_of(kind).blocks
        if blocks is not None and partition_of(path).keys().isdisjoint(columns.needed):
            yield from _noted(path, blocks(path, columns, rows, how))
        else:
            known, options = columns.required, {"as_text": columns.as_text, "keep": columns.ids, "how": how}
            table = open_table(path, None, known=known, as_number=known, **options)  # type: ignore[arg-type]
            table = table._replace(frame=with_partition(path, table.frame))
            columns.of(path, table)
            for start in range(0, max(len(table.frame), 1), rows):
                yield table._replace(frame=table.frame.iloc[start : start + rows])


def _from_stream(path: Path, columns: BlockColumns, rows: int, how: Reading) -> Iterator[Table]:
    """Read a stream: text as it comes, other formats from a copy."""
    name = Path(shown(path))
    with reading(path), nullcontext(sys.stdin.buffer) if path == STDIN else path.open("rb") as opened:
        stream = buffered(opened)
        start = stream.peek(4096)
        found = recognized(start)
        if packing(start) == "zip" or (found is not None and found.suffix) or f".{how.format}" not in (".", *SUFFIXES):
            with reread(path, stream) as file:
                yield from _blocks(file, columns, rows, how)
            return
        with plain_stream(stream, name, how) as text:
            head = read_head(text, name)
            check_is_text(head, name)
            layout = text_layout(name, head_text(head), columns.required, how)
            source = io.BufferedReader(_Rejoined(head, text))
            yield from _noted(name, text_blocks(name, layout, source, columns, rows))


def _noted(path: Path, tables: Iterator[Table]) -> Iterator[Table]:
    """Yield blocks, and tell the user which of their rows seem not to be data."""
    start, found = 0, {words_among_numbers: "", totals: ""}
    kinds: list[Any] = []
    for table in tables:
        here = table.frame.dtypes.tolist()
        for of, text in found.items():
            if not text and (of is totals or here != kinds):  # a column of numbers with a word is of another type
                found[of] = of(table.frame, table.place, start)
                _warn(path, found[of])
        kinds = here
        start += len(table.frame)
        yield table


def _warn(path: Path, text: str) -> None:
    if text:
        note(f"{path}: {text}")


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
