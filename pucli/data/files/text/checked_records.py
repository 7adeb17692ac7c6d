"""Records of a text file, checked before pandas parses them, since it would lose parts of some without a message.

pandas fills short lines, skips blank ones, cuts a cell at a NUL, splits it at a carriage return, and takes a first data
row with one field too many for an index. A block of bytes in which the separators are as many as its lines need,
outside of quotes, is passed on at once; only other blocks are taken apart.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from pucli.core.errors import UsageError
from pucli.data.columns.cells import is_number
from pucli.data.columns.doubtful_rows import COUNTS
from pucli.data.files.readers import NULL
from pucli.data.files.text.records import LONGEST, Record, RecordShape, endless_line, header_cells, split_records

TAIL = 2**13  # bytes in which the last record usually begins
NEWLINE, RETURN, QUOTE, BLANK, TAB = b'\n\r" \t'


def end_of_records(data: bytes, *, quotes: bool = True) -> int:
    """Return the end of the last line of `data` before which all quotes are closed."""
    end = data.rfind(b"\n") + 1
    if not quotes or b'"' not in data or not data.count(b'"', 0, end) % 2:
        return end
    for begin in (max(end - TAIL, 0), 0):
        cells = np.frombuffer(data, dtype=np.uint8)[begin:end]
        outside = np.cumsum(cells == QUOTE) % 2 == data.count(b'"', 0, begin) % 2
        ends = np.flatnonzero((cells == NEWLINE) & outside)
        if len(ends):
            return begin + int(ends[-1]) + 1
    return 0


def byte_table(characters: bytes) -> np.ndarray:
    """Return which of the 256 bytes are among some characters."""
    return np.isin(np.arange(256), list(characters))


def unquoted(delimiters: bytes) -> bytes:
    """Return separators and line ends without the quotes and what lies within them."""
    return b"".join(delimiters.replace(b'""', b"").split(b'"')[::2])


def between_blanks(cells: np.ndarray) -> bytes:
    """Return a blank for the beginning of each cell, and the line ends."""
    newlines = cells == NEWLINE
    gaps = (cells == BLANK) | (cells == TAB) | (cells == RETURN) | newlines
    begins = ~gaps
    begins[1:] &= gaps[:-1]
    return np.where(newlines, np.uint8(NEWLINE), np.uint8(BLANK)).compress(begins | newlines).tobytes()


def has_bare_return(block: bytes) -> bool:
    """Return whether a carriage return ends no line."""
    return b"\r" in block and block.count(b"\r") != block.count(b"\r\n")


def has_regular_quotes(cells: np.ndarray, quotes: np.ndarray, separator: int) -> bool:
    """Return whether every quote opens a cell at its beginning, closes it at its end, or is doubled within it."""
    opening, closing = quotes[0::2], quotes[1::2]
    before = cells[np.maximum(opening - 1, 0)]
    after = cells[np.minimum(closing + 1, len(cells) - 1)]
    opens = (opening == 0) | (before == separator) | (before == NEWLINE) | (before == QUOTE)
    closes = (after == separator) | (after == NEWLINE) | (after == RETURN) | (after == QUOTE)
    return bool(len(opening) == len(closing) and opens.all() and closes.all())


FEW = 0.05  # share of the rows, up to which those that begin with # may be comments
MOST_BLANKS = 5_000_000  # lines; they are counted one by one


class _Lines:
    """Number of lines of a kind, and the first of them."""

    def __init__(self) -> None:
        self.n = self.first = 0

    def add(self, line: int, n: int = 1) -> None:
        self.first = self.first or line
        self.n += n

    def more(self, verb: str) -> str:
        return f", as {verb} {self.n - 1} more" if self.n > 1 else ""


class SkippedLines:
    """Counter of the lines of a file that are no rows, or not as they should be.

    Parameters
    ----------
    path : Path
        Name for messages.
    n_fields : int
        Number of columns.
    """

    def __init__(self, path: Path, n_fields: int) -> None:
        self._path, self._n_fields = path, n_fields
        self._since = _Lines()  # blank lines since the last record; at the end of a file they are usual
        self._blank = _Lines()
        self.headers, self.comments, self.like_comments = _Lines(), _Lines(), _Lines()
        self._short = _Lines()
        self._first_width = self._last_short = self._last_line = 0

    def add_blank(self, line: int, n: int = 1) -> None:
        """Count blank lines, the first of which is `line`."""
        self._since.add(line, n)
        if self._since.n + self._blank.n > MOST_BLANKS:
            raise UsageError(f"{self._path} has more than {MOST_BLANKS} blank lines; remove them")

    def keep_blank(self) -> None:
        """Count the blank lines before a record."""
        if self._since.n:
            self._blank.add(self._since.first, self._since.n)
            self._since = _Lines()

    def end_record(self, line: int) -> None:
        """Note that a record ends in a line."""
        self.keep_blank()
        self._last_line = line

    def add_short(self, line: int, width: int) -> None:
        """Count the record that has just ended, which begins in `line` and has only `width` fields."""
        self._first_width = self._first_width or width
        self._short.add(line)
        self._last_short = self._last_line

    def notes(self) -> list[str]:
        """Return a note on each kind of lines, once all records are read."""
        found = []
        if n := self._blank.n:
            lines, first = ("blank line is", "") if n == 1 else ("blank lines are", "the first is ")
            found.append(f"{n} {lines} skipped ({first}line {self._blank.first})")
        if self.headers.n:
            found.append(f"line {self.headers.first} repeats the header{self.headers.more('do')}; skipped")
        if self.comments.n:
            more = self.comments.more("is" if self.comments.n == 2 else "are")
            found.append(f"line {self.comments.first} is a comment or a rule{more}; skipped")
        if 0 < self.like_comments.n <= FEW * self._last_line:
            line, more = self.like_comments.first, self.like_comments.more("do")
            found.append(f"line {line} begins with #{more}, like a comment, {COUNTS}")
        if n := self._short.n:
            fields = f"{self._first_width} field{'s' * (self._first_width > 1)} for {self._n_fields} columns"
            more = f", and {n - 1} more line{' is' if n == 2 else 's are'} short" if n > 1 else ""
            cut = "; the file may be cut short" if self._last_short == self._last_line else ""
            found.append(
                f"line {self._short.first} has {fields}{more}; the cells missing at the end are read as empty{cut}"
            )
        return [f"{self._path}: {text}" for text in found]


_CHUNK = 2**18
_CURLY = "“”„‟"
_BLANK_BYTES = b" \t\r\n"
_MARK = b"\xef\xbb\xbf"  # byte-order mark


class CheckedRecords:
    """Data records of a text file as a stream for a parser, each with as many fields as the `shape` says.

    Parameters
    ----------
    source : binary stream
        The whole file as UTF-8.
    path : Path
        Name for messages.
    shape : RecordShape
    before : int
        Number of lines of the file that `source` has left out.
    ids : collection of int
        Positions of the identifiers, whose leading blanks are kept.

    Raises
    ------
    UsageError
        On reading: a record has too many fields, a quote is not closed, or a byte would be lost.
    """

    def __init__(
        self, source: IO[bytes], path: Path, shape: RecordShape, before: int = 0, ids: Collection[int] = ()
    ) -> None:
        self._source, self._path, self._shape = source, path, shape
        as_they_are = shape.spaced or shape.escape or shape.separator == " " or not shape.quotes
        self._ids = [] if as_they_are else sorted(ids)
        self._ready = b""
        self._rest, self._begun, self._ended = b"", False, False
        self._line = before + shape.first_line
        self._each: Iterator[bytes] | None = None  # the rest of the file, record by record
        self._skipped = SkippedLines(path, shape.n_fields)
        n_delimiters = shape.n_fields - (shape.separator != " ")  # between blanks, beginnings of cells
        sign = shape.separator.encode()
        separators = rb'[ "]*(?:' + re.escape(sign) + rb'[ "]*)+\r?|' if sign != b" " else b""
        self._null = re.compile(rb"(?:^|(?<=" + re.escape(sign) + rb"))\\N(?=" + re.escape(sign) + rb"|\r?\n|$)")
        self._empty_line = re.compile(separators + rb"[-= " + re.escape(sign) + rb"]+\r?")  # or a rule of dashes
        self._of_empty_lines = byte_table(sign + b' "\r\n-=')
        self._line_of_delimiters = shape.separator.encode() * n_delimiters + b"\n"
        cells = [cell.encode() for cell in shape.header_cells if cell]
        self._longest_name = max((cell for cell in cells if b'"' not in cell), key=len, default=b"")
        self._least_header = sum(map(len, cells))
        self._begins_header = byte_table(sign + b' \t"' + b"".join(cell[:1] for cell in cells))
        self._ends_header = byte_table(sign + b' \t\r"' + b"".join(cell[-1:] for cell in cells))

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes of checked records; pandas takes them as UTF-8 without decoding them first."""
        while not self._ready:
            if self._ended:
                return b""
            self._ready = self._next()
        if len(self._ready) <= size:
            found, self._ready = self._ready, b""
        else:
            found, self._ready = self._ready[:size], self._ready[size:]
        return found

    def __iter__(self) -> Iterator[bytes]:
        """Refuse to be read by lines; pandas asks for the method alone."""
        raise io.UnsupportedOperation("lines")

    def notes(self) -> list[str]:
        """Return which lines were skipped or filled, once all records are read."""
        return self._skipped.notes()

    def _read(self) -> bytes:
        chunk = self._source.read(_CHUNK)
        return chunk.replace(b"\r", b"\n") if self._shape.returns else chunk

    def _begin(self) -> bytes:
        """Return the first bytes of the data records."""
        data = self._read()
        data = data.removeprefix(_MARK)
        place = 0
        for _ in range(self._shape.first_line - 1):
            while (found := data.find(b"\n", place)) < 0:
                chunk = self._read()
                if not chunk:
                    return b""
                data += chunk
            place = found + 1
        return data[place:] or self._read()

    def _next(self) -> bytes:
        """Return the next checked bytes; none may be ready yet."""
        if self._each is not None:
            pieces, size = [], 0
            for piece in self._each:
                pieces.append(piece)
                size += len(piece)
                if size >= _CHUNK:
                    return b"".join(pieces)
            self._ended = True
            return b"".join(pieces)
        chunk = self._read() if self._begun else self._begin()
        self._begun = True
        data = self._rest + chunk
        if not chunk:
            self._ended, self._rest = True, b""
            return self._checked(data + b"\n") if data and not data.endswith(b"\n") else self._checked(data)
        end = end_of_records(data, quotes=self._shape.quotes)
        self._rest = data[end:]
        if len(self._rest) > LONGEST:  # a quoted cell should have ended
            self._rest = b""
            return self._one_by_one(data)
        return self._checked(data[:end])

    def _checked(self, block: bytes) -> bytes:
        """Check a block of whole lines; its quotes may be irregular."""
        if not block:
            return block
        if _MARK[:1] in block and _MARK in block:  # files were joined
            block = block.removeprefix(_MARK).replace(b"\n" + _MARK, b"\n")
        if self._shape.n_fields > 1 and block.isspace() and not block.strip(_BLANK_BYTES):
            self._skipped.add_blank(self._line, block.count(b"\n"))
            self._line += block.count(b"\n")
            return b""
        if self._shape.escape or b"\0" in block or has_bare_return(block):
            return self._one_by_one(block)
        fields = self._delimiters(block)
        if fields is None:
            return self._one_by_one(block)
        n_lines = len(fields) // len(self._line_of_delimiters)
        odd = fields != self._line_of_delimiters * n_lines or self._has_odd_line(block)
        if quoted := self._shape.quotes and b'"' in block and block.count(b"\n") > n_lines:  # lines within cells
            n_inner = block.count(self._shape.separator.encode()) - n_lines * (self._shape.n_fields - 1)
            odd |= n_inner >= self._shape.n_fields - 1
        if odd or (self._ids and b" " in block and self._has_blank_before_id(block)):
            return b"".join(self._records(iter(io.BytesIO(block))))
        if self._shape.comments and b"#" in block and (n := block.startswith(b"#") + block.count(b"\n#")):
            first = 0 if block.startswith(b"#") else block.index(b"\n#") + 1
            self._skipped.like_comments.add(self._line + block.count(b"\n", 0, first), n)
        self._line += block.count(b"\n") if quoted else n_lines
        self._skipped.end_record(self._line - 1)
        return block

    def _has_header(self, block: bytes, begins: np.ndarray, ends: np.ndarray) -> bool:
        """Return whether one of the lines from `begins` to `ends` has the names of the columns."""
        if self._longest_name not in block:
            return False
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            line = block[begin:end]
            if self._longest_name in line:
                whole = not self._shape.quotes or line.count(b'"') % 2 == 0
                [record] = self._split([line.decode() + "\n"]) if whole else [None]
                if record is not None and self._shape.is_header(record.fields):
                    return True
        return False

    def _has_odd_line(self, block: bytes) -> bool:
        """Return whether a line has separators alone, or the names of the columns."""
        if self._shape.n_fields == 1:
            return False
        cells = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(cells == NEWLINE)
        begins = np.append(0, ends[:-1] + 1)
        first, last = cells[begins], cells[np.maximum(ends - 1, 0)]
        if self._shape.header_cells:
            alike = self._begins_header[first] & self._ends_header[last] & (ends - begins >= self._least_header)
            if alike.any() and self._has_header(block, begins[alike], ends[alike]):
                return True
        doubtful = self._of_empty_lines[first] & self._of_empty_lines[last]
        places = zip(begins[doubtful].tolist(), ends[doubtful].tolist(), strict=True)
        return any(self._empty_line.fullmatch(block, begin, end) for begin, end in places)

    def _has_blank_before_id(self, block: bytes) -> bool:
        """Return whether an identifier of a block of regular lines begins with a blank."""
        if self._ids == [0] and not block.startswith(b" ") and b"\n " not in block:
            return False
        cells = np.frombuffer(block, dtype=np.uint8)
        signs = (cells == ord(self._shape.separator)) | (cells == NEWLINE)
        if b'"' in block:
            signs &= np.cumsum(cells == QUOTE) % 2 == 0
        begins = np.append(0, np.flatnonzero(signs)[:-1] + 1).reshape(-1, self._shape.n_fields)
        return bool((cells[begins[:, self._ids]] == BLANK).any())

    def _with_blanks(self, raw: bytes, fields: list[str]) -> bytes:
        """Return a record whose identifiers are quoted if they begin with a blank, which pandas would leave out."""
        [found] = csv.reader([raw.decode()], delimiter=self._shape.separator) if raw.count(b"\n") == 1 else [fields]
        kept = [place for place in self._ids if place < len(fields) == len(found) and fields[place]]
        if all(found[place].lstrip(" ") != fields[place] or found[place] == fields[place] for place in kept):
            return raw
        cells = [found[place] if place in kept else cell for place, cell in enumerate(fields)]
        return self._shape.separator.join('"' + cell.replace('"', '""') + '"' for cell in cells).encode() + b"\n"

    def _delimiters(self, block: bytes) -> bytes | None:
        """Return the separators and line ends outside quotes, as they follow; None if a quote stands within a cell."""
        cells = np.frombuffer(block, dtype=np.uint8)
        quoted = self._shape.quotes and b'"' in block
        if self._shape.separator == " ":
            return None if quoted else between_blanks(cells)
        wanted = cells == NEWLINE
        wanted |= cells == ord(self._shape.separator)
        if quoted:
            quotes = cells == QUOTE
            if not has_regular_quotes(cells, np.flatnonzero(quotes), ord(self._shape.separator)):
                return None
            wanted |= quotes
            return unquoted(cells.compress(wanted).tobytes())
        return cells.compress(wanted).tobytes()

    def _one_by_one(self, begun: bytes) -> bytes:
        """Read the rest of the file, of which `begun` comes first, record by record."""
        self._each, self._ended = self._records(self._lines(begun)), False
        return b""

    def _split(self, lines: Iterable[str]) -> Iterator[Record]:
        return split_records(lines, self._shape.separator, escape=self._shape.escape, quotes=self._shape.quotes)

    def _lines(self, begun: bytes) -> Iterator[bytes]:
        data, self._rest = begun + self._rest, b""
        while True:
            *lines, data = data.split(b"\n")
            for line in lines:
                yield line + b"\n"
            chunk = self._read()
            if not chunk:
                break
            if len(data) > LONGEST:
                raise endless_line(self._path, self._line)
            data += chunk
        if data:
            yield data + b"\n"

    def _records(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the records of lines, checked."""
        taken: list[bytes] = []

        def texts() -> Iterator[str]:
            for line in lines:
                if b"\0" in line:
                    raise UsageError(
                        f"{self._path}: line {self._line + len(taken)} has a NUL character, at which its cell would be "
                        "cut; remove it"
                    )
                taken.append(line)
                yield line.decode()

        records = self._split(texts())
        while True:
            try:
                record = next(records, None)
            except csv.Error as error:
                raise UsageError(f"{self._path}: line {self._line} {_reason(error)}") from error
            if record is None:
                return
            raw = b"".join(taken)
            if self._shape.escape and NULL.encode() in raw:  # else the escape would make an N of it
                raw = self._null.sub(b"", raw)
            yield self._record(record.fields, raw, len(taken))
            self._line += len(taken)
            taken.clear()

    def _is_skipped(self, fields: list[str], line: int) -> bool:
        """Return whether a record is a header of joined files or a comment, which are counted."""
        shape = self._shape
        if shape.is_comment(fields):
            self._skipped.comments.add(line)
            return True
        if not shape.is_header(fields):
            return False
        if header_cells(fields) != shape.header_cells:
            raise UsageError(
                f"{self._path}: line {line} is a header with the columns in another order, as if files were joined; "
                "give each of them with --data"
            )
        self._skipped.headers.add(line)
        return True

    def _record(self, fields: list[str], raw: bytes, n_lines: int) -> bytes:
        """Check one record and return it as the parser should see it."""
        shape, line = self._shape, self._line
        if self._is_skipped(fields, line):
            return b""
        if shape.comments and raw.startswith(b"#"):
            self._skipped.like_comments.add(line)
        if Record(line, fields).blank and shape.n_fields > 1:
            self._skipped.add_blank(line)
            if raw.strip(b" \t\r\n\x1a"):  # of separators
                self._skipped.keep_blank()
            return b""
        self._skipped.end_record(line + n_lines - 1)
        if n_lines > 1 or (shape.quotes and not shape.escape and b'\\"' in raw):
            self._check_quotes(raw, n_lines, fields)
        if raw.endswith(b"\r\r\n"):
            raw = raw.rstrip(b"\r\n") + b"\n"
        width = max(len(fields), 1)
        if width > shape.n_fields:
            extra = width - shape.n_fields
            ends = shape.separator.encode() * extra
            text = raw.rstrip(b"\r\n")
            if shape.separator != " " and not "".join(fields[-extra:]) and text.endswith(ends):
                return text[: -len(ends)] + b"\n"
            whose = "the header has" if shape.header else "the lines before have"
            raise UsageError(
                f"{self._path}: line {line} has {width} fields, but {whose} {shape.n_fields}; "
                + _hint_for_long(fields, shape)
            )
        if width < shape.n_fields:
            if shape.row_names:
                raise UsageError(
                    f"{self._path}: line {line} has {width} fields, but the lines before have {shape.n_fields} with a"
                    " row name that the header does not name; name that column in the header, or correct that line"
                )
            self._check_separator(raw, width)
            if shape.separator == " ":
                raise UsageError(
                    f"{self._path}: line {line} has {width} fields for {shape.n_fields} columns, and blanks do not "
                    "tell which cell is empty or joins the next; write NA in empty cells, or save the table as CSV"
                )
            self._skipped.add_short(line, width)
        return self._with_blanks(raw, fields) if self._ids else raw

    def _check_separator(self, raw: bytes, width: int) -> None:
        """Raise UsageError for a line that another separator splits into as many fields as there are columns."""
        n_fields = self._shape.n_fields
        text = raw.decode()  # a remark has blanks after its commas
        other = next((sign for sign in ",;\t|" if text.count(sign) - text.count(sign + " ") == n_fields - 1), "")
        if width == 1 and n_fields > 2 and other:
            raise UsageError(
                f"{self._path}: line {self._line} is separated by {_name(other)}, but the header by "
                f"{_name(self._shape.separator)}, as if files were joined; give each of them with --data"
            )

    def _check_quotes(self, raw: bytes, n_lines: int, fields: Sequence[str]) -> None:
        shape = self._shape
        try:
            inner = max((field.count(shape.separator) for field in fields if "\n" in field), default=0)
            if inner >= shape.n_fields - 1 > 1:
                raise csv.Error("a cell holds whole lines")
            for _ in split_records(
                io.StringIO(raw.decode(), newline="\n"), shape.separator, escape=shape.escape, strict=True
            ):
                pass
        except csv.Error as error:
            if n_lines > 1:
                raise UsageError(
                    f"{self._path}: the quote that opens in line {self._line} is not closed in that line, and the lines"
                    ' after it would be read as one cell; close it, double a quote that belongs to a text (""), or give'
                    " --quote none if all quotes are plain characters"
                ) from error
            raise UsageError(
                f"{self._path}: line {self._line} has a quote after a backslash, unlike the first lines; double a"
                ' quote that belongs to a text ("")'
            ) from error


def _reason(error: csv.Error) -> str:
    if "new-line" in str(error):
        return "has a carriage return within a cell that is not quoted; quote the cell, or remove it"
    return f"cannot be read ({error})"


def _hint_for_long(fields: Sequence[str], shape: RecordShape) -> str:
    """Return what to do about a line with more fields than columns."""
    cut = (field.strip() for field in fields if field.strip()[-1:] not in _CURLY)  # within its quotes
    if quote := next((field[0] for field in cut if field[:1] in _CURLY), ""):
        return f'{quote} is no quote in a table; write " around a cell that has {_name(shape.separator)} in it'
    if shape.separator == " " and len(fields) == shape.n_fields + 1 and is_number(fields[0]):
        return f"if {fields[0]} is a row number, as in a printed table, name that column in the header, too"
    return f"quote a cell that has {_name(shape.separator)} in it, or correct that line"


def _name(separator: str) -> str:
    return {"\t": "a tab", " ": "a blank"}.get(separator, f"{separator!r}")
