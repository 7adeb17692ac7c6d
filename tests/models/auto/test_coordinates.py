"""Longitude and latitude among the columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pucli.data import TableEncoder
from pucli.data.rows.training_rows import TrainingRows
from pucli.models.auto.coordinates import coordinates, remark_on_coordinates
from pucli.models.auto.drawings import MAP_LEVELS, score_map


def rows_of(table: pd.DataFrame) -> TrainingRows:
    encoder = TableEncoder().fit(table)
    y = (np.arange(len(table)) < 5).astype(int)
    names = encoder.get_feature_names_out().tolist()
    return TrainingRows(encoder.transform(table), y, names, None, encoder, "unlabeled", {}, "rows.csv")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("lon", "lat"), ["lon", "lat"]),
        (("Decimal_Longitude", "decimalLatitude"), ["Decimal_Longitude", "decimalLatitude"]),
        (("x", "y"), []),
        (("lon", "height"), []),
    ],
)
def test_coordinates_are_known_by_their_names(names: tuple[str, str], found: list[str]) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"age": rng.normal(size=40), names[0]: rng.uniform(5, 10, 40), names[1]: rng.uniform(46, 48, 40)}
    )
    rows = rows_of(table)
    assert [name for name, _ in coordinates(rows)] == found
    for name, feature in coordinates(rows):
        np.testing.assert_allclose(rows.X[:, feature], table[name])
    assert bool(remark_on_coordinates(rows)) == bool(found)


def test_meters_are_no_coordinates() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"lon": rng.uniform(4e5, 5e5, 40), "lat": rng.uniform(5e6, 6e6, 40)})
    assert coordinates(rows_of(table)) == []


def test_a_map_has_a_dot_for_each_row() -> None:
    x, y, order = np.linspace(5, 10, 50), np.linspace(46, 48, 50), np.linspace(0, 0.99, 50)
    drawn = score_map(x, y, order, np.arange(50) % 10 == 0)
    assert drawn.count("h0") == 50 and all(f"level{k}" in drawn for k in range(len(MAP_LEVELS) + 1))
