"""The time of each row, from a column of the user's file, for splits by time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pucli.core.arrays import Floats
from pucli.core.errors import UsageError, shell_word
from pucli.data.encode.columns import column_kinds
from pucli.data.frames import dates, numbers

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.files.table import Table


def row_times(frame: pd.DataFrame, name: str, kind: str | None, table: Table) -> Floats:
    """Return the time of each row (n,): days since 1970-01-01 for a column of dates, else its numbers.

    Parameters
    ----------
    frame : DataFrame of n rows
        Table with the column.
    name : str
        The column.
    kind : str or None
        Kind of the column that the user gave with --as.
    table : Table
        The table as it was read, for messages.

    Raises
    ------
    UsageError
        The column holds neither dates nor numbers, or a cell has no time.
    """
    (column,) = column_kinds(frame[[name]], {} if kind is None else {name: kind})
    cells, dated = frame[name], column.kind == "date"
    found = dates(cells, column.written, column.serials)[0] if dated else numbers(cells)[0]
    missing = np.isnan(found)
    if missing.all():
        raise UsageError(
            f"--time {name}: the column holds no dates or numbers; --as {shell_word(name)}=date:%d.%m.%Y names the "
            "form of dates."
        )
    if missing.any():
        raise UsageError(
            f"--time {name}: {int(missing.sum())} of {len(found)} rows have no time, the first at "
            f"{table.place(int(missing.argmax()))}; fill them in or leave these rows out."
        )
    return found
