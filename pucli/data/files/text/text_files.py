"""Rows of text tables, parsed at once or in blocks, so that a file needs the memory of its table or of one block."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pucli.data.files.packed import plain_text
from pucli.data.files.readers import NA, NULL, read_csv
from pucli.data.files.table import Table
from pucli.data.files.text.body import TextBody
from pucli.data.files.text.checked_records import CheckedRecords
from pucli.data.files.text.decimal_comma import with_decimal_points
from pucli.data.files.text.layout import TextLayout
from pucli.data.files.text.records import note, split_records, text_records
from pucli.data.ids import with_ids

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".txt", ".data", ".dat")


def read_text(
    path: Path,
    layout: TextLayout,
    *,
    source: IO[bytes] | None = None,
    as_text: Collection[str] = (),
    ids: Collection[str] = (),
    columns: Sequence[str] | None = None,
    rows: int | None = None,
) -> Iterator[pd.DataFrame]:
    """Read the rows of a text file."""
    import pandas as pd

    if source is None:
        with plain_text(path, layout.reading) as text:
            yield from read_text(path, layout, source=text, as_text=as_text, ids=ids, columns=columns, rows=rows)
        return
    names = list(layout.names if columns is None else columns)
    all_text = layout.reading.decimal == ","  # 1.234 is 1234, which is decided later
    options: dict[str, Any] = {
        "na_values": [NULL],
        "dtype": {name: str for name in names if all_text or name in as_text or name in ids},
    }
    if any(name in ids for name in names):
        options |= {"keep_default_na": False, "na_values": {name: [""] if name in ids else NA for name in names}}
    positions = [position for position, name in enumerate(layout.names) if name in ids]
    body: Any = TextBody(source, path, layout)
    records = CheckedRecords(body, path, layout.shape, layout.reading.skip_rows, positions)
    try:
        found: Any = read_csv(
            records,
            sep=r"\s+" if layout.separator == " " else layout.separator,
            header=None,
            names=layout.names,
            usecols=None if columns is None else list(dict.fromkeys(columns)),
            encoding="utf-8",
            escapechar=layout.shape.escape or None,
            quoting=csv.QUOTE_MINIMAL if layout.shape.quotes else csv.QUOTE_NONE,
            skip_blank_lines=len(layout.names) > 1,
            chunksize=rows,
            **options,
        )
        with nullcontext([found]) if rows is None else found as blocks:
            yield from (_unpadded(block, ids) if layout.shape.padded else block for block in blocks)
    except pd.errors.EmptyDataError:
        yield pd.DataFrame(columns=names, dtype=object)
    for skipped in [*records.notes(), *body.notes()]:
        note(skipped)


def _unpadded(block: pd.DataFrame, ids: Collection[str]) -> pd.DataFrame:
    """Return rows of a printed table whose identifiers have no blanks behind them."""
    cut = {name: block[name].str.rstrip(" ") for name in block.columns if name in ids}
    return block.assign(**{name: cells.mask(cells == "") for name, cells in cut.items()})


def head_cells(head: str, layout: TextLayout) -> dict[str, set[str]]:
    """Return the different cells of each column in the first lines of a file."""
    shape = layout.shape
    head = head.replace("\r", "\n") if shape.returns else head
    records = [
        record.fields
        for record in text_records(head, shape.separator, escape=shape.escape, quotes=shape.quotes)
        if record.line >= shape.first_line
    ]
    return {
        name: {record[place].strip() for record in records if len(record) > place}
        for place, name in enumerate(layout.names)
    }


def line_of(path: Path, layout: TextLayout, row: int) -> int:
    """Return the number of the line, from 1, on which a data row begins."""
    shape = layout.shape
    with plain_text(path, layout.reading) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline=None if shape.returns else "\n")
        found = (
            record.line
            for record in split_records(lines, shape.separator, escape=shape.escape, quotes=shape.quotes)
            if record.line >= shape.first_line and shape.is_row(record)
        )
        return next(islice(found, row, None), row + shape.first_line) + layout.reading.skip_rows


def text_blocks(path: Path, layout: TextLayout, source: IO[bytes] | None, columns: Any, rows: int) -> Iterator[Table]:
    """Yield some columns of a text file as blocks of rows."""
    import pandas as pd

    as_text = {*columns.as_text, *layout.reading.formed}

    def place(row: int) -> str:
        return f"line {line_of(path, layout, row)}" if source is None else f"row {row + 1}"

    names = columns.of(path, Table(pd.DataFrame(columns=layout.names), place, layout.naming, reading=layout.reading))
    for frame in read_text(path, layout, source=source, as_text=as_text, ids=columns.ids, columns=names, rows=rows):
        block = with_ids(frame[names].copy(), columns.ids)
        if layout.separator != "," and not layout.reading.decimal:
            with_decimal_points(block, as_text, names)
        yield Table(block, place, layout.naming)
