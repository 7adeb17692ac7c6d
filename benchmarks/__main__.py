"""``pucli bench``: compare the speed of the solvers with that of other packages, on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from pucli.cli import completion
from pucli.cli.options import Results, output_folder
from pucli.cli.output import Output, number
from pucli.core.errors import UsageError, unknown
from pucli.core.json_values import json_values

EXAMPLES = """
pucli bench
pucli bench glpual
pucli bench glpual --json
pucli bench usmo --full
"""

COLUMNS = ("what", "seconds", "ratio", "target", "note")


def command(
    out: Output,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A benchmark, or `list` to show all of them.", autocompletion=completion.benchmarks
        ),
    ] = "list",
    full: Annotated[
        bool, typer.Option("--full", help="Include the largest sizes of the benchmark, which may take an hour.")
    ] = False,
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part",
            metavar="NAME",
            help="A part of `trust`, e.g. numbers, numbers:glpual or killed:Ctrl-C; repeatable. Other rows stay.",
        ),
    ] = None,
    results: Results = Path("results"),
) -> None:
    """Compare the speed of the solvers with that of other packages.

    Seconds and ratios are measured in one run on this machine and written to results/bench/NAME.json and NAME.md
    (NAME-full with --full).
    """
    known = benchmarks()
    if name == "list":
        rows = [[key, _summary(_module(key))] for key in known]
        out.document({"benchmarks": [{"name": key, "what": what} for key, what in rows]})
        out.table(["name", "what it measures"], rows)
        return
    if name not in known:
        raise unknown("benchmark", name, known, listing="pucli bench list")
    module = _module(name)
    sizes: dict[str, Any] = getattr(module, "FULL", {}) if full else {}
    if full and not sizes:
        raise UsageError(f"the benchmark {name!r} has only one size; run it without --full.")
    known_parts = getattr(module, "PARTS", ())
    if part and not known_parts:
        raise UsageError(f"the benchmark {name!r} has no parts; run it without --part.")
    for given in part or ():
        if given not in known_parts and given.partition(":")[0] not in getattr(module, "WITH_WORDS", ()):
            raise unknown(f"part of the benchmark {name!r}", given, known_parts)
    output_folder("--results", results / "bench")
    place = results / "bench", f"{name}-full" if full else name
    with out.progress(name, lines=True) as bar:
        for found in _stages(module, bar, sizes, part, place[0] / f"{place[1]}.json"):
            columns = found.get("columns", COLUMNS)
            rows = _rows(found, columns)
            files = _write(place, found, columns, rows)
    out.document({"name": name, "full": full, **found, "files": files})
    out.text(found["title"])
    out.table(columns, rows)
    out.text(f"written to {files[0]} and .md")


def _stages(
    module: ModuleType, bar: Any, sizes: dict[str, Any], parts: Sequence[str] | None, earlier: Path
) -> Iterator[dict[str, Any]]:
    """Yield the table of a benchmark, again and again if it can tell its table before the end."""
    if not hasattr(module, "stages"):
        yield module.run(progress=bar, **sizes)
        return
    import json

    def present() -> Any:
        return json.loads(earlier.read_text(encoding="utf-8")) if parts and earlier.exists() else None

    yield from module.stages(progress=bar, **sizes, parts=parts or module.PARTS, earlier=present)


def _write(place: tuple[Path, str], found: dict[str, Any], columns: Sequence[str], rows: list[list[Any]]) -> list[Path]:
    from pucli.bench._results import write_results

    return write_results(*place, json_values(found), columns, [[number(cell) for cell in row] for row in rows])


def benchmarks() -> list[str]:
    """Return the names of the benchmarks, which are the public modules of `pucli.bench`."""
    import pkgutil

    import pucli.bench

    return [module.name for module in pkgutil.iter_modules(pucli.bench.__path__) if not module.name.startswith("_")]


def _module(name: str) -> ModuleType:
    import importlib

    try:
        return importlib.import_module(f"pucli.bench.{name}")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the benchmark {name!r} needs {error.name!r}, which is not installed; `pip install 'pucli[bench]'`."
        ) from error


def _summary(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().partition("\n")[0]


def _rows(found: dict[str, Any], columns: Sequence[str]) -> list[list[Any]]:
    keys = ["name" if column == "what" else column for column in columns]
    return [[row.get(key, "") if row.get(key) is not None else "" for key in keys] for row in found["rows"]]
