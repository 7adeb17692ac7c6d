"""`python -m benchmarks raw_tables`: a file with text and empty cells goes through `auto` and `predict` as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import raw_tables
from pucli.core.errors import UsageError
from tests.helpers import by_night


@pytest.mark.slow
@pytest.mark.parametrize(("separator", "header"), by_night([(";", True), (" ", False)], by_day=[(" ", False)]))
def test_a_table_of_text_is_scored_in_two_commands(tmp_path: Path, monkeypatch, separator: str, header: bool) -> None:
    random = np.random.default_rng(0)
    positive = random.random(300) < 0.4
    colour = np.where(random.random(300) < 0.9, np.where(positive, "red", "blue"), "green")
    size = positive + random.normal(0, 0.5, 300)
    lines = [separator.join(["size", "colour", "bought"])] if header else []
    lines += [separator.join(map(str, row)) for row in zip(size, colour, np.where(positive, "yes", "no"), strict=True)]
    (tmp_path / "toy.txt").write_text("\n".join(lines) + "\n")
    table = raw_tables.RawTable("toy", "toy.txt", separator, header, "bought" if header else "3", "yes")
    monkeypatch.setattr(raw_tables, "TABLES", (table,))
    auto, lightgbm = raw_tables.run(folder=tmp_path)["rows"]
    assert auto["rows"] == lightgbm["rows"]
    assert auto["F1"] > 0.7, auto
    assert auto["AUC"] > 0.8


def test_a_folder_without_the_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="PUCLI_QUALITY_DATA"):
        raw_tables.run(folder=tmp_path)
