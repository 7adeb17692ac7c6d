"""A stray quote in a text file: it swallows line ends, so that rows go missing while every row still has its fields."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pucli.core.errors import UsageError
from pucli.data.files.unpacking import plain_text

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.files.text.text_files import TextLayout


def check_quotes(path: Path, layout: TextLayout, frame: pd.DataFrame) -> None:
    """Raise UsageError, naming the line, if a cell of `frame` has a line end that a stray quote swallowed.

    The file is read again only if there is a cell with a line end, which a quote that is closed before a separator
    may well have.
    """
    if any(_has_line_end(frame.iloc[:, place]) for place in range(frame.shape[1])):
        refuse_stray_quote(path, layout)


def refuse_stray_quote(path: Path, layout: TextLayout) -> None:
    """Raise UsageError if a quote of the file is not closed before a separator or the end of a line."""
    line = _stray_quote(path, layout)
    if line:
        raise UsageError(
            f"{path}: the quote that opens in line {line} is not closed in that line, and the lines after it would be "
            'read as one cell; close it, or double a quote that belongs to a text ("")'
        )


def _has_line_end(column: pd.Series) -> bool:
    if column.dtype.kind != "O":
        return False
    return any(isinstance(cell, str) and "\n" in cell for cell in column.unique().tolist())


def _stray_quote(path: Path, layout: TextLayout) -> int:
    """Return the first line of a record over several lines whose quotes do not fit the separators, 0 if none has."""
    csv.field_size_limit(sys.maxsize)
    with plain_text(path, layout.reading) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig")
        reader = csv.reader(lines, delimiter=layout.separator, skipinitialspace=True, strict=True)
        while True:
            begin = reader.line_num + 1
            try:
                next(reader)
            except StopIteration:
                return 0
            except csv.Error:
                if reader.line_num > begin:
                    return begin + layout.reading.skip_rows
