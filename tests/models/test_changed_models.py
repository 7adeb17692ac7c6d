"""Model files that were changed at random end in an error of one line, or predict the same."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.core.saved_state import declared_state
from pucli.data.rows.user_file import apply_file
from pucli.methods import METHODS, estimator_class
from pucli.models.prediction import predicted_blocks
from pucli.models.saved import ABOUT, load_model
from tests.helpers import ROOT
from tests.models.saved_models.make import EXPECTED, predictions, table
from tests.models.saved_models.mutate import members_of, packed, sealed

KNOWN = json.loads(EXPECTED.read_text())


def _mutate(*words: str, limit: float) -> None:
    """Run the changes in a process of its own, which compiled code may end."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.models.saved_models.mutate", *words],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=limit,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}; last change: {done.stderr.splitlines()[-1:]}"
    assert ", 0 wrong, " in done.stdout


@pytest.mark.slow  # one process that opens every model ten times
def test_five_changes_of_each_model():
    _mutate("5", "0", limit=300)


@pytest.mark.slow
@pytest.mark.nightly
def test_two_hundred_changes_of_each_model():
    _mutate("200", "1", limit=3600)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_declares_what_a_model_file_may_hold(name):
    assert "n_features_in_" in declared_state(estimator_class(METHODS[name]))


def _changed(tmp_path, name, change):
    members = members_of(name)
    about = json.loads(members[ABOUT])
    change(about, members)
    path = tmp_path / "m.model"
    path.write_bytes(packed(sealed({**members, ABOUT: json.dumps(about).encode()})))
    return path


def _npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _find(value, name):
    """Return the first part called `name` within encoded values."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key == name:
            return inner
        if (found := _find(inner, name)) is not None:
            return found
    return None


def _array(about, members, name, change):
    member = _find(about["steps"], name)["array"]
    array = np.load(io.BytesIO(members[member]))
    members[member] = _npy(change(array))


@pytest.mark.parametrize(
    ("model", "name", "change"),
    [
        ("auto", "child", lambda child: np.where(child > 0, child * 10_000, 0).astype(np.int32)),
        ("auto", "child", lambda child: np.zeros_like(child)),  # every tree would lead back to its root
        ("auto", "feature", lambda feature: np.where(feature >= 0, 2, -1).astype(np.int32)),
        ("auto", "cut", lambda cut: cut[:3]),
        ("auto", "start", lambda start: start[::-1].copy()),
        ("auto", "borders", lambda borders: borders[::-1].copy()),
        ("svc-naive", "_n_support", lambda counts: counts * 1000),
        ("svc-naive", "support_vectors_", lambda rows: rows[:1]),
        ("svc-naive", "support_", lambda numbers: numbers + 1000),
        ("lds", "coef_", lambda coef: coef[:, :2]),
        ("nnpu", "network_", None),
        ("glpual", "_coef", lambda coef: np.full_like(coef, 1e300)),
        ("glpual", "_coef", lambda coef: coef.astype(np.float32)),
    ],
)
def test_arrays_that_compiled_code_trusts(tmp_path, model, name, change):
    def plant(about, members):
        if change is None:
            _find(about["steps"], name)["tuple"].reverse()
        else:
            _array(about, members, name, change)

    path = _changed(tmp_path, model, plant)
    with pytest.raises(UsageError, match="damaged") as caught:
        load_model(path)
    assert "\n" not in str(caught.value)
    load_model(_changed(tmp_path, model, lambda about, members: None))  # the intact twin


@pytest.mark.parametrize("probability", [False, "deprecated"])
def test_a_model_of_another_scikit_learn_predicts_the_same(tmp_path, probability):
    def write_as(about, members):
        svc = _find(about["steps"], "svc_")["state"]
        svc["probability"] = probability
        if probability is False:  # before 1.9
            svc.pop("_effective_probability", None)

    found = predictions(load_model(_changed(tmp_path, "svc-naive", write_as)))
    np.testing.assert_allclose(found["decision_function"], KNOWN["svc-naive"]["decision_function"], rtol=1e-7)


def test_an_array_that_is_named_twice_is_refused(tmp_path):
    def swell(about, members):
        (coef,) = [_find(about["steps"], "_coef")]
        about["steps"][-1][1]["state"]["trace_"] = {"list": [coef] * 10_000}

    with pytest.raises(UsageError, match="damaged"):
        load_model(_changed(tmp_path, "glpual", swell))


def test_the_name_of_a_package_in_the_file_is_no_advice(tmp_path):
    def rename(about, members):
        about.update(method="better", versions={"pucli": "1", "evil-package": "1.0"})

    with pytest.raises(UsageError) as caught:
        load_model(_changed(tmp_path, "glpual", rename))
    assert "evil" not in str(caught.value) and "another package" in str(caught.value)


def test_a_density_without_its_kind_is_refused(tmp_path):
    with pytest.raises(UsageError, match="incomplete"):
        load_model(_changed(tmp_path, "gaussian-mixture", lambda about, members: about["metadata"].pop("kind")))


def test_names_of_columns_that_no_encoder_has_are_refused(tmp_path):
    def without_names(about, members):
        del about["encoder"]["state"]["feature_names_in_"]

    with pytest.raises(UsageError, match="feature_names_in_ does not name the columns"):
        load_model(_changed(tmp_path, "bsvm-rbf", without_names))


@pytest.mark.parametrize("parameter", ["lam", "pos_label"])
def test_a_missing_parameter_is_refused(tmp_path, parameter):
    with pytest.raises(UsageError, match=f"has no {parameter}"):
        load_model(_changed(tmp_path, "glpual", lambda about, members: about["steps"][-1][1]["state"].pop(parameter)))


def test_a_model_without_checksum_or_of_a_later_version_is_refused(tmp_path):
    path, members = tmp_path / "m.model", members_of("glpual")
    about = json.loads(members[ABOUT])
    path.write_bytes(packed({**members, ABOUT: json.dumps({**about, "sha256": None}).encode()}))
    with pytest.raises(UsageError, match="was changed after it was written"):
        load_model(path)
    path.write_bytes(packed({**members, ABOUT: json.dumps({**about, "format": "pucli model, version 2"}).encode()}))
    with pytest.raises(UsageError, match=r"written by a later version of pucli; this one .* Update pucli"):
        load_model(path)


def test_a_missing_column_is_reported_with_the_model_that_names_it(tmp_path):
    """The message names the table and the model."""

    def rename(about, members):
        about["feature_names"][0] = "aX"

    path = _changed(tmp_path, "gaussian-mixture", rename)
    rows = tmp_path / "rows.csv"
    table().to_csv(rows, index=False)
    saved = load_model(path)
    for look in (
        lambda: saved.table_encoder.transform(table()),
        lambda: saved.table_encoder.written_with(",").transform(table()),
        lambda: apply_file(rows, saved.table_encoder),
        lambda: list(predicted_blocks(saved, rows)),
    ):
        with pytest.raises(UsageError) as caught:
            look()
        assert "no column 'aX'" in str(caught.value)
        assert str(caught.value).endswith(f" (model {path})")
