"""ARFF, Weka's text format: attribute declarations, then comma-separated rows with quotes and `?` for missing values.

SciPy's reader fails on string attributes and does not report the line of a faulty row. Rows may be sparse, and the
lines by which KEEL names inputs and outputs are skipped.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pucli.data.columns.cells import to_numbers
from pucli.data.files.packed import plain_text
from pucli.data.files.table_size import check_filled, checked_names
from pucli.data.files.text.records import note

if TYPE_CHECKING:
    import pandas as pd

# no part of a field can be matched in two ways, so that the time does not grow with the square of a run of blanks
_TOKEN = re.compile(r"""\s*(?:('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*(?=,|$)|([^,]*))(?:,|$)""")
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)""", re.IGNORECASE)
_SPARSE = re.compile(r"""\s*(\d+)\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,\s]+)\s*(?:,|$)""")
_WEIGHT = re.compile(r"\s*,?\s*(\{\s*[\d.eE+-]+\s*\})$")
_NUMERIC = re.compile(r"(numeric|real|integer)\b", re.IGNORECASE)
_AS_LIBSVM = "save it as LIBSVM, which `pucli train --method blssvm` reads"
_OF_KEEL = ("@input", "@output")


def read_arff(path: Path) -> tuple[pd.DataFrame, list[int]]:  # noqa: C901, PLR0915
    """Return the table and, for each of its rows, the line of the file (from 1).

    Numeric attributes become float64 if every cell is a number; other attributes stay text; `?` is missing. A cell that
    a sparse row leaves out is 0 or the first value of its attribute.
    """
    import pandas as pd

    names: list[str] = []
    kinds: list[str] = []
    rows: list[list[str | None]] = []
    lines: list[int] = []
    in_data = False
    left_out: list[str | None] = []
    weight, n_filled = "", 0
    with plain_text(path) as text, io.TextIOWrapper(text, encoding="utf-8-sig") as stream:
        for number, raw in enumerate(stream, start=1):
            line = raw.strip()
            if not line or line.startswith("%"):
                continue
            if in_data:
                if line.endswith("}") and (weighted := _WEIGHT.search(line)) and weighted.start():
                    line, weight = line[: weighted.start()], weight or weighted[1]
                if line.startswith("{"):
                    left_out = left_out or list(map(_left_out, kinds))
                    row, n_given = _sparse_row(number, line, left_out)
                    n_filled += n_given
                    if len(rows) % 64 == 0:
                        check_filled(path, len(rows), len(names), n_filled, _AS_LIBSVM)
                else:
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
                kinds.append(found[2].strip())
                if kinds[-1].lower().startswith("relational"):
                    raise ValueError(
                        f"line {number}: attribute {names[-1]!r} is relational, a table in each row; write one row a "
                        "case (in Weka the filter MultiInstanceToPropositional), and save it again"
                    )
            elif line.lower().startswith("@data"):
                in_data = True
            elif not line.lower().startswith(("@relation", *_OF_KEEL)):
                raise ValueError(f"line {number}: expected @relation, @attribute or @data, found {line[:40]!r}")
    if not in_data:
        raise ValueError("no @data line; this is not an ARFF file")
    if left_out:
        check_filled(path, len(rows), len(names), n_filled, _AS_LIBSVM)
    if weight:
        note(f"{path}: its rows have weights, such as {weight}, which are not used: each row counts once")
    names = checked_names(path, names)
    frame = pd.DataFrame(rows, columns=names, dtype=object)
    for name, kind in zip(names, kinds, strict=True):
        if _NUMERIC.match(kind):
            numbers = to_numbers(frame[name])
            if (numbers.notna() | frame[name].isna()).all():
                frame[name] = numbers
    return frame, lines


def _left_out(kind: str) -> str | None:
    """Return the cell of an attribute that a sparse row leaves out."""
    if kind.startswith("{"):
        return split_row(kind.strip("{} \t"))[0]
    return "0" if _NUMERIC.match(kind) else None


def _sparse_row(number: int, line: str, left_out: list[str | None]) -> tuple[list[str | None], int]:
    """Return the cells of a sparse row, such as `{0 38, 2 'a b'}`, and how many of them it has."""
    row, inside, position, n_given = list(left_out), line.strip("{}"), 0, 0
    while inside[position:].strip():
        found = _SPARSE.match(inside, position)
        if found is None or int(found[1]) >= len(row):
            raise ValueError(f"line {number}: cannot read {inside[position:][:40]!r} as NUMBER VALUE of a sparse row")
        row[int(found[1])] = None if found[2] == "?" else _unquote(found[2])
        position, n_given = found.end(), n_given + 1
    return row, n_given


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
