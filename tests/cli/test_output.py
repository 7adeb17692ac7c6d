"""One rule for everything that a command writes: missing folders are made, a place that cannot be written is exit 2."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from pucli.cli.output import output_file
from pucli.core.errors import UsageError
from tests.cli.commands.test_reproduce import SMALL
from tests.cli.test_every_option import EVALUATE, LEARNERS, OWN, all_options
from tests.helpers import ROOT

COMPARE = "compare gllc blssvm --dataset wine --repeats 2"
# (command, option) -> the line that writes there, and the name of what is written; folders end in a slash
OUTPUTS = {
    ("train", "model"): (f"train --method gllc {OWN} --model", "kept.model"),
    ("tune", "trials"): (f"{LEARNERS['tune'].format(rows=OWN)} --trials", "trials.csv"),
    ("predict", "destination"): ("predict --model own.model --data new.csv --out", "scored.csv"),
    ("review", "destination"): ("review --model own.model --data new.csv --out", "look.csv"),
    ("export", "destination"): ("export own.model --onnx", "own.onnx"),
    ("split", "destination"): ("split wine --out", "splits.json"),
    ("auto", "model"): (f"auto {OWN} --model", "kept.model"),
    ("auto", "report"): (f"auto {OWN} --report", "page.html"),
    ("auto", "scored"): (f"auto {OWN} --scored", "scored.csv"),
    ("reproduce", "results"): ("reproduce small.yaml --profile smoke --method gllc --results", "results/"),
    ("report", "results"): ("report small.yaml --results", "results/"),
    ("site", "folder"): ("site --out", "pages/"),
    ("compare", "destination"): (f"{COMPARE} --out", "compared.html"),
    ("new", "parent"): ("new experiment mine --out", "made/"),
}
# Paths that are read.
INPUTS = {"data", "split", "mirror", "parts"}
INPUTS |= {(command, "model") for command in ("predict", "evaluate", "review", "shift", "show", "export")}
INPUTS |= {("site", "results"), ("review", "scored")}
SLOW = {"auto", "site"}


@pytest.fixture(scope="module")
def trained():
    """Files that one test of this module has trained for the others."""
    return {}


@pytest.fixture
def place(pucli, customers, tmp_path, trained):
    """A folder with the files that the lines above read."""
    rows = customers.true.read_text().replace("really", "bought")
    (tmp_path / "both.csv").write_text(rows)
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(SMALL))
    model = tmp_path / "own.model"
    if not trained:
        assert pucli("train", "--method", "gllc", *OWN.split(), "--model", model).code == 0
        trained[model.name] = model.read_bytes()
    model.write_bytes(trained[model.name])
    return pucli


def test_every_path_is_an_input_or_an_output():
    """A new option that takes a path needs an entry here."""
    paths = {
        (command, name)
        for command, name, _ in all_options()
        if name
        in {
            "model",
            "trials",
            "destination",
            "plot",
            "report",
            "scored",
            "results",
            "folder",
            "out",
            "parent",
        }
    }
    assert paths - {key for key in INPUTS if isinstance(key, tuple)} == set(OUTPUTS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "line"), OUTPUTS.items(), ids=lambda value: "-".join(value) if value in OUTPUTS else ""
)
def test_a_path_below_a_file_is_a_usage_error(place, tmp_path, key, line):
    words, name = line
    (tmp_path / "file").write_text("")
    done = place(*words.split(), f"file/{name}")
    assert done.code == 2, done.err
    assert done.out == "" and done.err.count("\n") == 1
    assert "cannot write" in done.err or "not a folder" in done.err
    assert "file" in done.err
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize(
    ("key", "line"),
    [(key, line) for key, line in OUTPUTS.items() if not line[1].endswith("/")],
    ids=lambda value: "-".join(value) if value in OUTPUTS else "",
)
def test_a_folder_instead_of_a_file_is_a_usage_error(place, tmp_path, key, line):
    (tmp_path / "taken").mkdir()
    name = "taken" + Path(line[1]).suffix
    (tmp_path / "taken").rename(tmp_path / name)
    done = place(*line[0].split(), name)
    assert done.code == 2 and "is a folder" in done.err, done.err
    assert list((tmp_path / name).iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "line"),
    [
        pytest.param(key, line, id="-".join(key), marks=[pytest.mark.slow] if key[0] in SLOW else [])
        for key, line in OUTPUTS.items()
        if key[0] != "report"
    ],
)
def test_missing_folders_are_made(place, tmp_path, key, line):
    """Among them `split --out`; a report writes where results are already."""
    words, name = line
    if key[0] == "export":
        pytest.importorskip("onnx", reason="onnx is not installed; pip install -e '.[onnx]'")
    if key[0] == "site":
        shutil.copytree(ROOT / "results" / "table-3.1", tmp_path / "results" / "table-3.1")
    done = place(*words.split(), f"new/folder/{name}")
    assert done.code == 0, done.err
    written = tmp_path / "new" / "folder" / name
    assert any(written.iterdir()) if name.endswith("/") else written.stat().st_size > 0
    left = [path for path in written.parent.iterdir() if path.name.startswith(".")]
    assert left == []


def test_a_cache_that_cannot_be_written(pucli, tmp_path, monkeypatch, mirror):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PUCLI_DATA_DIR", str(tmp_path / "file" / "cache"))
    done = pucli("fetch", "seeds", "--mirror", mirror)
    assert done.code == 2 and "PUCLI_DATA_DIR" in done.err


def test_the_documented_exit_codes_and_outputs_are_right(pucli):
    """README and docs give the same exit codes as `pucli.cli.main`."""
    from pucli.cli.output import Stopped
    from pucli.core.errors import RunError, UsageError

    assert (RunError.exit_code, UsageError.exit_code, Stopped.exit_code) == (1, 2, 130)
    text = " ".join((ROOT / "docs" / "exit_codes.md").read_text().split())
    for code in ("| 0 |", "| 1 |", "| 2 |", "| 130 |"):
        assert code in text
    for (command, name), _ in OUTPUTS.items():
        words = next(words for c, n, words in all_options() if (c, n) == (command, name))
        assert f"`{command} {words[0]}`" in text, (command, words)


def test_evaluate_writes_nothing(place, tmp_path, customers):
    before = {path.name for path in tmp_path.iterdir()}
    place(*EVALUATE.split())
    assert {path.name for path in tmp_path.iterdir()} == before


def test_no_output_becomes_a_part_of_the_table_that_is_read(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    with pytest.raises(UsageError, match=r"--scored .*c\.csv would lie in .*parts, whose files are the input"):
        output_file("--scored", parts / "year=1" / "c.csv", parts)
    output_file("--scored", tmp_path / "c.csv", parts)
