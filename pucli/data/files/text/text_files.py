"""Text tables, whose separator and header are inferred from the first lines.

Only the head of a file is read as text; the rows are parsed by pandas, at once or in blocks, so that a file needs the
memory of its table or of one block.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from pucli.core.errors import UsageError
from pucli.data.files.readers import read_csv
from pucli.data.files.text.decimal_comma import has_decimal_comma
from pucli.data.files.text.stray_quotes import check_quotes, refuse_stray_quote
from pucli.data.files.unpacking import member_name, plain_text
from pucli.data.frames import EMPTY
from pucli.data.reading import Reading, normal

if TYPE_CHECKING:
    import pandas as pd

HEAD = 2**16  # bytes from which the layout is inferred
LONGEST = 2**26  # bytes that two lines may have
SUFFIXES = (".csv", ".tsv", ".txt", ".data", ".dat")
_AS_IT_IS = Reading()
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[,;\t]*\r?\n', re.IGNORECASE)


class TextLayout(NamedTuple):
    """Layout of a text file: the separator, one character, whether it has a header line, and the column names.

    `reading` has the user's options and what the file itself says of them.
    """

    separator: str
    header: bool
    names: list[str]
    reading: Reading = Reading()

    @property
    def naming(self) -> str:
        """Return a note on how columns are named, for errors about a name."""
        if self.header:
            return self.reading.note
        return f"; the file has no header line, its columns are numbered 1 to {len(self.names)}"


def text_head(path: Path, reading: Reading = _AS_IT_IS) -> str:
    """Return the first lines of a file, unpacked, as text."""
    with plain_text(path, reading) as stream:
        return head_text(read_head(stream))


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
    lines = [line for line in head.splitlines()[:20] if line.strip()]
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
        raise UsageError(f"{path} is empty")
    if said := _SEPARATOR_LINE.match(head):
        head = head[said.end() :]
        reading = replace(reading, separator=reading.separator or said[1], skip_rows=reading.skip_rows + 1)
    separator = reading.separator or _separator(path, head)
    first, *more = _records(head, separator, count=2)
    second = more[0] if more else []
    header = _has_header(_points(first, separator), _points(second, separator), known)
    if header and len(second) == len(first) + 1:  # R's write.table: no header for the row names
        first = ["row", *first]
    names = [normal(cell.strip()) for cell in first] if header else [str(i) for i in range(1, len(first) + 1)]
    check_names(path, names)
    if second and len(second) > len(names):
        raise UsageError(
            f"{path}: a data row has {len(second)} fields, but the header has {len(names)}; make them equal"
        )
    if header and not second:
        raise UsageError(f"{path} has a header line but no data rows")
    return TextLayout(separator, header, names, reading)


def read_text(
    path: Path,
    layout: TextLayout,
    *,
    source: IO[bytes] | None = None,
    as_text: Collection[str] = (),
    rows: int | None = None,
    from_path: bool = False,
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
    rows : int, optional
        Number of rows in a block; by default one block.
    from_path : bool
        Whether `source` is the opened `path`, which can be read again to find out what is wrong.

    Yields
    ------
    frame : pandas.DataFrame
        At most `rows` rows.
    """
    import pandas as pd

    options: dict[str, Any] = {"dtype": {name: str for name in layout.names if name in as_text}} if as_text else {}
    if layout.reading.decimal == ",":  # 1.234 is 1234, which is decided later
        options = {"dtype": str}
    if source is None:
        with plain_text(path, layout.reading) as text:
            yield from read_text(path, layout, source=text, as_text=as_text, rows=rows, from_path=True)
        return
    try:
        found: Any = read_csv(
            source,
            sep=r"\s+" if layout.separator == " " else layout.separator,
            header=0 if layout.header else None,
            names=layout.names,
            encoding="utf-8-sig",
            chunksize=rows,
            **options,
        )
        with nullcontext([found]) if rows is None else found as blocks:
            for block in blocks:
                if from_path:
                    check_quotes(path, layout, block)
                yield block
    except pd.errors.ParserError as error:
        wrong = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if wrong is None:
            if from_path:
                refuse_stray_quote(path, layout)
            raise
        raise UsageError(
            f"{path}: line {wrong[2]} has {wrong[3]} fields, but the lines before have {wrong[1]}; correct that line"
        ) from error


def zero_padded(head: str, layout: TextLayout) -> dict[str, str]:
    """Return the columns of equally many digits with leading zeros, with an example ("01234"): codes more than numbers.

    Only the first lines are looked at.
    """
    said = _SEPARATOR_LINE.match(head)
    records = _records(head[said.end() :] if said else head, layout.separator, count=sys.maxsize)[layout.header :]
    found = {}
    for position, name in enumerate(layout.names):
        filled = {record[position].strip() for record in records if len(record) > position} - EMPTY
        padded = sorted(cell for cell in filled if cell.startswith("0") and len(cell) > 1)
        if padded and all(cell.isdecimal() and len(cell) == len(padded[0]) for cell in filled):
            found[name] = padded[0]
    return found


def line_of(path: Path, layout: TextLayout, row: int) -> int:
    """Return the line (from 1) on which data row `row` (from 0, without blank lines) begins."""
    position = row + layout.header
    with plain_text(path, layout.reading) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig")  # accepts every kind of line ending
        for index, (line, _) in enumerate(_numbered(lines, layout.separator)):
            if index == position:
                return line + layout.reading.skip_rows
    return position + 1


def _separator(path: Path, text: str) -> str:
    """Return the separator: a tab for .tsv, otherwise the one that splits the first lines most evenly."""
    name = member_name(path).lower()
    if name.endswith(".tsv"):
        return "\t"
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    csv.field_size_limit(sys.maxsize)
    counts = {sep: [len(record) for record in csv.reader(lines, delimiter=sep)] for sep in ",;\t|"}
    best = max(counts, key=lambda sep: min(counts[sep]))
    if best == "," and (other := _around_decimal_commas(lines, counts)):
        return other
    if min(counts[best]) > 1:
        return best
    if name.endswith(".csv"):
        return ","
    return " " if min(len(line.split()) for line in lines) > 1 else ","


def _around_decimal_commas(lines: Sequence[str], counts: dict[str, list[int]]) -> str:
    """Return the separator that leaves no comma but decimal ones, "" if there is none."""
    for separator in ";\t":
        if min(counts[separator]) == max(counts[separator]) > 1:
            fields = [
                field for record in csv.reader(lines[1:], delimiter=separator) for field in record if "," in field
            ]
            if fields and all(has_decimal_comma(field) for field in fields):
                return separator
    return ""


def _records(text: str, separator: str, count: int) -> list[list[str]]:
    """Return the first nonblank records."""
    found: list[list[str]] = []
    for _, record in _numbered(io.StringIO(text, newline=None), separator):
        found.append(record)
        if len(found) == count:
            break
    return found


def _numbered(lines: IO[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, fields) of each nonblank record."""
    if separator == " ":
        yield from ((number, line.split()) for number, line in enumerate(lines, start=1) if line.strip())
        return
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    begin = 1
    for record in reader:
        if record and (len(record) > 1 or record[0].strip()):
            yield begin, record
        begin = reader.line_num + 1


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
    """Raise UsageError if two columns have the same name."""
    for left, right in pairwise(sorted(names)):
        if left == right:
            raise UsageError(f"{path}: two columns are named {left!r}; rename one of them")
