"""Labels above a quantile, and columns by position, of declared tables."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.data import load_dataset


def test_rows_above_a_quantile_of_the_label_are_positive(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("x,load\n" + "".join(f"{row},{row / 2}\n" for row in range(20)))
    sha = hashlib.sha256((tmp_path / "table.csv").read_bytes()).hexdigest()
    entry = f"""
      title: a table
      files: [{{name: table.csv, sha256: {sha}, mirrors: [table.csv]}}]
      target: {{column: load, above: 0.65}}
    """
    catalogue = tmp_path / "sets.yaml"
    catalogue.write_text("mine:" + entry)
    found = load_dataset("mine", catalogue=catalogue, cache=tmp_path / "cache")
    np.testing.assert_array_equal(found.y, np.where(np.arange(20) > 0.65 * 19, 1, -1))
    catalogue.write_text("mine:" + entry.replace("above: 0.65", "above: 0.65, positive: [1]"))
    with pytest.raises(UsageError, match="exclude each other"):
        load_dataset("mine", catalogue=catalogue, cache=tmp_path / "cache")


def test_columns_of_a_table_without_a_header_can_be_taken_by_position(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("1,a,3,yes\n2,b,4,no\n")
    sha = hashlib.sha256((tmp_path / "table.csv").read_bytes()).hexdigest()
    catalogue = tmp_path / "sets.yaml"
    catalogue.write_text(f"""
mine:
  title: a table
  files: [{{name: table.csv, sha256: {sha}, mirrors: [table.csv]}}]
  reader: {{header: none}}
  target: {{column: 3, positive: ["yes"]}}
  features: {{take: [2, 0]}}
""")
    found = load_dataset("mine", catalogue=catalogue, cache=tmp_path / "cache")
    np.testing.assert_array_equal(found.X, [[3, 1], [4, 2]])
    np.testing.assert_array_equal(found.y, [1, -1])
