"""`python -m benchmarks export`: what it compares."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.methods import make_estimator
from pucli.models.saved import SavedModel, make_pipeline

pytest.importorskip("onnx", reason="onnx is not installed; pip install -e '.[onnx]'")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; pip install -e '.[onnx]'")

pytestmark = pytest.mark.slow


def test_a_model_is_compared_with_its_file(monkeypatch):
    from benchmarks import export

    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2)) + 2.0 * (np.arange(80) < 30)[:, None]
    pipeline = make_pipeline(make_estimator("blssvm"), standardize=True).fit(X, (np.arange(80) < 20).astype(int))
    saved = SavedModel(pipeline, "blssvm", ["a", "b"])
    found = export.compared(saved, X)
    assert found["score"] < 1e-12 and found["labels"] == 0 and found["rows"] == 80
    file = export.exported(saved)
    monkeypatch.setattr(export, "exported", lambda saved: file)
    pipeline[-1]._intercept += 2.0
    found = export.compared(saved, X)
    assert found["score"] == pytest.approx(2.0) and found["labels"] > 0
