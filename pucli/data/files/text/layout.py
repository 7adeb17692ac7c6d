"""Layout of a text table: separator, header and names, inferred from the first lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from pucli.core.errors import UsageError
from pucli.data.columns.cells import is_number
from pucli.data.columns.doubtful_rows import UsualLines, below_header, joined_to_names
from pucli.data.files.packed import member_name, opened, plain_text
from pucli.data.files.table_size import checked_names
from pucli.data.files.text.checked_records import FEW
from pucli.data.files.text.decimal_comma import has_decimal_comma
from pucli.data.files.text.encodings import misread
from pucli.data.files.text.records import (
    LONGEST,
    Record,
    RecordShape,
    endless_line,
    has_row_names,
    header_cells,
    header_lines,
    header_location,
    joined_names,
    note,
    quote_escape,
    split_records,
    text_records,
    typical_width,
)
from pucli.data.reading import AS_IT_IS, WANTED, Reading, normal

HEAD = 2**16  # bytes from which the layout is inferred
UNNAMED = "Unnamed: "
"""Beginning of the name of a column without a name, before its position from 0, as pandas has it."""
ALIKE = 0.7  # share of the first lines with as many separators, by which text of any name is a table
NEARLY_ALL = 0.95  # share of the rows
EVEN = 0.5  # share of the first records that must have the same number of fields
RECORDS = 2000  # from which the layout is inferred
_NO_TEXT = re.compile("[\0\x02-\x08\x0e-\x19]")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[,;\t]*\r?\n', re.IGNORECASE)


class TextLayout(NamedTuple):
    """Layout of a text file: the separator, one character, whether it has a header line, and the column names.

    `reading` has the user's options and what the file itself says of them, `shape` what each record must have, `usual`
    what is usual in a row.
    """

    separator: str
    header: bool
    names: list[str]
    reading: Reading = Reading()
    shape: RecordShape = RecordShape(",", 1)
    usual: UsualLines = UsualLines(())

    @property
    def naming(self) -> str:
        """Return a note on how columns are named, for errors about a name."""
        numbered = f"; the file has no header line, its columns are numbered 1 to {len(self.names)}"
        return self.reading.note if self.header else numbered + self.reading.note


def text_head(path: Path, reading: Reading = AS_IT_IS) -> str:
    """Return the first lines of a file, unpacked, as text."""
    with plain_text(path, reading) as stream:
        return head_text(read_head(stream, path))


def read_head(stream: IO[bytes], path: Path) -> bytes:
    """Return the beginning of a file: more than `HEAD` bytes, or all there are; two lines unless they are endless.

    Raises UsageError, which names `path`, if no line ends.
    """
    pieces = [stream.read(HEAD + 1)]
    lines, size = pieces[0].count(b"\n"), len(pieces[0])
    while size > HEAD and lines < 2 and size < LONGEST and pieces[-1]:
        pieces.append(stream.read(2**20))
        lines, size = lines + pieces[-1].count(b"\n"), size + len(pieces[-1])
    head = b"".join(pieces)
    if len(head) >= LONGEST and b"\n" not in head and b"\r" not in head:
        raise endless_line(path, 1)
    return head


def head_text(raw: bytes) -> str:
    """Return `raw`, the beginning of a file, as text, without the last line if it may be truncated."""
    if len(raw) > HEAD:
        raw = raw[: raw.rfind(b"\n") + 1] if raw.count(b"\n") > 1 else raw
    return raw.decode("utf-8-sig")


def is_text_table(path: Path, reading: Reading = AS_IT_IS) -> bool:
    """Return whether the first lines of a file are text, of whatever encoding, with two or more columns."""
    try:
        head = text_head(path, reading)
    except UnicodeDecodeError:
        with opened(path) as stream:
            head = read_head(stream, path).decode("latin-1")
        if _NO_TEXT.search(head):
            return False
    lines = [line for line in re.split("[\r\n]+", head)[:20] if line.strip()]
    if "\0" in head or len(lines) < 2:
        return False
    if any(min(line.count(separator) for line in lines) > 0 for separator in ",;|\t "):
        return True
    usual = (Counter(line.count(sign) for line in lines).most_common(1)[0] for sign in ",;|\t")
    return any(count > 0 and times >= ALIKE * len(lines) for count, times in usual)


def text_layout(path: Path, head: str, known: Collection[str] = (), reading: Reading = AS_IT_IS) -> TextLayout:
    """Infer the layout of a text file."""
    if not head.strip():
        raise UsageError(f"{path} is empty; {WANTED}")
    _check_line_ends(path, head)
    _warn_if_utf_8(path, head, reading.encoding)
    said = _SEPARATOR_LINE.match(head)
    if said and not reading.separator:
        reading = replace(reading, separator=said[1])
    returns = "\n" not in head and "\r" in head
    head, above = _lines_below(head, said, returns)
    separator = reading.separator or _separator(path, head, known, reading.format)
    quotes = reading.quote != "none"
    escape = quote_escape(head, separator) if quotes else ""
    records = text_records(head, separator, escape=escape, count=RECORDS, quotes=quotes)
    if not records:
        raise UsageError(f"{path}: the first line cannot be read; quote a cell that contains a line end")
    top = _top(path, records, known, reading, above, cut=len(head) > HEAD // 2)
    place, first, body, reading = top.place, top.names, top.body, top.reading
    second = body[0].fields if body else []
    header = _has_header(_points(first, separator), _points(second, separator), known)
    row_names = header and has_row_names(len(first), body, _first_characters(head, records[place], body))
    if row_names:  # R's write.table: no header for the row names
        first = ["row", *first]
    if header:
        if _is_one_too_long(first, body):  # "#fields" of a log, or "#" before the first name
            first = first[1:]
        while len(first) > 1 and not first[-1].strip() and body and all(len(row.fields) < len(first) for row in body):
            first = first[:-1]  # a separator at the end of the header alone
        names = _named(list(map(normal, map(str.strip, first))))
    else:
        names = [str(i) for i in range(1, typical_width(records[place:]) + 1)]
    names = checked_names(path, names)
    if header and body:
        _check_header(path, names, first[0], body, separator, above + body[0].line + reading.skip_rows)
    if header:
        begin = _line_after(head, separator, escape, top.last, quotes=quotes)
    else:
        begin = records[place].line if len(names) > 1 or place else 1
    cells = header_cells(records[place].fields, body) if header and len(names) > 1 else ()
    whole_rows = [row for row in body if len(row.fields) >= len(names) > 1]
    comments = sum(row.fields[0].startswith("#") for row in whole_rows) <= FEW * len(whole_rows)
    line = head.split("\n")[records[place].line - 1]
    spaced = not header or line.startswith(" ") or separator + " " in line
    inner = line.strip(f" {separator}")  # of a drawn table
    padded = header and separator != " " and 0 < inner.count(separator) == inner.count(" " + separator)
    of_cells = {"comments": comments, "spaced": spaced, "padded": padded, "quotes": quotes}
    shape = RecordShape(separator, len(names), above + begin, escape, row_names, returns, header, cells, **of_cells)
    usual = UsualLines([row.fields for row in body[: len(body) // 2]])  # the last may be no rows
    return TextLayout(separator, header, names, reading, shape, usual)


class _Top(NamedTuple):
    """Where a table begins: the position of its first line, the names, the last line above the rows, and the rows."""

    place: int
    names: list[str]
    last: int
    body: list[Record]
    reading: Reading


def _top(
    path: Path, records: Sequence[Record], known: Collection[str], reading: Reading, above: int, *, cut: bool
) -> _Top:
    """Return where a table begins; `cut` : whether the last record may be incomplete."""
    above += reading.skip_rows
    place = header_location(records, [name for name in known if not is_number(name)], reading.header_rows or 1)
    if place:
        note(f"{path}: the table begins in line {above + records[place].line}; what stands above it is skipped")
    body = list(records[place:-1] if cut and len(records) > place + 2 else records[place:])
    shape = RecordShape("", len(body[0].fields), comments=True)
    body = [body[0], *(record for record in body[1:] if not shape.is_comment(record.fields))]
    lines = [record.fields for record in body]
    n_names, n_below = header_lines(lines, reading.header_rows)
    start, numbers = n_names + n_below, [above + record.line for record in body]
    if n_below:
        note(f"{path}: {below_header(numbers[1:start], lines[1:start])}")
    elif n_names > 1 and not reading.header_rows:
        note(f"{path}: {joined_to_names(numbers[1:start])}")
        reading = replace(reading, header_rows=n_names)
    names = joined_names(lines[:n_names])
    return _Top(place, names, body[min(start, len(body)) - 1].line, body[start:], reading)


def _is_one_too_long(first: Sequence[str], body: Sequence[Record]) -> bool:
    """Return whether a header begins with a sign of comments that is no name, as all rows have a field less."""
    return first[0].startswith("#") and _width(body) == len(first) - 1


def _width(body: Sequence[Record]) -> int:
    """Return the number of fields of nearly all rows, 0 if they differ."""
    widths = Counter(len(row.fields) for row in body if not row.fields[0].startswith("#"))
    width, n = widths.most_common(1)[0] if widths else (0, 0)
    return width if n >= NEARLY_ALL * widths.total() else 0


def _all_shorter(names: Sequence[str], body: Sequence[Record]) -> bool:
    """Return whether all rows have fewer fields than the header, but for lines that are no rows like the others."""
    short = [row.fields for row in body if len(row.fields) < len(names)]
    others = [row.fields for row in body if len(row.fields) >= len(names)]
    if not others or not 0 < _width(body) < len(names):
        return not others
    usual = UsualLines(short)
    return not any(map(usual.is_row, others))


def _check_line_ends(path: Path, head: str) -> None:
    """Raise UsageError for a text whose lines end with a character that ends none in a table."""
    if "\n" in head or "\r" in head:
        return
    for sign, code in (("\x85", "U+0085"), ("\u2028", "U+2028"), ("\u2029", "U+2029")):
        if head.count(sign) > 1:
            raise UsageError(f"{path}: its lines end with {code} in place of a line feed; end them with line feeds")


def _named(cells: Sequence[str]) -> list[str]:
    """Return the names in a header, those without any numbered, even beside "Unnamed: 0" of an index saved twice."""
    given = set(cells)
    numbered = (f"{UNNAMED}{position}" for position in range(len(cells)))
    return [cell or (f"{name}.1" if name in given else name) for cell, name in zip(cells, numbered, strict=True)]


def _warn_if_utf_8(path: Path, head: str, encoding: str) -> None:
    """Tell the user if a text that was read in another encoding is UTF-8 all the same, or looks garbled."""
    if not encoding or head.isascii():
        return
    with suppress(UnicodeError):
        if head.encode(encoding).decode("utf-8-sig") != head:
            note(f"{path} is UTF-8, but is read as {encoding}, which garbles its letters; give --encoding utf-8")
            return
    with suppress(UnicodeError):
        if garbled := misread(head, encoding):
            note(f"{path} {garbled}")


def _check_header(
    path: Path, names: Sequence[str], first: str, body: Sequence[Record], separator: str, line: int
) -> None:
    """Raise UsageError if the header is separated otherwise than the rows, or all of them have fewer fields."""
    width = len(body[0].fields)
    if len(names) == 1 and (sign := _sign_of_header(first, body)):
        raise UsageError(
            f"{path}: the header is separated by {sign!r}, but the lines below it by {separator!r} ({width} fields in "
            "the first); write both with the same sign"
        )
    if any("\n" in field for row in body for field in row.fields):  # a quote may not be closed
        return
    if _all_shorter(names, body):
        way_out = (
            "each of them is quoted as one cell, so remove the quotes around the lines"
            if all(len(row.fields) == 1 and separator in row.fields[0] for row in body)
            else f"quote a name that has {separator!r} in it, or correct the header"
        )
        if separator == " ":
            way_out = "where cells join without a blank, save the table as CSV; quote a name that has a blank in it"
        raise UsageError(
            f"{path}: the header has {len(names)} fields, but line {line} and all lines after it have fewer ({width}); "
            f"{way_out}"
        )


def _sign_of_header(name: str, body: Sequence[Record]) -> str:
    """Return the sign that separates a header of one field if all rows have the same larger number, "" if none does."""
    widths = {len(row.fields) for row in body}
    return next((sign for sign in ";\t|," if len(widths) == 1 and name.count(sign) == max(widths) - 1 > 0), "")


def _lines_below(head: str, said: re.Match[str] | None, returns: bool) -> tuple[str, int]:
    """Return the first lines below one that says the separator, and how many lines are left out."""
    if said:
        head = head[said.end() :]
    return head.replace("\r", "\n") if returns else head, int(said is not None)


def _line_after(head: str, separator: str, escape: str, line: int, *, quotes: bool) -> int:
    """Return the line after the record that begins in `line`."""
    records = split_records(io.StringIO(head, newline="\n"), separator, escape=escape, quotes=quotes)
    last = head.count("\n") + (not head.endswith("\n"))
    try:
        return next((record.line for record in records if record.line > line), last + 1)
    except csv.Error:
        return line + 1


def _first_characters(head: str, header: Record, body: Sequence[Record]) -> str:
    """Return the first characters of the lines of the header and of the first row."""
    lines = head.split("\n")
    return "".join(lines[record.line - 1].lstrip()[:1] for record in [header, *body[:1]])


def _separator(path: Path, text: str, known: Collection[str] = (), form: str = "") -> str:
    """Return the separator: a tab for .tsv, otherwise the one that splits most of the first lines evenly.

    It splits the first line, too, unless that is a title: then it is none of the `known` names.
    """
    name = f".{form}" if form else member_name(path).lower()
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
    by_number = any(is_number(name) for name in known)
    counted = len(cells) > 1 and any(cells == [str(start + i) for i in range(len(cells))] for start in (0, 1))
    if by_number and (counted or (len(known) > 2 and set(known) <= set(cells))):
        return True
    if any(name in cells for name in known if not is_number(name)):
        return True
    if not any(is_number(cell) for cell in cells):
        return len(set(cells)) == len(cells) and not by_number
    return any(not is_number(top) and is_number(below) for top, below in zip(cells, second, strict=False))


def _points(cells: Sequence[str], separator: str) -> Sequence[str]:
    """Return the cells of a line with decimal points for decimal commas."""
    if separator == ",":
        return cells
    return [cell.replace(",", ".") if has_decimal_comma(cell) else cell for cell in cells]
