"""Numbers as people and spreadsheets write them: `€ 1.234,56`, `12 %`, `1,234`, `(3.50)`, `12.3 kg`, `−5`, `="7"`.

The form of a column, its decimal sign and its unit, is inferred from all of its cells, since `1,234` alone may be 1234
or 1.234.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

_SPACES = dict.fromkeys(map(chr, (0xA0, 0x202F, 0x3000, *range(0x2000, 0x200B))), " ")
_WIDE = {chr(0xFF01 + place): chr(0x21 + place) for place in range(94)}  # of East Asian keyboards
_DASHES = dict.fromkeys("−–‐‑﹣", "-")
_BLANKS = str.maketrans(
    _SPACES | _WIDE | _DASHES | {"’": "'", "‘": "'", "٫": ".", "٬": ",", "·": ".", "￥": "¥", "￡": "£"}  # 3·14
)
_SIGNS = "$¢-¥฿₠-₿"  # of currencies, inside brackets
_CODES = (
    "EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|RON|UAH|RUB|ILS|AUD|CAD|NZD|HKD|SGD|TWD|CNY|RMB|KRW|INR|THB|VND|"
    "IDR|MYR|PHP|BRL|MXN|ARS|CLP|ZAR|NGN|KES|EGP|AED|SAR"
)
_CURRENCY = rf"(?:(?:US|AU?|CA?|R|HK|NZ|S|NT)\$|[{_SIGNS}]|{_CODES}|Fr\.|Rs\.?|Rp\.?|kr\.?|руб\.?|грн\.?|zł)"
_UNIT = (
    rf"°\s?[A-Z]|(?:[^\W\d_°µ%‰][^\W\d_/²³]{{0,4}}|[%‰°µ{_SIGNS}][^\W\d_]{{0,2}})(?:/[^\W\d_]{{1,4}})?[²³]?|{_CURRENCY}"
)
MULTIPLES = {
    **dict.fromkeys(("K", "k", "Tsd", "tsd"), 1e3), **dict.fromkeys(("M", "mn", "Mio"), 1e6),
    **dict.fromkeys(("B", "bn", "Mrd"), 1e9), **dict.fromkeys(("T", "tn"), 1e12),
}  # fmt: skip
_DIGITS = r"\d[\d.,' ]*(?:[eE][+-]?\d+)?|[.,]\d+(?:[eE][+-]?\d+)?"
_DECORATED = re.compile(
    rf"(?P<first>{_CURRENCY})?\s*(?P<open>\()?\s*(?P<sign>[+-])?\s*(?P<before>{_CURRENCY})?\s*(?P<sign2>[+-])?"
    rf"(?P<digits>{_DIGITS})\s*"
    rf"(?P<after>{_CURRENCY}(?=\s*-?\)?$)|{_UNIT})?(?P<dot>\.)?\s*(?P<last>{_CURRENCY})?\s*(?P<sign3>-)?(?P<close>\))?"
)
_NO_DECIMALS = re.compile(r"(?<=\d)([.,])(--?|—)(?!\d)")  # 89,- €
_OF_SIGN = {
    sign: re.compile(
        rf"(?:(?:[1-9]\d{{0,2}}(?:(?P<group>[{other}' ])\d{{3}})(?:(?P=group)\d{{3}})*|\d+)(?:{re.escape(sign)}\d*)?"
        rf"|{re.escape(sign)}\d+)(?:[eE][+-]?\d+)?"
    )
    for sign, other in ((".", ","), (",", "."))
}
_QUOTED = re.compile(r"""="(.*)"|["“”„](.*)["“”]|'([^']*)'?""")  # also a formula that keeps a text in a spreadsheet
_FORTRAN = re.compile(r"(?<=[\d.])[dD](?=[+-]\d{1,3}$)")  # the exponent of double precision
_FLAGGED = re.compile(
    r"(?P<before>[<>~≈≤≥]=?|)\s*(?P<sign>[+-]?)(?P<digits>\d[\d.,']*(?:[eE][+-]?\d+)?|[.,]\d+)\s*"
    r"(?P<after>[*†‡^#!]{1,4}|\+|\[\w{1,4}\]|\(\w{1,4}\)|[^\W\d_]{1,4}|)"
)
SIGNS = re.compile(r"[<>~≈≤≥*†‡^#!+].*|\[.*|\(.*")  # flags that are no units
_INDIAN = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?")


class NumberForm(NamedTuple):
    """How the numbers of a column are written.

    decimal : str
        Decimal sign, "." or ",".
    unit : str
        Unit or currency that some cells have, "" if none has.
    doubt : str
        What the sign before three digits may be instead if no cell proves the decimal sign, as "1,234", or "1.234 €".
    """

    decimal: str
    unit: str
    doubt: str


class _Parts(NamedTuple):
    negative: bool
    digits: str
    unit: str
    multiple: str = ""  # of `MULTIPLES`

    def number(self, decimal: str) -> float | None:
        """Return the number, None if it is not written with this decimal sign."""
        found = _number(self.digits, decimal)
        return None if found is None else (-found if self.negative else found) * MULTIPLES.get(self.multiple, 1.0)


def number_form(texts: Sequence[str], decimal: str = "") -> NumberForm | None:
    """Return the form that reads every text as a number, None if there is none or the units differ."""
    found = _parts(texts)
    if not found or any(parts is None for parts in found):
        return None
    known = [parts for parts in found if parts is not None]
    units = {parts.unit for parts in known} - {""}
    if len(units) > 1:
        return None
    proofs = {decimal} if decimal else {_proof(parts.digits) for parts in known} - {""}
    if len(proofs) > 1:
        return None
    sign = proofs.pop() if proofs else "."
    if any(_number(parts.digits, sign) is None for parts in known):
        return None
    doubt, unit = "", units.pop() if units else ""
    if not decimal and not any(_proof(parts.digits) for parts in known):
        if any("," in parts.digits for parts in known):
            doubt = "the comma is a decimal sign"
        elif unit and any("." in parts.digits for parts in known):
            doubt = "the dot separates thousands"
    return NumberForm(sign, unit, doubt)


def of_other_scale(texts: Sequence[str], form: NumberForm) -> str:
    """Return a number without unit if it seems to be of another scale: a share beside percentages."""
    if form.unit not in ("%", "‰"):
        return ""
    values = formed_numbers(texts, form.decimal, form.unit)
    plain = np.array([not parts or not parts.unit for parts in _parts(texts)])
    shares = values[plain]
    if not plain.any() or shares.min() < 0.0 or shares.max() > 1.0 or values[~plain].max(initial=0.0) <= 1.0:
        return ""
    return texts[int(plain.argmax())]


def units_of(texts: Iterable[str]) -> list[str]:
    """Return the different units of texts that are numbers with a unit, in order of appearance."""
    return list(dict.fromkeys(parts.unit for parts in _parts(texts) if parts is not None and parts.unit))


def is_decorated(texts: Sequence[str]) -> np.ndarray:
    """Return which texts (k,) are numbers in any form."""
    found = _parts(texts)
    return np.array(
        [one is not None and any(_number(one.digits, sign) is not None for sign in ".,") for one in found], bool
    )


def formed_numbers(texts: Sequence[str], decimal: str, unit: str = "") -> np.ndarray:
    """Return texts of a given form as numbers."""
    values = []
    for parts in _parts(texts):
        number = None if parts is None or parts.unit not in ("", unit) else parts.number(decimal)
        values.append(np.nan if number is None else number)
    return np.array(values, dtype=np.float64)


def _parts(texts: Iterable[str]) -> list[_Parts | None]:
    """Return the sign, the digits and the unit of each number, None for any other text."""
    found: list[_Parts | None] = []
    for text in texts:
        found.append(None)
        if len(text) > 60 or not any(map(str.isnumeric, text)):
            continue
        text = text.translate(_BLANKS).strip()
        if not text.isascii():
            text = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)  # ٣ is 3
        if quoted := _QUOTED.fullmatch(text):
            text = next(part for part in quoted.groups() if part is not None).strip()
            if re.match(r"0\d", text):  # quoted lest the zeros be lost: a code
                continue
        text = text.removesuffix("/-")  # Rs. 5/-
        if "d" in text or "D" in text:
            text = _FORTRAN.sub("e", text)
        if "-" in text or "—" in text:
            text = _NO_DECIMALS.sub(r"\g<1>00", text)
        parts = _DECORATED.fullmatch(text)
        if parts is None or bool(parts["open"]) != bool(parts["close"]):
            continue
        signs = [parts[name] for name in ("sign", "sign2", "sign3") if parts[name]]
        units = [parts[name] for name in ("first", "before", "after", "last") if parts[name]]
        multiple = parts["after"] in MULTIPLES  # $1.2M, 3 Mio. €
        if len(signs) + bool(parts["open"]) > 1 or len(units) > 1 + multiple or (parts["dot"] and not multiple):
            continue
        unit = "".join("".join(units).split())
        if not unit[:1].isnumeric():  # 3½
            of = parts["after"] if multiple else ""
            found[-1] = _Parts(bool(parts["open"]) or signs == ["-"], parts["digits"].strip(), unit, of)
    if {part.unit for part in found if part is not None} - {"", *MULTIPLES}:  # 500 B beside 2 KB
        return found
    return [part and part._replace(unit=part.unit.replace(part.multiple, "", 1)) for part in found]


class FlaggedNumbers(NamedTuple):
    """Numbers with something beside them.

    values : array of shape (k,)
        The numbers, NaN where there is none.
    flags : list of str
        What stands beside each, or in place of it; "" for a number alone and an empty cell.
    """

    values: np.ndarray
    flags: list[str]


def flagged_numbers(texts: Sequence[str], decimal: str = ".") -> FlaggedNumbers:
    """Return texts as numbers and flags, as statistical offices and laboratories write them.

    Examples
    --------
    >>> found = flagged_numbers(["41.3 b", "<0.5", "3.2", ": c", "250,000+"])
    >>> found.values.tolist(), found.flags
    ([41.3, 0.5, 3.2, nan, 250000.0], ['b', '<', '', 'c', '+'])
    """
    values, flags = [], []
    for text in texts:
        found = _FLAGGED.fullmatch(text.translate(_BLANKS).strip())
        number = _number(found["digits"], decimal) if found else None
        if found is None or number is None:
            values.append(np.nan)
            flags.append(text.lstrip(": "))
        else:
            values.append(-number if found["sign"] == "-" else number)
            flags.append(found["before"] + found["after"])
    return FlaggedNumbers(np.array(values, dtype=np.float64), flags)


def _proof(digits: str) -> str:
    """Return the decimal sign that the digits of a number prove, "" if they prove none."""
    digits = re.split("[eE]", digits)[0]
    commas, dots = digits.count(","), digits.count(".")
    if commas and dots:
        return "," if digits.rfind(",") > digits.rfind(".") else "."
    if commas > 1:
        return "."
    if dots > 1:
        return ","
    for sign in ",.":
        whole, found, part = digits.partition(sign)
        if found and (len(part) != 3 or whole in ("", "0") or len(whole.replace(" ", "").replace("'", "")) > 3):
            return sign
    return ""


def _number(digits: str, decimal: str) -> float | None:
    if not _OF_SIGN[decimal].fullmatch(digits) and not (decimal == "." and _INDIAN.fullmatch(digits)):
        return None
    other = "," if decimal == "." else "."
    return float(digits.replace(" ", "").replace("'", "").replace(other, "").replace(decimal, "."))


def text_numbers(
    codes: np.ndarray, texts: Sequence[str], decimal: str, unit: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a coded column whose texts have a given form."""
    values = np.append(formed_numbers(texts, decimal, unit), np.nan)[codes]
    return values, np.isnan(values) & (codes >= 0)
