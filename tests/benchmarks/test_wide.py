"""`python -m benchmarks wide`: what it measures, of each table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import wide
from benchmarks.scale import Cost


def test_each_size_has_its_cost_and_each_table_its_areas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide, "measured", lambda arguments: Cost(3.0, 9.0, 100.0))
    monkeypatch.setattr(wide, "compared", lambda kind, m, seed: [0.9 + 0.01 * seed, 0.8, 0.7, 0.6])
    found = wide.run(sizes=(30,), seeds=(0, 1))
    cost, *areas = found["rows"]
    assert (cost["cpu s"], cost["MB"]) == (3.0, 100.0)
    assert [row["table"] for row in areas] == list(wide.KINDS)
    assert all(row["auto"] == pytest.approx(0.905) and row["best 20"] == 0.8 for row in areas)


def test_the_informative_columns_are_shifted_for_positives_alone() -> None:
    X, labeled, truth = wide.made("few strong", 40, 0)
    difference = X[truth].mean(axis=0) - X[~truth].mean(axis=0)
    assert np.all(difference[:5] > 0.7) and np.all(np.abs(difference[5:]) < 0.4)
    assert not labeled[~truth[: len(labeled)]].any()
