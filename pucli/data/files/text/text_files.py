"""Text tables, whose separator and header are inferred from the first lines.

Only the head of a file is read as text; the rows are parsed by pandas, at once or in blocks, so that a file needs the
memory of its table or of one block.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from pucli.core.errors import UsageError
from pucli.data.encode.doubtful_cells import na_among_codes, padded_cell
from pucli.data.files.readers import read_csv
from pucli.data.files.table_size import check_columns
from pucli.data.files.text.checked_records import CheckedRecords
from pucli.data.files.text.decimal_comma import has_decimal_comma
from pucli.data.files.text.records import (
    Record,
    Shape,
    has_row_names,
    header_cells,
    header_place,
    note,
    quote_escape,
    split_records,
    text_records,
    typical_width,
)
from pucli.data.files.text.skipped_lines import FEW
from pucli.data.files.unpacking import member_name, plain_text
from pucli.data.frames import EMPTY
from pucli.data.reading import WANTED, Reading, normal

if TYPE_CHECKING:
    import pandas as pd

HEAD = 2**16  # bytes from which the layout is inferred
LONGEST = 2**24  # bytes that a line may have
SUFFIXES = (".csv", ".tsv", ".txt", ".data", ".dat")
UNNAMED = "Unnamed: "
"""Beginning of the name of a column without a name, before its position from 0, as pandas has it."""
EVEN = 0.5  # share of the first records that must have the same number of fields
_WHOLE = re.compile(r"0|-?[1-9]\d{0,14}")
_PADDED = re.compile(r"(?<![\d.])(?:0\d|\d+[eE]\d)|\.\d0|NA")  # what `doubtful_texts` looks for
_RECORDS = 2000  # from which the layout is inferred
_AS_IT_IS = Reading()
_NA = [
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null"),
]  # texts that pandas reads as empty cells
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[,;\t]*\r?\n', re.IGNORECASE)


class TextLayout(NamedTuple):
    """Layout of a text file: the separator, one character, whether it has a header line, and the column names.

    `reading` has the user's options and what the file itself says of them, `shape` what each record must have.
    """

    separator: str
    header: bool
    names: list[str]
    reading: Reading = Reading()
    shape: Shape = Shape(",", 1)

    @property
    def naming(self) -> str:
        """Return a note on how columns are named, for errors about a name."""
        if self.header:
            return self.reading.note
        return f"; the file has no header line, its columns are numbered 1 to {len(self.names)}"


def text_head(path: Path, reading: Reading = _AS_IT_IS) -> str:
    """Return the first lines of a file, unpacked, as text."""
    with plain_text(path, reading) as stream:
        head = read_head(stream)
    if len(head) >= LONGEST and b"\n" not in head and b"\r" not in head:
        raise UsageError(f"{path}: line 1 has more than {LONGEST // 2**20} million characters, so it is no table")
    return head_text(head)


def read_head(stream: IO[bytes]) -> bytes:
    """Return the beginning of a file: more than `HEAD` bytes, or all there are; two lines unless they are endless."""
    pieces = [stream.read(HEAD + 1)]
    lines, size = pieces[0].count(b"\n"), len(pieces[0])
    while size > HEAD and lines < 2 and size < LONGEST and pieces[-1]:
        pieces.append(stream.read(2**20))
        lines, size = lines + pieces[-1].count(b"\n"), size + len(pieces[-1])
    return b"".join(pieces)


def head_text(raw: bytes) -> str:
    """Return `raw`, the beginning of a file, as text, without the last line if it may be truncated."""
    if len(raw) > HEAD:
        raw = raw[: raw.rfind(b"\n") + 1] if raw.count(b"\n") > 1 else raw
    return raw.decode("utf-8-sig")


def is_text_table(path: Path) -> bool:
    """Return whether the first lines of a file are text with two or more columns."""
    try:
        head = text_head(path)
    except UnicodeDecodeError:
        return False
    lines = [line for line in head.split("\n")[:20] if line.strip()]
    if "\0" in head or len(lines) < 2:
        return False
    return any(min(line.count(separator) for line in lines) > 0 for separator in ",;\t ")


def text_layout(path: Path, head: str, known: Collection[str] = (), reading: Reading = _AS_IT_IS) -> TextLayout:
    """Infer the layout of a text file.

    Parameters
    ----------
    path : Path
        The file, for the extension (.tsv means tabs) and for messages.
    head : str
        Its first lines.
    known : collection of str
        Names of required columns; a first line with one of them is a header.
    reading : Reading
        The user's options; a first line such as "sep=;" says the separator, too.

    Raises
    ------
    UsageError
        The file is empty, or two columns have the same name.
    """
    if not head.strip():
        raise UsageError(f"{path} is empty; {WANTED}")
    said = _SEPARATOR_LINE.match(head)
    if said and not reading.separator:
        reading = replace(reading, separator=said[1])
    returns = "\n" not in head and "\r" in head
    head, above = _lines_below(head, said, returns)
    separator = reading.separator or _separator(path, head, known)
    escape = quote_escape(head, separator)
    records = text_records(head, separator, escape=escape, count=_RECORDS)
    if not records:
        raise UsageError(f"{path}: the first line cannot be read; quote a cell that contains a line end")
    place = header_place(records, [name for name in known if not _number(name)])
    if place:
        lines = f"line {above + records[place].line + reading.skip_rows}"
        note(f"{path}: the table begins in {lines}; what stands above it is skipped")
    first, body = records[place].fields, records[place + 1 :]
    if len(head) > HEAD // 2 and len(body) > 1:  # the last record may be cut
        body = body[:-1]
    second = body[0].fields if body else []
    header = _has_header(_points(first, separator), _points(second, separator), known)
    row_names = header and has_row_names(len(first), body, _first_characters(head, records[place], body))
    if row_names:  # R's write.table: no header for the row names
        first = ["row", *first]
    if header:
        while len(first) > 1 and not first[-1].strip() and body and all(len(row.fields) < len(first) for row in body):
            first = first[:-1]  # a separator at the end of the header alone
        names = [normal(cell.strip()) or f"{UNNAMED}{position}" for position, cell in enumerate(first)]
    else:
        names = [str(i) for i in range(1, typical_width(records[place:]) + 1)]
    check_names(path, names)
    whole = not any("\n" in field for row in body for field in row.fields)  # else a quote may not be closed
    if header and body and whole and all(len(row.fields) < len(names) for row in body):
        raise UsageError(
            f"{path}: the header has {len(names)} fields, but line {above + body[0].line + reading.skip_rows} and all "
            f"lines after it have fewer ({len(second)}); quote a name that has {separator!r} in it, or correct the "
            "header"
        )
    if header:
        begin = _line_after(head, separator, escape, records[place].line)
    else:
        begin = records[place].line if len(names) > 1 or place else 1
    cells = header_cells(records[place].fields, body) if header and len(names) > 1 else ()
    whole_rows = [row for row in body if len(row.fields) >= len(names) > 1]
    comments = sum(row.fields[0].startswith("#") for row in whole_rows) <= FEW * len(whole_rows)
    line = head.split("\n")[records[place].line - 1]
    spaced = not header or line.startswith(" ") or separator + " " in line
    shape = Shape(separator, len(names), above + begin, escape, row_names, returns, header, cells, comments, spaced)
    return TextLayout(separator, header, names, reading, shape)


def _lines_below(head: str, said: re.Match[str] | None, returns: bool) -> tuple[str, int]:
    """Return the first lines below one that says the separator, and how many lines are left out."""
    if said:
        head = head[said.end() :]
    return head.replace("\r", "\n") if returns else head, int(said is not None)


def _line_after(head: str, separator: str, escape: str, line: int) -> int:
    """Return the line after the record that begins in `line`."""
    records = split_records(io.StringIO(head, newline="\n"), separator, escape=escape)
    last = head.count("\n") + (not head.endswith("\n"))
    try:
        return next((record.line for record in records if record.line > line), last + 1)
    except csv.Error:
        return line + 1


def _first_characters(head: str, header: Record, body: Sequence[Record]) -> str:
    """Return the first characters of the lines of the header and of the first row."""
    lines = head.split("\n")
    return "".join(lines[record.line - 1].lstrip()[:1] for record in [header, *body[:1]])


def read_text(
    path: Path,
    layout: TextLayout,
    *,
    source: IO[bytes] | None = None,
    as_text: Collection[str] = (),
    ids: Collection[str] = (),
    columns: Sequence[str] | None = None,
    rows: int | None = None,
) -> Iterator[pd.DataFrame]:
    """Read the rows of a text file.

    Parameters
    ----------
    path : Path
    layout : TextLayout
    source : binary stream, optional
        Source of the text as plain UTF-8, if not `path`.
    as_text : collection of str
        Columns whose cells are kept as text ("007" is not 7).
    ids : collection of str
        Columns whose cells are kept as they are: "NA" is not an empty cell.
    columns : sequence of str, optional
        The columns to read, by default all.
    rows : int, optional
        Number of rows in a block; by default one block.

    Yields
    ------
    frame : pandas.DataFrame
        At most `rows` rows; one block has none if the file has none.
    """
    import pandas as pd

    if source is None:
        with plain_text(path, layout.reading) as text:
            yield from read_text(path, layout, source=text, as_text=as_text, ids=ids, columns=columns, rows=rows)
        return
    names = list(layout.names if columns is None else columns)
    all_text = layout.reading.decimal == ","  # 1.234 is 1234, which is decided later
    options: dict[str, Any] = {"dtype": {name: str for name in names if all_text or name in as_text or name in ids}}
    if any(name in ids for name in names):
        options |= {"keep_default_na": False, "na_values": {name: [""] if name in ids else _NA for name in names}}
    positions = [position for position, name in enumerate(layout.names) if name in ids]
    records = CheckedRecords(source, path, layout.shape, layout.reading.skip_rows, positions)
    try:
        found: Any = read_csv(
            records,
            sep=r"\s+" if layout.separator == " " else layout.separator,
            header=None,
            names=layout.names,
            usecols=None if columns is None else list(dict.fromkeys(columns)),
            encoding="utf-8",
            escapechar=layout.shape.escape or None,
            skip_blank_lines=len(layout.names) > 1,
            chunksize=rows,
            **options,
        )
        with nullcontext([found]) if rows is None else found as blocks:
            yield from blocks
    except pd.errors.EmptyDataError:
        yield pd.DataFrame(columns=names, dtype=object)
    for skipped in records.notes():
        note(skipped)


def is_plain(head: str, layout: TextLayout, name: str) -> bool:
    """Return whether the first cells of a column are whole numbers as pandas writes them, or empty.

    Parameters
    ----------
    head : str
        The first lines of the file.
    layout : TextLayout
        Its layout.
    name : str
        Name of the column.
    """
    if name not in layout.names:
        return False
    position, shape = layout.names.index(name), layout.shape
    head = head.replace("\r", "\n") if shape.returns else head
    records = text_records(head, shape.separator, escape=shape.escape, count=_RECORDS)
    cells = {
        record.fields[position].strip()
        for record in records
        if record.line >= shape.first_line and len(record.fields) > position
    }
    return all(cell in _NA or _WHOLE.fullmatch(cell) for cell in cells)


def doubtful_texts(head: str, layout: TextLayout) -> dict[str, str]:
    """Return the columns that may be codes, though read as numbers or empty cells, with an example each.

    Only the first lines are looked at, see `padded_cell` and `na_among_codes`.
    """
    if not _PADDED.search(head):
        return {}
    shape = layout.shape
    head = head.replace("\r", "\n") if shape.returns else head
    records = [
        record.fields
        for record in text_records(head, shape.separator, escape=shape.escape)
        if record.line >= shape.first_line
    ]
    found = {}
    for position, name in enumerate(layout.names):
        cells = {record[position].strip() for record in records if len(record) > position}
        filled = cells - EMPTY
        if cell := "NA" if "NA" in cells and na_among_codes(filled) else padded_cell(filled):
            found[name] = cell
    return found


def line_of(path: Path, layout: TextLayout, row: int) -> int:
    """Return the number of the line, from 1, on which a data row begins.

    Parameters
    ----------
    path : Path
        The file.
    layout : TextLayout
        Its layout, with the options for reading.
    row : int
        Position of the row, from 0, without blank lines.
    """
    shape = layout.shape
    with plain_text(path, layout.reading) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline=None if shape.returns else "\n")
        found = (
            record.line
            for record in split_records(lines, shape.separator, escape=shape.escape)
            if record.line >= shape.first_line and shape.is_row(record)
        )
        return next(islice(found, row, None), row + shape.first_line) + layout.reading.skip_rows


def _separator(path: Path, text: str, known: Collection[str] = ()) -> str:
    """Return the separator: a tab for .tsv, otherwise the one that splits most of the first lines evenly.

    It splits the first line, too, unless that is a title: then it is none of the `known` names.
    """
    name = member_name(path).lower()
    if name.endswith(".tsv"):
        return "\t"
    records = {separator: text_records(text, separator, count=20) for separator in ",;\t|"}
    best, share, width = ",", 0.0, 1
    first = text.partition("\n")[0].strip(' \t\r"')
    title = first not in known and all(len(found[0].fields) == 1 for found in records.values() if found)
    for separator, found in records.items():
        widths = Counter(len(record.fields) for record in found)
        usual, times = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        header = len(found[0].fields) > 1 if found else False
        if usual > 1 and (header or title) and (times / len(found), usual) > (share, width):
            best, share, width = separator, times / len(found), usual
    if best == "," and (other := _around_decimal_commas(records)):
        return other
    if share >= EVEN:
        return best
    if name.endswith(".csv"):
        return ","
    return " " if min((len(record.fields) for record in text_records(text, " ", count=20)), default=1) > 1 else ","


def _around_decimal_commas(records: Mapping[str, Sequence[Record]]) -> str:
    """Return the separator that leaves no comma but decimal ones, "" if there is none."""
    for separator in ";\t":
        widths = {len(record.fields) for record in records[separator]}
        if len(widths) == 1 and max(widths) > 1:
            fields = [field for record in records[separator][1:] for field in record.fields if "," in field]
            if fields and all(has_decimal_comma(field) for field in fields):
                return separator
    return ""


def _has_header(first: Sequence[str], second: Sequence[str], known: Collection[str]) -> bool:
    """Return whether the first line is a header.

    A header has a known name, or text where the second line has a number, or only distinct texts. If the known names
    are numbers, the line must have one of them; a line 0,1,2,... or 1,2,3,..., which pandas writes for columns without
    names, and a line with all known numbers are then headers.
    """
    cells = [cell.strip() for cell in first]
    by_number = any(_number(name) for name in known)
    counted = len(cells) > 1 and any(cells == [str(start + i) for i in range(len(cells))] for start in (0, 1))
    if by_number and (counted or (len(known) > 2 and set(known) <= set(cells))):
        return True
    if any(name in cells for name in known if not _number(name)):
        return True
    if not any(_number(cell) for cell in cells):
        return len(set(cells)) == len(cells) and not by_number
    return any(not _number(top) and _number(below) for top, below in zip(cells, second, strict=False))


def _points(cells: Sequence[str], separator: str) -> Sequence[str]:
    """Return the cells of a line with decimal points for decimal commas."""
    if separator == ",":
        return cells
    return [cell.replace(",", ".") if has_decimal_comma(cell) else cell for cell in cells]


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise UsageError if two columns have the same name, or if there are too many."""
    try:
        check_columns(names)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
