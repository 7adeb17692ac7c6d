"""What pandas before 3.1 does otherwise: it does not round to the nearest double, and has no date before 1677."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

_YEAR = re.compile(r"(?!0000)(^\d{4}|(?<!\d)\d{4}(?!\d))", re.ASCII)


@cache
def is_older() -> bool:
    """Return whether this pandas does not read a number as the nearest double."""
    import pandas as pd

    return bool(pd.to_numeric("0.30000000000000004") != 0.30000000000000004)


def within_nanoseconds(texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return dates with their years moved by 400 years, after which days repeat, into 1800 to 2199, and the days (k,).

    Examples
    --------
    >>> within_nanoseconds(["1492-10-12", "12 Oct 1992"])
    (['1892-10-12', '12 Oct 1992'], array([-146097,       0]))
    """
    found = [_YEAR.search(text) for text in texts]
    years = np.array([1800 if year is None else int(year[0]) for year in found], dtype=np.int64)
    cycles = (years - 1800) // 400
    moved = [_YEAR.sub(str(year), text, 1) for text, year in zip(texts, (years - 400 * cycles).tolist(), strict=True)]
    return moved, cycles * 146_097
