"""A file that changes while it is read is refused: rows were lost, or came from two files, without a word."""

import os

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.rows.blocks import read_blocks


def emptied(path):
    os.truncate(path, 0)


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def grown(path):
    with path.open("ab") as stream:
        stream.write(b"1,2\n" * 9)


def replaced(path):
    other = path.with_name("other")
    other.write_text("a,b\n1,2\n")
    other.replace(path)


@pytest.mark.parametrize("change", [emptied, cut, grown, replaced])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, form, change):
    path = tmp_path / f"rows.{form}"
    frame = pd.DataFrame(np.arange(400_000).reshape(-1, 2), columns=["a", "b"])
    frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path, row_group_size=20_000)
    assert sum(len(block.frame) for block in read_blocks(path, ["a", "b"])) == len(frame)
    blocks = read_blocks(path, ["a", "b"])
    next(blocks)
    change(path)
    with pytest.raises(UsageError, match=r"rows\.\w+ (changed while it was read|is damaged)"):
        list(blocks)


def test_a_file_that_is_removed_while_it_is_read_is_whole(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"a": np.arange(200_000)}).to_csv(path, index=False)
    blocks = read_blocks(path, ["a"])
    read = len(next(blocks).frame)
    path.unlink()
    assert read + sum(len(block.frame) for block in blocks) == 200_000
