"""Estimated size of a table before reading, to refuse at once a table that does not fit into memory."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pucli.core.errors import UsageError
from pucli.core.memory import check_memory
from pucli.data.files.archives import FREE, RATIO

# Memory for each cell until the table is encoded: 27 bytes were measured for CSV, 32 for Parquet, of 1e6 x 22 numbers.
BYTES_PER_CELL = 30
HINT = (
    "take fewer rows or columns into a file, or more memory. `pucli predict` reads files of any length, and `--backend "
    "dask` of train and auto reads Parquet files block by block."
)
# A table has at most so many columns; one of 60 rows and 200,000 columns is real.
MOST_COLUMNS = 250_000
# Columns of a table that stands beside another one, and names of them in a message.
LEAST_BESIDE, FEW_NAMES = 2, 3
# A matrix with more cells than this and a smaller share of filled ones is not read as a table.
FEW_CELLS, LEAST_SHARE = 20_000_000, 0.01
# Times its size to which a Parquet or Feather file may unpack: columns of one value take no place in it.
COLUMNAR_RATIO = 1000
_CHUNK = 2**20
# The reader of ODS files holds two texts for each cell of a sheet, empty or not.
_ODS_CELLS = 2
_ODS_VALUES = {"value-type", "value", "string-value", "date-value", "time-value", "boolean-value", "formula"}
_ODS_ERROR = "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}value-type"
_CELL = re.compile(rb'<(?:\w+:)?c\s[^<>]{0,200}?\br="([A-Z]{1,3})([0-9]{1,7})"')


def different(names: Sequence[str]) -> list[str]:
    """Return the names of columns, those that repeat another numbered as in pandas: "age" and "age.1".

    Raises ValueError if there are too many, if the header repeats as a whole, or if a name has a NUL character.
    """
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"has {len(names)} columns; at most {MOST_COLUMNS} are read")
    if nul := next((name for name in names if "\0" in name), ""):
        raise ValueError(f"the name of column {nul[:40]!r} has a NUL character; remove it")
    taken, seen, found = set(names), Counter[str](), list(names)
    if len(taken) == len(names):
        return found
    if beside := _repeated(found):
        raise ValueError(beside)
    for place, name in enumerate(names):
        while seen[name] and found[place] in taken:
            found[place], seen[name] = f"{name}.{seen[name]}", seen[name] + 1
        taken.add(found[place])
        seen[name] += not seen[name]
    return found


def _repeated(names: list[str]) -> str:
    """Return what a header is that says the same words several times, "" if it does not."""
    for width in range(LEAST_BESIDE, len(names) // 2 + 1):
        times, rest = divmod(len(names), width)
        if not rest and names == names[:width] * times:
            shown = ", ".join(map(repr, names[: min(width, FEW_NAMES)])) + (", ..." if width > FEW_NAMES else "")
            return (
                f"the header has its {width} columns ({shown}) {times} times, like tables side by side; "
                "save each as a file of its own, and give --data for each"
            )
    return ""


def check_filled(path: Path, rows: float, columns: float, filled: float, way_out: str) -> None:
    """Raise UsageError if a table would have far more empty cells than filled ones."""
    if columns > MOST_COLUMNS or (rows * columns > FEW_CELLS and filled < LEAST_SHARE * rows * columns):
        raise UsageError(
            f"{path}: {filled:.6g} filled cells in a table of {rows:.8g} rows and {columns:.8g} columns; {way_out}"
        )


def check_sheet(path: Path, member: str) -> None:
    """Raise UsageError if a sheet of a workbook (.xlsx) has a cell far away from the others."""
    rows = columns = filled = 0
    with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
        rest = b""
        while chunk := stream.read(_CHUNK):
            text = rest + chunk
            found = list(_CELL.finditer(text))
            filled += len(found)
            for cell in found:
                rows = max(rows, int(cell[2]))
                columns = max(columns, _column(cell[1]))
            rest = text[found[-1].end() :][-300:] if found else text[-300:]
    check_filled(
        path,
        rows,
        columns,
        filled,
        "delete the rows and columns beyond the table in the spreadsheet, and save it again",
    )


def check_open_document(path: Path) -> Counter[str]:
    """Return the number of cells with an error in each sheet of an ODS file, which its reader gives as empty ones."""
    from xml.etree.ElementTree import iterparse

    most = max(RATIO * path.stat().st_size, FREE)
    errors: Counter[str] = Counter()
    area = rows = columns = n_rows = filled = in_row = last = place = size = row_size = n_errors = 0
    with zipfile.ZipFile(path) as archive, archive.open("content.xml") as stream:
        for _, element in iterparse(stream):
            name = element.tag.rpartition("}")[2]
            repeated = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
            if name == "s":
                size += int(repeated.get("c", 1))
            elif name in ("table-cell", "covered-table-cell"):
                times = max(int(repeated.get("number-columns-repeated", 1)), 1)
                place += times
                if len(element) or not _ODS_VALUES.isdisjoint(repeated):
                    in_row, last = in_row + times, place
                    texts = [*repeated.values(), *element.itertext()]
                    row_size += times * (BYTES_PER_CELL + sum(map(len, texts)))
                    n_errors += element.attrib.get(_ODS_ERROR) == "error"
                element.clear()
            elif name == "table-row":
                times = max(int(repeated.get("number-rows-repeated", 1)), 1)
                n_rows += times
                if in_row:
                    rows, columns, filled = n_rows, max(columns, last), filled + times * in_row
                    size += times * row_size
                in_row = last = place = row_size = 0
                element.clear()
            elif name == "table":
                area += rows * columns
                way_out = "delete the rows and columns beyond the table, and save it again"
                check_filled(path, area / max(columns, 1), columns, filled, way_out)
                errors[repeated.get("name", "")] = n_errors
                rows = columns = n_rows = n_errors = 0
    if size > most:
        raise UsageError(f"{path} repeats cells and texts to {size / 1e9:.3g} GB; save it again as CSV")
    check_fits(path, _ODS_CELLS * area)
    return errors


def check_columnar(path: Path, rows: float, columns: float, text: float = 0.0) -> None:
    """Raise UsageError if a Parquet or Feather file would unpack to far more than files of measurements do."""
    size = 8.0 * rows * columns + text
    if size > max(COLUMNAR_RATIO * path.stat().st_size, FREE):
        raise UsageError(
            f"{path} unpacks to {size / 1e9:.3g} GB, more than {COLUMNAR_RATIO} times its size, which no table does; "
            "save it again as CSV"
        )


def text_bytes(column: Any) -> float:
    """Return the bytes of the texts of an Arrow column with a dictionary, each as often as rows name it; 0 without."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return 0.0
    kind = column.type.value_type
    if not any(known(kind) for known in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)):
        return 0.0
    total = 0.0
    for chunk in column.chunks:
        total += pc.sum(pc.take(pc.binary_length(chunk.dictionary).cast("int64"), chunk.indices)).as_py() or 0
    return total


def _column(letters: bytes) -> int:
    """Return the number of a column, from 1, by its letters."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def check_fits(path: Path, cells: float) -> None:
    """Raise UsageError if a table of so many cells needs more memory than there is."""
    try:
        check_memory(BYTES_PER_CELL * cells, f"{path}: a table of about {cells:.2g} cells", HINT)
    except ValueError as error:
        raise UsageError(str(error)) from error


def cells_of_text(path: Path, head: str, separator: str) -> float:
    """Return about how many cells a text file has, judged by its first lines; a packed one may have more."""
    lines = head.split("\n")[:200]
    cells = sum(len(line.split()) if separator == " " else line.count(separator) + 1 for line in lines)
    return path.stat().st_size * cells / max(sum(len(line.encode()) + 1 for line in lines), 1)


def cells_of_parquet(path: Path) -> float:
    """Return the number of cells of a Parquet file, 0 if the reader must say."""
    try:
        import pyarrow.parquet as pq

        about = pq.read_metadata(path)
    except (ImportError, OSError, ValueError):  # told by the reader of the file
        return 0.0
    return float(about.num_rows * about.num_columns)


def checked_names(path: Path, names: Sequence[str]) -> list[str]:
    """Return the names of columns, each once, and tell the user which ones are numbered; see `different`."""
    try:
        found = different(names)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    numbered = [(name, new) for name, new in zip(names, found, strict=True) if new != name]
    if numbered:
        (name, new), *more = numbered
        others = f"; so are {len(more)} more" if more else ""
        warnings.warn(
            f"{path}: two columns are named {name!r}; the second is called {new!r}{others} (--drop leaves one out)",
            stacklevel=2,
        )
    return found
