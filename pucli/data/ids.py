"""Identifiers of rows, kept exactly as in the file: integers or text, never floats.

Every reader gives its identifier columns to `with_ids`, and only what comes out of it is written.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.data.columns.cells import TableError, cell_text
from pucli.data.older_pandas import is_older

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 100  # cells that are looked at
_LONG = re.compile(r"\d(\.\d{1,5})?E\+\d{2,}")
_ROUNDED = re.compile(r"[1-9]\d{14,}0")  # a spreadsheet keeps 15 digits of a number
FEWEST = 5  # such numbers in a column of a sheet or of what was saved from one


def with_ids(frame: pd.DataFrame, ids: Collection[str]) -> pd.DataFrame:
    """Return a table whose identifier columns, those of `ids` that it has, are exact."""
    changed = frame
    for position, name in enumerate(frame.columns):
        if str(name) in ids:
            changed = frame.copy(deep=False) if changed is frame else changed
            column = exact(frame.iloc[:, position])
            changed.isetitem(position, column.array)
            if example := _cut(column):
                has = "has" if "E" in example else "may have"
                warnings.warn(
                    f"column {str(name)!r} holds identifiers like {example}, whose last digits a spreadsheet {has} "
                    "cut; save the column as text",
                    stacklevel=2,
                )
    return changed


def _cut(column: pd.Series) -> str:
    """Return the first identifier if all are numbers as a spreadsheet shows or keeps long ones, else "".

    These are 1.23457E+17 and 1234567890123450.
    """
    texts = column.dropna().iloc[:SHOWN].astype(str).tolist()
    if texts and all(_LONG.fullmatch(text) for text in texts):
        return str(texts[0])
    return str(texts[0]) if len(texts) >= FEWEST and all(_ROUNDED.fullmatch(text) for text in texts) else ""


def exact(column: pd.Series) -> pd.Series:
    """Return a column as nullable integers if it has an integer type, otherwise as text.

    8192.0 is the text 8192, a date is in ISO format, and only an empty cell is missing.
    """
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        column = column.astype(dtype.categories.dtype if not column.hasnans else object)
        dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if kind in "iu":
        return column.astype("UInt64" if kind == "u" else "Int64")
    if isinstance(dtype, pd.StringDtype):
        return column.astype("str").mask(column.isna() | (column == ""))
    empty = column.isna().to_numpy()
    texts = [
        None if missing else _text(cell, str(column.name)) or None
        for cell, missing in zip(column.tolist(), empty.tolist(), strict=True)
    ]
    # of objects that are all empty, Arrow would not know that they are text
    written: Any = "string" if is_older() and not any(texts) else "str"
    return pd.Series(texts, index=column.index, name=column.name, dtype=written)


def _text(cell: Any, name: str) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, dict | list | tuple | set | np.ndarray):
        raise TableError(
            f"column {name!r} holds lists or structs; an identifier needs one value in a cell, such as a part of it"
        )
    if isinstance(cell, bytes):
        try:
            return cell.decode()
        except UnicodeDecodeError as error:
            raise TableError(f"column {name!r} holds bytes that are no text; write them as text") from error
    if isinstance(cell, int | np.integer | bool | np.bool_):
        return str(cell)
    if isinstance(cell, float | np.floating):
        return cell_text(cell)
    return str(cell)
