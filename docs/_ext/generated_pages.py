"""Pages that are made of the code, so that they cannot go stale: methods, commands, metrics, protocols, keys of files.

They are written into the folder `generated` of the documentation before each build.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

from numpydoc.docscrape import ClassDoc
from sklearn.utils.validation import has_fit_parameter

KINDS = {
    "pu": "Positives and unlabeled rows",
    "semi-supervised": "Some labels of every class",
    "density": "No labels: densities",
    "clustering": "Clusters",
}


def setup(app: Any) -> dict[str, Any]:
    """Have the pages written before Sphinx reads them, and docstrings made fit for reStructuredText."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("config-inited", lambda app, _: write_pages(Path(app.srcdir)), priority=1)
    app.connect("autodoc-process-docstring", escaped, priority=1)
    return {"parallel_read_safe": True}


def write_pages(source: Path) -> None:
    """Write all pages below `source`/generated."""
    folder = source / "generated"
    (folder / "methods").mkdir(parents=True, exist_ok=True)
    (folder / "commands").mkdir(parents=True, exist_ok=True)
    for path, text in {**methods(), **commands(), **lists(), **declared_files(), **api()}.items():
        target = folder / path
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def methods() -> dict[str, str]:
    """Return the page of each method, and their list."""
    from pucli.methods import METHODS, estimator_class

    pages, listed = (
        {},
        ["# Methods", "", "Which one to take: `pucli advise`, or `auto`, which needs to be told nothing.", ""],
    )
    for kind, title in KINDS.items():
        own = [method for method in METHODS.values() if method.kind == kind]
        listed += [
            f"## {title}",
            "",
            "| Method | When to take it |",
            "| --- | --- |",
            *(f"| [{m.name}](methods/{m.name}.md) | {escape(m.when)} |" for m in own),
            "",
            "```{toctree}",
            ":hidden:",
            "",
            *(f"methods/{m.name}" for m in own),
            "```",
            "",
        ]
        for method in own:
            try:
                made = estimator_class(method)
            except ImportError:  # an extra that is not installed
                made = None
            pages[f"methods/{method.name}.md"] = method_page(method, made)
    return {"methods.md": "\n".join(listed), **pages}


def special_rows(method: Any, made: Any) -> list[str]:
    """Return what rows a method takes besides dense ones that count once."""
    taken = []
    if method.sparse is not None:
        options = ", ".join(f"`{name}={value}`" for name, value in method.sparse.items())
        taken.append("computes on sparse ones" + (f" with {options}" if options else ""))
    if made is not None and has_fit_parameter(made, "sample_weight"):
        taken.append("takes [weights](../../how_to/python.md#weights-of-rows)")
    return taken


def method_page(method: Any, made: Any) -> str:
    """Return one page: what it is, when to take it, its objective, parameters, example."""
    doc = ClassDoc(made) if made is not None else None
    lines = [f"# {method.name}", ""]
    if doc is not None:
        lines += [*paragraph(doc["Summary"]), ""]
    lines += [
        f"**When to take it.** {method.when}",
        "",
        f"**When not.** {method.when_not}",
        "",
        f"Source: {method.source}. Learns from: {KINDS[method.kind].lower()}."
        + (f" Class prior: {method.prior}." if method.prior else "")
        + (f" Rows: {' and '.join(taken)}." if (taken := special_rows(method, made)) else "")
        + (f" Needs `pip install 'pucli[{method.extra}]'`." if method.extra else ""),
        "",
    ]
    if doc is None:
        return "\n".join([*lines, "Its parameters are shown where its optional package is installed.", ""])
    lines += [*body(doc["Extended Summary"]), ""]
    if method.kind in ("pu", "semi-supervised"):
        lines += ["```sh", f"pucli train --method {method.name} --dataset breast-cancer", "```", ""]
    lines += [f"From Python: `from {import_path(made)} import {made.__name__}`.", ""]
    for title in ("Parameters", "Attributes"):
        if doc[title]:
            lines += [f"## {title}", ""]
            for item in doc[title]:
                lines += [f"`{item.name}` : {escape(item.type)}", f": {' '.join(paragraph(item.desc)) or '–'}", ""]
    if method.grid:
        lines += ["## Grid of `tune`", ""]
        lines += [f"- `{name}`: `{values}`" for name, values in method.grid.items()] + [""]
    if doc["Notes"]:
        lines += ["## Notes", "", *body(doc["Notes"]), ""]
    if doc["Examples"]:
        lines += ["## Example", "", *examples(doc["Examples"]), ""]
    if doc["References"]:
        lines += ["## References", "", *body([line.replace(".. [", "[") for line in doc["References"]]), ""]
    return "\n".join(lines)


def import_path(thing: Any) -> str:
    """Return the shortest module to import a class or function from: pucli itself where it has the name."""
    import pucli

    return "pucli" if getattr(pucli, thing.__name__, None) is thing else str(thing.__module__)


def examples(lines: list[str]) -> list[str]:
    """Return doctest lines as blocks of code, and the words between them."""
    found: list[str] = []
    inside = False
    for line in lines:
        code = line.lstrip().startswith(">>>") or (inside and bool(line.strip()))
        if code != inside:
            found.append("```pycon" if code else "```")
            if not code:
                found.append("")
            inside = code
        found.append(line if code else escape(line))
    return [*found, "```"] if inside else found


def paragraph(lines: list[str]) -> list[str]:
    """Return the lines of a docstring as Markdown text."""
    return [escape(line.strip()) for line in lines if line.strip()]


def body(lines: list[str]) -> list[str]:
    """Return paragraphs of a docstring as Markdown; formulas and other indented blocks stay as they are."""
    found: list[str] = []
    block = False
    for line in lines:
        indented = line.startswith("    ")
        if line.strip().startswith(".. "):
            continue
        if indented and not block:
            found += ["", "```text"]
        if block and line.strip() and not indented:
            found += ["```", ""]
        block = indented or (block and not line.strip())
        found.append(line[4:] if indented else ("" if block else escape(line.replace("::", ":"))))
    return [*found, "```"] if block else found


def escape(text: str) -> str:
    """Return text in which Markdown finds no formatting but code."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text)
    return "".join(
        part.replace("``", "`") if part.startswith("`") else re.sub(r"([\\*_|<>\[\]#$~])", r"\\\1", part)
        for part in parts
    )


def commands() -> dict[str, str]:
    """Return the page of each command, and their list."""
    import typer

    from pucli.cli.main import app, command_names
    from pucli.cli.schema import document_schema

    group = typer.main.get_command(app)
    context = group.make_context("pucli", ["list", "--help"], resilient_parsing=True)
    pages = {}
    names = command_names()
    text = ["# Command line", "", "`-h` shows the usual options of a command, `--help` all of them.", ""]
    text += ["| Command | What it does |", "| --- | --- |"]
    for name in names:
        command = group.get_command(context, name)
        pages[f"commands/{name}.md"] = command_page(name, command)
        pages[f"commands/{name}.json"] = json.dumps(document_schema(name), indent=1)
        first = inspect.cleandoc(command.help or "").splitlines()[0]
        text.append(f"| [{name}](commands/{name}.md) | {escape(first)} |")
    text += ["", "```{toctree}", ":hidden:", "", *(f"commands/{name}" for name in names), "```", ""]
    return {**pages, "commands.md": "\n".join(text)}


def command_page(name: str, command: Any) -> str:
    """Return usage, options and examples of one command."""
    import importlib

    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(["pucli", name, *(p.metavar or p.name.upper() for p in arguments), "[OPTIONS]"])
    lines = [f"# pucli {name}", "", *(escape(line) for line in inspect.cleandoc(command.help or "").splitlines()), ""]
    lines += ["```text", usage, "```", ""]
    for title, params in (("Arguments", arguments), ("Options", options)):
        if params:
            lines += [f"## {title}", ""]
        for p in params:
            words = ", ".join([*p.opts, *p.secondary_opts]) if title == "Options" else (p.metavar or p.name)
            kind = "" if getattr(p, "is_flag", False) or title == "Arguments" else f" {_placeholder(p)}"
            default = "" if p.default in (None, False, "", ()) or callable(p.default) else f" Default: `{p.default}`."
            variable = f" Environment: `{p.envvar}`." if getattr(p, "envvar", None) else ""
            lines += [f"`{words}{kind}`", f": {escape(p.help or '')}{default}{variable}", ""]
    module = importlib.import_module(f"pucli.cli.commands.{name.replace('-', '_')}")
    lines += ["## Examples", "", "```sh", *module.EXAMPLES.strip().splitlines(), "```", ""]
    lines += ["## The document of `--json`", "", f"{{download}}`JSON schema <{name}.json>`", ""]
    return "\n".join(lines)


def _placeholder(option: Any) -> str:
    """Return what stands for the value of an option; Typer has named its type in two ways."""
    if option.metavar:
        return str(option.metavar)
    described = getattr(option, "type_descriptor", None)
    kind = described.annotation.__name__ if described is not None else option.type.name
    return {"str": "TEXT", "int": "INTEGER", "float": "NUMBER", "Path": "PATH"}.get(kind, kind.upper())


def lists() -> dict[str, str]:
    """Return the pages of metrics, protocols and data sets."""
    from pucli.data import dataset_entry, dataset_names
    from pucli.metrics import METRICS
    from pucli.runner.cells import protocol_module, protocol_names

    metrics = ["# Metrics", "", "| Name | Unit | Better | What it is |", "| --- | --- | --- | --- |"]
    metrics += [f"| `{m.name}` | {m.unit} | {m.better or ''} | {escape(m.description)} |" for m in METRICS.values()]
    protocols = ["# Protocols", "", "What happens in one cell of an experiment.", ""]
    for name, package in protocol_names().items():
        if not package:
            lines = inspect.cleandoc(protocol_module(name).__doc__ or "").splitlines()
            protocols += [f"## {name}", "", *(escape(line) for line in lines), ""]
    data = ["# Data sets", "", "| Name | Title | Rows and columns | License |", "| --- | --- | --- | --- |"]
    for name in dataset_names():
        entry = dataset_entry(name)
        data.append(f"| `{name}` | {escape(entry.title)} | {entry.selection} | {escape(entry.license or '')} |")
    return {
        "metrics.md": "\n".join([*metrics, ""]),
        "protocols.md": "\n".join([*protocols, ""]),
        "data.md": "\n".join([*data, ""]),
    }


def declared_files() -> dict[str, str]:
    """Return the page of all keys of experiments and catalogues, from their JSON schemas."""
    from pucli.data import catalogue_schema
    from pucli.runner import experiment_schema

    lines = [
        "# Keys of declared files",
        "",
        "Look up a key of an experiment or of an entry of `datasets.yaml`. An editor"
        " completes them [by the schema](../how_to/extending.md#completion-of-keys-in-an-editor).",
        "",
    ]
    for title, schema in (("Experiments", experiment_schema()), ("Data sets", catalogue_schema())):
        lines += [f"## {title}", ""]
        parts = {"": schema, **schema["$defs"]}
        for part, described in sorted(parts.items(), key=lambda item: bool(item[0]) and item[0] != "Entry"):
            if not described.get("properties"):
                continue
            text = " ".join(described.get("description", "").split())
            lines += [f"### {part}" if part else "### The file", "", escape(text), "", "| Key | Value | Meaning |"]
            lines += ["| --- | --- | --- |"]
            for key, value in described["properties"].items():
                default = value.get("default")
                said = f"default: `{default}`" if isinstance(default, str | int | float) and default != "" else ""
                meaning = "; ".join(filter(None, (value.get("description"), said)))
                lines.append(f"| `{key}` | {escape(_kind(value))} | {escape(meaning)} |")
            lines.append("")
    return {"declared.md": "\n".join(lines)}


def _kind(value: dict[str, Any]) -> str:
    """Return in words what a key of a JSON schema takes: words, a type, or the name of another part."""
    if "enum" in value or "const" in value:
        return " or ".join(f"`{word}`" for word in value.get("enum", [value.get("const")]))
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_kind(one) for one in value["anyOf"] if one.get("type") != "null"))
    if value.get("type") == "array":
        inner = _kind(value.get("items", {}))
        return f"list of {inner}" if inner else "list"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return "keys with " + _kind(inner) if isinstance(inner, dict) and inner else "keys with values"
    names = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    return names.get(value.get("type", ""), "")


API = {
    "pucli": "Everyday names",
    "pucli.data": "Data",
    "pucli.metrics": "Metrics and tests",
    "pucli.tuning": "Tuning",
    "pucli.models.compare": "Comparison",
    "pucli.runner": "Running experiments",
    "pucli.report": "Reports",
    "pucli.core.plug_ins": "Plug-ins",
    "pucli.cli.new": "Files to start from",
}


def documented(name: str) -> list[tuple[str, Any]]:
    """Return the public functions and classes of a module of `API`, with their names, without the methods."""
    module = importlib.import_module(name)
    methods = {*dir(importlib.import_module("pucli.estimators"))} - {"AutoPU"}
    names = [n for n in getattr(module, "__all__", []) if n not in methods and callable(getattr(module, n, None))]
    if not names:
        names = [n for n, thing in vars(module).items() if getattr(thing, "__module__", "") == name and n[0] != "_"]
    found = [(n, getattr(module, n)) for n in names]
    return [(n, thing) for n, thing in found if inspect.isfunction(thing) or isinstance(thing, type)]


def api() -> dict[str, str]:
    """Return the API reference: every public function and class of the packages above, in reStructuredText."""
    lines = ["Python reference", "================", "", "The estimators are on the pages of :doc:`methods`.", ""]
    shown: set[int] = set()  # an object is shown once, where it is imported from
    for name, title in API.items():
        lines += [f"{title}: ``{name}``", "-" * (len(title) + len(name) + 6), ""]
        entries = [(entry, thing) for entry, thing in documented(name) if id(thing) not in shown]
        shown |= {id(thing) for _, thing in entries}
        for entry, thing in entries:
            directive = "autoclass" if isinstance(thing, type) else "autofunction"
            lines += [f".. {directive}:: {name}.{entry}", ""]
    return {"api.rst": "\n".join(lines)}


def escaped(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape what reStructuredText would read as references and substitutions: ``coef_``, ``|w|``."""
    for number, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", ".. ")):
            continue
        parts = re.split(r"(``.+?``|`[^`]+`)", line)
        lines[number] = "".join(
            part if part.startswith("`") else re.sub(r"(?<=\w)_(?!\w)", r"\\_", part.replace("|", "\\|"))
            for part in parts
        )
