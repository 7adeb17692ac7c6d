"""pucli new: what it writes runs at once, and nothing is replaced."""

import importlib.util
import inspect
import sys

import pandas as pd
import pytest
import yaml

from pucli.core import declared_files as declared
from tests.helpers import ROOT


def run_tests(path, tmp_path):
    """Run the test functions of a file."""
    spec = importlib.util.spec_from_file_location(f"written_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ran = 0
    for name, function in list(vars(module).items()):
        if name.startswith("test_"):
            function(**dict.fromkeys(inspect.signature(function).parameters, tmp_path))
            ran += 1
    return ran


@pytest.fixture(autouse=True)
def own_catalogues(monkeypatch):
    monkeypatch.setattr(declared, "_named", [])


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a written package for the time of a test, as pip would."""
    from pucli.core import plug_ins
    from tests.helpers import install

    before = set(sys.modules)
    yield lambda folder: install(folder, tmp_path / "site", monkeypatch)
    plug_ins.forget()
    for module in set(sys.modules) - before:
        if module.startswith("pucli_nearest"):
            del sys.modules[module]


@pytest.mark.slow
def test_a_method_is_a_package_that_works(pucli, tmp_path, installed):
    made = pucli("new", "method", "nearest-mean", "--json").document
    assert {line.split()[0] for line in made["next"]} == {"pip", "pytest", "pucli"}
    folder = tmp_path / "nearest-mean"
    installed(folder)
    assert run_tests(folder / "tests" / "test_nearest_mean.py", tmp_path) == 3
    assert pucli("train", "--method", "nearest-mean", "--dataset", "breast-cancer", "--tune").code == 0
    assert pucli("new", "experiment", "mine").code == 0
    written = tmp_path / "mine" / "mine.yaml"
    written.write_text(written.read_text().replace("svc-naive", "nearest-mean"))
    done = pucli("reproduce", "mine/mine.yaml", "--profile", "smoke", "--json")
    assert done.document["report"]["cells"] == {"total": 2, "done": 2, "failed": 0, "missing": 0}
    again = pucli("new", "method", "nearest-mean", "--out", "elsewhere")
    assert again.code == 2 and "a method named 'nearest-mean' already exists" in again.err


def test_a_data_set_from_a_table_of_the_user(pucli, tmp_path, customers, monkeypatch):
    words = ("--data", customers.true, "--label", "really", "--positive", "yes")
    assert pucli("new", "dataset", "people", *words).code == 0
    folder = tmp_path / "people"
    assert run_tests(folder / "test_people.py", tmp_path / "cache") == 1
    assert yaml.safe_load((folder / "datasets.yaml").read_text())["people"]["published"]["positive"] == 60
    monkeypatch.setenv("PUCLI_DATASETS", str(folder / "datasets.yaml"))
    assert pucli("train", "--method", "gllc", "--dataset", "people").code == 0


@pytest.mark.slow
def test_a_generated_data_set_can_be_used_in_an_experiment(pucli, tmp_path):
    assert pucli("new", "dataset", "points").code == 0
    assert run_tests(tmp_path / "points" / "test_points.py", tmp_path / "cache") == 1
    assert pucli("new", "experiment", "first", "--out", "points").code == 0
    declared_table = yaml.safe_load((tmp_path / "points" / "first" / "first.yaml").read_text())
    declared_table["data"]["names"] = ["points"]
    (tmp_path / "points" / "mine.yaml").write_text(yaml.safe_dump(declared_table))
    assert pucli("reproduce", "points/mine.yaml", "--profile", "smoke", "--method", "gllc").code == 0


def test_an_experiment_runs(pucli, tmp_path):
    assert pucli("new", "experiment", "my-table").code == 0
    assert run_tests(tmp_path / "my-table" / "test_my_table.py", tmp_path / "results") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("methods", "x"), "did you mean 'method'"),
        (("method", "glpual"), "a method named 'glpual' already exists"),
        (("method", "My Method"), "lower-case letters"),
        (("dataset", "wine"), "a data set named 'wine' already exists"),
        (("experiment", "table-3.3"), "lower-case letters"),
        (("dataset", "x", "--data", "nothing.csv", "--label", "a", "--positive", "b"), "nothing.csv: no such file"),
        (("dataset", "x", "--data", "nothing.csv"), "belong together"),
        (("method", "x", "--data", "nothing.csv"), "--data is an option of `pucli new dataset`"),
        (("experiment", "there"), "already exists and is not replaced"),
    ],
)
def test_a_refused_command_writes_nothing(pucli, tmp_path, words, message):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine")
    done = pucli("new", *words)
    assert done.code == 2 and message in done.err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["mine.txt", "there"]


def test_a_missing_label_writes_nothing(pucli, tmp_path, customers):
    done = pucli("new", "dataset", "people", "--data", customers.true, "--label", "realy", "--positive", "yes")
    assert done.code == 2 and "did you mean 'really'" in done.err
    words = ("new", "dataset", "people", "--data", "t.csv", "--label", "bought", "--positive")
    table = pd.DataFrame(
        {"who": [f"C{k}" for k in range(80)], "income": [None, *range(79)], "bought": ["yes", "no"] * 40}
    )
    table.to_csv("t.csv", index=False)
    assert "did you mean 'yes'?" in pucli(*words, "yess").err
    table.assign(bought=["yes", ""] * 40).to_csv("empty.csv", index=False)
    assert not (tmp_path / "people").exists()
    unlabeled = pucli("new", "dataset", "open", "--data", "empty.csv", *words[5:], "yes")
    assert unlabeled.code == 0 and "40 cells of 'bought' are empty" in unlabeled.err
    assert pucli(*words, "yes").code == 0
    written = (tmp_path / "people" / "datasets.yaml").read_text()
    assert "drop: [who]" in written and "fill: {income: median}" in written


def test_the_folder_is_chosen(pucli, tmp_path):
    assert pucli("new", "experiment", "mine", "--out", "deep/er").code == 0
    assert (tmp_path / "deep" / "er" / "mine" / "mine.yaml").is_file()


def test_the_table_to_try_is_made_by_the_script_and_never_replaced(pucli, tmp_path):
    made = pucli("new", "data", "--out", "here", "--json")
    assert made.code == 0, made.err
    names = ["customers.csv", "customers_truth.csv"]
    spec = importlib.util.spec_from_file_location("make_customers", ROOT / "examples" / "make_customers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.write_customers(tmp_path)
    for name in names:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / name).read_bytes()
        assert (ROOT / "examples" / name).read_bytes() == (tmp_path / name).read_bytes()
    again = pucli("new", "data", "--out", "here")
    assert again.code == 2 and "customers.csv already exists" in again.err
    assert "takes no name" in pucli("new", "data", "table").err
    assert "NAME is missing" in pucli("new", "method").err
    table, truth = (pd.read_csv(tmp_path / name) for name in names)
    marked = table.loc[table["bought"] == "yes", "customer"]
    assert len(table) == 2000 and len(marked) == 200 and table["bought"].isna().sum() == 1800
    assert set(truth.set_index("customer").loc[marked, "bought"]) == {"yes"}
    columns = pucli("auto", "--data", tmp_path / names[0], "--label", "bought", "--columns", "--json").document[
        "columns"
    ]
    assert {one["kind"] for one in columns} == {
        "number",
        "category",
        "yes/no",
        "date",
        "text",
        "identifier",
        "constant",
    }
