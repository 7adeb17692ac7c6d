"""Columns that are exact copies of others: with them, members would weigh one column twice."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import warn_user
from pucli.data.columns.encoder import TableEncoder, spans
from pucli.solvers.ensemble.boosting.categories import find_categories

NAMED = 3


def distinct_features(X: Floats, encoder: TableEncoder | None = None) -> Ints:
    """Return the features of X (n, m) without those of exact copies of earlier columns; warn which these are.

    Columns are those of the encoder, or features. Of single features, those of two values, unless they are a column
    outside of a category's levels, and numbers of which half are one value, such as counts of rare words, are no
    copies: they may come together by chance, as empty cells do.
    """
    columns: list[tuple[Any, slice]] = [(column.name, place) for column, place in spans(encoder)] if encoder else []
    columns = columns or [(j, slice(j, j + 1)) for j in range(X.shape[1])]
    first: dict[bytes, Any] = {}
    kept, told = np.ones(X.shape[1], dtype=bool), []
    for name, place in columns:
        original = first.setdefault(sha256((X[:, place] + 0.0).tobytes()).digest(), name)
        if original != name and (place.stop - place.start > 1 or _is_own(X, place.start, encoder)):
            kept[place] = False
            told.append(f"{name!r} of {original!r}")
    if told:
        more = f", and {len(told) - NAMED} more" if len(told) > NAMED else ""
        warn_user(f"AutoPU left out columns that are exact copies of others: {', '.join(told[:NAMED])}{more}.")
    return np.flatnonzero(kept)


def _is_own(X: Floats, j: int, encoder: TableEncoder | None) -> bool:
    """Whether feature j is a column of numbers, none in half of the rows, or of a table's flags that are no levels."""
    counts = np.unique(X[:, j], return_counts=True)[1]
    if len(counts) > 2 or encoder is None:
        return bool(2 * counts.max() < len(X))
    found = find_categories(X, np.zeros(X.shape[1]))
    return len(counts) == 2 and (found is None or bool(found.category[j] < 0))
