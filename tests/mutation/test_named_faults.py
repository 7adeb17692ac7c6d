"""The named faults can be put into the package as it is today."""

import yaml

from tests.helpers import ROOT
from tests.mutation import run
from tests.mutation.run import HERE, SHARES, named


def test_the_text_of_every_named_fault_stands_once_in_its_file():
    entries = yaml.safe_load((HERE / "named.yaml").read_text(encoding="utf-8"))
    times = {e["name"]: (ROOT / e["file"]).read_text(encoding="utf-8").count(e["before"]) for e in entries}
    assert {name: count for name, count in times.items() if count != 1} == {}
    # the tool agrees, and every fault changes something
    assert [mutant.kind for mutant in named()] == [entry["name"] for entry in entries]
    assert all(entry["before"] != entry["after"] for entry in entries)


def test_every_file_has_tests_that_judge_it():
    files = [path.relative_to(ROOT).as_posix() for room in SHARES for path in (ROOT / room).rglob("*.py")]
    missing = {test for file in files for test in run.tests_of(file) if not (ROOT / test).exists()}
    assert missing == set()
    assert run.tests_of("pucli/cli/commands/train.py") == ["tests/cli"]
