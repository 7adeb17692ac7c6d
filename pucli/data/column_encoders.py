"""How a column of each kind becomes features: fitted on training cells, kept as plain data.

Every class is a frozen record of texts, numbers and lists, so that its state is its fields; ``features`` names what it
gives and ``encode`` writes it. `pucli.data.column_fitting` makes the one that suits a column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pucli.data.frames import TableError, cell_text, coded, dates, numbers, parsed_numbers

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 1e150  # the square of a greater value is beyond double precision
IS_EMPTY = "is empty"
OTHER = "(other values)"


class Tally:
    """Counts the cells of new rows that are unlike anything in training, over any number of blocks of rows.

    Parameters
    ----------
    place : function from a row's position (from 0) to how the user finds it, such as "line 17"
    """

    def __init__(self, place: Callable[[int], str] = lambda row: f"row {row + 1}") -> None:
        self.place = place
        self.offset = 0  # rows in the blocks before
        self._counts: dict[tuple[str, str], list[Any]] = {}

    def add(self, name: str, what: str, cells: np.ndarray, example: str = "") -> None:
        """Count the true ones of `cells` (n,) for the column `name`; `example` is the first such cell."""
        count = int(cells.sum())
        if count:
            first = [0, self.offset + int(cells.argmax()), example]
            self._counts.setdefault((name, what), first)[0] += count

    def lines(self) -> list[str]:
        """Return one line for each column and kind of finding."""
        return [
            f"column {name!r}: {count} cell{'s' * (count > 1)} {what} (first in {self.place(row)}"
            + (f": {example!r})" if example else ")")
            for (name, what), (count, row, example) in self._counts.items()
        ]


@dataclass(frozen=True)
class Number:
    """A number as it is; an empty cell has the median of the training cells, and a feature that says so.

    Parameters
    ----------
    name, kind : str
    fill : float
        Value for an empty cell; NaN if there must be none.
    indicator : bool
        Whether training had empty cells, and with them the feature "NAME is empty".
    """

    name: str
    kind: str
    fill: float
    indicator: bool
    reads_text: ClassVar[bool] = False

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [self.name] + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Return the encoding in words."""
        return f"as it is{_filled(self.fill, self.indicator)}"

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write the features of n cells into `out` (n, len(features))."""
        values, wrong = numbers(cells)
        if wrong.any():
            tally.add(self.name, "not numbers, taken as empty", wrong, cell_text(cells.iloc[int(wrong.argmax())]))
        self._refuse_large(values, tally)
        if np.isnan(self.fill) and np.isnan(values).any():
            row = int(np.isnan(values).argmax())
            what = f"{cell_text(cells.iloc[row])!r} is not a number" if wrong[row] else "is empty"
            place = tally.place(tally.offset + row)
            raise TableError(
                f"column {self.name!r}, {place}: {what}; the model has no value for such a cell, so correct it"
            )
        _write_filled(self.name, values, self.fill, self.indicator, out, tally)

    def _refuse_large(self, values: np.ndarray, tally: Tally) -> None:
        bad = np.abs(values) > LARGEST
        if not bad.any():
            return
        row = int(bad.argmax())
        what = "is infinite" if np.isinf(values[row]) else "is too large: its square is beyond double precision"
        count = f" ({bad.sum()} such cells)" if bad.sum() > 1 else ""
        place = tally.place(tally.offset + row)
        raise TableError(f"column {self.name!r}, {place}: {values[row]:g} {what}{count}; correct the cell or empty it")


@dataclass(frozen=True)
class YesNo:
    """1 for yes, 0 for no; an empty or unknown cell has the more frequent of the two.

    Parameters
    ----------
    name, kind : str
    yes, no : str
        The two texts; `no` is "" where a cell is either filled or empty.
    fill : float
    indicator : bool
        As for `Number`.
    """

    name: str
    kind: str
    yes: str
    no: str
    fill: float
    indicator: bool
    reads_text: ClassVar[bool] = True

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        first = self.name if self.yes in {"True", "1"} else f"{self.name}={self.yes}"
        return [first] + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Return the encoding in words."""
        return f"{self.yes!r} 1, {self.no or 'empty'!r} 0{_filled(self.fill, self.indicator)}"

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write the features of n cells into `out` (n, len(features))."""
        codes, texts = coded(cells)
        meaning = {self.yes.casefold(): 1.0, self.no.casefold(): 0.0}
        if meaning.keys() == {"true", "false"}:
            meaning |= {"1": 1.0, "0": 0.0}
        known = [meaning.get(text.casefold(), np.nan) for text in texts]
        values = np.array([*known, np.nan if self.no else 0.0])[codes]
        unknown = np.isnan(values) & (codes >= 0)
        if unknown.any():
            what = f"neither {self.yes!r} nor {self.no or 'empty'!r}, taken as empty"
            tally.add(self.name, what, unknown, texts[codes[int(unknown.argmax())]])
        _write_filled(self.name, values, self.fill if self.no else 0.0, self.indicator, out, tally)


@dataclass(frozen=True)
class Category:
    """One feature for each frequent value, one for all others together, one for an empty cell.

    A value that training did not have counts among the others; where there are none, all features are 0.

    Parameters
    ----------
    name, kind : str
    values : list of str
    others : int
        How many values of the training rows share the feature "(other values)".
    indicator : bool
        Whether training had empty cells.
    """

    name: str
    kind: str
    values: list[str]
    others: int
    indicator: bool
    reads_text: ClassVar[bool] = True

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        named = [f"{self.name}={value}" for value in self.values]
        return named + [f"{self.name}={OTHER}"] * (self.others > 0) + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Return the encoding in words."""
        rest = f", {self.others} rare values together" if self.others else ""
        return f"{len(self.values)} values one-hot{rest}" + ", empty as a value" * self.indicator

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write the features of n cells into `out` (n, len(features))."""
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
            what = "with a value that training did not have"
            tally.add(self.name, what, unseen, texts[codes[int(unseen.argmax())]])
        if not self.indicator:
            tally.add(self.name, "empty, in training none was", codes < 0)

    @staticmethod
    def _position(text: str, place: dict[str, int]) -> int:
        """Return the position of a value, also if it is the same number written in another way (3.0 and 3)."""
        if text in place:
            return place[text]
        value = parsed_numbers([text])[0]
        return place.get(cell_text(value), -1) if np.isfinite(value) else -1


_PARTS = {"month": 12, "weekday": 7, "hour": 24}


@dataclass(frozen=True)
class Date:
    """Days since 1970-01-01, and sine and cosine of month, weekday and hour, of those that vary in training.

    Parameters
    ----------
    name, kind : str
    written : str
        How the dates are written.
    parts : list of str
        Of "month", "weekday", "hour".
    fill : float
    indicator : bool
        As for `Number`; sine and cosine of an empty cell are 0.
    """

    name: str
    kind: str
    written: str
    parts: list[str]
    fill: float
    indicator: bool
    reads_text: ClassVar[bool] = True

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        turns = [f"{self.name} {part} {turn}" for part in self.parts for turn in ("sin", "cos")]
        return [f"{self.name} days", *turns] + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Return the encoding in words."""
        written = "" if self.written == "ISO8601" else f" (written {self.written})"
        return ", ".join(["days since 1970", *self.parts]) + written + _filled(None, self.indicator)

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write the features of n cells into `out` (n, len(features))."""
        days, wrong = dates(cells, self.written)
        if wrong.any():
            what = f"not dates written {self.written}, taken as empty"
            tally.add(self.name, what, wrong, cell_text(cells.iloc[int(wrong.argmax())]))
        found = date_parts(days)
        for position, part in enumerate(self.parts):
            angle = 2 * np.pi * found[part] / _PARTS[part]
            out[:, 1 + 2 * position] = np.nan_to_num(np.sin(angle))
            out[:, 2 + 2 * position] = np.nan_to_num(np.cos(angle))
        _write_filled(self.name, days, self.fill, self.indicator, out, tally)


def date_parts(days: np.ndarray) -> dict[str, np.ndarray]:
    """Return month (0-11), weekday (0 Monday) and hour (with fraction) of days since 1970-01-01; NaN stays NaN."""
    missing = np.isnan(days)
    whole = np.floor(np.where(missing, 0.0, days))
    months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    # 1970-01-01 was a Thursday; a time is kept to the microsecond
    found = {"month": months, "weekday": (whole + 3) % 7, "hour": np.round((days - whole) * 86_400e6) / 3_600e6}
    return {part: np.where(missing, np.nan, values) for part, values in found.items()}


@dataclass(frozen=True)
class Text:
    """How often each of the most frequent words occurs, weighted by rarity (tf-idf), each cell of unit length.

    The counting is scikit-learn's TfidfVectorizer; its vocabulary and weights are kept, not itself.

    Parameters
    ----------
    name, kind : str
    words : list of str
    weights : list of float
        Inverse document frequency of each word.
    indicator : bool
        As for `Number`.
    """

    name: str
    kind: str
    words: list[str]
    weights: list[float]
    indicator: bool
    reads_text: ClassVar[bool] = True

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [f"{self.name}: {word}" for word in self.words] + [f"{self.name} {IS_EMPTY}"] * self.indicator

    def how(self) -> str:
        """Return the encoding in words."""
        return f"{len(self.words)} frequent words, tf-idf{_filled(None, self.indicator)}"

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write the features of n cells into `out` (n, len(features))."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        codes, texts = coded(cells)
        vectorizer = TfidfVectorizer(vocabulary=self.words)
        vectorizer.idf_ = np.array(self.weights)
        found = np.zeros((len(texts) + 1, len(self.words)))
        if texts:
            found[:-1] = vectorizer.transform(texts).toarray()
        out[:, : len(self.words)] = found[codes]
        if self.indicator:
            out[:, -1] = codes < 0
        else:
            tally.add(self.name, "empty, in training none was", codes < 0)


@dataclass(frozen=True)
class Unused:
    """A column that gives no feature: an identifier, or a text that is always the same."""

    name: str
    kind: str
    features: ClassVar[list[str]] = []
    reads_text: ClassVar[bool] = True

    def how(self) -> str:
        """Return the encoding in words."""
        return "not used"

    def encode(self, cells: pd.Series, out: np.ndarray, tally: Tally) -> None:
        """Write nothing."""


ColumnEncoder = Number | YesNo | Category | Date | Text | Unused


def encoder_state(encoder: ColumnEncoder) -> dict[str, Any]:
    """Return a column's encoder as JSON values."""
    return {"encoder": type(encoder).__name__, **asdict(encoder)}


def encoder_of_state(state: dict[str, Any]) -> ColumnEncoder:
    """Return the encoder of a column that `encoder_state` described; raises KeyError or TypeError for another dict."""
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


def _write_filled(name: str, values: np.ndarray, fill: float, indicator: bool, out: np.ndarray, tally: Tally) -> None:
    """Write `values` with empty ones filled into the first column of `out`, and the indicator into the last one."""
    missing = np.isnan(values)
    out[:, 0] = np.where(missing, fill, values) if missing.any() else values
    if indicator:
        out[:, -1] = missing
    else:
        tally.add(name, "empty, in training none was: filled as there", missing)


def _filled(fill: float | None, indicator: bool) -> str:
    if not indicator:
        return ""
    return "; empty marked" if fill is None else f"; empty marked and filled with {fill:.6g}"
