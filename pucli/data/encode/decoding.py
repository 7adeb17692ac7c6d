"""Back from features to cells: the cell of a row in words, and typical cells of a column as features."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from pucli.core.arrays import Floats
from pucli.data.encode.column_encoders import OTHER, Category, ColumnEncoder, Number, YesNo
from pucli.data.encode.date_encoder import Date
from pucli.data.encode.drift import Tally, Usual
from pucli.data.encode.encoder import TableEncoder
from pucli.data.encode.text_encoder import Text
from pucli.data.frames import shortest

WORDS = 3
# Typical values of a category; the others are rarer.
MOST_VALUES = 6
LONGEST = 30
EMPTY = "empty"


def spans(encoder: TableEncoder) -> Iterator[tuple[ColumnEncoder, slice]]:
    """Yield each column of a table that has features, and where these are."""
    start = 0
    for column in encoder.encoders_:
        stop = start + len(column.features)
        if stop > start:
            yield column, slice(start, stop)
        start = stop


def cell(column: ColumnEncoder, features: Floats) -> str:
    """Return the cell that has these features (k,) of one row.

    Examples
    --------
    >>> import pandas as pd
    >>> from pucli.data import TableEncoder
    >>> encoder = TableEncoder().fit(pd.DataFrame({"job": ["cook", "nurse", "cook", "nurse"]}))
    >>> [cell(column, encoder.transform([["nurse"]])[0][place]) for column, place in spans(encoder)]
    ['nurse']
    """
    if getattr(column, "indicator", False) and features[-1] > 0.5:
        return EMPTY
    match column:
        case Number():
            text = shortest(float(features[0]))
        case YesNo():
            text = column.yes if features[0] > 0.5 else column.no or EMPTY
        case Category():
            named = [*column.values, *[OTHER] * (column.others > 0)]
            found = features[: len(named)]
            text = named[int(np.argmax(found))] if len(named) and found.max() > 0.5 else OTHER
        case Date():
            text = day(float(features[0]))
        case Text():
            weights = features[: len(column.words)]
            words = [column.words[j] for j in np.argsort(-weights, kind="stable")[:WORDS] if weights[j] > 0.0]
            text = ", ".join(words) or "no frequent word"
        case _:
            text = ""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def said(column: ColumnEncoder, features: Floats) -> str:
    """Return the name of a column and the cell that has these features, such as "visits = 8"."""
    return f"{column.name}{': ' if isinstance(column, Text) else ' = '}{cell(column, features)}"


def typical(column: ColumnEncoder, place: slice, usual: Usual) -> tuple[Floats, Floats]:
    """Return features of typical cells of a column, (n, k), and the share of rows for which each stands, (n,).

    Parameters
    ----------
    column : ColumnEncoder
        Encoder of the column.
    place : slice
        Where its features are among those of `usual`.
    usual : Usual
        Distribution of the features in the training rows.
    """
    width, shares = len(column.features), _shares(place, usual)
    match column:
        case Number():
            cells = np.zeros((usual.points.shape[1], width))
            cells[:, 0] = usual.points[place.start]
            weights = np.ones(len(cells))
        case Date():
            cells = features_of_days(column, usual.points[place.start])
            weights = np.ones(len(cells))
        case YesNo():
            cells, weights = np.zeros((2, width)), np.array([1.0 - shares[0], shares[0]])
            cells[1, 0] = 1.0
        case Category():
            kept = np.argsort(-shares, kind="stable")[:MOST_VALUES]
            cells, weights = np.eye(width)[kept], shares[kept]
        case _:  # the words of a text: about the mean of each
            cells, weights = usual.points[place].mean(axis=1)[None], np.ones(1)
    if weights.sum() <= 0.0:
        weights = np.ones(len(weights))
    return cells, weights / weights.sum()


def features_of_days(column: Date, days: Floats) -> Floats:
    """Return the features of dates, (n, k), from days since 1970-01-01."""
    import pandas as pd

    out = np.zeros((len(days), len(column.features)))
    column.encode(pd.Series(pd.to_datetime(np.round(days * 86_400), unit="s")), out, Tally())
    return out


def day(days: float, form: str = "") -> str:
    """Return the date of days since 1970-01-01, in the `form` of strftime; by default with the time if not midnight.

    Examples
    --------
    >>> day(20_000.0), day(20_000.5), day(20_000.0, "%Y-%m")
    ('2024-10-04', '2024-10-04 12:00', '2024-10')
    """
    try:
        when = datetime.fromtimestamp(round(days * 86_400), UTC)
    except (OverflowError, OSError, ValueError):
        return shortest(days)
    return when.strftime(form or ("%Y-%m-%d" if (when.hour, when.minute) == (0, 0) else "%Y-%m-%d %H:%M"))


def _shares(place: slice, usual: Usual) -> Floats:
    """Return the share of the unlabeled training rows in which each 0/1 feature is 1."""
    zero = usual.points[place] < 0.5
    ones: Floats = 1.0 - np.where(zero, usual.shares[place], 0.0).max(axis=1)
    return ones
