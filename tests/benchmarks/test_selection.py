"""`python -m benchmarks selection`, `sensitivity` and `review` on one small task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import review, selection, sensitivity
from benchmarks.common import quality_tasks
from pucli.core.seeding import stream


@pytest.fixture
def wine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without files: of the tasks, only the rows of wine come with scikit-learn."""
    monkeypatch.setattr(quality_tasks, "at_hand", lambda half, folder: ["wine2"])
    return tmp_path


@pytest.mark.slow
def test_regret_is_to_the_best_point_at_this_threshold_or_at_either(
    wine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {
        "svc-naive": ("svc-naive", {}, {"C": [0.01, 1.0]}),
        "upu": ("upu", {"loss": "squared"}, {"lam": [1e-3, 1e3]}),
    }
    monkeypatch.setattr(selection, "METHODS", few)
    cells = selection.run(folder=wine, methods=tuple(few))["cells"]
    assert len(cells) == 3 * len(selection.THRESHOLDS) * len(selection.CRITERIA)
    for cell in cells:
        assert 0.0 <= cell["regret"] <= cell["regret to all"] <= 1.0
    best = {cell["F1"] + cell["regret to all"] for cell in cells if cell["method"] == selection.ANY}
    single = {round(cell["F1"] + cell["regret to all"], 9) for cell in cells if cell["method"] != selection.ANY}
    assert {round(value, 9) for value in best} == {max(single)}


@pytest.mark.parametrize("odds", [1.0, 2.0, 4.0])
def test_the_odds_of_being_labeled_differ_as_said(odds: float) -> None:
    y = np.r_[np.ones(40_000, int), np.zeros(1_000, int)]
    eager = np.arange(len(y)) % 2 == 0
    s = sensitivity.labeled_rows(y, eager, odds, stream(0, "test"))
    assert not s[y == 0].any()
    more, fewer = (s[(y == 1) & kind].mean() for kind in (eager, ~eager))
    assert more / (1 - more) * (1 - fewer) / fewer == pytest.approx(odds, rel=0.1)


@pytest.mark.slow
def test_bounds_are_wider_than_the_intervals_they_move(wine: Path) -> None:
    found = sensitivity.run(folder=wine, labelings=("clear", "unclear"))
    assert "another order of the rows changes 0 and another seed" in found["title"]
    assert len(found["rows"]) == 2 * len(sensitivity.ESTIMATES)
    for line in found["rows"]:
        assert line["bounds"] >= line["interval"] and line["width of bounds"] > line["width"]


@pytest.mark.slow
def test_answers_tell_what_auto_cannot(wine: Path) -> None:
    found = review.run(folder=wine, answers=(30,), draws=4)
    lines = {(line["for"], line["rows"], line["estimate"]): line for line in found["rows"]}
    assert len(lines) == len(found["rows"]) == 5 and lines["positives", "", ""]["found"] > 0.5
    for line in lines.values():
        assert not line["estimate"] or line["width"] < line["width, of auto"]
