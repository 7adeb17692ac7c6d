"""Texts that are numbers in a form that is not read: with units, in pairs, as fractions, times or lists."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pucli.data.encode.kinds.doubtful_cells import FEW_WORDS, MOSTLY
from pucli.data.encode.number_forms import is_decorated
from pucli.data.frames import parsed_numbers

LONGEST = 200  # characters of a cell with numbers
_CODED = re.compile(r"[+-]?(0x[0-9a-f]+|0b[01]+|0o[0-7]+|\d{1,3}(_\d{3})+)", re.IGNORECASE)
_TIME = re.compile(r"\d{1,2}(:\d{2}){1,2}(\.\d{1,9})?(\s?[AaPp]\.?[Mm]\.?)?")
_NUMBER = r"[+−-]?\d+(\.\d+)?"
_SHORT = r"[$€£]?\d{1,3}(,\d{3})*(\.\d+)?[Kk]?"
_INTERVAL = rf"{_NUMBER} ?%?(?: ?(?:[-–,;]|to) ?{_NUMBER} ?%?)?"
MANY = 20  # texts from which pairs with a dash are numbers rather than classes such as 18-25
_OF_UNIT = rf"{_NUMBER} ?[^\W\d_]{{1,12}}\.?"
_OF_PROGRAM = r"((np|numpy|torch)\.)?(float|int|uint|Decimal|tensor|array)\d*"  # np.float64(1.5), Decimal('1.50')
_MARK = r" ?(\*{1,3}|[†‡]|\[\w{1,3}\]|\([a-z]\))"
_TAILED = re.compile(r"[+−-]?\d[\d.,]*([^\d.,].*)?")
_LED = re.compile(r"([^\d.,+−-]*(?:[^\W\d]\.)?[^\w.,+−-])[+−-]?\d[\d,' \xa0\u202f]*[.,]\d+([^\d.,].*)?")  # T = 36.6 °C
_PAIR = re.compile(rf"{_SHORT} ?(?:[-–+]|to) ?{_SHORT}")
_SIGN = re.compile(r"[^\d.,+−-]")
_ODD = (  # the form, also of plain numbers among such cells, what an example has, and words for both
    (
        re.compile(r"(\d+[ -])?\d+/[1-9]\d*|\d* ?[¼-¾⅐-⅞]|\d+"),
        _SIGN,
        "fractions, or pairs of numbers",
        "write them as 0.5, or each of both as a column",
    ),
    (
        re.compile(rf"[<>~≈≤≥]=? ?\d[\d.,]*|[+−-]?\d+([.,]\d+)*({_MARK})?"),
        _SIGN,
        "numbers with signs such as <, ~ or *",
        "write them as 12.5",
    ),
    (
        re.compile(r"\d[\d.,]* ?(±|\+/?-) ?\d[\d.,]*"),
        _SIGN,
        "numbers with their errors",
        "write each of both as a column",
    ),
    (
        re.compile(r"[+−-]?\d[\d.,]* ?[x×*·] ?10(\^?[+−-]?\d+|[⁺⁻]?[⁰¹²³⁴-⁹]+)"),
        _SIGN,
        "numbers as powers of ten",
        "write them as 1.2e5",
    ),
    (re.compile(r"\d+ ?['′]( ?\d[\d.,]* ?(\"|″|''))?"), _SIGN, "feet and inches", "write them in one unit"),
    (
        re.compile(
            rf"\w{{0,12}} ?\(?{_NUMBER}( ?[,;:x×|] ?{_NUMBER})+( [^\W\d]{{1,4}}|[cm]m|px)?\)?"
            rf"|\w{{1,12}} ?\({_NUMBER}( {_NUMBER})+\)|({_OF_UNIT}[\s,@/]+)*{_OF_UNIT}"
            rf"|{_NUMBER} ?/ ?{_NUMBER} ?[^\W\d_]{{2,5}}|{_NUMBER} (out of|of|von|sur|de|su) {_NUMBER}"
            rf"|{_NUMBER} ?%? ?(\({_INTERVAL}\)|\[{_INTERVAL}\])"
            rf"|{_NUMBER} ?° ?{_NUMBER} ?['′’] ?({_NUMBER} ?(\"|″|''|”) ?)?[NESWO]?"
        ),
        re.compile(r"\d[^\d.]+\d"),
        "several numbers in a cell",
        "write each of them as a column",
    ),
    (
        re.compile(
            r"(\d+(\.\d+)? ?(d|h|hrs?|m|mins?|s|secs?) ?){2,4}|\d{1,2}h\d{2}|P(\d+[YMWD]){2,}(T(\d+[HMS])+)?",
            re.IGNORECASE,
        ),
        _SIGN,
        "durations",
        "write them as a number, in one unit",
    ),
    # with a blank or two decimals, as S1, S2 ... are names of sites, and E11.9 a diagnosis
    (
        re.compile(rf"[NSEWO]( {_NUMBER}|\d+\.\d\d+)"),
        _SIGN,
        "coordinates",
        "write south and west as negative numbers",
    ),
    (
        re.compile(r"[+-]?\d*\.\d+(E[+-]\d+)?([+-]\d*\.\d+(E[+-]\d+)?)+|[+-]?\d+(\.\d{5,})+\.\d{3,}"),
        re.compile(""),
        "ranges, or numbers that join",
        "write each of them as a column",
    ),
    (re.compile(rf"{_OF_UNIT}|{_NUMBER} (per|pour|por) c[^\W\d]+"), _SIGN, "numbers with words", "write them as 12.5"),
    (
        re.compile(
            rf"{_OF_PROGRAM}\(.?{_NUMBER}([eE][+-]?\d+)?[^()]*\)|b'{_NUMBER}'|\({_NUMBER},\)"
            rf"|\(?{_NUMBER}[+-]\d+(\.\d+)?[ij]\)?"
        ),
        _SIGN,
        "numbers as a program prints its objects",
        "write them as 12.5",
    ),
    (
        re.compile(r"\[.*\]|\{.*\}", re.DOTALL),
        re.compile(""),
        "lists or objects as text",
        "write each of their parts as a column",
    ),
)


def odd_form(texts: Sequence[str]) -> tuple[str, str, str] | None:
    """Return what nearly all texts are if no column should be written so, an example, and the way out."""
    sample = texts[:1000]
    for form, sign, what, way_out in _ODD:
        like = [text for text in sample if len(text) <= LONGEST and form.fullmatch(text)]
        if len(like) < max(FEW_WORDS, MOSTLY * len(sample)):
            continue
        if example := next((text for text in like if sign.search(text)), ""):
            return what, example, way_out
    return None


def paired(texts: Sequence[str]) -> str:
    """Return an example if nearly all of many texts are two short numbers, such as 81-84 or 40+1; else ""."""
    if len(texts) <= MANY:
        return ""
    like = [text for text in texts[:1000] if _PAIR.fullmatch(text)]
    return like[0] if len(like) >= MOSTLY * len(texts[:1000]) else ""


def of_one_unit(texts: Sequence[str]) -> str:
    """Return an example if all of many texts are numbers with the same words before or after them; else ""."""
    sample = texts[:1000]
    led = [_LED.fullmatch(text) for text in sample]
    if len(sample) >= MANY and all(led) and len({(one[1].strip(), (one[2] or "").strip()) for one in led if one}) == 1:
        return sample[0]
    found = [_TAILED.fullmatch(text) for text in sample]
    tails = [(one[1] or "").strip() for one in found if one]
    if len(sample) < MANY or len(tails) < len(sample) or len(set(tails) - {""}) != 1:
        return ""
    return next(text for text, tail in zip(sample, tails, strict=True) if tail)


def is_time(text: str) -> bool:
    """Return whether a text is a time of day or a duration such as 25:00."""
    return _TIME.fullmatch(text) is not None


def decorated(texts: Sequence[str]) -> str:
    """Return an example if nearly all texts are numbers with a unit, a currency, separators or times of day."""
    sample = texts[:1000]
    like = [text for text in sample if _TIME.fullmatch(text) or is_decorated(text)]
    if len(like) < max(FEW_WORDS, MOSTLY * len(sample)):
        return ""
    return next((text for text in like if np.isnan(parsed_numbers([text])[0])), "")


def coded_number(texts: Sequence[str]) -> tuple[str, int] | None:
    """Return an example and its value if nearly all texts are integers as programs write them: 0x1F, 0b11 or 1_000."""
    sample = texts[:1000]
    like = [text for text in sample if _CODED.fullmatch(text)]
    if len(like) < max(FEW_WORDS, MOSTLY * len(sample)):
        return None
    return like[0], int(like[0].replace("_", ""), 10 if "_" in like[0] else 0)
