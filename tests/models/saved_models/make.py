"""Write the model files of this folder, one of every method and of every other class that a model file may hold.

``python -m tests.models.saved_models.make`` trains each on a few rows and writes it beside this file as NAME.model.gz,
with what it predicts for the rows of `new_rows` in ``expected.json``. From the first release on, the files are those of
the version that wrote them, and later versions must open them and predict the same.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pucli.methods import METHODS
from pucli.models.fitting import Fitted, fit
from pucli.models.saved import SavedModel, model_bytes

FOLDER = Path(__file__).parent
EXPECTED = FOLDER / "expected.json"
# Parameters that make a model small and its training quick.
_PARAMS: dict[str, dict[str, Any]] = {
    "upu": {"loss": "double-hinge"},
    "nnpu": {"hidden": 5},
}
_QUICK = {"n_iterations": 4, "batch_size": 8, "n_epochs": 20}
_NETWORK = {"hidden": (4, 4), "device": "cpu"}
# Further models of a method, whose fitted attributes differ from those of its default parameters.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "glpual-rbf": ("glpual", {"kernel": "rbf", "width": 1.5}),
    "glpual-thesis": ("glpual", {"kernel": "rbf", "form": "thesis"}),
    "gllc-rbf": ("gllc", {"kernel": "rbf"}),
    "bsvm-rbf": ("bsvm", {"kernel": "rbf"}),
    "blssvm-rbf": ("blssvm", {"kernel": "rbf"}),
    "cpb-glpual-rbf": ("cpb-glpual", {"kernel": "rbf"}),
    "usmo-linear": ("usmo", {"kernel": "linear"}),
    "ramp-pu-rbf": ("ramp-pu", {"kernel": "rbf"}),
    "upu-rbf": ("upu", {"kernel": "rbf", "loss": "double-hinge"}),
    "upu-network": ("upu", {"hidden": 5}),
    "svc-naive-linear": ("svc-naive", {"kernel": "linear"}),
    "auto-kinds": ("auto", {"labeling": "sar"}),
    "glpual-kinds": ("glpual", {}),
}


def table() -> pd.DataFrame:
    """Return 40 rows with a column of every kind and labels in `y`: 10 positives, the others unlabeled."""
    rng = np.random.default_rng(3)
    positive = np.arange(40) % 2 == 0
    frame = pd.DataFrame(
        {
            "a": np.round(rng.normal(size=40) + 2.0 * positive, 2),
            "b": np.round(rng.normal(size=40) - positive, 2),
        }
    )
    frame["y"] = np.where(positive & (np.arange(40) < 20), "yes", "")
    return frame


def wide_table() -> pd.DataFrame:
    """Return `table` with columns of every kind, empty cells and an identifier."""
    frame, rng = table(), np.random.default_rng(4)
    frame.insert(0, "code", [f"r{7 * i}" for i in range(40)])
    frame["a"] = frame["a"].where(np.arange(40) % 9 != 0)
    frame["color"] = rng.choice(["red", "green", "blue"], 40)
    frame["member"] = rng.choice(["yes", "no"], 40)
    frame["since"] = pd.Series(pd.date_range("2020-01-05", periods=40, freq="37D").strftime("%Y-%m-%d"))
    words = ["late delivery of goods", "very good service here", "price too high again", "late answer from service"]
    frame["remark"] = [f"{words[i % 4]} {words[(i * 7 + 1) % 4]}" for i in range(40)]
    return frame


def new_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table that a model is tried on: every third, without the labels."""
    return frame.drop(columns="y").iloc[::3].reset_index(drop=True)


def predictions(model: SavedModel) -> dict[str, Any]:
    """Return what a model says about `new_rows`, as JSON values."""
    frame = wide_table() if "color" in model.table_encoder.feature_names_in_ else table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = model.table_encoder.transform(new_rows(frame))
        if METHODS[model.method].extra:  # the density of a network takes a second
            return {"sample": model.estimator.sample(5, random_state=0).tolist()}
        found = {}
        for name in ("predict", "decision_function", "predict_proba", "score_samples"):
            if hasattr(model.pipeline, name):
                found[name] = np.asarray(getattr(model.pipeline, name)(X)).tolist()
    return found


def _train(method: str, params: dict[str, Any], frame: pd.DataFrame) -> Fitted:
    from pucli.data.rows.training_rows import RowSource, density_rows, training_rows
    from pucli.data.rows.user_file import ColumnChoice

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        kind = METHODS[method].kind
        if kind == "density":
            frame.drop(columns="y").to_csv(path, index=False)
            rows = density_rows(method, RowSource(data=path, choice=ColumnChoice()), allow_missing=True)
        elif kind == "pu":
            frame.to_csv(path, index=False)
            rows = training_rows("pu", RowSource(data=path, label="y", positive="yes"))
        else:
            known = np.where(np.arange(len(frame)) % 2 == 0, "yes", "no")
            frame.assign(y=np.where(np.arange(len(frame)) < 20, known, "")).to_csv(path, index=False)
            rows = training_rows("semi-supervised", RowSource(data=path, label="y"))
    rows = replace(rows, about={"title": "rows"}, title="rows")
    return fit(method, params, rows, standardize=True)


def main(names: list[str]) -> int:
    """Write the models called `names`, all if there are none."""
    from pucli.methods import constructor_defaults

    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    wanted = {name: (name, _PARAMS.get(name, {})) for name in METHODS} | VARIANTS
    for name, (method, params) in wanted.items():
        if names and name not in names:
            continue
        known = constructor_defaults(METHODS[method])
        given = {key: value for key, value in _QUICK.items() if key in known}
        if "random_state" in known:
            given["random_state"] = 0
        if "estimated" in METHODS[method].prior:
            given["prior"] = 0.4
        if METHODS[method].extra:
            given |= _NETWORK
        frame = wide_table() if name.endswith("-kinds") else table()
        fitted = _train(method, {**given, **params}, frame)
        content = model_bytes(fitted.to_save())
        (FOLDER / f"{name}.model.gz").write_bytes(gzip.compress(content, mtime=0))
        expected[name] = predictions(fitted.to_save())
        print(name, len(content), (FOLDER / f"{name}.model.gz").stat().st_size, flush=True)
    EXPECTED.write_text(json.dumps(expected, separators=(",", ":")).replace("},", "},\n") + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
