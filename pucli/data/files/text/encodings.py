"""Encodings that a text which is not UTF-8 may have, with a word of it in each, for the user to choose from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

USUAL = (
    "cp1252", "cp1250", "cp1251", "gb18030", "cp932", "cp949", "big5", "euc_jp", "koi8-r", "cp1253", "cp1254",
    "cp1255", "cp1256", "mac-roman", "cp850",
)  # fmt: skip
"""Encodings that are tried, the more frequent ones first."""

SAMPLE = 2**13
"""Bytes that are looked at."""

MOST = 4
# Least share of plausible words, as part of the largest one.
PLAUSIBLE = 0.8
# Share of plausible words from which on a text looks like words, and from which on it surely does.
LIKE_WORDS, SURE = 0.5, 0.9
_WORD = re.compile(r"[^\W\d_]*[^\x00-\x7f\W\d_][^\W\d_]*|[^\x00-\x7f]")
_CELL = re.compile(r'[^,;\t|"\r\n]+')
# Signs that stand in texts of every language.
_SIGNS = "\u00a0\u20ac\u00a3\u00a7\u00b0\u00b2\u00b3\u00b5\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u00ab\u00bb\u00d7"
_ONE_SCRIPT = {"CJK": "CJK", "HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}
_WIDE = ("CJK", "HANGUL")
_QUOTED = 16


class Decoded(NamedTuple):
    """A text in one encoding.

    encoding : str
    text : str
    share : float
        Share of the words with characters outside ASCII that look like words.
    """

    encoding: str
    text: str
    share: float


def decoded(sample: bytes) -> list[Decoded]:
    """Return the encodings in which all of a text can be read, the likeliest first.

    Examples
    --------
    >>> [one.encoding for one in decoded("Köln".encode("cp1252"))]
    ['cp1252']
    """
    found: list[Decoded] = []
    for encoding in USUAL:
        try:
            text = sample.decode(encoding)
        except ValueError:
            continue
        words = _WORD.findall(text)
        if words and all(text != one.text for one in found):
            found.append(Decoded(encoding, text, sum(map(_is_word, words)) / len(words)))
    best = max((one.share for one in found), default=0.0)
    return sorted((one for one in found if one.share >= PLAUSIBLE * best), key=lambda one: -one.share)[:MOST]


def choices(sample: bytes) -> str:
    """Return the encodings of a text and what a cell of it is in each; "" if it looks like words in none.

    Examples
    --------
    >>> choices("Wałęsa,Łódź".encode("cp1250"))
    "cp1250 if it reads 'Wałęsa', mac-roman if 'Wa≥Ísa'"
    """
    found = [one for one in decoded(sample) if one.share >= LIKE_WORDS]
    cells = _distinguishing([_CELL.findall(one.text) for one in found])
    told = [f"{one.encoding} if {cell.strip()[:_QUOTED]!r}" for one, cell in zip(found, cells, strict=True)]
    return ", ".join(told).replace(" if ", " if it reads ", 1)


def misread(text: str, encoding: str) -> str:
    """Return what makes a text that was read in a given encoding look garbled, with others; "" if nothing does."""
    text = text[:SAMPLE]
    words = _WORD.findall(text)
    odd = [word for word in words if not _is_word(word)]
    if len(odd) <= (1.0 - LIKE_WORDS) * len(words):
        return ""
    raw = text.encode(encoding)
    others = decoded(raw)
    if not others or others[0].share < SURE:
        return ""
    return f"has {max(odd[:_QUOTED], key=len)!r} when it is read as {encoding}; give --encoding {choices(raw)}"


def _distinguishing(texts: Sequence[Sequence[str]]) -> list[str]:
    """Return one cell of each of several readings of a text, at the first place where as many as possible differ."""
    at = range(min(map(len, texts), default=0))
    best = max(at, key=lambda k: (not texts[0][k].isascii(), len({cells[k] for cells in texts})), default=0)
    return [cells[best] for cells in texts]


def _is_word(word: str) -> bool:
    """Return whether a text looks like a word: letters of one script, few with accents, in one case after the first."""
    if word in _SIGNS:
        return True
    if not word.isalpha():
        return False
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in word}
    if len({_ONE_SCRIPT.get(script, script) for script in scripts}) > 1:
        return False
    rest = word[1:]
    if scripts == {"LATIN"} and 2 * sum(letter > "\x7f" for letter in word) > max(len(word), 2):
        return False
    return rest == rest.lower() or (rest == rest.upper() and word[0] == word[0].upper())
