"""Every command's --json document has a schema with a version, fits it, and no longer fits if a key is taken away."""

from __future__ import annotations

import itertools
import json
import re
import shutil

import pytest
import yaml
from pydantic import ValidationError

from pucli.cli import schema as schemas
from pucli.cli.main import command_names
from pucli.cli.schema import ANSWERS, adapter_of, document_schema, version_of
from tests.cli import recorded_documents
from tests.cli.commands.test_reproduce import SMALL
from tests.cli.test_terminal import EXPORT, LINES, REFUSED, ROWS
from tests.helpers import ROOT

# Besides the lines of a terminal's test: the other forms of a document, and the commands that need a run.
MORE = [
    *(f"list {what}" for what in ("datasets", "experiments", "metrics", "protocols")),
    f"auto {ROWS} --columns",
    "train --method gllc --dataset wine",
    "train --method gaussian-mcpl --data numbers.csv --model density.model",
    "predict --model own.model --data customers.csv --adapt --top 3 --why",
    "predict --model density.model --data numbers.csv",
    "predict --model density.model --data numbers.csv --out densities.csv",
    "prior --dataset wine --estimator tice --replicates 2",
    "evaluate --model own.model --data customers.csv --label bought --positive yes",
    "review --model own.model --data customers.csv --for precision --rows 5 --out sample.csv",
    "review --answers sample.csv --at-least 0.5",
    "reproduce small.yaml --profile smoke --method gllc",
    "reproduce small.yaml --profile smoke --method gllc --collect",
    "reproduce small.yaml --status",
    "report small.yaml",
    "reproduce small.yaml --merge results --profile smoke --results merged",
    "new experiment mine",
]
SITE = ["report --all --results committed", "site --out site --results committed"]


@pytest.fixture
def ready(pucli, tmp_path):
    """Run commands in a folder with a table and a small experiment."""
    shutil.copy(ROOT / "examples" / "customers.csv", tmp_path)
    (tmp_path / "small.yaml").write_text(yaml.safe_dump({**SMALL, "data": {"generate": "wang-two-gaussians",
        "parameters": {"mean_p2": [50]}}}))  # fmt: skip
    (tmp_path / "numbers.csv").write_text("a,b\n" + "".join(f"{k % 7},{k * k % 11}\n" for k in range(40)))
    committed = tmp_path / "committed" / "table-3.1"
    committed.mkdir(parents=True)
    for path in (ROOT / "results" / "table-3.1").iterdir():
        if path.is_file():
            shutil.copy(path, committed)
    return pucli


def fits(command, document):
    try:
        adapter_of(command).validate_json(json.dumps(document), strict=True)
    except ValidationError:
        return False
    return True


def check_each_key(command, document):
    """A document without one of its keys, or with a value of another type, does not fit."""
    for key in document:
        without = {name: value for name, value in document.items() if name != key}
        assert fits(command, without) == (key == "warnings"), (command, key)
        assert not fits(command, {**document, key: [[[]]]}), (command, key)


def test_every_command_has_a_schema_and_each_key_is_required():
    assert set(ANSWERS) == {*command_names(), "error"}
    assert set(schemas.VERSIONS) <= set(ANSWERS)
    for command in {*ANSWERS} - {"error"}:
        schema = document_schema(command)
        for part in [schema, *schema.get("$defs", {}).values()]:
            if "schema" in part.get("properties", {}):
                assert set(part["properties"]) - set(part["required"]) == {"warnings"}, command


@pytest.mark.slow  # trains half a dozen models
def test_every_document_fits_and_no_key_of_it_can_go(ready, tmp_path):
    tried = set()
    for line in [*LINES.values(), *MORE, *SITE]:
        if line == EXPORT:
            continue
        if line.startswith("review --answers"):
            sample = tmp_path / "sample.csv"
            head, *rows = sample.read_text().splitlines()
            sample.write_text("\n".join([head, *(f"{row}yes" for row in rows)]) + "\n")
        done = ready(*line.split(), "--json")
        assert done.code == 0, (line, done.out)
        command = line.split()[0]
        assert next(iter(done.document)) == "schema" and done.document["schema"] == version_of(command)
        check_each_key(command, done.document)
        tried.add(command)
    assert tried >= set(command_names()) - set(REFUSED) - {"export"}


@pytest.mark.slow
def test_the_document_of_an_export_fits(ready):
    pytest.importorskip("onnx", reason="the extra [onnx] is not installed")
    ready(*LINES["train"].split())
    done = ready(*EXPORT.split(), "--json")
    assert done.code == 0, done.out
    check_each_key("export", done.document)


def test_errors_fit_their_schema(pucli):
    done = pucli("predict", "--model", "nowhere.model", "--data", "new.csv", "--json")
    assert done.code == 2
    check_each_key("error", done.document)
    assert not fits("error", {"error": {**done.document["error"], "kind": "misfortune"}})


def test_nested_keys_are_required_too(pucli):
    found = pucli("list", "metrics", "--json").document
    del found["metrics"][0]["better"]
    assert not fits("list", found)


def test_a_document_of_another_version_does_not_fit(pucli, monkeypatch):
    found = pucli("list", "metrics", "--json").document
    assert found["schema"] == "list/1"
    assert not fits("list", {**found, "schema": "list/2"})
    monkeypatch.setitem(schemas.VERSIONS, "list", 2)
    adapter_of.cache_clear()
    try:
        assert pucli("list", "metrics", "--json").document["schema"] == "list/2"
        assert document_schema("list")["title"] == "list/2"
    finally:
        adapter_of.cache_clear()


def keys_of(schema, part):
    """Return the properties that a part of a schema may have, whichever form it takes."""
    if "$ref" in part:
        return keys_of(schema, schema["$defs"][part["$ref"].rpartition("/")[2]])
    inner = [*part.get("anyOf", ()), *([part["items"]] if "items" in part else [])]
    return {
        **part.get("properties", {}),
        **{key: value for one in inner for key, value in keys_of(schema, one).items()},
    }


def test_the_page_for_programs_names_keys_that_exist():
    table = re.findall(r"^\| (`[a-z`, ]+`) \| (`[a-z_.`, ]+`) \|", (ROOT / "docs" / "agents.md").read_text(), re.M)
    assert len(table) > 10
    for commands, paths in table:
        for command, path in itertools.product(commands.split(", "), paths.split(", ")):
            schema = document_schema(command.strip("`"))
            part = schema
            for key in path.strip("`").split("."):
                assert key in keys_of(schema, part), (command, path)
                part = keys_of(schema, part)[key]


@pytest.mark.slow
def test_the_same_call_gives_the_same_document_but_for_the_time(ready):
    for line in (
        f"tune --method gllc {ROWS} --rows 150 --grid lam=0.1,1 --param sigma=1 --param c_u=0.1 --cv 2",
        "compare gllc svc-naive --dataset wine --repeats 2",
    ):
        first, second = (ready(*line.split(), "--json").document for _ in range(2))
        assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_the_schema_of_a_document_names_its_version():
    schema = document_schema("auto")
    assert schema["title"] == schema["$defs"]["AutoAnswer"]["properties"]["schema"]["const"] == "auto/1"
    assert {"schema", "estimates", "threshold", "sound"} <= set(schema["$defs"]["AutoAnswer"]["required"])
    assert document_schema("error")["title"] == "error/1"


def test_a_change_of_a_document_raises_its_version():
    """Record further keys with `python -m tests.cli.recorded_documents`; raise the version for keys that are lost."""
    assert recorded_documents.lost() == []
    assert recorded_documents.RECORD.read_text(encoding="utf-8").splitlines() == recorded_documents.lines()


def test_a_lost_key_is_noticed(monkeypatch):
    lines = recorded_documents.lines()
    monkeypatch.setattr(recorded_documents, "lines", lambda: lines[1:])
    assert recorded_documents.lost() == lines[:1]
