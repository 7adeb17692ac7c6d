"""Columns that are coordinates: longitude and latitude, known by their names and ranges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from pucli.data.columns.encoder import spans
from pucli.data.columns.encoders import Number
from pucli.models.reasons import encoder_of

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import TrainingRows

# Names in small letters alone.
LONGITUDES = {"longitude", "lon", "lng", "long", "decimallongitude"}
LATITUDES = {"latitude", "lat", "decimallatitude"}


def coordinates(rows: TrainingRows) -> list[tuple[str, int]]:
    """Return the names and features of a longitude and a latitude among the columns; [] if there are not both."""
    found, X = [], rows.X
    for names, most in ((LONGITUDES, 180.0), (LATITUDES, 90.0)):
        fits = [
            (column.name, place.start)
            for column, place in spans(encoder_of(rows))
            if isinstance(column, Number) and re.sub(r"[^a-z]", "", column.name.casefold()) in names
            if float(np.abs(X[:, place.start]).max()) <= most and np.ptp(X[:, place.start]) > 0.0
        ]
        found += fits[:1]
    return found if len(found) == 2 else []


def remark_on_coordinates(rows: TrainingRows) -> str:
    """Return a remark if coordinates are among the features, else ""."""
    names = [repr(name) for name, _ in coordinates(rows)]
    if not names:
        return ""
    return (
        f"{' and '.join(names)} are coordinates and count as features: rows near known positives score higher, also "
        "where nobody looked elsewhere; --drop leaves them out"
    )
