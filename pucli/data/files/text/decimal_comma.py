"""Numbers with a decimal comma, as spreadsheets write them in most of Europe, in files not separated by commas."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from pucli.data.columns.cells import EMPTY
from pucli.data.columns.number_forms import formed_numbers, is_decorated

if TYPE_CHECKING:
    import pandas as pd

NOTE = "written with decimal commas (12,5 is 12.5)"

_WITH_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")


def has_decimal_comma(cell: str) -> bool:
    """Return whether a cell is a number with a decimal comma."""
    return _WITH_COMMA.fullmatch(cell.strip()) is not None


def with_decimal_points(
    frame: pd.DataFrame, as_text: Collection[str] = (), as_number: Collection[str] = ()
) -> frozenset[str]:
    """Read the columns of a table whose numbers have a decimal comma."""
    found = set()
    for position, name in enumerate(frame.columns):
        if str(name) in as_text or frame.dtypes.iloc[position].kind != "O":
            continue
        read = _read(frame.iloc[:, position], single=str(name) in as_number)
        if read is not None:
            frame.isetitem(position, read.to_numpy())
            found.add(str(name))
    return frozenset(found)


def _read(column: pd.Series, *, single: bool) -> pd.Series | None:
    """Return the column with its decimal commas read, or None if it has none, or cells of another form."""
    import pandas as pd

    codes, distinct = pd.factorize(column)
    texts = [str(cell).strip() for cell in distinct.tolist()]
    read = formed_numbers(texts, ",") if single else np.full(len(texts), np.nan)
    commas = [_WITH_COMMA.fullmatch(text) is not None for text in texts]
    numeric = [
        comma or text in EMPTY or bool(_WHOLE.fullmatch(text)) for comma, text in zip(commas, texts, strict=True)
    ]
    if not any(commas) or not (single or all(numeric)):
        return None
    other = [text for text, known, value in zip(texts, numeric, read, strict=True) if not known and value != value]
    if is_decorated(other).any():
        return None  # a unit or another decimal sign: `pucli.data.columns.number_forms` decides by the whole column
    values = np.empty(len(texts) + 1, dtype=object)  # the last entry is for empty cells, whose code is -1
    values[-1] = np.nan
    for place, (text, known) in enumerate(zip(texts, numeric, strict=True)):
        number = float(text.replace(",", ".")) if known and text not in EMPTY else float(read[place])
        values[place] = np.nan if text in EMPTY else text if np.isnan(number) else number
    return pd.Series(values[codes], index=column.index, name=column.name).infer_objects()
