"""Model files of every class open and predict the same as when they were written."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from pucli.methods import METHODS
from pucli.models.saved import load_model
from tests.models.saved_models.make import EXPECTED, FOLDER, VARIANTS, predictions

KNOWN = json.loads(EXPECTED.read_text())


def test_every_method_has_a_file():
    names = {path.name.removesuffix(".model.gz") for path in FOLDER.glob("*.model.gz")}
    assert set(METHODS) | set(VARIANTS) == names == set(KNOWN)
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 500_000


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_model_file_predicts_the_same(tmp_path, name):
    path = tmp_path / f"{name}.model"
    path.write_bytes(gzip.decompress((FOLDER / f"{name}.model.gz").read_bytes()))
    found = predictions(load_model(path))
    assert set(found) == set(KNOWN[name])
    for what, values in KNOWN[name].items():
        if what == "predict":
            assert found[what] == values
        else:
            np.testing.assert_allclose(found[what], values, rtol=1e-7, atol=1e-9, err_msg=what)
