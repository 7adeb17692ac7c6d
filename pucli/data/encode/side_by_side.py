"""Two tables side by side in one sheet or text file, with wholly empty columns between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

LEAST = 2  # columns of each table, and rows by which one is longer; in one table, a few last cells may be empty


class Part(NamedTuple):
    """Columns that stand side by side without an empty one between them.

    names : sequence of str
        Names of the columns.
    first, last : str
        Their place for messages: the letters of a sheet, or the names.
    """

    names: Sequence[str]
    first: str
    last: str


def parts_of(names: Sequence[str], places: Sequence[int], shown: Sequence[str]) -> list[Part]:
    """Return the parts into which wholly empty columns divide a table.

    Parameters
    ----------
    names : sequence of str
        Names of the columns that are read.
    places : sequence of int
        Position of each in the file.
    shown : sequence of str
        What messages call each.
    """
    cuts = [0, *(np.flatnonzero(np.diff(places) > 1) + 1).tolist(), len(names)]
    return [Part(names[start:stop], shown[start], shown[stop - 1]) for start, stop in pairwise(cuts) if start < stop]


def side_by_side(where: str, frame: pd.DataFrame, parts: Sequence[Part]) -> str:
    """Return a note if empty columns divide a table, else ""; refuse two tables, of which one ends before the other.

    Parameters
    ----------
    where : str
        The file, and its sheet, for messages.
    frame : pandas.DataFrame
        The table.
    parts : sequence of Part
        The parts of the table.

    Raises
    ------
    UsageError
        Two parts of several columns are filled down to different rows.
    """
    if len(parts) < 2:
        return ""
    lengths = [_filled_rows(frame, part) for part in parts]
    ranges = [f"{part.first} to {part.last}" if len(part.names) > 1 else part.first for part in parts]
    tables = [n for n, part in zip(lengths, parts, strict=True) if n and len(part.names) >= LEAST]
    if tables and max(tables) - min(tables) >= LEAST:
        counted = " and ".join(f"{text} ({n or 'some of the'} rows)" for text, n in zip(ranges, lengths, strict=True))
        raise UsageError(
            f"{where}: tables stand side by side with empty columns between them: columns {counted}; save one of them "
            "as a file of its own, or delete the empty columns if they are one table"
        )
    return (
        f"{where}: empty columns without a name divide the table: columns {' and '.join(ranges)}; they are read as one "
        "table, so save them as files of their own if they are not"
    )


def _filled_rows(frame: pd.DataFrame, part: Part) -> int:
    """Return the number of rows down to which some cell of each row is filled, 0 if there are filled rows below."""
    filled = np.zeros(len(frame), dtype=bool)
    for name in part.names:
        filled |= frame[name].notna().to_numpy()
    n = int(filled.sum())
    return n if filled[:n].all() else 0
