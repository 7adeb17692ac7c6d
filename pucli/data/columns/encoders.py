"""Encoders of single columns, one class per kind of column, and their fit.

Every class is a frozen record of strings, numbers and lists, which are its fitted state; ``features`` names the
features and ``encode`` writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pucli.core.saved_state import AT_LEAST_ZERO, STATEMENT, Each, Flag, Names, Scalar, State, TextValue, Whole
from pucli.data.columns.cells import (
    DATE_FORMATS,
    MONTH_ALONE,
    ColumnCells,
    TableError,
    cell_text,
    parsed_dates,
    parsed_numbers,
    shortest,
    zoned_texts,
)
from pucli.data.columns.doubts import date_format, placeholders
from pucli.data.columns.drift import DriftCounter, Range
from pucli.data.columns.kinds import Column, yes_value
from pucli.data.columns.number_forms import flagged_numbers, number_form, text_numbers
from pucli.data.labels import NO, YES

if TYPE_CHECKING:
    pass

IS_EMPTY = "is empty"


def write_filled(
    name: str, values: np.ndarray, fill: float, indicator: bool, out: np.ndarray, tally: DriftCounter
) -> None:
    """Write numbers into the first column of `out`, and the indicator of empty cells into the last."""
    missing = np.isnan(values)
    out[:, 0] = np.where(missing, fill, values) if missing.any() else values
    if indicator:
        out[:, -1] = missing
    else:
        tally.add(name, "empty, although none was in training; filled", missing)


def filled_words(fill: float | None, indicator: bool) -> str:
    """Describe how empty cells are encoded."""
    if not indicator:
        return ""
    return "; empty marked" if fill is None else f"; empty marked and filled with {shortest(fill)}"


_EXCHANGED = {"%d/%m": ("%d/%m", "%m/%d"), "%m/%d": ("%m/%d", "%d/%m")}
PARTS = {"month": 12, "weekday": 7, "hour": 24}


@dataclass(frozen=True)
class Date:
    """Days since 1970-01-01, and the sine and cosine of those of month, weekday and hour that vary in training."""

    name: str
    kind: str
    written: str  # format of the dates
    parts: list[str]  # any of "month", "weekday" and "hour"
    fill: float
    indicator: bool  # as for `Number`; the sine and cosine of an empty cell are 0
    # as for `Number`, in days since 1970-01-01
    low: float = 0.0
    high: float = 0.0
    rows: int = 0
    zoned: float = -1.0  # share of the training dates with a time zone; -1 if it is not known
    serials: bool = False  # whether day numbers of a spreadsheet are dates
    reads_text: ClassVar[bool] = True
    saved_state: ClassVar[State] = {
        "name": TextValue(),
        "kind": TextValue(),
        "written": TextValue(),
        "parts": Each(TextValue(*PARTS)),
        "fill": Scalar(finite=False),
        "indicator": Flag(),
        "low": STATEMENT,
        "high": STATEMENT,
        "rows": Whole(),
        "zoned": Scalar(-1.0, 1.0),
        "serials": Flag(),
    }

    @property
    def features(self) -> list[str]:
        """Return the names of the features."""
        turns = [f"{self.name} {part} {turn}" for part in self.parts for turn in ("sin", "cos")]
        return [f"{self.name} days", *turns] + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Describe the encoding."""
        written = "" if self.written == "ISO8601" else f" (format {self.written})"
        return ", ".join(["days since 1970", *self.parts]) + written + filled_words(None, self.indicator)

    def encode(self, cells: ColumnCells, out: np.ndarray, tally: DriftCounter) -> None:
        """Write the features of n cells into `out`."""
        days, wrong = cells.days(self.written, self.serials)
        if wrong.any():
            what = f"not a date of the format {self.written}, treated as empty"
            if other := date_format(cells.texts):  # else a day may pass for a month in the cells that are read
                what += f"; every cell has the format {other}, so write dates as 2024-12-31"
            tally.add(self.name, what, wrong, cell_text(cells.series.iloc[int(wrong.argmax())]))
        if self.rows:
            tally.add_range(self.name, days, Range(self.low, self.high, self.rows, dates=True))
        self._count_forms(cells, ~np.isnan(days), tally)
        self._count_exchangeable(cells, tally)
        if "hour" in self.parts:
            midnight = np.isnan(days) | (days == np.floor(days))
            tally.add_lost(self.name, "have no time of day, unlike those of the training rows", midnight)
        found = date_parts(days)
        for position, part in enumerate(self.parts):
            angle = 2 * np.pi * found[part] / PARTS[part]
            out[:, 1 + 2 * position] = np.nan_to_num(np.sin(angle))
            out[:, 2 + 2 * position] = np.nan_to_num(np.cos(angle))
        write_filled(self.name, days, self.fill, self.indicator, out, tally)

    @property
    def _of_months(self) -> bool:
        """Return whether the training dates may have had no day: the first and the last are firsts of a month."""
        days = np.array([self.low, self.high]).astype("datetime64[D]")
        return not self.rows or bool((days == days.astype("datetime64[M]")).all())

    def _count_exchangeable(self, cells: ColumnCells, tally: DriftCounter) -> None:
        """Tell of new dates whose day and month could be exchanged, which nothing in them shows."""
        first, second = _EXCHANGED.get(self.written[:5], ("", ""))
        if tally.training or cells.type == "M" or not first:
            return
        texts = cells.texts
        days = parsed_dates(texts, self.written)
        there = ~np.isnan(days)
        other = parsed_dates(texts, self.written.replace(first, second))
        of_month = days.astype("datetime64[D]").astype(object)
        read = {text: day.day for text, day, one in zip(texts, of_month, there, strict=True) if one}
        tally.add_dates(self.name, bool(not np.isnan(other[there]).any()), read)

    def _count_forms(self, cells: ColumnCells, there: np.ndarray, tally: DriftCounter) -> None:
        """Count years alone, dates with a time zone if none had one in training, and those without if all had one."""
        if cells.type == "M":
            has = cells.zoned
        else:
            codes, texts = cells.coded
            has = np.append(zoned_texts(texts), False)[codes]
            years = np.array([*(len(text) == 4 for text in texts), False])[codes] & there
            months = [MONTH_ALONE.fullmatch(text) is not None and len(text) > 4 for text in texts]
            months = np.array([*months, False])[codes] & there
            if months.any() and not self._of_months and self.written == DATE_FORMATS[0]:
                tally.add(self.name, "with no day, read as the first one", months, texts[codes[months.argmax()]])
            if years.any() and self.written == DATE_FORMATS[0]:  # else the user has asked for %Y
                tally.add(self.name, "with a year alone, read as its first day", years, texts[codes[years.argmax()]])
        if self.zoned not in (0.0, 1.0):
            return
        wrong = there & (has if self.zoned == 0.0 else ~has)
        if wrong.any():
            what = (
                "with a time zone, although none had one in training; read in UTC, their hours may be shifted"
                if self.zoned == 0.0
                else "without a time zone, although all had one in training; read as UTC, their hours may be shifted"
            )
            tally.add(self.name, what, wrong, cell_text(cells.series.iloc[int(wrong.argmax())]))


def date_parts(days: np.ndarray) -> dict[str, np.ndarray]:
    """Return month (0-11), weekday (0 is Monday) and hour (with fraction) of days since 1970-01-01; NaN stays NaN."""
    missing = np.isnan(days)
    whole = np.floor(np.where(missing, 0.0, days))
    months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    # 1970-01-01 was a Thursday; times are rounded to the microsecond
    found = {"month": months, "weekday": (whole + 3) % 7, "hour": np.round((days - whole) * 86_400e6) / 3_600e6}
    return {part: np.where(missing, np.nan, values) for part, values in found.items()}


@dataclass(frozen=True)
class Text:
    """The tf-idf of the most frequent words, each cell scaled to unit length.

    It is computed as by scikit-learn's TfidfVectorizer, of which only the vocabulary and the weights are kept.
    """

    name: str
    kind: str
    words: list[str]
    weights: list[float]  # inverse document frequency of each word
    indicator: bool  # whether training had empty cells, so that there is a feature "NAME is empty"
    reads_text: ClassVar[bool] = True
    saved_state: ClassVar[State] = {
        "name": TextValue(),
        "kind": TextValue(),
        "words": Names("words"),
        "weights": Each(AT_LEAST_ZERO),
        "indicator": Flag(),
    }

    @property
    def features(self) -> list[str]:
        """Return the names of the features."""
        return [f"{self.name}: {word}" for word in self.words] + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Describe the encoding."""
        return f"{len(self.words)} frequent words, rare ones weigh more{filled_words(None, self.indicator)}"

    def encode(self, cells: ColumnCells, out: np.ndarray, tally: DriftCounter) -> None:
        """Write the features of n cells into `out`."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        codes, texts = cells.coded
        vectorizer = TfidfVectorizer(vocabulary=self.words)
        vectorizer.idf_ = np.array(self.weights)
        found = np.zeros((len(texts) + 1, len(self.words)))
        if texts:
            found[:-1] = vectorizer.transform(texts).toarray()
        out[:, : len(self.words)] = found[codes]
        without = np.abs(out[:, : len(self.words)]).sum(axis=1) == 0.0
        tally.add_lost(self.name, "have no word known from the training rows", without)
        if self.indicator:
            out[:, -1] = codes < 0
        else:
            tally.add(self.name, "empty, although none was in training", codes < 0)


LARGEST = 1e150  # the square of a larger value overflows in double precision
OTHER = "(other values)"
SAMPLE = 200  # texts that tell the form of numbers
OTHER_LETTERS = "in other letters than in training, taken for the same word"
OTHER_WORDS = "with another word for yes or no than in training, read by its meaning"


@dataclass(frozen=True)
class Number:
    """Unchanged numbers; an empty cell is filled with the training median and marked by an indicator feature."""

    name: str
    kind: str
    fill: float  # value for an empty cell; NaN if empty cells are not allowed
    indicator: bool  # whether training had empty cells, so that there is a feature "NAME is empty"
    # ends of the training numbers
    low: float = 0.0
    high: float = 0.0
    rows: int = 0  # number of training numbers; 0 if the ends are not known
    # form in which text cells are written (`pucli.data.columns.number_forms`); "" for numbers as programs write them
    decimal: str = ""
    unit: str = ""
    reads_text: ClassVar[bool] = False
    saved_state: ClassVar[State] = {
        "name": TextValue(),
        "kind": TextValue(),
        "fill": Scalar(finite=False),
        "indicator": Flag(),
        "low": STATEMENT,
        "high": STATEMENT,
        "rows": Whole(),
        "decimal": TextValue("", ".", ","),
        "unit": TextValue(),
    }

    def __post_init__(self) -> None:
        if self.decimal not in ("", ".", ",") or not isinstance(self.unit, str):
            raise ValueError("decimal")

    @property
    def features(self) -> list[str]:
        """Return the names of the features."""
        return [self.name] + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Describe the encoding."""
        sign = {",": "decimal comma", ".": "decimal point", "": ""}[self.decimal]
        written = f" ({sign}{f', in {self.unit}' if self.unit else ''})" if sign else ""
        return f"unchanged{written}{filled_words(self.fill, self.indicator)}"

    def encode(self, cells: ColumnCells, out: np.ndarray, tally: DriftCounter) -> None:
        """Write the features of n cells into `out`."""
        values, wrong = self._read(cells, tally)
        if wrong.any() and (infinite := wrong & cells.infinite).any():
            cell = cell_text(cells.series.iloc[int(infinite.argmax())])
            tally.add(self.name, "infinite, treated as empty", infinite, cell)
            wrong = wrong & ~infinite
        if self.kind == "yes/no" and wrong.any():
            values, wrong = self._with_words(cells, values, wrong, tally)
        if wrong.any():
            meant = _as_formed(ColumnCells(cells.series[wrong]).texts, self)
            sign = self.decimal and "in training" not in meant
            written = f" with the decimal sign {self.decimal} of the training rows" if sign else ""
            what = f"not a number{written}, treated as empty{meant}"
            tally.add(self.name, what, wrong, cell_text(cells.series.iloc[int(wrong.argmax())]))
        self._refuse_large(cells, values, tally)
        if self.rows:
            tally.add_range(self.name, values, Range(self.low, self.high, self.rows))
            if self.indicator and self.rows > 1:
                tally.add_lost(self.name, "are empty, unlike those of the training rows", np.isnan(values))
        if np.isnan(self.fill) and np.isnan(values).any():
            row = int(np.isnan(values).argmax())
            what = f"{cell_text(cells.series.iloc[row])!r} is not a number" if wrong[row] else "is empty"
            place = tally.place(tally.offset + row)
            raise TableError(f"column {self.name!r}, {place}: {what}; the model cannot fill such a cell, so correct it")
        write_filled(self.name, values, self.fill, self.indicator, out, tally)

    def _read(self, cells: ColumnCells, tally: DriftCounter) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers, and which filled cells are none."""
        return formed(cells, self.decimal, self.unit)

    def _with_words(
        self, cells: ColumnCells, values: np.ndarray, wrong: np.ndarray, tally: DriftCounter
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers (n,) of 0 and 1 with words for yes and no, and which cells (n,) are still wrong."""
        codes, texts = cells.coded
        meant = np.append(_truth(texts), np.nan)[codes]
        read = wrong & ~np.isnan(meant)
        if read.any():
            tally.add(self.name, OTHER_WORDS, read, texts[codes[int(read.argmax())]])
        return np.where(read, meant, values), wrong & ~read

    def _refuse_large(self, cells: ColumnCells, values: np.ndarray, tally: DriftCounter) -> None:
        bad = np.abs(values) > LARGEST
        if not bad.any():
            return
        row = int(bad.argmax())
        what = "is too large: its square overflows in double precision"
        if np.isinf(values[row]):
            what = "is infinite, as is every number beyond 1.8e308"
        cell, place = cells.series.iloc[row], tally.place(tally.offset + row)
        written = cell_text(cell) if isinstance(cell, str) else shortest(values[row])
        count = f" ({bad.sum()} such cells)" if bad.sum() > 1 else ""
        raise TableError(f"column {self.name!r}, {place}: {written} {what}{count}; correct or clear the cell")


@dataclass(frozen=True)
class FlaggedNumber(Number):
    """Numbers as for `Number`, and one 0/1 feature for each flag that stands beside a number or in place of it."""

    flags: list[str] = field(default_factory=list)
    saved_state: ClassVar[State] = {**Number.saved_state, "flags": Names("flags")}

    @property
    def features(self) -> list[str]:
        """Return the names of the features."""
        return [self.name, *(f"{self.name} flag {flag}" for flag in self.flags), *super().features[1:]]

    def how(self) -> str:
        """Describe the encoding."""
        return super().how() + (f"; {len(self.flags)} flag{'s' * (len(self.flags) != 1)} marked" if self.flags else "")

    def encode(self, cells: ColumnCells, out: np.ndarray, tally: DriftCounter) -> None:
        """Write the features of n cells into `out`."""
        super().encode(cells, out, tally)
        out[:, 1 : 1 + len(self.flags)] = 0.0
        if cells.type not in "iufbm":
            place = {flag: position for position, flag in enumerate(self.flags, start=1)}
            found = [place.get(flag, 0) for flag in flagged_numbers(cells.texts, self.decimal).flags]
            columns = np.array([*found, 0])[cells.codes]
            rows = np.flatnonzero(columns)
            out[rows, columns[rows]] = 1.0

    def _read(self, cells: ColumnCells, tally: DriftCounter) -> tuple[np.ndarray, np.ndarray]:
        if cells.type in "iufbm":
            return cells.numbers
        values, flags = flagged_numbers(cells.texts, self.decimal)
        number, known = ~np.isnan(values), np.isin(flags, ["", *self.flags])
        new = np.append(~known & number, False)[cells.codes]
        if new.any() and self.flags:
            tally.add(self.name, "with a flag not seen in training", new, cells.texts[cells.codes[int(new.argmax())]])
        empty = known | placeholders(cells.texts) | np.char.startswith(np.array(cells.texts, dtype=str), ":")
        wrong = np.append(~number & ~empty, False)[cells.codes]
        return np.append(values, np.nan)[cells.codes], wrong


@dataclass(frozen=True)
class YesNo:
    """One feature, 1 for yes and 0 for no; an empty or unknown cell has the more frequent value."""

    name: str
    kind: str
    # the two values; `no` is "" if a cell is either filled or empty
    yes: str
    no: str
    fill: float
    indicator: bool  # as for `Number`
    any_word: bool = False  # whether every word for yes or no is read as such
    reads_text: ClassVar[bool] = True
    saved_state: ClassVar[State] = {
        "name": TextValue(),
        "kind": TextValue(),
        "yes": TextValue(),
        "no": TextValue(),
        "fill": Scalar(0.0, 1.0, finite=False),
        "indicator": Flag(),
        "any_word": Flag(),
    }

    @property
    def features(self) -> list[str]:
        """Return the names of the features."""
        first = self.name if self.yes in {"True", "1"} else f"{self.name}={self.yes}"
        return [first] + [f"{self.name} {IS_EMPTY}"] * self.indicator

    @property
    def reads_other_words(self) -> bool:
        """Return whether any word for yes or no is read, as where both values are such words."""
        return self.any_word or (self.yes.casefold() in YES and self.no.casefold() in NO)

    def how(self) -> str:
        """Describe the encoding."""
        return f"{self.yes!r} 1, {self.no or 'empty'!r} 0{filled_words(self.fill, self.indicator)}"

    def encode(self, cells: ColumnCells, out: np.ndarray, tally: DriftCounter) -> None:
        """Write the features of n cells into `out`, see `Number.encode`."""
        codes, written = cells.coded
        # a column of integers has 1.0 for 1 once it has an empty cell
        whole = [text.removesuffix(".0") for text in written]
        texts = [short if short.isdecimal() else text for short, text in zip(whole, written, strict=True)]
        meaning = {self.yes.casefold(): 1.0, self.no.casefold(): 0.0}
        if meaning.keys() == {"true", "false"}:
            meaning |= {"1": 1.0, "0": 0.0}
        known = np.array([meaning.get(text.casefold(), np.nan) for text in texts])
        if np.isnan(known).any():
            spaced = {plain_word(word): value for word, value in meaning.items()}
            known = np.array([spaced.get(plain_word(text), np.nan) for text in texts])
        if self.reads_other_words and np.isnan(known).any():
            meant = _truth(texts)
            other = np.isnan(known) & ~np.isnan(meant)
            known[other] = meant[other]
            read = np.append(other, False)[codes] & (not self.any_word)
            tally.add(self.name, OTHER_WORDS, read, written[codes[int(read.argmax())]])
        values = np.append(known, np.nan if self.no else 0.0)[codes]
        unknown = np.isnan(values) & (codes >= 0)
        if unknown.any():
            what = f"neither {self.yes!r} nor {self.no or 'empty'!r}, treated as empty"
            tally.add(self.name, what, unknown, written[codes[int(unknown.argmax())]])
        write_filled(self.name, values, self.fill if self.no else 0.0, self.indicator, out, tally)


@dataclass(frozen=True)
class Category:
    """One 0/1 feature for each frequent value, one for all other values and one for an empty cell.

    A value that did not occur in training is one of the other values; without that feature, all features are 0.
    """

    name: str
    kind: str
    values: list[str]
    others: int  # number of training values that share the feature "(other values)"
    indicator: bool  # whether training had empty cells
    reads_text: ClassVar[bool] = True
    saved_state: ClassVar[State] = {
        "name": TextValue(),
        "kind": TextValue(),
        "values": Names("values"),
        "others": Whole(),
        "indicator": Flag(),
    }

    @property
    def features(self) -> list[str]:
        """Return the names of the features."""
        named = [f"{self.name}={value}" for value in self.values]
        return named + [f"{self.name}={OTHER}"] * (self.others > 0) + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Describe the encoding."""
        rest = f", one for {self.others:,} rare values together" if self.others else ""
        return f"0 or 1 for each of {len(self.values)} values{rest}" + ", empty is a value" * self.indicator

    def encode(self, cells: ColumnCells, out: np.ndarray, tally: DriftCounter) -> None:
        """Write the features of n cells into `out`, see `Number.encode`."""
        codes, texts = cells.coded
        place = {value: position for position, value in enumerate(self.values)}
        target = np.array([*(place.get(text, -1) for text in texts), -1 - self.indicator])
        other = np.flatnonzero(target[:-1] < 0)  # numbers may be written differently (3.0 and 3)
        values = parsed_numbers([texts[position] for position in other])
        for position, value in zip(other[np.isfinite(values)], values[np.isfinite(values)].tolist(), strict=True):
            target[position] = place.get(cell_text(value), -1)
        alike = (
            self._in_other_letters([texts[i] for i in np.flatnonzero(target[:-1] < 0)]) if not tally.training else {}
        )
        for position in np.flatnonzero(target[:-1] < 0) if alike else ():
            if (value := alike.get(texts[position])) is not None:
                target[position] = place[value]
                tally.add(self.name, OTHER_LETTERS, codes == position, texts[position])
        target[:-1][target[:-1] < 0] = len(self.values) if self.others else -1
        target[-1] = len(self.values) + (self.others > 0) if self.indicator else -1
        columns = target[codes]
        out[:] = 0.0
        rows = np.flatnonzero(columns >= 0)
        out[rows, columns[rows]] = 1.0
        unseen = (columns < 0) & (codes >= 0)
        if unseen.any():
            what = "with a value not seen in training"
            tally.add(self.name, what, unseen, texts[codes[int(unseen.argmax())]])
        if not self.indicator:
            tally.add(self.name, "empty, although none was in training", codes < 0)

    def _in_other_letters(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the value of training for each text that differs from one alone, and only in case or blanks."""
        found: dict[str, str] = {}
        known = Counter(plain_word(value) for value in self.values)
        meant = {plain_word(value): value for value in self.values}
        for text in texts:
            if known[word := plain_word(text)] == 1:
                found[text] = meant[word]
        return found


def plain_word(text: str) -> str:
    """Return a text without what case and blanks make of it."""
    return " ".join(text.split()).casefold()


def _as_formed(texts: Sequence[str], column: Number) -> str:
    """Return the way out if texts that a column does not read as numbers are some all the same, else ""."""
    form = number_form(texts[:SAMPLE])
    if form is not None and form.unit not in ("", column.unit):
        return f"; in training there was no {form.unit}, so write them alike"
    if form is None or (column.decimal and form.decimal == column.decimal):
        return ""
    return f"; --decimal {'. or ,' if form.doubt else form.decimal} reads them"


def _truth(texts: Sequence[str]) -> np.ndarray:
    """Return 1 for each text (k,) that means yes, 0 for no, and NaN for any other."""
    words = dict.fromkeys(YES, 1.0) | dict.fromkeys(NO, 0.0)
    return np.array([words.get(text.casefold(), np.nan) for text in texts], dtype=np.float64)


# Kind of a column of which every training cell was empty.
EMPTY = "empty"


@dataclass(frozen=True)
class Unused:
    """A column without features: an identifier, a constant text, or empty cells only."""

    name: str
    kind: str
    features: ClassVar[list[str]] = []
    reads_text: ClassVar[bool] = True
    saved_state: ClassVar[State] = {
        "name": TextValue(),
        "kind": TextValue(),
    }

    def how(self) -> str:
        """Describe the encoding."""
        return "not used"

    def encode(self, cells: ColumnCells, out: np.ndarray, tally: DriftCounter) -> None:
        """Count the filled cells of a column that was empty in training; there are no features to write."""
        if self.kind == EMPTY:
            filled = cells.series.notna().to_numpy()
            tally.add(self.name, "filled, although all were empty in training: not used", filled)


ColumnEncoder = Number | YesNo | Category | Date | Text | Unused


def formed(cells: ColumnCells, decimal: str, unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a column whose texts have a given form."""
    if not decimal or cells.type in "iufbm":
        return cells.numbers
    return text_numbers(*cells.coded, decimal, unit)


def encoder_state(encoder: ColumnEncoder) -> dict[str, Any]:
    """Return the encoder of a column as JSON values."""
    return {"encoder": type(encoder).__name__, **asdict(encoder)}


def encoder_of_state(state: dict[str, Any]) -> ColumnEncoder:
    """Return the encoder with this state, see `encoder_state`; raise KeyError or TypeError for any other dict."""
    fields = dict(state)
    return _ENCODERS[fields.pop("encoder")](**fields)


_ENCODERS: dict[str, Callable[..., ColumnEncoder]] = {
    "Number": Number,
    "FlaggedNumber": FlaggedNumber,
    "YesNo": YesNo,
    "Category": Category,
    "Date": Date,
    "Text": Text,
    "Unused": Unused,
}


def fit_column(cells: ColumnCells, column: Column, *, max_categories: int, max_words: int) -> ColumnEncoder:
    """Return the encoder of one column, fitted on its training cells."""
    name, kind = column.name, column.kind
    if kind == "identifier":
        return Unused(name, kind)
    if kind == "constant":  # a constant number is kept: it is harmless, and a numeric file stays unchanged
        values = cells.numbers[0]
        plain = len(values) > 0 and bool(np.isfinite(values).all())
        return (
            Number(name, kind, float(values[0]), indicator=False)
            if plain
            else Unused(name, kind if column.n_distinct else EMPTY)
        )
    if kind == "date":
        return _fit_date(cells, column)
    if kind == "number" or (kind == "yes/no" and not column.values):
        if column.flags is not None:
            values = np.append(flagged_numbers(cells.texts, column.decimal).values, np.nan)[cells.codes]
        else:
            values = formed(cells, column.decimal, column.unit)[0]
        fill = _median(values) if kind == "number" else float(np.nanmean(values) > 0.5)
        found = (name, kind, fill, bool(np.isnan(values).any()), *_ends(values), column.decimal, column.unit)
        return Number(*found) if column.flags is None else FlaggedNumber(*found, list(column.flags))
    codes, texts = cells.coded
    if kind == "text":
        return _fit_text(column, codes, texts, max_words)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    if kind == "category":
        ranked = sorted(range(len(texts)), key=lambda i: (-counts[i], texts[i]))
        kept = _in_order([texts[i] for i in ranked[:max_categories]])
        return Category(name, kind, kept, len(texts) - len(kept), bool((codes < 0).any()))
    if len(texts) < 2:
        return YesNo(name, kind, texts[0] if texts else "yes", "", 0.0, indicator=False)
    if len(texts) > 2:
        return _fit_words(column, codes, texts)
    yes = yes_value(texts)
    no = texts[1 - texts.index(yes)]
    fill = float(counts[texts.index(yes)] > counts[texts.index(no)])
    return YesNo(name, kind, yes, no, fill, bool((codes < 0).any()))


def _fit_words(column: Column, codes: np.ndarray, texts: Sequence[str]) -> YesNo:
    """Return the encoder of several words for yes and no; each is named by the most frequent word."""
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    ranked = [texts[i] for i in np.argsort(-counts, kind="stable")]
    yes, no = (next(text for text in ranked if text.casefold() in words) for words in (YES, NO))
    positive = sum(int(n) for text, n in zip(texts, counts, strict=True) if text.casefold() in YES)
    fill = float(2 * positive > counts.sum())
    return YesNo(column.name, column.kind, yes, no, fill, bool((codes < 0).any()), any_word=True)


def _fit_date(cells: ColumnCells, column: Column) -> Date:
    days, _ = cells.days(column.written, column.serials)
    present = days[~np.isnan(days)]
    parts = [part for part, values in date_parts(present).items() if len(np.unique(values)) > 1]
    empty = len(present) < len(days)
    share = float(np.mean(cells.zoned[~np.isnan(days)])) if len(present) else -1.0
    return Date(
        column.name,
        column.kind,
        column.written,
        parts,
        _median(days),
        empty,
        *_ends(days),
        zoned=share,
        serials=column.serials,
    )


def _ends(values: np.ndarray) -> tuple[float, float, int]:
    """Return the least and the largest of the finite values (n,), and their number; zeros if there are none."""
    filled = values[np.isfinite(values)]
    return (float(filled.min()), float(filled.max()), len(filled)) if len(filled) else (0.0, 0.0, 0)


def _fit_text(column: Column, codes: np.ndarray, texts: Sequence[str], max_words: int) -> ColumnEncoder:
    from sklearn.feature_extraction.text import TfidfVectorizer

    cells = [texts[code] for code in codes[codes >= 0].tolist()]
    for least in (2, 1):
        try:
            fitted = TfidfVectorizer(max_features=max_words, min_df=least).fit(cells)
        except ValueError:  # no word is frequent enough
            continue
        words = [str(word) for word in fitted.get_feature_names_out()]
        return Text(column.name, column.kind, words, fitted.idf_.tolist(), len(cells) < len(codes))
    return Unused(column.name, column.kind)


def _median(values: np.ndarray) -> float:
    present = values[np.isfinite(values)]
    return float(np.median(present)) if len(present) else 0.0


def _in_order(values: Sequence[str]) -> list[str]:
    """Return the values sorted as numbers if all are numbers, otherwise as text."""
    as_number = parsed_numbers(values)
    return sorted(values) if np.isnan(as_number).any() else [values[i] for i in np.argsort(as_number, kind="stable")]
