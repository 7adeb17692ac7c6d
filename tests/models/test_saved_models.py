"""Model files of every class, written by an earlier version, open and predict the same."""

from __future__ import annotations

import gzip
import json
import zipfile

import numpy as np
import pytest

from pucli.methods import METHODS
from pucli.models.saved import ABOUT, DIGEST, FORMER_NAMES, load_model, save_model
from tests.models.saved_models.make import EXPECTED, FOLDER, VARIANTS, predictions

KNOWN = json.loads(EXPECTED.read_text())


def test_every_method_has_a_file():
    names = {path.name.removesuffix(".model.gz") for path in FOLDER.glob("*.model.gz")}
    assert set(METHODS) | set(VARIANTS) <= names == set(KNOWN)
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 500_000


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_model_of_an_earlier_version_predicts_the_same(tmp_path, name):
    path = tmp_path / f"{name}.model"
    path.write_bytes(gzip.decompress((FOLDER / f"{name}.model.gz").read_bytes()))
    found = predictions(load_model(path))
    assert set(found) == set(KNOWN[name])
    for what, values in KNOWN[name].items():
        if what == "predict":
            assert found[what] == values
        else:
            np.testing.assert_allclose(found[what], values, rtol=1e-7, atol=1e-9, err_msg=what)


def test_a_model_opens_by_every_former_name_of_its_classes(tmp_path):
    old, new = tmp_path / "old.model", tmp_path / "new.model"
    old.write_bytes(gzip.decompress((FOLDER / "auto.model.gz").read_bytes()))
    save_model(new, load_model(old))
    with zipfile.ZipFile(new) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    present = 0
    for former, now in FORMER_NAMES.items():
        about = members[ABOUT].decode()
        if f'"{now}"' not in about:
            continue
        present += 1
        renamed = json.loads(about.replace(f'"{now}"', f'"{former}"'))
        del renamed[DIGEST]  # as in files of earlier versions
        with zipfile.ZipFile(old, "w") as archive:
            for name, content in (members | {ABOUT: json.dumps(renamed).encode()}).items():
                archive.writestr(name, content)
        assert predictions(load_model(old))["predict"] == KNOWN["auto"]["predict"], former
    assert present >= 10
