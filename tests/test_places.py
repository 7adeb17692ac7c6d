"""Where the tests of a file are: in its mirror, or where places.yaml says."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.helpers import ROOT, places, places_of


def with_code() -> list[str]:
    """Return the files of the package that define a function or a class."""
    defines = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "pucli").rglob("*.py"))
        if any(isinstance(node, defines) for node in ast.parse(path.read_text(encoding="utf-8")).body)
    ]


def test_of_a_file_and_its_folders_the_nearest_counts():
    of_cpb = ["tests/solvers/cpb/test_admm.py", "tests/solvers/test_printed_updates.py"]
    assert places_of("pucli/solvers/cpb/admm.py") == places_of("pucli/solvers/cpb/dc.py") == of_cpb
    assert places_of("pucli/metrics/pu.py")[0] == "tests/metrics/test_scorers.py"
    assert places_of("pucli/nowhere.py") == []


def test_every_file_with_code_has_a_place_of_tests():
    without = [file for file in with_code() if not places_of(file)]
    assert without == [], "write tests/a/test_b.py for pucli/a/b.py, or say in tests/places.yaml where its tests are"


def test_what_the_table_names_exists():
    gone = [f"tests/{test}" for tests in places().values() for test in tests if not (ROOT / "tests" / test).is_file()]
    gone += [place for place in places() if not ((ROOT / place).is_dir() or (ROOT / f"{place}.py").is_file())]
    assert gone == [], "correct or delete these in tests/places.yaml"


def test_every_file_of_tests_is_that_of_a_file_or_in_the_table():
    listed = {f"tests/{test}" for tests in places().values() for test in tests}
    orphans = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        test = path.relative_to(ROOT)
        of = Path("pucli", *test.parts[1:-1], test.name.removeprefix("test_"))
        if test.as_posix() not in listed and not (ROOT / of).is_file():
            orphans.append(test.as_posix())
    assert orphans == [], "name each as its file of the package is, or list it in tests/places.yaml"
