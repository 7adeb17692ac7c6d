"""The encoder of a column of dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pucli.core.saved_state import STATEMENT, Each, Flag, Scalar, State, Whole, Word
from pucli.data.encode.drift import Range, Tally
from pucli.data.encode.filled_cells import IS_EMPTY, filled_words, write_filled
from pucli.data.encode.kinds.doubtful_cells import date_format
from pucli.data.frames import DATE_FORMATS, cell_text, coded, dates, is_month_alone, zoned, zoned_texts

if TYPE_CHECKING:
    import pandas as pd

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
        "name": Word(),
        "kind": Word(),
        "written": Word(),
        "parts": Each(Word(*PARTS)),
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
        """
        days, wrong = dates(cells, self.written, self.serials)
        if wrong.any():
            what = f"not a date of the format {self.written}, treated as empty"
            if other := date_format(coded(cells)[1]):  # else a day may pass for a month in the cells that are read
                what += f"; every cell has the format {other}, so write dates as 2024-12-31"
            tally.add(self.name, what, wrong, cell_text(cells.iloc[int(wrong.argmax())]))
        if self.rows:
            tally.add_range(self.name, days, Range(self.low, self.high, self.rows, dates=True))
        self._count_forms(cells, ~np.isnan(days), tally)
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

    def _count_forms(self, cells: pd.Series, there: np.ndarray, tally: Tally) -> None:
        """Count years alone, dates with a time zone if none had one in training, and those without if all had one."""
        if getattr(cells.dtype, "kind", "O") == "M":
            has = zoned(cells)
        else:
            codes, texts = coded(cells)
            has = np.append(zoned_texts(texts), False)[codes]
            years = np.array([*(len(text) == 4 for text in texts), False])[codes] & there
            months = np.array([*(is_month_alone(text) and len(text) > 4 for text in texts), False])[codes] & there
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
            tally.add(self.name, what, wrong, cell_text(cells.iloc[int(wrong.argmax())]))


def date_parts(days: np.ndarray) -> dict[str, np.ndarray]:
    """Return month (0-11), weekday (0 is Monday) and hour (with fraction) of days since 1970-01-01; NaN stays NaN."""
    missing = np.isnan(days)
    whole = np.floor(np.where(missing, 0.0, days))
    months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    # 1970-01-01 was a Thursday; times are rounded to the microsecond
    found = {"month": months, "weekday": (whole + 3) % 7, "hour": np.round((days - whole) * 86_400e6) / 3_600e6}
    return {part: np.where(missing, np.nan, values) for part, values in found.items()}
