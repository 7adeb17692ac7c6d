"""Lines of a text file that are skipped, filled or doubtful, and the notes on them."""

from __future__ import annotations

from pathlib import Path

from pucli.core.errors import UsageError
from pucli.data.encode.doubtful_rows import COUNTS, few_at_end

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
        self._first_width = self._last_short = self._last_line = self._last_blank = 0

    def add_blank(self, line: int, n: int = 1) -> None:
        """Count blank lines, the first of which is `line`."""
        self._since.add(line, n)
        if self._since.n + self._blank.n > MOST_BLANKS:
            raise UsageError(f"{self._path} has more than {MOST_BLANKS} blank lines; remove them")

    def keep_blank(self) -> None:
        """Count the blank lines before a record."""
        if self._since.n:
            self._blank.add(self._since.first, self._since.n)
            self._last_blank = self._since.first + self._since.n - 1
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
            after = few_at_end(self._last_line - self._last_blank, self._last_line, "line")
            found.append(f"{n} {lines} skipped ({first}line {self._blank.first}){after}")
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
