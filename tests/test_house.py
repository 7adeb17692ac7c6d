"""The bounds of the structure: rooms, files, circles, and sizes."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.helpers import ROOT

PACKAGE = ROOT / "pucli"
FLAT = 16  # files in a folder, its `__init__` among them
LINES, BODY = 400, 60  # a file has fewer lines, and so has a function without its signature and docstring
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
def parsed() -> tuple[dict[str, list[ast.Import | ast.ImportFrom]], dict[str, tuple[int, int]]]:
    """Return the imports of each module, and of each function (parameters, unless any number is fine; lines)."""
    imported: dict[str, list[ast.Import | ast.ImportFrom]] = {}
    functions = {}
    for name, path in sources().items():
        imported[name] = []
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imported[name].append(node)
            elif isinstance(node, ast.FunctionDef):
                body = node.body[ast.get_docstring(node) is not None :]
                lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
                given = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                compiled = any("njit" in ast.unparse(one) for one in node.decorator_list)
                free = compiled or node.name == "__init__" or name.startswith("pucli.cli.commands.")
                functions[f"{name}:{node.lineno} {node.name}"] = (
                    0 if free else len(given) - (given[:1] == ["self"]),
                    lines,
                )
    return imported, functions


def imports(name: str, path: Path) -> set[str]:
    """Return the modules that a file imports anywhere: on top, in a function, or for types alone."""
    found = set()
    for node in parsed()[0][name]:
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


@pytest.mark.slow
def test_functions_of_more_than_eight_parameters_are_the_known_ones():
    """Compiled functions, constructors of estimators and commands aside, each of which ruff knows by its line."""
    found = {place.split()[1] for place, (parameters, _) in parsed()[1].items() if parameters > 8}
    assert found == {"compare", "run", "tune", "first_fit", "fit_members", "make_cut"}


def test_the_root_says_what_the_package_is():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    files = [path.name for path in PACKAGE.iterdir() if path.is_file()]
    assert folders == ROOMS
    assert len(files) <= 4, files


def test_no_folder_is_too_full():
    full = {}
    for folder in {path.parent for path in sources().values()}:
        count = sum(1 for path in folder.glob("*.py"))
        if count > FLAT and folder != PACKAGE / "cli" / "commands":
            full[folder.relative_to(ROOT).as_posix()] = count
    assert not full


def test_no_file_is_too_long():
    lines = {name: path.read_text(encoding="utf-8").count("\n") for name, path in sources().items()}
    assert {name: count for name, count in lines.items() if count >= LINES} == {}


@pytest.mark.slow
def test_no_function_is_too_long():
    long = {place: lines for place, (_, lines) in parsed()[1].items() if lines >= BODY}
    assert long == {}


def test_every_folder_says_what_it_holds():
    for folder in sorted({path.parent for path in sources().values()}):
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        first = text.split("\n\n")[0]
        assert first.endswith(".") and len(first) <= 130, folder


def test_base_classes_are_few():
    assert len(list((PACKAGE / "estimators" / "base").glob("*.py"))) <= 10


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
