"""The processor seconds that a ranking takes, about, and what they are due to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

# Seconds of a small table, and of each row, column and cell, with reading, as measured with 200 x 20,000, 7,000 x 784
# and 1,000,000 x 20 on one core.
START, ROW, COLUMN, CELL = 5.0, 6e-5, 2e-3, 5e-7
# Shorter times are not announced.
LONG = 30.0
# Files of lines, whose size is estimated from this many bytes.
SUFFIXES, HEAD = (".csv", ".tsv", ".txt"), 2**20


def expected_seconds(n: int, m: int) -> float:
    """Return the seconds for a table of n rows and m columns."""
    return START + ROW * n + (COLUMN + CELL * n) * m


def announcement(n: int, m: int) -> str:
    """Return how long a table of n rows and m columns takes and why, "" if that is not long.

    Examples
    --------
    >>> announcement(200, 20)
    ''
    >>> announcement(200, 50_000)
    'this takes about 2 minutes, most of it for the 50,000 columns; --drop or --only leaves some out'
    """
    seconds = expected_seconds(n, m)
    if seconds <= LONG:
        return ""
    minutes = round(seconds / 60.0)
    about = f"about {minutes} minutes" if minutes > 1 else "about a minute"
    many = f"the {m:,} columns; --drop or --only leaves some out"
    if ROW * n > COLUMN * m:
        many = f"the {n:,} rows; --rows N draws some of them"
    return f"this takes {about}, most of it for {many}"


def size_of_files(files: Sequence[Path]) -> tuple[int, int]:
    """Return about how many rows and columns files of lines have together; (0, 0) if their beginning does not say."""
    rows = columns = 0
    for path in files:
        head = b""
        if path.suffix.lower() in SUFFIXES and path.is_file():
            with suppress(OSError), path.open("rb") as stream:  # the readers explain an error
                head = stream.read(HEAD)
        lines = head.split(b"\n")
        if len(lines) < 3:
            return 0, 0
        columns = max(columns, *(lines[0].count(sign) + 1 for sign in (b",", b";", b"\t")))
        length = (len(head) - len(lines[0])) / (len(lines) - 1)
        rows += round((path.stat().st_size - len(lines[0])) / length)
    return rows, columns
