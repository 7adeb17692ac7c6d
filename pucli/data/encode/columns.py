"""The kinds of columns of a table: number, category, yes/no, date, text, identifier, constant.

The kind is inferred from the cells of the training rows alone, by the rules in `kinds`, or given by the user.
Labels are not read (`pucli.data.encode.label_leakage` does).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pucli.core.errors import UsageError, unknown
from pucli.data.encode.kinds.column import KINDS, CodedCells, Column
from pucli.data.encode.kinds.date_columns import declared_date_column, with_day_numbers
from pucli.data.encode.kinds.doubtful_cells import doubtful_dates
from pucli.data.encode.kinds.number_columns import SECONDS, declared_number_column, number_column, too_long_integers
from pucli.data.encode.kinds.text_columns import text_column
from pucli.data.frames import DATE_FORMATS, TableError, numbers, parsed_days, parsed_numbers
from pucli.data.labels import NO, YES

if TYPE_CHECKING:
    import pandas as pd


def column_kinds(frame: pd.DataFrame, kinds: Mapping[str, str] | None = None, decimal: str = "") -> list[Column]:
    """Infer the kind of each column of a table.

    Parameters
    ----------
    frame : pandas.DataFrame
        Table whose column names are strings.
    kinds : mapping of column name to kind, optional
        Kinds given by the user, which are only checked against the cells; "date:%d/%m/%Y" names the format as well.
    decimal : str
        Decimal sign of the numbers in text columns, "" to infer it.

    Returns
    -------
    columns : list of Column
        In the order of the table.

    Raises
    ------
    TableError
        A name or kind in `kinds` does not exist, or no cell of a column has the given kind.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 47, 52], "job": ["cook", "nurse", "pilot"], "member": ["yes", "no", "no"]})
    >>> [column.kind for column in column_kinds(table)]
    ['number', 'category', 'yes/no']
    """
    kinds = dict(kinds or {})
    for name, kind in kinds.items():
        if name not in frame.columns:
            raise unknown("column", name, frame.columns)
        if kind.partition(":")[0] not in KINDS:
            raise unknown("kind of column", kind, KINDS)
        if ":" in kind:
            _check_format(name, kind)
    found = []
    for name in frame.columns:
        column = frame[name]
        one = _given(column, kinds[name], decimal) if name in kinds else _inferred(column, decimal)
        found.append(replace(one, n_filled=int(column.notna().sum())))
    return found


def _check_format(name: str, kind: str) -> None:
    """Raise UsageError unless the part after the colon is a format of dates."""
    first, _, written = kind.partition(":")
    if first != "date" or not re.search(r"%[YyGsc]", written):
        example = f"{name}=date:%d/%m/%Y"
        raise UsageError(
            f"--as {name}={kind}: only dates take a format, with %d for the day, %m and %Y, e.g. {example}"
        )


def _inferred(column: pd.Series, decimal: str = "") -> Column:
    """Infer the kind of a column from its type or its texts."""
    import pandas as pd

    name, dtype = str(column.name), column.dtype
    if getattr(dtype, "kind", "O") == "c":
        raise TableError(f"column {name!r} holds complex numbers (Complex data not supported); use two columns")
    if isinstance(dtype, pd.CategoricalDtype):
        column = column.astype(dtype.categories.dtype if dtype.categories.dtype.kind not in "iub" else object)
        return text_column(column, decimal) if len(column) else Column(name, "constant")
    if getattr(dtype, "kind", "O") in "iufbm":
        values = numbers(column)[0]
        if dtype.kind in "iu" and (long := too_long_integers(name, values, column.nunique)):
            return long
        found = number_column(name, values, truth=dtype.kind == "b", remark=SECONDS if dtype.kind == "m" else "")
        return with_day_numbers(found, values)
    if getattr(dtype, "kind", "O") == "M":
        n_empty = int(column.isna().sum())
        alike = column.nunique() < 2
        warning = "" if alike else doubtful_dates(parsed_days(column))
        return Column(name, "constant" if alike else "date", n_empty, written=DATE_FORMATS[0], warning=warning)
    return text_column(column, decimal)


def _given(column: pd.Series, kind: str, decimal: str = "") -> Column:
    """Describe a column whose kind the user gave."""
    name = str(column.name)
    kind, _, written = kind.partition(":")
    if kind == "number":
        return declared_number_column(column, decimal)
    if kind == "date" and getattr(column.dtype, "kind", "O") == "M":
        return Column(name, kind, int(column.isna().sum()), written=DATE_FORMATS[0])
    cells = CodedCells.of(column)
    if kind == "date":
        return declared_date_column(cells, written)
    if kind == "yes/no" and len(cells.texts) > 2:
        raise TableError(f"column {name!r} is declared as yes/no, but has {len(cells.texts)} values; use category")
    return Column(name, kind, cells.n_empty, cells.frequent, len(cells.texts))


def yes_value(values: Sequence[str]) -> str:
    """Return which of one or two texts means yes: a word for yes, otherwise the last in sorted order."""
    yes = [value for value in values if value.casefold() in YES]
    if len(yes) == 1:
        return yes[0]
    denied = [value for value in values if value.casefold() not in NO]
    if len(denied) == 1:
        return denied[0]
    as_number = parsed_numbers(values)
    return values[int(as_number.argmax())] if not np.isnan(as_number).any() else max(values)
