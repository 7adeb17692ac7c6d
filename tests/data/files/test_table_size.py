"""A table that does not fit into the memory is refused before it is read."""

import io
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.formats import open_table


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
