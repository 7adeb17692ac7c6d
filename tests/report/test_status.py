"""pucli reproduce --status: what is done, what failed and why, in one place."""

import sys

import pytest
import yaml

from pucli.report.tables.summary import FLAGS, flags_in_words
from pucli.runner.cells import ONE_CLASS
from tests.helpers import ROOT

MODULE = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Fragile(ClassifierMixin, BaseEstimator):
    def __init__(self, rows=20):
        self.rows = rows

    def fit(self, X, y):
        if np.sum(y) > self.rows:
            raise ValueError(f"more than {self.rows} labeled rows")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]
"""


@pytest.fixture
def fragile(tmp_path, monkeypatch):
    """Write an experiment of which some cells fail."""
    (tmp_path / "fragile.py").write_text(MODULE)
    experiment = {
        "title": "Some fail",
        "data": {"names": ["wine", "breast-cancer"]},
        "split": {"label_frequencies": [0.5], "repeats": 2, "seed": 1, "unlabeled_train": 0.7},
        "methods": {"fragile": {"estimator": "fragile:Fragile"}, "gllc": {"method": "gllc", "grid": {}}},
    }
    (tmp_path / "some.yaml").write_text(yaml.safe_dump(experiment))
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "some.yaml"
    sys.modules.pop("fragile", None)


def test_failed_cells_are_shown_with_their_reasons(pucli, fragile):
    assert pucli("reproduce", fragile, "--max-cells", 7).code == 1
    done = pucli("reproduce", fragile, "--status")
    assert done.code == 1
    assert "some, profile full: " in done.out and "of 8 runs done" in done.out
    assert "failed: ValueError: more than 20 labeled rows" in done.out
    assert "breast-cancer (label_frequency 0.5) fragile, repeat 1" in done.out
    assert "`pucli reproduce some.yaml`" in done.err
    document = pucli("reproduce", fragile, "--status", "--json").document
    assert document["done"] + document["failed"] + document["left"] == document["total"] == 8
    assert sum(len(failure["cells"]) for failure in document["failures"]) == document["failed"] > 0


@pytest.mark.slow
def test_the_cells_of_a_table_tell_it_where_there_is_no_store(pucli, fragile, tmp_path):
    pucli("reproduce", fragile, "--max-cells", 7)
    stored = pucli("reproduce", fragile, "--status", "--json").document
    (tmp_path / "results" / "some" / "store.sqlite").unlink()
    found = pucli("reproduce", fragile, "--status", "--json").document
    assert {name: found[name] for name in ("done", "failed", "left", "failures")} == {
        name: stored[name] for name in ("done", "failed", "left", "failures")
    }
    assert found["seconds_left"] == pytest.approx(stored["seconds_left"])


def test_nothing_has_run(pucli, fragile):
    done = pucli("reproduce", fragile, "--status")
    assert done.code == 2 and "no run of some is finished" in done.err


@pytest.mark.slow
def test_failed_cells_run_again_also_if_none_was_done(pucli, tmp_path, monkeypatch):
    lasting = MODULE.replace("def fit(self, X, y):", "def fit(self, X, y):\n        assert ALLOWED, 'not allowed'")
    (tmp_path / "barred.py").write_text(
        "ALLOWED = False\n" + lasting.replace("Fragile", "Barred").replace("rows=20", "rows=1000")
    )
    experiment = {
        "title": "All fail",
        "data": {"names": ["wine"]},
        "split": {"label_frequencies": [0.5], "repeats": 2, "seed": 1, "unlabeled_train": 0.7},
        "methods": {"barred": {"estimator": "barred:Barred"}},
    }
    (tmp_path / "all.yaml").write_text(yaml.safe_dump(experiment))
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert pucli("reproduce", "all.yaml", "--results", "r").code == 1
    failed = pucli("reproduce", "all.yaml", "--status", "--results", "r")
    assert "2 failed: AssertionError: not allowed" in failed.out
    assert "`pucli reproduce all.yaml --results r`" in failed.err
    sys.modules["barred"].ALLOWED = True
    again = pucli("reproduce", "all.yaml", "--results", "r", "--json")
    assert (again.code, again.document["run"]["ran"], again.document["run"]["failed"]) == (0, 2, 0)
    assert "2 of 2 runs done" in pucli("reproduce", "all.yaml", "--status", "--results", "r").out
    sys.modules.pop("barred", None)


@pytest.mark.parametrize("name", ["table-3.1", "wang-figures"])
@pytest.mark.slow
def test_committed_tables_tell_what_is_done(pucli, name):
    done = pucli("reproduce", name, "--status", "--results", ROOT / "results")
    assert done.code == 0, done.err
    assert f"{name}, profile full: " in done.out


def test_flags_are_described_by_what_happened_and_what_to_do():
    """Each flag of the runner and the protocols has a description, in the singular for one cell."""
    assert (
        flags_in_words({"edge of the grid": 12}, advice=True)
        == "12 runs with the best parameter on the edge of the grid (widen the grid)"
    )
    assert flags_in_words({"not converged": 1, "one class predicted": 2}) == (
        "1 run did not converge, 2 runs predict one class only"
    )
    assert {"edge of the grid", "not converged", ONE_CLASS} == set(FLAGS)
