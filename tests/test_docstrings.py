"""Docstrings: examples run, the reference describes each parameter, and solvers are described in a sentence."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "pucli"
# Modules with examples; those of methods and of ONNX run in their own tests.
EXAMPLES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8") and not {"estimators", "onnx"}.intersection(path.parts)
]
SLOW = (
    "pucli.models.calibrated",
    "pucli.solvers.ensemble.class_prior",
    "pucli.solvers.kernels.low_rank",
    "pucli.tuning.search",
)
# with as many parameters, a docstring describes each of them
MANY = 3


@pytest.mark.parametrize("module", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in EXAMPLES])
def test_the_examples_run(module):
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0 and result.failed == 0


def signature(function, bound):
    """The names of the parameters, in order, as numpydoc writes them; without self if `bound`."""
    a = function.args
    names = [p.arg for p in a.posonlyargs + a.args][bound:]
    names += [f"*{a.vararg.arg}"] if a.vararg else []
    names += [p.arg for p in a.kwonlyargs]
    return names + ([f"**{a.kwarg.arg}"] if a.kwarg else [])


def described(docstring):
    """The names in the Parameters section that have a type, in order; None without a section."""
    section = re.search(r"^Parameters\n-{10}\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", docstring, re.S | re.M)
    if section is None:
        return None
    heads = [line for line in section.group(1).splitlines() if line[:1].strip() and " : " in line]
    return [name.strip() for head in heads for name in head.split(" : ")[0].split(",")]


def is_static(function):
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)


def public(body, kind):
    return [node for node in body if isinstance(node, kind) and not node.name.startswith("_")]


def public_functions(tree):
    """Each public function and method: its name, node, parameters, and the names of the bases of its class."""
    for function in public(tree.body, ast.FunctionDef):
        yield function.name, function, signature(function, False), []
    for cls in public(tree.body, ast.ClassDef):
        bases = [ast.unparse(base).split(".")[-1] for base in cls.bases]
        for method in public(cls.body, ast.FunctionDef):
            yield f"{cls.name}.{method.name}", method, signature(method, not is_static(method)), bases


def faults(sources):
    """What is wrong with the Parameters sections of the public functions in `sources`, {file: text}.

    A method shares the description of a method of the same name and parameters in a base class or in the same file.
    The docstring of a command is its text in `--help`, and each of its options has a text of its own.
    """
    found = [(file, *entry) for file, text in sources.items() for entry in public_functions(ast.parse(text))]
    complete = {
        (owner, function.name, tuple(parameters))
        for file, name, function, parameters, _ in found
        if "." in name and described(ast.get_docstring(function) or "") == parameters
        for owner in (file, name.split(".")[0])
    }
    wrong = []
    for file, name, function, parameters, bases in found:
        names = described(ast.get_docstring(function) or "")
        if names is None:
            command = file.startswith("cli/commands/") and name == "command"
            inherited = any((owner, function.name, tuple(parameters)) in complete for owner in (file, *bases))
            if len(parameters) >= MANY and not inherited and not command:
                wrong.append(f"{file}: {name} lacks the Parameters section of {', '.join(parameters)}")
        elif names != parameters:
            wrong.append(f"{file}: {name} describes {', '.join(names)}; it has {', '.join(parameters)}")
    return wrong


@cache
def reference():
    """The files and names of functions and classes that the reference documents; estimators are all documented."""
    pytest.importorskip("numpydoc", reason="the extra [docs] is not installed")
    spec = importlib.util.spec_from_file_location("pages", PACKAGE.parent / "docs" / "_ext" / "generated_pages.py")
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    found = set()
    for module in pages.API:
        for _, thing in pages.documented(module):
            if inspect.getsourcefile(thing):
                found.add((Path(inspect.getsourcefile(thing)).relative_to(PACKAGE).as_posix(), thing.__name__))
    return found


def is_documented(fault):
    file, name = fault.split(": ")[0], fault.split(": ")[1].split()[0]
    return (file.startswith("estimators/") and name[0].isupper()) or (file, name.split(".")[0]) in reference()


@pytest.mark.slow  # parses the whole package
def test_docstrings_of_the_reference_describe_the_parameters():
    sources = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    found = faults(sources)
    wrong = [one for one in found if is_documented(one) or " describes " in one]
    assert not wrong, "\n".join(wrong)
    assert len(reference()) > 40


@pytest.mark.slow  # parses the room
def test_functions_of_solvers_are_described_in_a_sentence():
    """docs/notation.md says once what X, labeled, weights, rng, tol and max_iter are; the reference says it again."""
    for path in (PACKAGE / "solvers").rglob("*.py"):
        file = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and (file, node.name) not in reference():
                assert described(ast.get_docstring(node) or "") is None, f"{path}: {node.name}"


SECTION = '"""Add.\n\n    Parameters\n    ----------\n    {}\n    """'


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("a, b : int\n        Terms.\n    *c : int\n        Others.", None),
        ("b, a : int\n        Terms.\n    *c : int\n        Others.", "describes b, a, *c"),
        ("a, b : int\n        Terms.", "describes a, b;"),
        ("a, b : int\n        Terms.\n    *c\n        Others.", "describes a, b;"),
    ],
)
def test_sections_are_compared_with_the_signature(names, message):
    wrong = faults({"a.py": f"def add(a, b, *c):\n    {SECTION.format(names)}\n"})
    assert [message in w for w in wrong] == ([True] if message else [])


def test_only_methods_of_a_base_or_the_same_file_share_a_description():
    base = "class Base:\n    def add(self, a, b, c):\n        " + SECTION.format("a, b, c : int").replace(
        "\n", "\n    "
    )
    override = '\nclass Other({}):\n    def add(self, a, b, c):\n        """Add."""\n'
    assert faults({"a.py": base, "b.py": override.format("Base")}) == []
    assert faults({"a.py": base + override.format("")}) == []
    assert "Other.add lacks" in faults({"a.py": base, "b.py": override.format("")})[0]
