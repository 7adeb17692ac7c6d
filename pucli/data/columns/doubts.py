"""Cells that may be read differently than meant: other forms of numbers and dates, codes for empty, lost letters."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.data.columns.cells import DATE_FORMATS, ColumnCells, parsed_dates, parsed_numbers, texts_of, zoned_texts
from pucli.data.columns.number_forms import is_decorated, units_of

if TYPE_CHECKING:
    import pandas as pd

UNREAD = "dates of a form that is not read"
MOST_LOOKED_AT = 1000  # texts for other forms
CODES_AMONG = 0.9  # share of the words with digits from which on numbers among them are codes
_ORDINALS = frozenset(("st", "nd", "rd", "th"))  # of 1st, 2nd, 3rd and 4th; a few are classes, not quantities
_SIDES = (set("NS"), set("EWO"), {"CR", "DR"}, {"Cr", "Dr"}, set("SH"), set("CD"))  # coordinates, debit and credit
FEW_WORDS = 3  # number of different words for "empty" among at least as many different numbers or dates times ten
MOSTLY = 0.95  # minimum share of numbers or dates for the other cells of a column to be treated as empty
LOOKED_AT = 200  # texts by which the date format of a column is guessed
FEW_LOOKED_AT = 20  # those that exclude it
# numbers that often mean "empty"
CODES = (
    *(-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0, 9999999.0, 99999999.0),
    *(-99.9, -99.99, -999.9, -999.99, -9999.9, 999.9, 999.99, 9999.9, 9999.99),  # of weather stations
)
ANSWER_CODES = (  # the same in surveys, beside the steps of a scale
    (96.0, 97.0, 98.0, 99.0),
    (-9.0, -8.0, -7.0),
    (-99.0, -98.0, -97.0),
    (77.0, 88.0, 99.0),
    (777.0, 888.0, 999.0),
)
LAST_STEP = 20.0
SECONDS = (9.4e8, 2.1e9)  # since 1970, from 1999 to 2036; milliseconds are a thousand times as many
MIN_CODES = 3  # fewest cells with such a number
FAR = 1e4  # a repeated number is doubtful if its distance to the others exceeds this multiple of their range
ENOUGH = 20  # fewest other cells to judge such a number by; at least as many as cells with it
NO_DAYS = (0.0, 99999999.0, 99991231.0, 19000100.0)  # among dates written as 20241231
_DAY, _TIME_OF_DAY = ((1e2, 1, 12), (1.0, 1, 31)), ((1e2, 0, 23), (1.0, 0, 59))
_STAMPS = (  # what the numbers are, their format, the unit of the year, and the unit and bounds of each further part
    ("months", "%Y%m", 1e2, ((1.0, 1, 12),)),
    ("weeks of a year", "", 1e2, ((1.0, 1, 53),)),
    ("days of a year", "%Y%j", 1e3, ((1.0, 1, 366),)),
    *(
        ("times", form, 1e4 * each, (*((unit * each, a, b) for unit, a, b in _DAY), *time))
        for form, each, time in (
            ("%Y%m%d%H", 1e2, ((1.0, 0, 23),)),
            ("%Y%m%d%H%M", 1e4, _TIME_OF_DAY),
            ("%Y%m%d%H%M%S", 1e6, (*((unit * 1e2, a, b) for unit, a, b in _TIME_OF_DAY), (1.0, 0, 60))),
        )
    ),
)
MIN_DOTTED = 5  # cells with and without a dot for thousands

# words for an empty cell, in lower case, besides `pucli.data.columns.cells.EMPTY`
PLACEHOLDERS = frozenset(
    {".", "..", ":", "...", "…", "-", "--", "---", "–", "—", "*", "na", "n.a.", "n/v", "n.v.", "nv", "k.a.", "k. a.",
     "nil", "none", "unknown", "unbekannt", "inconnu", "desconocido", "missing", "not available", "not applicable",
     "no data", "nd",
     "n.d.", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!", "(null)", "(blank)", "(empty)",
     "empty", "blank", "\\n", "undefined", "tbd", "s.o.", "s/o", "entfällt", "keine angabe",
     "1900-01-00", "1900-01-00 00:00:00", "0000-00-00", "0000-00-00 00:00:00", "00.01.1900", "0.1.1900", "00/01/1900",
     "1/0/1900", "01/00/1900", "00.00.0000", "00/00/0000"}
)  # fmt: skip
_TAGGED = re.compile(r"\.[a-z_]")  # missing values of Stata and SAS: .a to .z and ._
SHOWN_DIGITS, LONG_NUMBER = 6, 1e10  # a spreadsheet shows 4917631234567 as 4.91763E+12, and saves that as CSV
_WITH_E = re.compile(r"\d{1,5}[eE]\d{1,3}")
_VERSION = re.compile(r"\d+(\.(0|[1-9]\d?))?")
_ERROR = re.compile(
    r"#{3,}|#(REF!|VALUE!|NAME\?|NUM!|NULL!|DIV/0!|SPILL!|CALC!|ERROR!|FIELD!|BUSY!)|Loading\.\.\.|Err:5\d\d"
)
LEAST_LISTS = 8  # fewest different texts to tell lists of values from values
_OF_TWO = re.compile(r"[A-Z]{2}")
_OF_NAME = re.compile(
    r"\d{1,2}-(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mrz|Mai|Okt|Dez)|\d{1,2}\. ?(Mrz|Okt|Dez)"
)
LAST_DAYS = {  # days since 1970-01-01 that often mean "never" or "not known"
    float(np.datetime64(day).astype(int)): day
    for day in ("9999-12-31", "9999-01-01", "2999-12-31", "2099-12-31", "1900-01-01", "1899-12-30", "1899-12-31",
                "1970-01-01", "1753-01-01", "0001-01-01", "1800-01-01", "1901-01-01")
}  # fmt: skip
OTHER_YEARS = (  # days since 1970-01-01 of the Hijri and the Persian calendar, and of the Buddhist one
    (-256_000.0, -173_000.0),  # 1269 to 1496
    (150_000.0, 256_000.0),  # 2380 to 2670
)
_MONTH = (
    r"(?:jan|jän|feb|fév|fev|mar|mär|mrz|mrt|mei|apr|avr|abr|may|mai|maj|jun|juin|jul|juil|aug|aoû|ago|sep|oct|okt|ott"
    r"|out|nov|dec|dez|déc|dic|ene|gen|mag|giu|lug|set)[^\W\d_]*\.?"
)
_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}([:/]\d+)?")  # of a computer
_DATED = re.compile(
    rf".*(\b\d{{4}}[-./]\d{{1,2}}[-./]\d{{1,2}}|\b\d{{1,2}}[-./]\d{{1,2}}[-./](\d{{4}}|\d{{2}})\b"
    rf"|\b\d{{1,2}}(st|nd|rd|th)?([./ -]*| de ){_MONTH}([/ -]*| de )\d{{2,4}}"
    rf"|\b{_MONTH}[ -]+(\d{{1,2}}(st|nd|rd|th)?,? ([\d:]{{5,8}} ([+-]\d{{4}} )?)?)?\d{{4}}"
    r"|\b\d{4}[ -]?([WQ]\d{1,2}|M(0\d|1[0-2]))\b|\b[WQ]\d{1,2}[ /-]\d{4}\b|\b(0?[1-9]|1[0-2])[/.-](19|20)\d{2}\b)",
    re.IGNORECASE,
)
_LIKE_DATE = re.compile(  # further forms, which no format of dates reads
    r"\d{1,2}\.?[ -][^\W\d_]{3,12}\.?,?[ -](19|20)\d{2}\b|\d{4}[-./] ?\d{1,2}[-./] ?\d{1,2}\b|\w{0,2}\d{1,4}年\d{1,2}月"
    r"|(KW|CW|WK|week|W|Q|H|S|T|FY) ?\d{1,2} ?[/.' -] ?((19|20)\d{2}|\d{2})$"
    r"|(19|20)\d{2}[ /.-]?(KW|CW|WK|week|H|S|T) ?\d{1,2}$|(19|20)\d{2}-[0-3]\d{2}$|/Date\(-?\d{9,}"
    r"|(19|20)\d{2}[:_]\d{2}[:_]\d{2}\b|datetime\.date(time)?\(\d{4}, ",
    re.IGNORECASE,
)
_OTHER_FORMATS = (
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%d-%b-%y", "%b-%y", "%b %Y", "%B %Y", "%m/%Y", "%m.%Y"),
    *("%d. %B %Y", "%A, %d. %B %Y", "%A, %d %B %Y", "%A, %B %d, %Y", "%a, %d %b %Y", "%a %Y-%m-%d", "%Y年%m月%d日"),
    *("%d.%m.%y %H:%M", "%m/%d/%y %H:%M", "%d/%m/%y %H:%M", "%d.%m.%Y %H.%M", "%G-W%V-%u"),
    *("%a, %d %b %Y %H:%M:%S %z", "%d/%b/%Y:%H:%M:%S %z", "%d-%b-%y %I.%M.%S.%f %p"),  # mail, web servers, Oracle
    *("%Y%m%d%H%M%S%z", "%Y%m%d%H%M%S.%f%z", "%Y-%j"),  # HL7, days of a year
    *("%m-%d-%Y", "%m.%d.%Y", "%m-%d-%y", "%d/%b/%Y", "%Y_%m_%d", "%Y:%m:%d %H:%M:%S"),  # the last of cameras
    *("%d/%m/%Y %H:%M:%S.%f", "%d.%m.%Y %H:%M:%S.%f", "%b %d %Y %I:%M%p", "%a %b %d %H:%M:%S %z %Y"),  # SQL Server
    *("%Y-%m-%d-%H.%M.%S.%f", "%Y-%m-%d %H.%M.%S", "%m/%d/%Y %I:%M%p", "%d/%m/%Y %I:%M%p"),  # the first of Db2
)
_TWO_DIGITS = re.compile(r"\d.*\d")


def first_warning(rules: Iterable[Callable[[Any], str]], about: Any) -> str:
    """Return the first warning that a rule gives, "" if none does."""
    return next(filter(None, (rule(about) for rule in rules)), "")


class UnreadForm(NamedTuple):
    """A form of texts that is not read: what they are, one of them, and the way out."""

    what: str
    example: str
    way_out: str


def padded_cell(texts: Iterable[str]) -> str:
    """Return an example if texts are numbers that may be codes: "007", "12E4", or "3.10" beside "3.9"; else "".

    Equally many digits, some with a leading zero, are codes, as is 12E4, since programs write 1e+05 or 1.2E5. Parts of
    versions have no leading zero, and some end with one though others have fewer digits, as no program writes numbers.
    """
    texts = sorted(texts)
    if texts and all(_WITH_E.fullmatch(text) for text in texts):
        return texts[0]
    if texts and len(texts[0]) > 1 and texts[0].startswith("0"):
        return texts[0] if all(text.isdecimal() and len(text) == len(texts[0]) for text in texts) else ""
    parts = [text.partition(".")[2] for text in texts]
    tens = [text for text, part in zip(texts, parts, strict=True) if len(part) == 2 and part.endswith("0")]
    versions = tens and any(len(part) == 1 for part in parts) and all(_VERSION.fullmatch(text) for text in texts)
    return tens[0] if versions else ""


def error_cell(texts: Iterable[str]) -> str:
    """Return the first text that a spreadsheet shows for an error or a column that is too narrow; "" without any."""
    return next((text for text in texts if text[:1] in "#LE" and _ERROR.fullmatch(text)), "")


def na_among_codes(texts: Iterable[str]) -> bool:
    """Return whether texts are codes of two capitals, such as countries, so that "NA" may be one, too."""
    codes = set(texts) - {"NA"}
    return len(codes) >= FEW_WORDS and all(_OF_TWO.fullmatch(code) for code in codes)


def padded(example: str) -> str:
    """Return the warning about a column with an example of `padded_cell`, or "NA" of `na_among_codes`."""
    if example == "NA":
        return "has NA beside codes of two letters, which is read as empty: if it is a code, write it another way"
    return (
        f"is read as a number, but has cells like {example}: if they are codes, --as COLUMN=category keeps them apart"
    )


def placeholders(texts: Iterable[str]) -> np.ndarray:
    """Return which texts (k,) usually stand for an empty cell."""
    words = [text.casefold() for text in texts]
    return np.array([word in PLACEHOLDERS or _TAGGED.fullmatch(word) is not None for word in words], dtype=bool)


def doubtful_dates(days: np.ndarray) -> str:
    """Return a warning if some dates, in days since 1970-01-01 (n,), stand for "never" or "not known"."""
    filled = days[~np.isnan(days)]
    if len(filled) and any(begin <= filled.min() <= filled.max() <= end for begin, end in OTHER_YEARS):
        year = str(np.datetime64(int(filled.min()), "D"))[:4]
        return f"has dates from the year {year} on, as of another calendar; write them as 2024-12-31"
    whole = np.floor(filled)
    for code, day in LAST_DAYS.items():
        n = int(np.sum(whole == code))
        rest = filled[whole != code]
        if n < MIN_CODES or len(rest) < MIN_CODES:
            continue
        if min(abs(code - rest.min()), abs(code - rest.max())) > np.ptp(rest) and not rest.min() < code < rest.max():
            return (
                f"is {day} in {n} cells, far from all others: if that means that the date is not known, --missing "
                f"{day} reads these cells as empty"
            )
    return ""


def date_format(texts: Sequence[str]) -> str:
    """Return the first date format that fits every text, or "" if none does."""
    sample = texts[:50]
    if not all(any(character.isdigit() for character in text) and 6 <= len(text) <= 40 for text in sample):
        return ""
    for written in DATE_FORMATS:
        if not np.isnan(parsed_dates(sample, written)).any() and not np.isnan(parsed_dates(texts, written)).any():
            return written
    return ""


def _likely_format(texts: Sequence[str]) -> str:
    """Return the date format of the texts that look like dates, "" if these are less than half or differ in form."""
    sample = [text for text in texts[:LOOKED_AT] if _DATED.match(text)]
    if len(sample) < 0.5 * min(len(texts), LOOKED_AT):
        return ""
    fits = [float(np.mean(~np.isnan(parsed_dates(sample, written)))) for written in DATE_FORMATS]
    return DATE_FORMATS[int(np.argmax(fits))] if max(fits) >= MOSTLY else ""


def usual_date_format(texts: Sequence[str], counts: np.ndarray) -> str:
    """Return the date format of a column of dates with a few other cells, or "".

    The other cells are rare, or are a few words for "empty", as for numbers; counts : (k,) cells of each text.
    """
    if not (written := _likely_format(texts)):
        return ""
    read = ~np.isnan(parsed_dates(texts, written))
    share, n_words = counts[read].sum() / counts.sum(), int((~read).sum())
    few = share >= 0.5 and n_words <= FEW_WORDS and int(read.sum()) >= 10 * max(n_words, 1)
    return written if share >= MOSTLY or few else ""


def unread_date(texts: Sequence[str]) -> UnreadForm | None:
    """Return the form of texts that nearly all look like dates of no form that is read."""
    few = [text for text in texts[:FEW_LOOKED_AT] if len(text) <= 60]
    if len(few) < FEW_WORDS or sum(_TWO_DIGITS.search(text) is not None for text in few) < 0.8 * len(few):
        return None
    sample = texts[:LOOKED_AT]
    for written in _OTHER_FORMATS:
        if not np.isnan(parsed_dates(few[:1], written))[0] or not np.isnan(parsed_dates(few[-1:], written))[0]:
            read = ~np.isnan(parsed_dates(sample, written))
            if read.mean() >= MOSTLY:
                return UnreadForm(UNREAD, sample[int(read.argmax())], f"--as COLUMN=date:{written} reads them")
    like = [text for text in sample if len(text) <= 60 and (_DATED.match(text) or _LIKE_DATE.match(text))]
    like = [text for text in like if not _ADDRESS.fullmatch(text)]
    if len(like) < max(FEW_WORDS, 0.8 * len(sample)):
        return None
    usual = _likely_format(like)
    unread = np.isnan(parsed_dates(like, usual)) if usual else np.ones(len(like), dtype=bool)
    return UnreadForm(UNREAD, like[int(unread.argmax())], "write them as 2024-12-31")


def ambiguous(texts: Sequence[str], written: str) -> str:
    """Return a warning if day and month could be exchanged or only some dates have a time zone, otherwise ""."""
    texts = [text for text, read in zip(texts, ~np.isnan(parsed_dates(texts, written)), strict=True) if read]
    if len(set(zoned_texts(texts).tolist())) > 1:
        return "has dates with a time zone and dates without one, which are read as UTC; write all of them alike"
    other = written.replace("%d/%m", "%m/%d")
    if other != written and not np.isnan(parsed_dates(texts, other)).any():
        return "is read with the day first, but could have the month first; write such dates as 2024-12-31"
    return ""


def as_days(filled: np.ndarray) -> str:
    """Warn of numbers (n,) such as 20241231, and 0 or 99999999 among them."""
    if filled.max() < 1900_01_01:  # as nearly always
        return ""
    dated = filled[~np.isin(filled, NO_DAYS)]
    if not len(dated) or not 1900_01_01 <= dated.min() < dated.max() <= 2100_12_31 or not _are_days(dated):
        return ""
    some, none = "", filled[np.isin(filled, NO_DAYS)]
    if len(none):
        some = f", and some like {none[0]:.0f}, which mean none"
    return f"holds numbers like {dated.min():.0f}, which look like dates{some}; --as COLUMN=date reads them as such"


def as_short_days(filled: np.ndarray) -> str:
    """Warn of numbers such as 241231."""
    low, high = float(filled.min()), float(filled.max())
    if len(filled) < ENOUGH or not 100101 <= low < high <= 991231 or not _are_days(filled):
        return ""
    return f"holds numbers like {high:06.0f}, which look like dates; --as COLUMN=date:%y%m%d reads them as such"


def cut_numbers(filled: np.ndarray) -> str:
    """Warn of whole numbers of which none has more digits than a spreadsheet shows of a long one."""
    low, high = float(filled.min()), float(filled.max())
    if not LONG_NUMBER <= low < high < np.inf:
        return ""
    digits = filled / 10.0 ** (np.floor(np.log10(filled)) + 1 - SHOWN_DIGITS)
    if (np.abs(digits - np.round(digits)) >= 1e-6).any():
        return ""
    return (
        f"holds whole numbers like {low:.5E}, whose last digits are all zero, as after a spreadsheet has cut them: "
        "if they are identifiers, save the column as text"
    )


def far_numbers(filled: np.ndarray) -> str:
    """Warn of a least or largest number far from the others: a code for empty, or a slip."""
    for code in (float(filled.min()), float(filled.max())):
        rest = filled[filled != code]
        n = len(filled) - len(rest)
        few = n < MIN_CODES  # not a code, but maybe a slip
        if len(rest) < (ENOUGH if few else min(n, ENOUGH)):
            continue
        far = 1.0 if code in CODES and not few else FAR  # fill values such as 9.96921e+36 are of many kinds
        if min(abs(code - rest.min()), abs(code - rest.max())) > far * np.ptp(rest) > 0.0:
            written = f"{code:.0f}" if abs(code) < 1e10 and code == np.floor(code) else repr(code)
            where = f"{n} cell{'s' * (n > 1)}"
            if few:
                return f"is {written} in {where}, far from all others; correct it if it is a slip"
            return (
                f"is {written} in {where}, far from all others: if that means that the value is not known, "
                f"--missing {written} empties these cells"
            )
    return ""


def stamps(filled: np.ndarray) -> str:
    """Return a warning if the numbers (n,) are months, weeks, days of a year, or times of days without separators."""
    low, high = float(filled.min()), float(filled.max())
    if len(filled) < ENOUGH or low == high or low < 190001 or high >= 2101e10 or (filled != np.floor(filled)).any():
        return ""
    for what, form, year, parts in _STAMPS:
        if not 1900 * year <= low < high < 2101 * year:
            continue
        rest = filled % year
        for unit, least, most in parts:
            if not least <= (rest // unit).min() <= (rest // unit).max() <= most:
                break
            rest = rest % unit
        else:
            way_out = f"--as COLUMN=date:{form} reads them as such" if form else "write them as 2024-12-31"
            return f"holds numbers like {high:.0f}, which look like {what}; {way_out}"
    return ""


def moments(filled: np.ndarray) -> str:
    """Return a warning if the numbers (n,) may be seconds since 1970, or thousandths and so on, otherwise ""."""
    filled = filled[filled != 0.0]  # 0 is no moment
    low, high = float(filled.min(initial=np.inf)), float(filled.max(initial=-np.inf))
    units = (("seconds", 1.0, ENOUGH), ("milliseconds", 1e3, 1), ("microseconds", 1e6, 1), ("nanoseconds", 1e9, 1))
    for unit, each, least in units:
        if SECONDS[0] * each <= low < high <= SECONDS[1] * each and len(filled) >= least:
            day = np.datetime64("1970-01-01") + int(high // (86_400 * each))
            return f"holds numbers like {high:.0f}, which look like {unit} since 1970 ({day}); write them as dates"
    return ""


def answer_codes(filled: np.ndarray) -> str:
    """Return a warning if the numbers (n,) are steps of a scale from 0 or 1, and codes for a missing answer."""
    low, high = filled.min(), filled.max()
    for codes in ANSWER_CODES:
        if high < min(codes) or low > max(codes):  # as nearly always
            continue
        coded = np.isin(filled, codes)
        steps = filled[~coded]
        if coded.sum() < MIN_CODES or len(steps) < ENOUGH:
            continue
        if 0.0 <= steps.min() < steps.max() <= LAST_STEP and (steps == np.floor(steps)).all():
            found = [f"{code:.0f}" for code in np.unique(filled[coded])]
            return (
                f"is {' or '.join(found)} in {coded.sum()} cells beside whole numbers from {steps.min():.0f} to "
                f"{steps.max():.0f}: if that means no answer, --missing {','.join(found)} empties these cells"
            )
    return ""


def dots_for_thousands(filled: np.ndarray) -> str:
    """Warn of numbers like 679 and 1.915, where the dot separates thousands."""
    whole = filled == np.floor(filled)
    size, thousands = np.abs(filled[whole]), np.abs(filled[~whole])
    if min(len(size), len(thousands)) < MIN_DOTTED or thousands.min() < 1.0 or max(size.max(), thousands.max()) >= 1000:
        return ""
    # a decimal number would have less or more decimals, and whole numbers would be of its size
    three = np.abs(1000.0 * thousands - np.round(1000.0 * thousands)) < 1e-6
    if not three.all() or not np.mean(size >= 100.0) > 0.5 > np.mean(thousands >= 100.0):
        return ""
    return "has whole numbers and smaller ones with three decimals: if 1.915 means 1915, leave out the dot"


def _are_days(filled: np.ndarray) -> bool:
    month, day = filled // 100 % 100, filled % 100
    return bool(((filled == np.floor(filled)) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


NUMBER_RULES: tuple[Callable[[np.ndarray], str], ...] = (
    as_days, stamps, as_short_days, dots_for_thousands, moments, cut_numbers, far_numbers, answer_codes,
)  # fmt: skip
"""Doubts about filled cells that are numbers (n,), in this order; the first that is not empty is the warning."""


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


def odd_form(texts: Sequence[str]) -> UnreadForm | None:
    """Return what nearly all texts are if no column should be written so, an example, and the way out."""
    sample = texts[:1000]
    for form, sign, what, way_out in _ODD:
        like = [text for text in sample if len(text) <= LONGEST and form.fullmatch(text)]
        if len(like) < max(FEW_WORDS, MOSTLY * len(sample)):
            continue
        if example := next((text for text in like if sign.search(text)), ""):
            return UnreadForm(what, example, way_out)
    return None


def paired(texts: Sequence[str]) -> UnreadForm | None:
    """Return the form of many texts that nearly all are two short numbers, such as 81-84 or 40+1."""
    like = [text for text in texts[:1000] if _PAIR.fullmatch(text)] if len(texts) > MANY else []
    if not like or len(like) < MOSTLY * len(texts[:1000]):
        return None
    return UnreadForm("ranges, or pairs of numbers", like[0], "write each of both as a column")


def of_one_unit(texts: Sequence[str]) -> UnreadForm | None:
    """Return the form of many texts that all are numbers with the same words before or after them."""
    sample = texts[:1000]
    led = [_LED.fullmatch(text) for text in sample]
    if len(sample) >= MANY and all(led) and len({(one[1].strip(), (one[2] or "").strip()) for one in led if one}) == 1:
        return UnreadForm("numbers with words", sample[0], "write them as 12.5")
    found = [_TAILED.fullmatch(text) for text in sample]
    tails = [(one[1] or "").strip() for one in found if one]
    if len(sample) < MANY or len(tails) < len(sample) or len(set(tails) - {""}) != 1:
        return None
    example = next(text for text, tail in zip(sample, tails, strict=True) if tail)
    return UnreadForm("numbers with words", example, "write them as 12.5")


def decorated(texts: Sequence[str]) -> UnreadForm | None:
    """Return the form of texts that nearly all are numbers with a unit, a currency, separators or times of day."""
    sample = texts[:1000]
    like = [text for text, one in zip(sample, is_decorated(sample), strict=True) if one or _TIME.fullmatch(text)]
    if len(like) < max(FEW_WORDS, MOSTLY * len(sample)):
        return None
    example = next((text for text, number in zip(like, parsed_numbers(like), strict=True) if number != number), "")
    if not example:
        return None
    if _TIME.fullmatch(example):
        return UnreadForm("times", example, "write them as a number of hours, minutes or seconds")
    units = units_of(texts)
    if not units:
        return UnreadForm("numbers with . and , as decimal signs", example, "write all as 12.5")
    if _ORDINALS.issuperset(units):
        return UnreadForm("ordinal numbers" if len(texts) > 9 else "", example, "write them as 1")
    way_out = "write them as 12.5" if len(units) < 2 else "write them in one unit"
    if any(len(units) == 2 and sides.issuperset(units) for sides in _SIDES):
        way_out = "write one of both as negative numbers"
    why = f" ({' and '.join(units[:2])})" if len(units) > 1 else ""
    return UnreadForm(f"numbers with signs or units{why}", example, way_out)


def coded_number(texts: Sequence[str]) -> UnreadForm | None:
    """Return the form of texts that nearly all are integers as programs write them: 0x1F, 0b11 or 1_000."""
    sample = texts[:1000]
    like = [text for text in sample if _CODED.fullmatch(text)]
    if len(like) < max(FEW_WORDS, MOSTLY * len(sample)):
        return None
    value = int(like[0].replace("_", ""), 10 if "_" in like[0] else 0)
    return UnreadForm("numbers as programs write them", like[0], f"write them as {value}")


OTHER_FORMS = (unread_date, coded_number, decorated, odd_form, of_one_unit, paired)
"""Forms of dates and numbers that are not read, in the order in which they are looked for."""


class TextColumn(NamedTuple):
    """A column of words, for rules.

    cells : Cells
    kind : str
        "category", "text" or "identifier".
    as_number : array of bool, shape (k,)
        Whether each of its texts is a number.
    """

    cells: ColumnCells
    kind: str
    as_number: np.ndarray | None = None


def numbers_and_words(words: TextColumn) -> str:
    """Warn that most of the texts are numbers, unless the others are codes such as B254 beside 1E23."""
    texts, counts, as_number = words.cells.texts, words.cells.counts, words.as_number
    if as_number is None:
        return ""
    share = counts[as_number].sum() / counts.sum()
    if share < 0.05 or as_number.sum() <= np.sum(~as_number):
        return ""
    others = [text for text, read in zip(texts, as_number, strict=True) if not read]
    if words.kind == "identifier" and np.mean([any(map(str.isdigit, text)) for text in others]) >= CODES_AMONG:
        return ""
    other = texts[int(np.argmax(np.where(as_number, 0, counts)))]
    way_out = "--as COLUMN=number reads them and takes the other cells as empty; --missing names words for empty"
    return f"holds numbers in {100.0 * share:.0f} % of the cells, words such as {other!r} in others; {way_out}"


def dates_and_words(words: TextColumn) -> str:
    """Warn that most of the texts are dates of one form."""
    texts, counts = words.cells.texts, words.cells.counts
    written = _likely_format(texts)
    read = ~np.isnan(parsed_dates(texts, written)) if written else np.zeros(len(texts), dtype=bool)
    if read.all() or read.sum() <= np.sum(~read):
        return ""
    share, other = counts[read].sum() / counts.sum(), texts[int(np.argmax(np.where(read, 0, counts)))]
    way_out = "--as COLUMN=date reads them and takes the other cells as empty; --missing names words for empty"
    return f"holds dates in {100.0 * share:.0f} % of the cells, words such as {other!r} in others; {way_out}"


def of_other_form(words: TextColumn) -> str:
    """Warn that the texts are dates or numbers of a form that is not read."""
    texts = words.cells.texts[:: 1 + len(words.cells.texts) // MOST_LOOKED_AT]
    use = "not used" if words.kind == "identifier" else "used as words"
    form = next(filter(None, (of(texts) for of in OTHER_FORMS)), None)
    return f"holds {form.what}, e.g. {form.example!r}, and is {use}; {form.way_out}" if form and form.what else ""


def na_beside_codes(words: TextColumn) -> str:
    """Warn that "NA", which is read as empty, may be a code as the others."""
    cells = words.cells
    return padded("NA") if cells.n_empty and na_among_codes(cells.texts) and cells.series.isin(["NA"]).any() else ""


def in_other_letters(words: TextColumn) -> str:
    """Warn of two values that differ in capital letters or blanks alone."""
    seen: dict[str, str] = {}
    for text in words.cells.texts if words.kind == "category" else ():
        if (first := seen.setdefault(" ".join(text.casefold().split()), text)) != text:
            what = "blanks" if first.casefold() != text.casefold() else "capital letters"
            way_out = "write them alike if they mean the same"
            return f"has values that differ in {what} alone, {first!r} and {text!r}; {way_out}"
    return ""


def several_values(words: TextColumn) -> str:
    """Warn of many texts that are lists of the same few values, such as Action|Drama."""
    sample = words.cells.texts[:1000] if words.kind == "category" else []
    for separator in "|;,":
        lists = [text for text in sample if separator in text]
        if len(sample) < LEAST_LISTS or len(lists) < 0.5 * len(sample):
            continue
        values = {value.strip() for text in sample for value in text.split(separator)}
        if 2 * len(values) <= len(sample) and not any(value.replace(".", "").isdigit() for value in values):
            what = f"holds several values in a cell, e.g. {lists[0]!r}, and is used as words"
            return f"{what}; write each value as a column"
    return ""


def changed_name(words: TextColumn) -> str:
    """Warn of a text that a spreadsheet may have made of a name (SEP2) or a range (10-12)."""
    texts = words.cells.texts if words.kind == "category" else []
    if changed := next((text for text in texts if _OF_NAME.fullmatch(text)), ""):
        return f"has {changed!r}, which a spreadsheet may have made of a name or a range such as 10-12; correct it"
    return ""


def heads_of_groups(words: TextColumn) -> str:
    """Warn of a category whose values stand once each above empty cells."""
    codes, n_distinct, n_empty = words.cells.codes, len(words.cells.texts), words.cells.n_empty
    if words.kind != "category" or codes[0] < 0 or not 3 <= len(codes) - n_empty == n_distinct <= n_empty:
        return ""
    return (
        "has each of its values once, and more empty cells: if a value holds for the rows below it, as in a pivot "
        "table, fill it in; else leave the column out (--drop)"
    )


TEXT_RULES: tuple[Callable[[TextColumn], str], ...] = (
    numbers_and_words, dates_and_words, of_other_form, na_beside_codes, in_other_letters, several_values, changed_name,
    heads_of_groups,
)  # fmt: skip
"""Doubts about columns of words, in this order; the first that is not empty is the warning."""


# characters of the bytes 0x80 to 0xBF, as Windows-1252 and Latin-1 have them
_WINDOWS = {bytes([code]).decode("cp1252", "ignore"): code for code in range(0x80, 0xA0)}
_FOLLOWS = "[\u0080-\u00bf" + "".join(_WINDOWS) + "]"
_LEADS = "\u00c2-\u00c5\u00ce-\u00d1\u00e2"  # of Latin, Greek and Cyrillic letters, and of typographic signs
_SUSPICIOUS = re.compile(f"[{_LEADS}]{_FOLLOWS}")
_SURE = re.compile(f"[\u00c2\u00c3]{_FOLLOWS}|\u00e2[\u20ac\u201a\u0080\u0082]|([{_LEADS}]{_FOLLOWS}){{2}}")
LOST = "\ufffd"  # what a program writes for bytes that it cannot read
_ENTITY = re.compile(r"&(#\d+|#x[0-9A-Fa-f]+|[A-Za-z]+\d*);")
HINT = "export the file again, or undo it with `iconv -f UTF-8 -t CP1252 OLD > NEW`"


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
    """Return a warning if texts were encoded twice, are written for HTML, or have lost characters, else ""."""
    if example := twice_encoded(texts):
        where = place(_row_of(column, example[0]))
        return f"has text that was encoded as UTF-8 twice: {example[0]!r} ({where}) is probably {example[1]!r}; {HINT}"
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
    return texts_of(column.tolist()).index(text)
