"""Files whose names are no text, or are as odd as a file system allows."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pucli.models.saved import load_model

BYTES = os.fsdecode(b"caf\xe9")  # Latin-1, which is not UTF-8


@pytest.fixture
def table(tmp_path):
    """A table in the folder of the test, of which 20 rows are labelled."""
    try:
        (tmp_path / BYTES).mkdir()
    except OSError:
        pytest.skip("the file system takes text alone")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) + 2 * (np.arange(80) < 40)[:, None]
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": (np.arange(80) < 20).astype(int)})


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_every_file_may_have_a_name_that_is_no_text(pucli, table, form):
    plain, data, model = f"rows.{form}", f"{BYTES}/{BYTES}.{form}", f"{BYTES}/{BYTES}.model"
    write = {"csv": lambda path: table.to_csv(path, index=False), "parquet": table.to_parquet}
    write.get(form, table.to_feather)(plain)
    Path(plain).rename(data)
    assert pucli("train", "-m", "blssvm", "--data", data, "--label", "y", "--model", model).code == 0
    assert load_model(model).metadata["data"]["file"].endswith(f"{BYTES}.{form}")
    for out in (f"{BYTES}.csv", f"{BYTES}.parquet"):
        done = pucli("predict", "--model", model, "--data", data, "--out", out)
        assert done.code == 0 and Path(out).stat().st_size > 500
    assert pucli("show", model, "--card", f"{BYTES}.md").code == 0
    assert pucli("export", model, "--onnx", f"{BYTES}.onnx").code == 0


def test_pages_show_a_name_that_is_no_text_with_an_escape(pucli, table):
    table.to_csv(f"{BYTES}.csv", index=False)
    data = ("--data", f"{BYTES}.csv", "--label", "y", "--positive", "1")
    assert pucli("auto", *data, "--report", f"{BYTES}.html").code == 0
    assert (
        pucli("compare", "blssvm", "svc-naive", *data, "--repeats", "3", "--out", "c.html", "--tex", "c.tex").code == 0
    )
    for page in (f"{BYTES}.html", "c.html"):
        assert "caf\\udce9.csv" in Path(page).read_text(encoding="utf-8")
