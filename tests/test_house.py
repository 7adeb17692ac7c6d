"""The structure: rooms, circles, how much code there is, and how much of it `auto` runs.

Code is counted in nodes of the syntax tree, statements and expressions. Imports, docstrings, annotations and `raise`
are free, so that packing lines, gluing files or dropping an error message gains nothing. The counts are a thermometer:
clearer code that is longer raises its number in the same commit, with the reason.
"""

from __future__ import annotations

import ast
import collections
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.helpers import ROOT

PACKAGE = ROOT / "pucli"
NODES = {"pucli": 281_672, "pucli, benchmarks, examples": 308_965}
ON_THE_EXAMPLE = {"files": 115, "functions": 700, "files of data": 30, "functions of data": 261}
ROOMS = {
    "cli", "core", "data", "distributed", "estimators", "methods", "metrics", "models", "protocols", "report", "runner",
    "solvers", "tuning",
}  # fmt: skip


@cache
def sources() -> dict[str, Path]:
    """Return the modules of the package by their dotted names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def parsed() -> dict[str, ast.Module]:
    """Return the syntax trees of the modules."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in sources().items()}


def imports(name: str, path: Path) -> set[str]:
    """Return the modules that a file imports anywhere: on top, in a function, or for types alone."""
    found = set()
    for node in ast.walk(parsed()[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = name.split(".")[: len(name.split(".")) - node.level + (path.name == "__init__.py")]
                base = ".".join([*package, base] if base else package)
            for alias in node.names:
                of_folder = f"{base}.{alias.name}"
                found.add(of_folder if of_folder in sources() else base)
    return {module for module in found if module in sources() and module != name}


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other (Tarjan's strong components with more than one member)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


@pytest.mark.slow
def test_no_file_imports_itself_through_others():
    edges = {name: imports(name, path) for name, path in sources().items()}
    assert sum(map(len, edges.values())) > 1000
    assert circles(edges) == []


def test_the_root_says_what_the_package_is():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    files = [path.name for path in PACKAGE.iterdir() if path.is_file()]
    assert folders == ROOMS
    assert len(files) <= 4, files


def nodes(tree: ast.AST) -> int:
    """Return the number of statements and expressions, the free ones aside."""
    free: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.AnnAssign) or (isinstance(node, ast.arg) and node.annotation):
            parts.append(node.annotation)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns:
            parts.append(node.returns)
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if text or isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom)):
            parts.append(node)
        for part in parts:
            free.update(map(id, ast.walk(part)))
    return sum(isinstance(node, (ast.stmt, ast.expr)) and id(node) not in free for node in ast.walk(tree))


def test_only_what_must_be_understood_is_counted():
    assert nodes(ast.parse("x = 1")) == nodes(ast.parse('"""Text."""\nimport os\nx: int = 1')) == 3
    assert nodes(ast.parse("def f(a: int) -> int:\n    raise ValueError(a)")) == 1


@pytest.mark.slow
def test_there_is_no_more_code_than_agreed():
    package = sum(map(nodes, parsed().values()))
    beside = [path for folder in ("benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")]
    total = package + sum(nodes(ast.parse(path.read_text(encoding="utf-8"))) for path in beside)
    assert package <= NODES["pucli"]
    assert total <= NODES["pucli, benchmarks, examples"]


@pytest.mark.slow
def test_a_class_name_stands_for_one_thing():
    names = collections.Counter(
        node.name for tree in parsed().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


COUNT_CALLS = """
import json, sys
from pathlib import Path
import pucli
from pucli.__main__ import main

package, ran = Path(pucli.__file__).parent, set()

def profile(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_flags & 1 and code.co_name[0] != "<" and code.co_filename.startswith(str(package)):
        ran.add((code.co_filename, code.co_firstlineno, code.co_name))

sys.argv = ["pucli", *sys.argv[1:]]
sys.setprofile(profile)
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
finally:
    sys.setprofile(None)
of_data = {one for one in ran if one[0].startswith(str(package / "data"))}
counts = {"files": len({one[0] for one in ran}), "functions": len(ran)}
counts |= {"files of data": len({one[0] for one in of_data}), "functions of data": len(of_data)}
Path("counts.json").write_text(json.dumps(counts))
"""


@pytest.mark.slow
def test_auto_runs_few_files_and_functions_on_the_example(tmp_path):
    table = str(ROOT / "examples" / "customers.csv")
    command = ["auto", "--data", table, "--label", "bought", "--positive", "yes", "--scored", "scored.csv", "-q"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(2):  # the first run may compile kernels, which runs what announces it
        subprocess.run([sys.executable, "-c", COUNT_CALLS, *command], cwd=tmp_path, env=environment, check=True)
        counts = json.loads((tmp_path / "counts.json").read_text())
        more = {name: count for name, count in counts.items() if count > ON_THE_EXAMPLE[name]}
        if not more:
            break
    assert more == {}
    assert all(counts.values())


def test_every_folder_says_what_it_holds():
    for folder in sorted({path.parent for path in sources().values()}):
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        first = text.split("\n\n")[0]
        assert first.endswith(".") and len(first) <= 130, folder


def test_the_changelog_is_short():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    current = next(part for part in text if part.startswith(("[0.2", "0.2")))
    assert len(current.splitlines()) <= 120
    assert all(len(line) <= 400 for line in current.splitlines())


def tracked() -> list[Path]:
    """Return the files that git tracks, or every file where there is no checkout."""
    done = subprocess.run(["git", "ls-files", "-z", "results"], cwd=ROOT, capture_output=True, text=True)
    names = [name for name in done.stdout.split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_committed_results_are_small():
    sizes = {path.relative_to(ROOT).as_posix(): path.stat().st_size for path in tracked()}
    assert {name: size for name, size in sizes.items() if size > 2_000_000} == {}
    assert sum(sizes.values()) <= 25_000_000
