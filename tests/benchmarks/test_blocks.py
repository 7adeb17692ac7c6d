import pandas as pd
import pytest

from benchmarks import blocks


def test_blocks_differ_and_are_made_once(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    monkeypatch.setattr(blocks, "BLOCK", 500)
    for number in (0, 1, 0):
        blocks.make_block(number, str(tmp_path))
        made = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    first, second = (pd.read_parquet(tmp_path / f"part{k:05d}.parquet") for k in (0, 1))
    assert len(made) == 2 and len(first) == len(second) == 500
    assert not first["x0"].isin(second["x0"]).any()
    blocks.make_block(1, str(tmp_path))
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == made
