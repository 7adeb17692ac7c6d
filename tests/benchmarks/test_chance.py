"""`python -m benchmarks chance`: noise, random labels, and the time of reasons."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import chance


def test_a_line_for_each_case(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def __init__(self, scores: np.ndarray) -> None:
            self.held_out_ = scores

    monkeypatch.setattr(chance, "_fitted", lambda X, s: Model(np.where(s, 2.0, 0.0) + 0.1 * X[:, 0]))
    monkeypatch.setattr(chance, "_milliseconds", lambda: 0.5)
    rows = chance.run(tables=2, named=2)["rows"]
    cases = [f"noise, {labeled} labeled" for labeled in (10, 30, 400)]
    assert [row["case"] for row in rows] == [*cases, "random labels", "reasons, 2,000 rows x 20 columns"]
    assert all(row["p <= .05"] == row["p <= .01"] == 1.0 for row in rows[:3])  # the labels are in these scores
    assert rows[3]["names per table"] <= 1.0 and rows[4]["ms per row"] == 0.5


def test_labels_are_independent_of_noise_and_a_sample_of_the_positives() -> None:
    X, s = chance.noise(1, 30, 170)
    assert s.sum() == 30 and set(X[:, -1]) == {0.0, 1.0} and abs(X[s].mean() - X[~s].mean()) < 0.4
    X, s, prior = chance.with_classes(8)
    assert len(X) == chance.ROWS + s.sum() and 0.0 < prior < 1.0
    assert X[s, 0].mean() > X[~s, 0].mean() + 0.5
