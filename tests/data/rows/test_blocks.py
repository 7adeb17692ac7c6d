"""Files read and written block by block: the same rows whatever the format and the size of a block."""

import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.writers import check_writable_format, open_writer
from pucli.data.rows.blocks import STDIN, read_blocks

N = 25


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "key": [f"{i:03d}" for i in range(N)],
            "a": random.normal(size=N).round(6),
            "job": random.choice(["x", "y, z"], size=N),
        }
    )


def written(frame, folder, kind):
    path = folder / f"rows.{kind}"
    if kind == "parquet":
        frame.to_parquet(path, row_group_size=6)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif kind == "xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    return path


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "parquet", "xlsx"])
@pytest.mark.parametrize("rows", [1, 4, 7, 25, 100])
def test_blocks_put_together_are_the_file(kind, rows, frame, tmp_path):
    path = written(frame, tmp_path, kind)
    blocks = [table.frame for table in read_blocks(path, ["a", "key"], as_text={"key"}, rows=rows)]
    assert [len(block) for block in blocks[:-1]] == [rows] * (len(blocks) - 1)
    whole = pd.concat(blocks, ignore_index=True)
    assert whole["a"].tolist() == frame["a"].tolist()
    assert [str(key) for key in whole["key"]] == frame["key"].tolist()
    assert "job" not in whole or kind == "xlsx"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_stdin_is_read_as_a_file_is(kind, frame, tmp_path, monkeypatch):
    raw = written(frame, tmp_path, kind).read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(raw)))
    whole = pd.concat([table.frame for table in read_blocks(STDIN, ["a"], rows=10)])
    assert whole["a"].tolist() == frame["a"].tolist()


def test_a_head_that_ends_within_a_line_loses_nothing(tmp_path, monkeypatch):
    long = pd.DataFrame({"a": np.arange(40_000) / 7})
    raw = long.to_csv(index=False).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(raw)))
    assert pd.concat([table.frame for table in read_blocks(STDIN, ["a"])])["a"].tolist() == long["a"].tolist()


def test_lines_are_those_of_the_whole_file(frame, tmp_path):
    path = written(frame, tmp_path, "csv")
    *_, last = read_blocks(path, ["a"], rows=10)
    assert last.place(20) == "line 22"


def test_columns_that_are_not_there_are_named_before_anything_is_read(frame, tmp_path):
    for kind in ("csv", "parquet", "xlsx"):
        path = written(frame, tmp_path, kind)
        with pytest.raises(UsageError, match=r"no column 'Job', .*; there is 'job'") as caught:
            next(read_blocks(path, ["Job"]))
        assert str(path) in str(caught.value)


def test_columns_that_are_named_by_numbers_in_a_header(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame([[1.5, "x", "y"], [2.5, "z", "w"]]).to_csv(path, index=False)
    [table] = read_blocks(path, ["0", "2"])
    assert table.frame["0"].tolist() == [1.5, 2.5]
    assert table.frame["2"].tolist() == ["y", "w"]


def test_a_line_with_too_many_fields_is_named_when_it_comes(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n" * 20 + "1,2,3\n")
    blocks = read_blocks(path, ["a"], rows=5)
    with pytest.raises(UsageError, match="line 22 has 3 fields, but the header has 2"):
        list(blocks)


def test_bytes_that_are_not_utf_8_are_placed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 50_000 + b"1,caf\xe9\n")
    with pytest.raises(UsageError, match=r"is not UTF-8 text \(line 50002, byte 200010\)"):
        list(read_blocks(path, ["a", "b"]))


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_written_blocks_come_back(name, frame, tmp_path):
    path = tmp_path / name
    with open_writer(path) as writer:
        for start in range(0, N, 10):
            writer.write(frame.iloc[start : start + 10])
    read = pd.read_parquet(path) if name.endswith("parquet") else pd.read_csv(path, dtype={"key": str})
    pd.testing.assert_frame_equal(read, frame, check_dtype=False)


def test_other_formats_are_not_written():
    with pytest.raises(UsageError, match=r"use the extension \.csv, \.parquet or \.xlsx"):
        check_writable_format(Path("out.ods"))
