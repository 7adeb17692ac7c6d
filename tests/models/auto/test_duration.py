"""The announcement of long runs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pucli.models.auto.duration import HEAD, LONG, announcement, expected_seconds, size_of_files


def test_more_rows_or_columns_take_longer_and_only_long_runs_are_announced() -> None:
    assert expected_seconds(1000, 20) < expected_seconds(2000, 20) < expected_seconds(2000, 40)
    for n, m in ((800, 50), (200, 2000), (100_000, 20)):
        assert expected_seconds(n, m) <= LONG and announcement(n, m) == ""
    assert "the 20,000 columns; --drop or --only" in announcement(200, 20_000)
    assert "the 3,000,000 rows; --rows N" in announcement(3_000_000, 20)


def test_the_size_of_files_of_lines_is_estimated_from_their_beginning(tmp_path) -> None:
    random = np.random.default_rng(0)
    for sign, n, m in ((",", 100, 2000), (";", 70_000, 8)):
        path = tmp_path / "rows.csv"
        pd.DataFrame(random.integers(0, 100, (n, m))).to_csv(path, sep=sign, index=False)
        rows, columns = size_of_files([path])
        assert columns == m and abs(rows - n) <= 0.05 * n
    assert path.stat().st_size > HEAD
    assert size_of_files([path, path])[0] == 2 * rows
    (tmp_path / "empty.csv").write_text("")
    assert size_of_files([tmp_path / "empty.csv"]) == size_of_files([tmp_path / "rows.parquet"]) == (0, 0)
