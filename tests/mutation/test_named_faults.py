"""The named faults can be put into the package as it is today."""

import yaml

from tests.helpers import ROOT
from tests.mutation.run import HERE, judges_of, named


def test_the_text_of_every_named_fault_stands_once_in_its_file():
    entries = yaml.safe_load((HERE / "named.yaml").read_text(encoding="utf-8"))
    times = {e["name"]: (ROOT / e["file"]).read_text(encoding="utf-8").count(e["before"]) for e in entries}
    assert {name: count for name, count in times.items() if count != 1} == {}
    # the tool agrees, and every fault changes something
    assert [mutant.kind for mutant in named()] == [entry["name"] for entry in entries]
    assert all(entry["before"] != entry["after"] for entry in entries)


def test_tests_of_the_folder_and_those_that_the_table_names_judge_a_fault():
    assert judges_of("pucli/solvers/cpb/dc.py") == ["tests/solvers/cpb", "tests/solvers/test_printed_updates.py"]
