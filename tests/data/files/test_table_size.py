"""A table that does not fit into the memory is refused before it is read."""

import io
import sys
import types
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table
from pucli.data.rows.blocks import read_blocks


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_a_table_larger_than_the_memory_is_refused_before_it_is_read(kind, tmp_path, monkeypatch):
    path = tmp_path / f"rows.{kind}"
    frame = pd.DataFrame(np.arange(3000.0).reshape(1000, 3), columns=list("abc"))
    frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    assert len(open_table(path, None).frame) == 1000
    monkeypatch.setattr("pucli.core.memory.available_bytes", lambda: 1000)
    with pytest.raises(UsageError, match=r"about 3\.?\d*e\+03 cells takes .* GB of memory.*--backend dask"):
        open_table(path, None)


def test_a_stream_larger_than_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr("pucli.data.files.spool.available_bytes", lambda: 1000)
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(b"a,b\n" + 400 * b"1,2\n")))
    with pytest.raises(UsageError, match="stdin holds more than the 1e-06 GB of free memory"):
        open_table(Path("-"), None)


class Endless(io.RawIOBase):
    """A stream of `first`, and of `more` for ever."""

    def __init__(self, first, more):
        self._parts = chain([first], repeat(more))

    def readable(self):
        return True

    def readinto(self, buffer):
        part = next(self._parts)
        buffer[: len(part)] = part
        return len(part)


@pytest.mark.parametrize("read", [lambda path: open_table(path, None), lambda path: list(read_blocks(path, ["a"]))])
def test_a_first_line_that_never_ends_is_refused(monkeypatch, read):
    stream = io.BufferedReader(Endless(b"a", b"a" * 4096))
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=stream))
    with pytest.raises(UsageError, match="stdin: line 1 has more than 16 million characters"):
        read(Path("-"))


def test_a_later_line_that_never_ends_is_refused(monkeypatch):
    stream = io.BufferedReader(Endless(b"a,b\n1,2\n", b"a" * 4096))
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=stream))
    with pytest.raises(UsageError, match="stdin: line 3 has more than 16 million characters"):
        list(read_blocks(Path("-"), ["a"]))


def test_a_stream_without_room_for_its_copy_is_refused(monkeypatch):
    monkeypatch.setattr("pucli.data.files.spool.shutil.disk_usage", lambda folder: types.SimpleNamespace(free=1000))
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(b"a,b\n1,2\n")))
    with pytest.raises(UsageError, match=r"stdin holds more than there is room for in .*TMPDIR"):
        open_table(Path("-"), None)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no such device")
def test_a_device_on_stdin_is_refused(monkeypatch):
    with Path("/dev/zero").open() as zeros, Path("/dev/null").open() as nothing:
        for stream, words in ((zeros, "stdin is a device; give a file"), (nothing, "stdin is empty")):
            monkeypatch.setattr(sys, "stdin", stream)
            for read in (lambda: open_table(Path("-"), None), lambda: list(read_blocks(Path("-"), ["a"]))):
                with pytest.raises(UsageError, match=words):
                    read()
