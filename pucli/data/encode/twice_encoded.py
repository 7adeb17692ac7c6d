"""Text that was encoded as UTF-8 twice: the bytes of é were taken for characters of Latin-1, so that it reads Ã©."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pucli.data.frames import cell_text

if TYPE_CHECKING:
    import pandas as pd

# characters of the bytes 0x80 to 0xBF, as Windows-1252 and Latin-1 have them
_WINDOWS = {bytes([code]).decode("cp1252", "ignore"): code for code in range(0x80, 0xA0)}
_FOLLOWS = "[\u0080-\u00bf" + "".join(_WINDOWS) + "]"
_LEADS = "\u00c2-\u00c5\u00ce-\u00d1\u00e2"  # of Latin, Greek and Cyrillic letters, and of typographic signs
_SUSPICIOUS = re.compile(f"[{_LEADS}]{_FOLLOWS}")
_SURE = re.compile(f"[\u00c2\u00c3]{_FOLLOWS}|\u00e2[\u20ac\u201a\u0080\u0082]|([{_LEADS}]{_FOLLOWS}){{2}}")
LOST = "\ufffd"  # what a program writes for bytes that it cannot read
_ENTITY = re.compile(r"&(#\d+|#x[0-9A-Fa-f]+|[A-Za-z]+\d*);")
WAY_OUT = "export the file again, or undo it with `iconv -f UTF-8 -t CP1252 OLD > NEW`"


def twice_encoded(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the first text that was encoded twice and what it means, None unless all that look so can be decoded.

    Examples
    --------
    >>> twice_encoded(["plain", "caf\u00c3\u00a9"])
    ('caf\u00c3\u00a9', 'caf\u00e9')
    >>> twice_encoded(["caf\u00e9", "\u00abS\u00c3O\u00bb"])
    """
    suspicious = [text for text in texts if not text.isascii() and _SUSPICIOUS.search(text)]
    if not any(_SURE.search(text) for text in suspicious):
        return None
    meant = [_decoded(text) for text in suspicious]
    return (suspicious[0], meant[0]) if all(meant) else None


def _decoded(text: str) -> str:
    """Return a text decoded once more, "" if it is none that was encoded twice."""
    ends = "\u00a0" * text.endswith("\u00c3")  # of \u00e0, whose second character is a blank and was cut
    try:
        raw = bytes(_WINDOWS.get(character, ord(character)) for character in text + ends)
        return raw.decode()
    except ValueError:
        return ""


def garbled(column: pd.Series, texts: Sequence[str], place: Callable[[int], str]) -> str:
    """Return a warning if texts were encoded twice, are written for HTML, or have lost characters, else "".

    Parameters
    ----------
    column : pandas.Series
        The cells.
    texts : sequence of str
        Distinct texts of the column.
    place : callable
        Function from the position of a row to its place in the file.
    """
    if example := twice_encoded(texts):
        where = place(_row_of(column, example[0]))
        return (
            f"has text that was encoded as UTF-8 twice: {example[0]!r} ({where}) is probably {example[1]!r}; {WAY_OUT}"
        )
    lost = next((text for text in texts if LOST in text), "")
    if lost:
        where = place(_row_of(column, lost))
        return f"has the sign {LOST} for characters that were lost: {lost[:40]!r} ({where}); export the file again"
    if entity := next((text for text in texts if _ENTITY.search(text) and html.unescape(text) != text), ""):
        where = place(_row_of(column, entity))
        return (
            f"has characters written for HTML: {entity[:40]!r} ({where}) is probably {html.unescape(entity)[:40]!r}; "
            "export the file again"
        )
    return ""


def _row_of(column: pd.Series, text: str) -> int:
    """Return the position of the first cell with a text."""
    return next(row for row, cell in enumerate(column.tolist()) if cell_text(cell) == text)
