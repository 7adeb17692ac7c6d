"""Records of a delimited text file: their fields, their lines, and where the header is.

A line is split where `csv.reader` splits it, never at U+2028 or a form feed.
"""

from __future__ import annotations

import csv
import io
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pucli.core.errors import UsageError
from pucli.data.columns.cells import is_number
from pucli.data.columns.doubtful_rows import lines_below

FIELD_LIMIT = min(sys.maxsize, 2**31 - 1)
"""Longest field for `csv`, which is a C long: 32 bits under Windows."""

_RULE = re.compile(r"[+=-]{3,}[+=-]*")
_RULES = re.compile(r"-+(\n-+)*|=+(\n=+)*")  # below a header, as SQL programs write them

LONGEST = 2**24  # bytes that a line may have


def endless_line(path: Path, line: int) -> UsageError:
    """Return the error for a line, by its number, of more than `LONGEST` bytes."""
    return UsageError(f"{path}: line {line} has more than {LONGEST // 2**20} million characters, so it is no table")


class Record(NamedTuple):
    """Fields of a record and the line (from 1) on which it begins."""

    line: int
    fields: list[str]

    @property
    def blank(self) -> bool:
        """Return whether no field is filled, as in a line of separators, or the line ends a file as DOS does."""
        return not any(self.fields) or (len(self.fields) == 1 and not self.fields[0].strip(" \t\r\n\x1a"))


class RecordShape(NamedTuple):
    """Shape of the records of a file.

    separator : str
        " " means any number of blanks and tabs.
    n_fields : int
    first_line : int
        Line on which the first data record begins.
    escape : str
        Character that escapes a quote within quotes, besides a second quote; "" if there is none.
    row_names : bool
        Whether the header has no name for the first field, as R writes it.
    returns : bool
        Whether lines end with a carriage return alone.
    header : bool
        Whether the columns are named by a header.
    header_cells : tuple of str
        The header, which joined files repeat; () if it cannot be told from data.
    comments : bool
        Whether a short line that begins with # is a comment.
    spaced : bool
        Whether blanks follow the separators of the header, so that those in front of a cell do not belong to it.
    padded, quotes : bool
        Whether blanks precede all separators of the header, so that those behind a cell do not belong to it, and
        whether quotes are signs around cells.
    """

    separator: str
    n_fields: int
    first_line: int = 1
    escape: str = ""
    row_names: bool = False
    returns: bool = False
    header: bool = True
    header_cells: tuple[str, ...] = ()
    comments: bool = False
    spaced: bool = False
    padded: bool = False
    quotes: bool = True

    def is_header(self, fields: Sequence[str]) -> bool:
        """Return whether the fields of a record are the names of the columns, in any order."""
        if not len(fields) == len(self.header_cells) > 0 or _bare(fields[0]) not in self.header_cells:  # nearly all
            return False
        return sorted(map(_bare, fields)) == sorted(self.header_cells)

    def is_comment(self, fields: Sequence[str]) -> bool:
        """Return whether a record is a comment, or a rule such as +----+----+."""
        if len(fields) == self.n_fields > 1:
            cells = "\n".join(map(str.strip, fields)) if fields[0].lstrip()[:1] in ("-", "=") else ""
            return ("---" in cells or "===" in cells) and _RULES.fullmatch(cells) is not None
        if self.comments and fields and fields[0].startswith("#"):
            return len(fields) != self.n_fields
        return 0 < len(fields) < self.n_fields and bool(_RULE.fullmatch("".join(fields)))

    def is_row(self, record: Record) -> bool:
        """Return whether a record below the header is a row of the table."""
        if self.n_fields == 1:
            return True
        return not (record.blank or self.is_header(record.fields) or self.is_comment(record.fields))


def _bare(cell: str) -> str:
    return cell.strip(" \t\r\n\ufeff")


def header_cells(fields: Sequence[str], body: Sequence[Record] = ()) -> tuple[str, ...]:
    """Return the fields of a header as `RecordShape` has them; () if rows look like it, as below "win,loss"."""
    cells = tuple(map(_bare, fields))
    names = set(cells) - {""}
    rows_alike = sum(any(_bare(field) in names for field in row.fields) for row in body)
    return cells if not all(map(is_number, names)) and 2 * rows_alike <= len(body) else ()


def split_records(
    lines: Iterable[str], separator: str, *, escape: str = "", strict: bool = False, quotes: bool = True
) -> Iterator[Record]:
    """Yield the records of lines, blank ones included."""
    csv.field_size_limit(FIELD_LIMIT)
    blanks = separator == " "
    if blanks:
        lines = (line.replace("\t", " ").rstrip() + "\n" for line in lines)
    quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    reader = csv.reader(
        lines, delimiter=separator, skipinitialspace=True, escapechar=escape or None, strict=strict, quoting=quoting
    )
    begin = 1
    for fields in reader:
        yield Record(begin, fields)
        begin = 1 + reader.line_num


def text_records(
    text: str, separator: str, *, escape: str = "", count: int = sys.maxsize, quotes: bool = True
) -> list[Record]:
    """Return the first records of a text that are not blank, up to one that cannot be read."""
    found: list[Record] = []
    try:
        for record in split_records(io.StringIO(text, newline="\n"), separator, escape=escape, quotes=quotes):
            if not record.blank:
                found.append(record)
                if len(found) == count:
                    break
    except csv.Error:  # told when the records are read
        pass
    return found


def typical_width(records: Sequence[Record]) -> int:
    """Return the number of fields that four of five records reach; a short line or a title does not lower it."""
    widths = sorted(len(record.fields) for record in records)
    return widths[len(widths) // 5] if widths else 0


def quote_escape(text: str, separator: str) -> str:
    r"""Return the backslash if quotes within quotes are written \", as Spark and MySQL do, otherwise ""."""
    if '\\"' not in text or _fit(text, separator, ""):
        return ""
    return "\\" if _fit(text, separator, "\\") else ""


def _fit(text: str, separator: str, escape: str) -> bool:
    """Return whether quotes fit the separators, and all records have one number of fields."""
    widths = set()
    try:
        for record in split_records(io.StringIO(text, newline="\n"), separator, escape=escape, strict=True):
            if not record.blank:
                widths.add(len(record.fields))
    except csv.Error as error:
        if "unexpected end" not in str(error):  # the text may end within a quoted field
            return False
    return len(widths) == 1


def joined_names(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the names in lines of a header: the cells of a column, joined; a title may stand over several columns.

    Examples
    --------
    >>> joined_names([["town", "people", "", "note"], ["", "2019", "2020"]])
    ['town', 'people 2019', 'people 2020', 'note']
    """
    if len(lines) == 1:
        return list(lines[0])
    width = max(map(len, lines))
    rows = [[cell.strip() for cell in line] + [""] * (width - len(line)) for line in lines]
    for n, row in enumerate(rows, start=1):
        for place in range(1, width):
            row[place] = row[place] or row[place - 1] * any(below[place] for below in rows[n:])
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]


def header_lines(lines: Sequence[Sequence[str]], given: int | None = None) -> tuple[int, int]:
    """Return how many first lines have names, which are joined, and how many below them are no rows."""
    if given:
        return given, 0
    n_below = lines_below(lines[0], lines[1:])
    joined, first = (set(map(str.strip, names[1:])) - {""} for names in (joined_names(lines[: n_below + 1]), lines[0]))
    return (1 + n_below, 0) if len(joined) > len(first) else (1, n_below)  # as below a title over several columns


def header_location(records: Sequence[Record], known: Iterable[str], n_lines: int = 1) -> int:
    """Return the position of the first of the lines with names, which titles or comments may precede."""
    wanted = set(known)
    fields = [record.fields for record in records[: 19 + n_lines]]
    cells = [
        {cell.strip() for cell in joined_names(fields[place : place + n_lines])} for place in range(len(fields[:20]))
    ]
    if not cells or wanted & cells[0]:
        return 0
    if wanted:
        shared = [len(wanted & found) for found in cells]
        return shared.index(max(shared)) if 2 * max(shared) >= len(wanted) else 0
    usual = typical_width(records)
    if usual > 1 and len(records[0].fields) == 1:
        return next(place for place, record in enumerate(records) if len(record.fields) >= usual)
    return 0


def has_row_names(width: int, records: Sequence[Record], first_characters: str) -> bool:
    """Return whether each record begins with a row name that the header lacks, as R writes tables.

    R quotes the names in the header and the row names, which differ. An additional field without quotes is more likely
    a cell that an unquoted separator has split.
    """
    if first_characters != '""' or not records or any(len(record.fields) != width + 1 for record in records):
        return False
    return len({record.fields[0] for record in records}) == len(records)


def note(text: str) -> None:
    """Tell the user what was skipped or filled in a file that was read."""
    warnings.warn(text, stacklevel=2)
