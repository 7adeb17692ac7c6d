"""Dates and numbers are the same with every pandas that pyproject.toml allows."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from pucli.data.columns.cells import DATE_FORMATS, parsed_dates, to_numbers
from pucli.data.older_pandas import is_older, within_nanoseconds

FIRST = datetime(1, 1, 1)
MOMENTS = [FIRST + timedelta(seconds=int(s)) for s in np.random.default_rng(3).integers(0, 9999 * 365 * 86_400, 60)]


@pytest.mark.parametrize("written", DATE_FORMATS)
def test_a_date_of_any_year_is_read_in_every_format(written: str) -> None:
    own = "%Y-%m-%dT%H:%M:%S+02:00" if written == "ISO8601" else written
    texts = [
        moment.strftime(own).replace(str(moment.year), f"{moment.year:04d}", 1)
        for moment in MOMENTS
        if moment.year > 999
    ]
    read = [
        datetime.strptime(text[:19], own[:17]) if written == "ISO8601" else datetime.strptime(text, own)
        for text in texts
    ]
    zone = 7_200 if written == "ISO8601" else 0
    wanted = [((moment - datetime(1970, 1, 1)).total_seconds() - zone) / 86_400 for moment in read]
    assert parsed_dates(texts, written).tolist() == wanted
    moved, later = within_nanoseconds(texts)
    assert (parsed_dates(moved, written) + later).tolist() == pytest.approx(wanted, rel=1e-15)
    assert not any(np.isnan(parsed_dates(moved, written)))


def test_text_without_a_year_is_not_moved() -> None:
    texts = ["", "0000-01-01", "12:30", "1.23456", "2024-05-06T07:08:09.1234+0200"]
    moved, later = within_nanoseconds(texts)
    assert moved == texts
    assert not later.any()


def test_numbers_in_text_are_rounded_to_the_nearest_double() -> None:
    values = np.random.default_rng(0).standard_normal(2000) * 10.0 ** np.arange(-100, 100).repeat(10)
    texts = [*map(repr, values.tolist()), *(f"{value:.25g}" for value in values.tolist())]
    column = pd.Series([*texts, "none", None, "1_0", 7], dtype=object)
    assert to_numbers(column).tolist()[:4000] == [*map(float, texts)]
    assert to_numbers(column).isna().tolist() == [False] * 4000 + [True, True, True, False]


def test_what_older_pandas_lacks_is_found_by_trying_it() -> None:
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    assert is_older() == (version < (3, 1))
