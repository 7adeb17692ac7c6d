"""Empty cells, which are filled and marked by a feature."""

from __future__ import annotations

import numpy as np

from pucli.data.encode.drift import Tally
from pucli.data.frames import shortest

IS_EMPTY = "is empty"


def write_filled(name: str, values: np.ndarray, fill: float, indicator: bool, out: np.ndarray, tally: Tally) -> None:
    """Write numbers into the first column of `out`, and the indicator of empty cells into the last.

    Parameters
    ----------
    name : str
        Name of the column.
    values : array of shape (n,)
        NaN for an empty cell.
    fill : float
        Value for an empty cell.
    indicator : bool
        Whether there is an indicator; without it, empty cells are counted.
    out : array of shape (n, k)
        The features.
    tally : Tally
        Counter of unusual cells.
    """
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
