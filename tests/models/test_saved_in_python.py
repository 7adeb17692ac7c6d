"""Models saved from Python: the same labels, scores and probabilities from the file, the command and ONNX."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from pucli import (
    BLSSVM,
    CPLS,
    GLPUAL,
    USMO,
    AutoPU,
    CalibratedPU,
    Standardizer,
    TableEncoder,
    load_model,
    save_model,
)
from pucli.models.onnx.export import exported
from pucli.solvers.ensemble.members import MEMBERS

RNG = np.random.default_rng(0)
TRUTH = np.arange(300) < 120
TABLE = pd.DataFrame(RNG.normal(size=(300, 3)) + 1.0 * TRUTH[:, None], columns=["a", "b", "c"]).round(4)
MIXED = TABLE.assign(town=np.where(RNG.random(300) < 0.5 + 0.3 * TRUTH, "Ulm", "Bonn"))
S = (np.arange(300) < 60).astype(int)
FEW = tuple(member for member in MEMBERS if member.name == "ridge-laplace")

pytestmark = pytest.mark.filterwarnings("ignore")
MODELS = [
    (GLPUAL(), TABLE, S),
    (BLSSVM(threshold=0.1), TABLE.to_numpy(), S),
    (make_pipeline(TableEncoder(), Standardizer(), BLSSVM()), MIXED, S),
    (make_pipeline(Standardizer(), CPLS()), TABLE, np.where(np.arange(300) % 4, -1, TRUTH)),
    (CalibratedPU(make_pipeline(Standardizer(), BLSSVM())), TABLE, S),
    (AutoPU(), MIXED, np.where(S, "yes", "no")),
]


@pytest.mark.parametrize(("model", "rows", "y"), MODELS, ids=lambda one: type(one).__name__)
def test_a_fitted_model_predicts_the_same_from_its_file(model: Any, rows: Any, y: Any, tmp_path: Path) -> None:
    saved = load_model(save_model(tmp_path / "m.model", model.fit(rows, y)))
    assert saved.predict(rows).tolist() == model.predict(rows).tolist()
    np.testing.assert_array_equal(saved.decision_function(rows), model.decision_function(rows))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(saved.predict_proba(rows), model.predict_proba(rows), atol=1e-6)
        np.testing.assert_allclose(saved.predict_log_proba(rows), model.predict_log_proba(rows), atol=1e-4)


@pytest.mark.slow  # each starts the command
@pytest.mark.parametrize(("model", "rows", "y"), [MODELS[2], MODELS[4], MODELS[5]], ids=["encoded", "held out", "auto"])
def test_the_command_and_onnx_give_the_same_probabilities(model: Any, rows: Any, y: Any, tmp_path: Path) -> None:
    save_model(tmp_path / "m.model", model.fit(rows, y))
    rows.to_csv(tmp_path / "t.csv", index=False)
    words = ["predict", "t.csv", "--model", "m.model", "--out", "p.csv"]
    subprocess.run([sys.executable, "-m", "pucli", *words], cwd=tmp_path, check=True, capture_output=True)
    expected = model.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(pd.read_csv(tmp_path / "p.csv")["probability"], expected, atol=1e-6)
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(exported(model).content)
    typed = {one.name: object if "string" in one.type else np.float64 for one in session.get_inputs()}
    cells = {name: rows[name].to_numpy(kind)[:, None] for name, kind in typed.items()}
    cells = {one.name: cells[one.name].reshape(-1, *one.shape[1:]) for one in session.get_inputs()}
    found = dict(zip([one.name for one in session.get_outputs()], session.run(None, cells), strict=True))
    np.testing.assert_allclose(np.ravel(found["probability"]), expected, atol=1e-6)


def test_what_cannot_be_saved_is_told(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="LogisticRegression is no method of `pucli list methods`"):
        save_model(tmp_path / "m", LogisticRegression().fit(TABLE, S))
    with pytest.raises(TypeError, match="takes a fitted method, a fitted pipeline"):
        save_model(tmp_path / "m", BLSSVM())
    with pytest.raises(TypeError, match="takes a fitted method, a fitted pipeline"):
        save_model(tmp_path / "m", "model")


def _later(first: Path) -> None:
    """Wait for the next step of the clock of archives, which counts in steps of two seconds."""
    time.sleep(max(0.0, first.stat().st_mtime + 2.1 - time.time()))


def test_the_same_rows_give_the_same_file_byte_for_byte(tmp_path: Path) -> None:
    """All are written once, then all again, for the clock to have moved meanwhile."""
    models = {type(model).__name__: model for model in (USMO(), GLPUAL(), BLSSVM(), AutoPU(members=None))}
    for name, model in models.items():
        save_model(tmp_path / name, clone(model).fit(TABLE, S))
    for name, model in models.items():
        again = clone(model).fit(TABLE, S)
        _later(tmp_path / name)
        assert save_model(tmp_path / "again", again).read_bytes() == (tmp_path / name).read_bytes(), name


@pytest.mark.slow  # two trainings of each
def test_the_same_rows_and_seed_give_the_same_file_byte_by_byte(pucli: Any, tmp_path: Path) -> None:
    MIXED.assign(y=np.where(S, "yes", "")).to_csv(tmp_path / "t.csv", index_label="id")
    given = ["--data", str(tmp_path / "t.csv"), "--label", "y", "--positive", "yes", "--seed", "3"]
    lines = ["train --method usmo", "train --method nnpu", "train --method glpual", "auto"]
    for words in lines:
        assert pucli(*words.split(), *given, "--model", words).code == 0
    for words in lines:
        _later(tmp_path / words)
        assert pucli(*words.split(), *given, "--model", "again").code == 0
        assert (tmp_path / "again").read_bytes() == (tmp_path / words).read_bytes(), words
