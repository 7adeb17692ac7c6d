"""Encoders of single columns, one class per kind of column.

Every class is a frozen record of strings, numbers and lists, which are its fitted state; ``features`` names the
features and ``encode`` writes them. `pucli.data.encode.column_fitting` fits the encoder of a column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pucli.core.saved_state import STATEMENT, Flag, Names, Scalar, State, Whole, Word
from pucli.data.encode.date_encoder import Date
from pucli.data.encode.drift import Range, Tally
from pucli.data.encode.filled_cells import IS_EMPTY, filled_words, write_filled
from pucli.data.encode.number_forms import number_form, text_numbers
from pucli.data.encode.text_encoder import Text
from pucli.data.frames import TableError, cell_text, coded, numbers, parsed_numbers, shortest
from pucli.data.labels import NO, YES

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 1e150  # the square of a larger value overflows in double precision
OTHER = "(other values)"
SAMPLE = 200  # texts that tell the form of numbers
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
    # form in which text cells are written (`pucli.data.encode.number_forms`); "" for numbers as programs write them
    decimal: str = ""
    unit: str = ""
    reads_text: ClassVar[bool] = False
    saved_state: ClassVar[State] = {
        "name": Word(),
        "kind": Word(),
        "fill": Scalar(finite=False),
        "indicator": Flag(),
        "low": STATEMENT,
        "high": STATEMENT,
        "rows": Whole(),
        "decimal": Word("", ".", ","),
        "unit": Word(),
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

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write the features of n cells into `out`.

        Parameters
        ----------
        cells : Series of length n
            Cells of the column.
        out : array of shape (n, len(features))
            Filled with the features.
        tally : Tally
            Counts unusual cells.

        Raises
        ------
        TableError
            A cell is empty or no number, and there is no value to fill it with; or a number is too large.
        """
        values, wrong = formed(cells, self.decimal, self.unit)
        if self.kind == "yes/no" and wrong.any():
            values, wrong = self._with_words(cells, values, wrong, tally)
        if wrong.any():
            meant = _as_formed(coded(cells[wrong])[1], self)
            sign = self.decimal and "in training" not in meant
            written = f" with the decimal sign {self.decimal} of the training rows" if sign else ""
            what = f"not a number{written}, treated as empty{meant}"
            tally.add(self.name, what, wrong, cell_text(cells.iloc[int(wrong.argmax())]))
        self._refuse_large(cells, values, tally)
        if self.rows:
            tally.add_range(self.name, values, Range(self.low, self.high, self.rows))
            if self.indicator and self.rows > 1:
                tally.add_lost(self.name, "are empty, unlike those of the training rows", np.isnan(values))
        if np.isnan(self.fill) and np.isnan(values).any():
            row = int(np.isnan(values).argmax())
            what = f"{cell_text(cells.iloc[row])!r} is not a number" if wrong[row] else "is empty"
            place = tally.place(tally.offset + row)
            raise TableError(f"column {self.name!r}, {place}: {what}; the model cannot fill such a cell, so correct it")
        write_filled(self.name, values, self.fill, self.indicator, out, tally)

    def _with_words(
        self, cells: pd.Series, values: np.ndarray, wrong: np.ndarray, tally: Tally
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers (n,) of 0 and 1 with words for yes and no, and which cells (n,) are still wrong."""
        codes, texts = coded(cells)
        meant = np.append(_truth(texts), np.nan)[codes]
        read = wrong & ~np.isnan(meant)
        if read.any():
            tally.add(self.name, OTHER_WORDS, read, texts[codes[int(read.argmax())]])
        return np.where(read, meant, values), wrong & ~read

    def _refuse_large(self, cells: pd.Series, values: np.ndarray, tally: Tally) -> None:
        bad = np.abs(values) > LARGEST
        if not bad.any():
            return
        row = int(bad.argmax())
        what = "is too large: its square overflows in double precision"
        if np.isinf(values[row]):
            what = "is infinite, as is every number beyond 1.8e308"
        cell, place = cells.iloc[row], tally.place(tally.offset + row)
        written = cell_text(cell) if isinstance(cell, str) else shortest(values[row])
        count = f" ({bad.sum()} such cells)" if bad.sum() > 1 else ""
        raise TableError(f"column {self.name!r}, {place}: {written} {what}{count}; correct or clear the cell")


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
        "name": Word(),
        "kind": Word(),
        "yes": Word(),
        "no": Word(),
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

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write the features of n cells into `out`, see `Number.encode`."""
        codes, written = coded(cells)
        texts = [_whole(text) for text in written]
        meaning = {self.yes.casefold(): 1.0, self.no.casefold(): 0.0}
        if meaning.keys() == {"true", "false"}:
            meaning |= {"1": 1.0, "0": 0.0}
        known = np.array([meaning.get(text.casefold(), np.nan) for text in texts])
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
        "name": Word(),
        "kind": Word(),
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

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write the features of n cells into `out`, see `Number.encode`."""
        codes, texts = coded(cells)
        place = {value: position for position, value in enumerate(self.values)}
        target = np.array([*(self._position(text, place) for text in texts), -1 - self.indicator])
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

    @staticmethod
    def _position(text: str, place: dict[str, int]) -> int:
        """Return the position of a value; numbers may be written differently (3.0 and 3)."""
        if text in place:
            return place[text]
        value = parsed_numbers([text])[0]
        return place.get(cell_text(value), -1) if np.isfinite(value) else -1


def _as_formed(texts: Sequence[str], column: Number) -> str:
    """Return the way out if texts that a column does not read as numbers are some all the same, else ""."""
    form = number_form(texts[:SAMPLE])
    if form is not None and form.unit not in ("", column.unit):
        return f"; in training there was no {form.unit}, so write them alike"
    if form is None or (column.decimal and form.decimal == column.decimal):
        return ""
    return f"; --decimal {'. or ,' if form.doubt else form.decimal} reads them"


def _whole(text: str) -> str:
    """Return 1 for 1.0, as a column of integers is written once it has an empty cell; other texts as they are."""
    return text.removesuffix(".0") if text.removesuffix(".0").isdecimal() else text


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
        "name": Word(),
        "kind": Word(),
    }

    def how(self) -> str:
        """Describe the encoding."""
        return "not used"

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Count the filled cells of a column that was empty in training; there are no features to write."""
        if self.kind == EMPTY:
            tally.add(self.name, "filled, although all were empty in training: not used", cells.notna().to_numpy())


ColumnEncoder = Number | YesNo | Category | Date | Text | Unused


def formed(cells: pd.Series, decimal: str, unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a column whose texts have a given form.

    Parameters
    ----------
    cells : Series of length n
        Cells of the column.
    decimal : str
        The decimal sign, "." or ","; "" for plain numbers.
    unit : str
        The unit that a text may have, "" for none.

    Returns
    -------
    values : array of shape (n,)
        NaN where there is no number.
    wrong : array of bool, shape (n,)
        Whether a filled cell is not a number of this form.
    """
    if not decimal or getattr(cells.dtype, "kind", "O") in "iufbm":
        return numbers(cells)
    return text_numbers(*coded(cells), decimal, unit)


def encoder_state(encoder: ColumnEncoder) -> dict[str, Any]:
    """Return the encoder of a column as JSON values."""
    return {"encoder": type(encoder).__name__, **asdict(encoder)}


def encoder_of_state(state: dict[str, Any]) -> ColumnEncoder:
    """Return the encoder with this state, see `encoder_state`; raise KeyError or TypeError for any other dict."""
    fields = dict(state)
    return _ENCODERS[fields.pop("encoder")](**fields)


_ENCODERS: dict[str, Callable[..., ColumnEncoder]] = {
    "Number": Number,
    "YesNo": YesNo,
    "Category": Category,
    "Date": Date,
    "Text": Text,
    "Unused": Unused,
}
