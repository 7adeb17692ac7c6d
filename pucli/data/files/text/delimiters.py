"""Separators, quotes and line ends in a block of bytes."""

from __future__ import annotations

import numpy as np

TAIL = 2**13  # bytes in which the last record usually begins
NEWLINE, RETURN, QUOTE, BLANK, TAB = b'\n\r" \t'


def end_of_records(data: bytes) -> int:
    """Return the end of the last line of `data` before which all quotes are closed."""
    end = data.rfind(b"\n") + 1
    if b'"' not in data or not data.count(b'"', 0, end) % 2:
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
    """Return whether every quote opens a cell at its beginning, closes it at its end, or is doubled within it.

    Parameters
    ----------
    cells : array of uint8
        A block of bytes.
    quotes : array of int
        Places of the quotes.
    separator : int
        The byte that separates cells.
    """
    opening, closing = quotes[0::2], quotes[1::2]
    before = cells[np.maximum(opening - 1, 0)]
    after = cells[np.minimum(closing + 1, len(cells) - 1)]
    opens = (opening == 0) | (before == separator) | (before == NEWLINE) | (before == QUOTE)
    closes = (after == separator) | (after == NEWLINE) | (after == RETURN) | (after == QUOTE)
    return bool(len(opening) == len(closing) and opens.all() and closes.all())
