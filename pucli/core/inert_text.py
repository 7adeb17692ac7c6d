"""Text of files and names without control characters, for terminals and pages."""

from __future__ import annotations

import re

# Control characters of a terminal, characters that change the direction of text, and bytes of a name that is no text.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def inert_text(text: str, *, as_json: bool = False) -> str:
    r"""Return text with control characters of a terminal written as escapes (\x1b).

    Names, labels and cells of a file may have them. Tabs and line ends stay.
    """

    def escape(found: re.Match[str]) -> str:
        code = ord(found[0])
        return f"\\u{code:04x}" if as_json or code > 0xFF else f"\\x{code:02x}"

    return _CONTROLS.sub(escape, text)


def one_line(text: str) -> str:
    r"""Return a name as one line: line ends and control characters are written as escapes.

    Examples
    --------
    >>> print(one_line("no\npucli: all fine.csv"))
    no\npucli: all fine.csv
    """
    return inert_text(text.replace("\n", "\\n").replace("\r", "\\r"))
