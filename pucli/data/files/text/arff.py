"""ARFF, Weka's text format: attribute declarations, then comma-separated rows with quotes and `?` for missing values.

SciPy's reader fails on string attributes and does not report the line of a faulty row. Sparse rows and relational
attributes are not supported.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pucli.data.columns.cells import to_numbers
from pucli.data.files.packed import plain_text
from pucli.data.files.table_size import check_columns

if TYPE_CHECKING:
    import pandas as pd

# no part of a field can be matched in two ways, so that the time does not grow with the square of a run of blanks
_TOKEN = re.compile(r"""\s*(?:('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*(?=,|$)|([^,]*))(?:,|$)""")
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)""", re.IGNORECASE)


def read_arff(path: Path) -> tuple[pd.DataFrame, list[int]]:  # noqa: C901
    """Return the table and, for each of its rows, the line of the file (from 1).

    Numeric attributes become float64 if every cell is a number; other attributes stay text; `?` is missing.
    """
    import pandas as pd

    names: list[str] = []
    kinds: list[str] = []
    rows: list[list[str | None]] = []
    lines: list[int] = []
    in_data = False
    with plain_text(path) as text, io.TextIOWrapper(text, encoding="utf-8-sig") as stream:
        for number, raw in enumerate(stream, start=1):
            line = raw.strip()
            if not line or line.startswith("%"):
                continue
            if in_data:
                if line.startswith("{"):
                    raise ValueError(f"line {number}: sparse ARFF rows are not supported; save the file in dense form")
                row = split_row(line)
                if len(row) != len(names):
                    fields = f"{len(row)} field{'s' * (len(row) != 1)}"
                    raise ValueError(f"line {number} has {fields}, but {len(names)} attributes are declared")
                rows.append(row)
                lines.append(number)
            elif line.lower().startswith("@attribute"):
                found = _ATTRIBUTE.match(line)
                if found is None:
                    raise ValueError(f"line {number}: cannot read the attribute {line!r}")
                names.append(_unquote(found[1]))
                kinds.append(found[2].strip().lower())
            elif line.lower().startswith("@data"):
                in_data = True
            elif not line.lower().startswith("@relation"):
                raise ValueError(f"line {number}: expected @relation, @attribute or @data, found {line[:40]!r}")
    if not in_data:
        raise ValueError("no @data line; this is not an ARFF file")
    check_columns(names)
    frame = pd.DataFrame(rows, columns=names, dtype=object)
    for name, kind in zip(names, kinds, strict=True):
        if kind.split()[0] in {"numeric", "real", "integer"}:
            numbers = to_numbers(frame[name])
            if (numbers.notna() | frame[name].isna()).all():
                frame[name] = numbers
    return frame, lines


def split_row(line: str) -> list[str | None]:
    """Return the fields of an ARFF row without quotes, with None for a missing value."""
    fields: list[str | None] = []
    position = 0
    while position <= len(line):
        found = _TOKEN.match(line, position)
        if found is None:
            raise ValueError(f"cannot read the fields of {line[:60]!r}")
        field = found[1] if found[1] is not None else found[2].strip()
        fields.append(None if field == "?" else _unquote(field))
        if found.end() == len(line) and not found[0].endswith(","):
            break
        position = found.end()
    return fields


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
