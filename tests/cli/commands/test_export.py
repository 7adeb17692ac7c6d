"""``pucli export``: a model as an ONNX file."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.helpers import ROOT

pytest.importorskip("onnx", reason="onnx is not installed; pip install -e '.[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; pip install -e '.[onnx]'")
ROWS = ("--data", "customers.csv", "--label", "bought", "--positive", "yes", "--rows", 200)


@pytest.fixture
def customers(tmp_path):
    shutil.copy(ROOT / "examples" / "customers.csv", tmp_path)


@pytest.mark.slow
def test_an_exported_model_predicts_as_pucli_does(pucli, customers):
    assert pucli("train", "--method", "svc-naive", *ROWS, "--model", "m.model").code == 0
    done = pucli("export", "m.model", "--onnx", "m.onnx")
    assert done.code == 0, done.err
    assert "written to m.onnx" in done.out and "Not in the file" in done.err
    document = pucli("export", "m.model", "--onnx", "again.onnx", "--json").document
    assert document["bytes"] == Path("again.onnx").stat().st_size
    assert document["outputs"] == {"prediction": "string", "score": "float64", "probability": "float64"}
    assert pucli("predict", "--model", "m.model", "--data", "customers.csv", "--out", "p.csv").code == 0
    expected, table = pd.read_csv("p.csv", dtype={"prediction": str}), pd.read_csv("customers.csv", dtype=str)
    table["last_visit"] = (pd.to_datetime(table["last_visit"]) - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    table["notes"] = table["notes"].str.lower().str.replace(r"\W+", " ", regex=True)
    feed = {}
    for one in document["inputs"]:
        cells = table[one["name"]]
        feed[one["name"]] = cells.fillna("").to_numpy(object) if one["type"] == "string" else cells.astype(float)
    feed = {name: np.asarray(cells) for name, cells in feed.items()}
    prediction, score, probability = onnxruntime.InferenceSession("m.onnx").run(list(document["outputs"]), feed)
    assert prediction.tolist() == expected["prediction"].fillna("").tolist()
    np.testing.assert_allclose(score, expected["score"], atol=1e-6)
    np.testing.assert_allclose(probability, expected["probability"], atol=1e-6)


def test_what_cannot_be_written_is_refused(pucli, customers):
    assert pucli("train", "--method", "blssvm", *ROWS, "--model", "m.model").code == 0
    before = Path("m.model").read_bytes()
    done = pucli("export", "m.model", "--onnx", "m.model")
    assert done.code == 2 and "would overwrite the input" in done.err
    assert Path("m.model").read_bytes() == before
    assert pucli("export", "customers.csv", "--onnx", "m.onnx").code == 2
    assert not Path("m.onnx").exists()
