"""Removal of blank and invisible characters around cells, labels and column names."""

from __future__ import annotations

import unicodedata

# zero-width spaces, marks of the writing direction, which programs copy along with names and numbers, and byte-order
# marks, which joined files have in the middle
_INVISIBLE = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"


def trimmed(text: str) -> str:
    r"""Return a text without blank and invisible characters around it, in the composed form of Unicode.

    Examples
    --------
    >>> trimmed("\ufeff age\u200b ")
    'age'
    """
    text = text.strip()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    while text and (text[0] in _INVISIBLE or text[-1] in _INVISIBLE):
        text = text.strip(_INVISIBLE).strip()
    return text
