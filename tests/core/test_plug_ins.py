"""What installed packages add, and what lies beside an experiment's file, is used like our own."""

import hashlib
import importlib
import shutil
import sys

import pandas as pd
import pytest
import yaml

from pucli.core import declared_files as declared
from pucli.core import plug_ins
from pucli.core.errors import PlugInWarning
from pucli.methods import METHODS, Method, all_methods, get_method
from tests.helpers import ROOT, add_distribution, install


@pytest.fixture
def site(tmp_path_factory):
    """A folder to install packages in; what they brought is gone after the test."""
    before = set(sys.modules)
    yield tmp_path_factory.mktemp("site")
    plug_ins.forget()
    for module in set(sys.modules) - before:
        if module.startswith(("pucli_example", "broken", "mine")):
            del sys.modules[module]


@pytest.fixture
def example(site, monkeypatch):
    """Install the package under examples/plugin."""
    install(ROOT / "examples" / "plugin", site, monkeypatch)


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("methods", "centroid"),
        ("metrics", "g_mean"),
        ("protocols", "transductive"),
        ("datasets", "two-blobs"),
        ("experiments", "example-table"),
    ],
)
def test_a_package_adds_to_every_list(pucli, example, what, name):
    listed = [entry["name"] for entry in pucli("list", what, "--json").document[what]]
    assert name in listed


@pytest.mark.slow
def test_its_method_trains_tunes_is_saved_and_completed(pucli, example, customers):
    from pucli.cli import completion

    own = ("--method", "centroid", "--data", customers.pu, "--label", "bought", "--positive", "yes")
    assert "shift" in pucli("tune", *own).out
    done = pucli("train", *own, "--tune", "--model", "m.model")
    assert done.code == 0, done.err
    assert pucli("predict", "--model", "m.model", "--data", customers.new, "--out", "p.csv").code == 0
    from pucli.models.saved import load_model

    assert load_model("m.model").versions["pucli-example"] == "0.1.0"
    assert "centroid" in completion.methods() and "two-blobs" in completion.datasets()
    assert "example-table" in completion.experiments()
    wrong = pucli("train", "--method", "centorid", "--dataset", "two-blobs")
    assert wrong.code == 2 and "'centroid'" in wrong.err


@pytest.mark.slow
@pytest.mark.parametrize("experiment", ["example-table", "example-transductive"])
def test_its_experiments_run_and_name_the_package(pucli, example, tmp_path, experiment):
    done = pucli("reproduce", experiment, "--json")
    assert done.code == 0, done.err
    folder = next((tmp_path / "results").iterdir())
    text = (folder / "provenance.md").read_text()
    assert "| pucli-example " in text and "[pucli-example 0.1.0]" in text


def test_a_model_of_a_package_that_is_missing_names_its_method(pucli, example, customers, monkeypatch):
    own = ("--data", customers.pu, "--label", "bought", "--positive", "yes", "--model", "m.model")
    assert pucli("train", "--method", "centroid", *own).code == 0
    monkeypatch.setattr("pucli.models.saved.all_methods", lambda: METHODS)
    done = pucli("predict", "--model", "m.model", "--data", customers.new)
    assert done.code == 2 and "'centroid', a method of another package, which is not installed" in done.err
    assert "pucli-example" not in done.err  # anyone can write the name of a package into a file


def test_a_broken_plug_in_gives_one_warning_and_stops_nothing(pucli, example, site, monkeypatch):
    add_distribution(
        site,
        "broken-one",
        "3.1",
        {
            "pucli.methods": {"a": "broken_nowhere:X", "b": "broken_here:NOT_ONE", "c": "broken_here:TAKEN"},
            "pucli.metrics": {"d": "broken_here:NOT_ONE"},
            "pucli.protocols": {"e": "broken_here"},
            "pucli.catalogues": {"f": "broken_catalogue"},
        },
        monkeypatch,
    )
    (site / "broken_here.py").write_text(
        "from pucli.methods import Method\nNOT_ONE = 3\nTAKEN = Method('glpual', 'broken_here:X', 'pu', '')\n"
    )
    (site / "broken_catalogue").mkdir()
    (site / "broken_catalogue" / "__init__.py").write_text("")
    (site / "broken_catalogue" / "datasets.yaml").write_text("one: {titel: x}\n")
    plug_ins.forget()
    for what, name, lines in [
        (
            "methods",
            "centroid",
            ["cannot be loaded (ModuleNotFoundError", "offers a int", "'glpual' is already in use"],
        ),
        ("metrics", "g_mean", ["offers a int"]),
        ("protocols", "transductive", ["has no PROTOCOL"]),
        ("datasets", "two-blobs", ["datasets.yaml: one"]),
    ]:
        done = pucli("list", what)
        assert done.code == 0 and name in done.out
        warned = [line for line in done.err.splitlines() if line.startswith("warning: the plug-in broken-one 3.1: ")]
        told = [
            line for line in done.err.splitlines() if not line.startswith(("rows: ", "place: "))
        ]  # what the columns mean
        assert len(warned) == len(lines) == len(told), done.err
        assert all(any(part in line for line in warned) for part in lines)
    assert all_methods()["glpual"] is METHODS["glpual"]


def test_a_method_whose_class_is_missing_names_the_package(pucli, site, monkeypatch):
    add_distribution(site, "broken-two", "1", {"pucli.methods": {"a": "broken_list:HERE"}}, monkeypatch)
    (site / "broken_list.py").write_text(
        "from pucli.methods import Method\nHERE = Method('here', 'broken_class:X', 'pu', '')\n"
    )
    assert "here" in pucli("list", "methods").out
    done = pucli("train", "--method", "here", "--dataset", "breast-cancer")
    assert done.code == 2 and "the method 'here' of broken-two cannot be used: broken_class:X" in done.err


def test_of_two_catalogues_of_one_name_the_first_is_taken_once(site, monkeypatch):
    for number in (1, 2):
        package = site / f"broken_catalogue{number}"
        package.mkdir()
        (package / "__init__.py").touch()
        points = {"pucli.catalogues": {"same": package.name}}
        add_distribution(site, f"broken-{number}", "1", points, monkeypatch)
    with pytest.warns(PlugInWarning, match="broken-2 1: same: the name 'same' is already in use"):
        found = declared.offered_folders()
    assert [(folder.name, offer.package) for folder, offer in found] == [("broken_catalogue1", "broken-1")]


def test_the_package_is_part_of_a_cells_key_and_ours_are_as_they_were(example):
    from pucli.methods import identity

    assert identity(get_method("centroid")) == {"package": "pucli-example"}
    assert all(identity(method) == {} for method in METHODS.values())


def test_an_entry_of_a_wrong_kind_is_refused():
    with pytest.raises(ValueError, match="is of the kind 'puu'"):
        Method("x", "a:B", "puu", "")
    with pytest.raises(ValueError, match="write its estimator as 'module:Class'"):
        Method("x", "a.B", "pu", "")


MINE = """
from sklearn.base import BaseEstimator, ClassifierMixin
import numpy as np

class Mine(ClassifierMixin, BaseEstimator):
    def __init__(self, cut={cut}):
        self.cut = cut

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > self.cut).astype(int)]
"""


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Write an experiment, a module and a catalogue of a data file, all in one folder."""
    text = "a,b,kind\n" + "".join(f"{row % 7},{row % 3},{'yes' if row % 7 > 3 else 'no'}\n" for row in range(140))
    (tmp_path / "points.csv").write_text(text)
    entry = {
        "title": "Points",
        "files": [
            {"name": "points.csv", "sha256": hashlib.sha256(text.encode()).hexdigest(), "mirrors": ["points.csv"]}
        ],
        "target": {"column": "kind", "positive": ["yes"], "negative": ["no"]},
    }
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump({"points": entry}))
    (tmp_path / "mine.py").write_text(MINE.format(cut=0.0))
    experiment = {
        "title": "My table",
        "data": {"names": ["points"]},
        "split": {"label_frequencies": [0.5], "repeats": 2, "seed": 1, "unlabeled_train": 0.7},
        "methods": {"mine": {"estimator": "mine:Mine"}, "gllc": {"method": "gllc", "grid": {}}},
    }
    (tmp_path / "my-table.yaml").write_text(yaml.safe_dump(experiment))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(declared, "_named", [])
    yield tmp_path
    sys.modules.pop("mine", None)


@pytest.mark.slow
def test_a_table_of_the_user_needs_no_package(pucli, table):
    done = pucli("reproduce", "./my-table.yaml", "--json")
    assert done.code == 0, done.err
    assert done.document["report"]["cells"]["done"] == 4
    provenance = (table / "results" / "my-table" / "provenance.md").read_text()
    assert hashlib.sha256((table / "mine.py").read_bytes()).hexdigest()[:16] in provenance
    assert pd.read_csv(table / "results" / "my-table" / "cells.csv.gz")["status"].eq("done").all()


def test_the_schema_takes_a_class_for_a_method():
    from pucli.runner.loading import experiment_schema

    column = experiment_schema()["$defs"]["MethodEntry"]
    assert {tuple(one["required"]) for one in column["anyOf"]} == {("method",), ("estimator",)}


@pytest.mark.slow
def test_a_changed_class_is_run_again(pucli, table):
    assert pucli("reproduce", "my-table.yaml", "--json").document["run"]["ran"] == 4
    (table / "mine.py").write_text(MINE.format(cut=0.5))
    del sys.modules["mine"]
    importlib.invalidate_caches()
    assert pucli("reproduce", "my-table.yaml", "--json").document["run"]["ran"] == 2


@pytest.mark.slow
def test_another_catalogue_is_named(pucli, table, tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("datasets.yaml", "points.csv"):
        shutil.move(table / name, folder / name)
    done = pucli("reproduce", "my-table.yaml", "--dry-run")
    assert done.code == 2 and "unknown data set 'points'" in done.err
    monkeypatch.setenv("PUCLI_DATASETS", "elsewhere/datasets.yaml")
    done = pucli("reproduce", "my-table.yaml", "--json")
    assert done.code == 0, done.err
    assert pucli("report", "my-table.yaml").code == 0
    assert pucli("reproduce", "my-table.yaml", "--status").code == 0


def test_the_variable_names_catalogues_for_every_command(pucli, table, monkeypatch):
    monkeypatch.setenv("PUCLI_DATASETS", str(table / "datasets.yaml"))
    assert "points" in pucli("list", "datasets").out
    assert pucli("train", "--method", "gllc", "--dataset", "points").code == 0
    monkeypatch.setenv("PUCLI_DATASETS", "nowhere.yaml")
    assert "PUCLI_DATASETS" in pucli("list", "datasets").err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": "mine:Nothing"}, "mine:Nothing cannot be loaded (AttributeError"),
        ({"estimator": "mine"}, "write it as module:Class"),
        ({"estimator": "mine:np"}, "is a module; give a class"),
        ({"estimator": "mine:Mine", "cutt": 1}, "did you mean 'cut'"),
    ],
)
def test_a_wrong_class_is_named(pucli, table, change, message):
    declared_table = yaml.safe_load((table / "my-table.yaml").read_text())
    declared_table["methods"]["mine"] = change
    (table / "my-table.yaml").write_text(yaml.safe_dump(declared_table))
    done = pucli("reproduce", "my-table.yaml")
    assert done.code == 2 and message in done.err, done.err
    assert "methods.mine" in done.err


def test_a_module_that_another_hides_is_named(pucli, table):
    (table / "statistics.py").write_text(MINE.format(cut=0.0))
    declared_table = yaml.safe_load((table / "my-table.yaml").read_text())
    declared_table["methods"]["mine"] = {"estimator": "statistics:Mine"}
    (table / "my-table.yaml").write_text(yaml.safe_dump(declared_table))
    done = pucli("reproduce", "my-table.yaml")
    assert done.code == 2 and "is hidden by another module 'statistics'" in done.err


def test_a_built_in_name_is_not_redefined(pucli, table):
    catalogue = yaml.safe_load((table / "datasets.yaml").read_text())
    (table / "datasets.yaml").write_text(yaml.safe_dump({**catalogue, "wine": catalogue["points"]}))
    done = pucli("reproduce", "my-table.yaml")
    assert done.code == 2 and "there is a data set 'wine' already" in done.err


def test_no_package_is_looked_for_where_our_own_names_suffice(monkeypatch):
    monkeypatch.setattr(plug_ins, "plug_ins", lambda group: pytest.fail("looked"))
    assert get_method("glpual") is METHODS["glpual"]
