"""A sheet of a workbook as a table: every row and column with its place, and what a table cannot hold counted.

The sheet is read cell by cell, since pandas drops columns and rows that are empty, renames columns of one name, makes
floats of integers beside empty cells, and does not tell formulas without results, merged cells or hidden sheets.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.core.errors import UsageError, unknown
from pucli.data.columns.cells import cell_text, some_of
from pucli.data.columns.doubtful_rows import (
    SAMPLE,
    UsualLines,
    after_last,
    below_header,
    footer,
    joined_to_names,
    parts_of,
    side_by_side,
)
from pucli.data.files.readers import excel_engine
from pucli.data.files.table_size import check_fits, check_open_document, check_sheet, checked_names
from pucli.data.files.text.records import Record, header_lines, header_location, joined_names, note
from pucli.data.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    import pandas as pd

_PARTS = re.compile(r'"([^"]*)"|\\(.)|([-/ ()+:])|(0)')  # of the number format of codes: literals, and digits
_EXACT, _LONGEST = 2**53, 2**64
_HIDDEN_ROW = re.compile(rb'<row [^>]*?hidden="(?:1|true)"[^>]*(?<!/)>\s*<c[ >]')  # with cells
_HIDDEN_COLUMN = re.compile(rb'<col (?=[^>]*?hidden="(?:1|true)")(?=[^>]*?min="(\d{1,7})")(?=[^>]*?max="(\d{1,7})")')
MOST_SHEETS = 1000
_SHEET = re.compile(rb"<(?:\w+:)?sheet\s")
_LAST_ROW = 2**20  # that a sheet can have
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # in the directory of a workbook with a password
_LOOKED_AT = 40  # rows among which the header is
MOST_AFTER = 200  # rows among which the last is


class SheetTable(NamedTuple):
    """Table in a sheet.

    frame : pandas.DataFrame
    rows : array of shape (n,)
        Number of each row in the sheet, from 1.
    sheet : str
    others : list of str
        Names of the other sheets that are visible.
    header_rows : int or None
        Number of rows whose names were joined.
    """

    frame: pd.DataFrame
    rows: np.ndarray
    sheet: str
    others: list[str]
    header_rows: int | None = None


class _Cell(NamedTuple):
    value: Any
    data_type: str = ""
    number_format: str = ""


def _cell(value: Any) -> _Cell:
    """Return a cell of a .xls or .ods file: NaN stands for an error such as #N/A, as empty cells are ""."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return _Cell("an error", "e") if isinstance(value, float) and np.isnan(value) else _Cell(_integer(value))


def read_sheet(
    path: Path,
    sheet: str = "",
    *,
    how: Reading = AS_IT_IS,
    known: Collection[str] = (),
    as_text: Collection[str] = (),
    as_shown: Collection[str] = (),
) -> SheetTable:
    """Read the table in a sheet of a workbook."""
    engine: Any = excel_engine(path)
    if engine == "xlrd" and _ENCRYPTED in path.read_bytes():
        raise UsageError(f"{path} is protected by a password; save it without one")
    if engine == "openpyxl":
        return _xlsx(path, sheet, how, known, as_text, as_shown)
    if engine == "calamine":
        return _ods(path, sheet, how, known, as_text, as_shown)
    import pandas as pd

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*xlrd.*")  # pandas 3 announces another reader for .xls
        with pd.ExcelFile(path, engine=engine) as book:
            names = [str(one) for one in book.sheet_names]
            visible = [name for name in names if not book.book.sheet_by_name(name).visibility]
            name = _chosen(path, sheet, names, visible)
            grid = book.parse(name, header=None, dtype=object, na_filter=False)
    rows = ([_cell(value) for value in row] for row in grid.itertuples(index=False, name=None))
    return _table(path, name, visible, rows, how, known, as_text, as_shown)[0]


def _chosen(path: Path, sheet: str, names: list[str], visible: list[str], charts: Sequence[str] = ()) -> str:
    if not names:
        only = f"; {charts[0]!r} is a chart: copy its table to a sheet" if charts else ""
        raise UsageError(f"{path} has no sheet with cells{only}")
    if sheet in charts:
        raise UsageError(f"{path}: sheet {sheet!r} is a chart without cells; give a sheet with cells: {some_of(names)}")
    if sheet and sheet not in names:
        raise UsageError(f"{path}: {unknown('sheet', sheet, names)}")
    name = sheet or (visible or names)[0]
    if not sheet and name != names[0]:
        note(f"{path}: sheet {names[0]!r} is hidden; sheet {name!r} is read instead")
    return name


def _ods(
    path: Path,
    sheet: str,
    how: Reading,
    known: Collection[str],
    as_text: Collection[str],
    as_shown: Collection[str],
) -> SheetTable:
    from python_calamine import CalamineWorkbook, SheetVisibleEnum

    errors = check_open_document(path)
    with path.open("rb") as file, CalamineWorkbook.from_filelike(file) as book:  # a path is read as its extension says
        visible = [one.name for one in book.sheets_metadata if one.visible == SheetVisibleEnum.Visible]
        name = _chosen(path, sheet, book.sheet_names, visible)
        found = book.get_sheet_by_name(name)
        left = [_cell("")] * (found.start or (0, 0))[1]  # of empty columns, which the reader leaves out
        rows = ([*left, *map(_cell, row)] for row in found.iter_rows())
        table = _table(path, name, visible, rows, how, known, as_text, as_shown)[0]
    if errors[name]:
        note(f"{path}: sheet {name!r}: {_errors(errors[name])}, read as empty")
    return table


def _errors(count: int) -> str:
    return "1 cell holds an error" if count == 1 else f"{count} cells hold errors"


def _xlsx(
    path: Path,
    sheet: str,
    how: Reading,
    known: Collection[str],
    as_text: Collection[str],
    as_shown: Collection[str],
) -> SheetTable:
    from openpyxl.reader.excel import ExcelReader

    _check_sheets(path)
    charts: list[str] = []
    with warnings.catch_warnings(), path.open("rb") as file:  # openpyxl refuses the name .xls
        warnings.filterwarnings("ignore", module="openpyxl")  # about styles and extensions, which hold no cells
        reader = ExcelReader(file, read_only=True, data_only=True, keep_links=False)
        reader.read_chartsheet = lambda sheet, rel: charts.append(sheet.name)  # the own one fails where it is empty
        reader.read()
        book = reader.wb
        try:
            sheets = {one.title: one for one in book.worksheets}
            visible = [title for title, one in sheets.items() if one.sheet_state == "visible"]
            name = _chosen(path, sheet, list(sheets), visible, charts)
            found = sheets[name]
            if part := getattr(found, "_worksheet_path", None):
                check_sheet(path, part)
            found.reset_dimensions()  # as the file states them, they may be wrong
            table, header = _table(path, name, visible, found.iter_rows(), how, known, as_text, as_shown)
        finally:
            book.close()
    for text in _unseen(path, part, header, table.frame.shape[1]):
        note(f"{path}: sheet {name!r}: {text}")
    return table


def _check_sheets(path: Path) -> None:
    """Raise UsageError if a workbook lists far more sheets than people make: each takes openpyxl a millisecond."""
    with zipfile.ZipFile(path) as archive:
        books = [name for name in archive.namelist() if name.endswith("workbook.xml")]
        count = sum(len(_SHEET.findall(archive.read(name))) for name in books)
    if count > MOST_SHEETS:
        raise UsageError(f"{path} lists {count} sheets; save the one that you mean as a file of its own")


def _table(
    path: Path,
    name: str,
    visible: list[str],
    rows: Iterator[Sequence[Any]],
    how: Reading,
    known: Collection[str],
    as_text: Collection[str],
    as_shown: Collection[str],
) -> tuple[SheetTable, int]:
    """Return the table and the number of its header row, 0 if there is none."""
    numbers: list[int] = []
    cells: list[Sequence[Any]] = []
    width = n_cells = 0
    for number, row in enumerate(rows, start=1):
        if number > _LAST_ROW:
            raise UsageError(f"{path}: sheet {name!r} has a row beyond {_LAST_ROW}, the last possible; save it again")
        length = len(row)
        while length and row[length - 1].value in (None, ""):
            length -= 1
        if length and number > how.skip_rows:
            numbers.append(number)
            cells.append(row[:length])
            width, n_cells = max(width, length), n_cells + length
            if n_cells % 4096 < length:
                check_fits(path, n_cells)
    others = [title for title in visible if title != name]
    if not cells:
        import pandas as pd

        return SheetTable(pd.DataFrame(), np.empty(0, dtype=int), name, others), 0
    first = [Record(number, _texts(row)) for number, row in zip(numbers[:_LOOKED_AT], cells[:_LOOKED_AT], strict=True)]
    place = header_location(first, known, how.header_rows or 1)
    if place:
        note(f"{path}: sheet {name!r}: the header is row {numbers[place]}; what stands above it is skipped")
    found = _rows(f"{path}: sheet {name!r}", how, numbers, cells, place)
    numbers, cells, header, start = numbers[: found.end], cells[: found.end], found.names, found.start
    n_rows = len(cells) - start
    check_fits(path, n_rows * min(width, len(header) + 1) + n_cells)
    missing = sorted(set(range(numbers[place], numbers[-1])) - set(numbers))
    skipped = len(missing)
    if skipped:
        lines = "row is" if skipped == 1 else "rows are"
        which = f"row {missing[0]}" if skipped == 1 else f"the first is row {missing[0]}"
        note(f"{path}: sheet {name!r}: {skipped} blank {lines} skipped ({which})")
    columns, places = _columns(path, name, header, cells[start:], width, _Wanted(set(as_text), set(as_shown)))
    import pandas as pd

    frame = pd.DataFrame(columns, index=range(n_rows))
    letters = [_letter(place) for place in places]
    if beside := side_by_side(f"{path}: sheet {name!r}", frame, parts_of(list(columns), places, letters)):
        note(beside)
    rows_at = np.array(numbers[start:], dtype=int)
    return SheetTable(frame, rows_at, name, others, found.header_rows), numbers[place]


def _texts(row: Sequence[Any]) -> list[str]:
    return ["" if cell.value is None else cell_text(cell.value) for cell in row]


class _Rows(NamedTuple):
    """The names, and the positions of the first row and of the end."""

    names: list[str]
    start: int
    end: int
    header_rows: int | None


def _rows(where: str, how: Reading, numbers: list[int], cells: list[Sequence[Any]], place: int) -> _Rows:
    """Return which lines are rows, with a note on those that are left out."""
    lines = [_texts(row) for row in cells[place : place + SAMPLE]]
    n_names, n_below = header_lines(lines, how.header_rows)
    start, end = min(place + n_names + n_below, len(cells)), len(cells)
    header_rows = how.header_rows or (n_names if n_names > 1 else None)
    if n_below:
        note(f"{where}: {below_header(numbers[place + 1 : start], lines[1 : start - place], 'row')}")
    elif n_names > 1 and not how.header_rows:
        note(f"{where}: {joined_to_names(numbers[place + 1 : start], 'row')}")
    names = joined_names(lines[:n_names])
    if how.skip_footer is not None:
        return _Rows(names, start, max(end - how.skip_footer, start), header_rows)
    last: list[list[str]] = []  # with blank ones
    before = 0
    for number, row in zip(numbers[start:][-MOST_AFTER:], cells[start:][-MOST_AFTER:], strict=True):
        last += [[]] * bool(last and number > before + 1) + [_texts(row)]
        before = number
    usual = UsualLines(lines[start - place :][: (end - start) // 2])
    if left := [line for line in last[footer(last, usual, complete=end - start <= MOST_AFTER) :] if line]:
        end -= len(left)
        note(f"{where}: {after_last(numbers[end:], left, 'row')}")
    return _Rows(names, start, end, header_rows)


class _Wanted(NamedTuple):
    as_text: set[str]
    as_shown: set[str]


def _columns(
    path: Path, sheet: str, header: list[str], rows: list[Sequence[Any]], width: int, wanted: _Wanted
) -> tuple[dict[str, pd.Series], list[int]]:
    """Return the columns by name, and the position of each in the sheet."""
    filled_names = iter(checked_names(path, [name for name in header[:width] if name]))
    header = [name and next(filled_names) for name in header[:width]]
    found: dict[str, pd.Series] = {}
    places: list[int] = []
    n_errors, first_error = 0, ""
    filled = {place for row in rows for place, cell in enumerate(row) if cell.value not in (None, "")}
    for place in range(width):
        name = header[place] if place < len(header) else ""
        if not name and place not in filled:
            continue
        if not name:
            name = f"Unnamed: {place}" + (".1" if f"Unnamed: {place}" in header else "")
            letter = _letter(place)
            note(f"{path}: sheet {sheet!r}: column {letter} has cells but no name in the header; it is called {name!r}")
        convert: Callable[[Any], Any] = _value
        if name in wanted.as_shown:
            convert = _shown
        elif name in wanted.as_text:
            convert = _text
        values: list[Any] = []
        for row in rows:
            cell = row[place] if place < len(row) else None
            if cell is not None and cell.data_type == "e":
                n_errors += 1
                first_error = first_error or f"{cell.value} in column {name!r}"
                cell = None
            values.append(None if cell is None or cell.value in (None, "") else convert(cell))
        found[name] = _series(values, text=convert is not _value)
        long = [row[place].value for row in rows if place < len(row) and _is_long(row[place].value)]
        if long and all(int(float(value)) == value for value in long):
            note(
                f"{path}: sheet {sheet!r}: column {name!r} holds numbers such as {int(long[0])}, whose last digits a "
                "spreadsheet may have rounded; write identifiers as text"
            )
        places.append(place)
    if n_errors:
        first = first_error if n_errors == 1 else f"the first is {first_error}"
        note(f"{path}: sheet {sheet!r}: {_errors(n_errors)}, read as empty ({first})")
    return found, places


def _series(values: list[Any], *, text: bool) -> pd.Series:
    import pandas as pd

    if text:
        return pd.Series(values, dtype="str")
    if all(value is None for value in values):
        return pd.Series([np.nan] * len(values), dtype="float64")
    return pd.Series(values)


def _integer(value: Any) -> Any:
    """Return a float as an integer if it is one, as sheets hold all numbers as floats."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value


def _is_long(value: Any) -> bool:
    """Return whether a cell is an integer of so many digits that a sheet may have rounded it."""
    return isinstance(value, int | float) and _EXACT <= abs(value) < _LONGEST and float(value).is_integer()


def _value(cell: Any) -> Any:
    return _integer(cell.value)


def _text(cell: Any) -> str:
    value = _integer(cell.value)
    return cell_text(value) if isinstance(value, float) else str(value)


def _shown(cell: Any) -> str:
    value = _integer(cell.value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime) and value.time() == time() and "h" not in (cell.number_format or "").lower():
        return value.date().isoformat()
    if isinstance(value, int) and value >= 0 and (shown := _formatted(value, cell.number_format or "")):
        return shown
    return _text(cell)


def _formatted(value: int, number_format: str) -> str:
    """Return a number in a format of literals and zeros, such as `"C-"0000` or `000-00-0000`, "" for other formats."""
    form = number_format.partition(";")[0]  # of positive numbers
    if _PARTS.sub("", form):
        return ""
    parts = _PARTS.findall(form)
    n_digits = sum(bool(digit) for *_, digit in parts)
    digits = str(value).zfill(n_digits)
    first, rest = digits[: len(digits) - n_digits + 1], iter(digits[len(digits) - n_digits + 1 :])
    shown = ""
    for *literals, digit in parts:
        shown += (first or next(rest)) if digit else "".join(literals)
        first = "" if digit else first
    return shown if n_digits else ""


def _letter(place: int) -> str:
    text, number = "", place + 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(65 + rest) + text
    return text


def _unseen(path: Path, part: str | None, header: int, width: int) -> list[str]:
    """Return what the values of a sheet do not show: formulas without results, hidden rows, and merged cells."""
    if part is None:
        return []
    with zipfile.ZipFile(path) as archive:
        content = archive.read(part.lstrip("/"))
    found = []
    if b"<f" in content:
        empty = [cell for cell in content.split(b"<c ")[1:] if _is_formula_without_result(cell.partition(b"</c>")[0])]
        if empty:
            place = re.search(rb'r="([A-Z]+\d+)"', empty[0])
            which = f", {'' if len(empty) == 1 else 'the first in '}{place[1].decode()}," if place else ""
            cells = "1 cell has a formula" if len(empty) == 1 else f"{len(empty)} cells have formulas"
            found.append(f"{cells} without a stored result{which} read as empty; save it with a spreadsheet program")
    rows, columns = len(_HIDDEN_ROW.findall(content)), 0
    for one in _HIDDEN_COLUMN.findall(content):
        columns += max(min(int(one[1]), width) - int(one[0]) + 1, 0)  # others may be hidden beside the table
    for n, what in ((rows, "row"), (columns, "column")):
        if n:
            are = f"1 {what} is" if n == 1 else f"{n} {what}s are"
            found.append(f"{are} hidden, and read as the others; delete what is not meant")
    merged = [
        ref.decode()
        for ref, row in re.findall(rb'<mergeCell [^>]*?ref="([A-Z]+\d+:[A-Z]+(\d+))"', content)
        if int(row) >= header
    ]
    if merged:
        ranges = "a range is merged" if len(merged) == 1 else f"{len(merged)} ranges are merged"
        which = merged[0] if len(merged) == 1 else f"the first is {merged[0]}"
        found.append(f"{ranges} ({which}); the value stands in the first cell alone, the others are read as empty")
    return found


def _is_formula_without_result(cell: bytes) -> bool:
    return b"<f" in cell and not re.search(rb"<v[^>]*>[^<]", cell) and b"<is>" not in cell
