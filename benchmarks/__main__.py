"""Run a benchmark, print its table and write it to results/bench."""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import benchmarks
from benchmarks.common.result_files import COLUMNS, write_results
from pucli.cli.output import Output
from pucli.core.errors import PucliError


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line `words` (default: those of the process) and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="?", choices=names(), metavar="NAME", help="benchmark; without it, list them all")
    parser.add_argument("--full", action="store_true", help="also the largest sizes, which may take an hour")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of bench/NAME.json and NAME.md")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="KEY=A,B",
        help="run with other values of a parameter of the benchmark, such as tables=pen,adult or splits=2",
    )
    given = parser.parse_args(words)
    if given.name is None:
        for name in names():
            print(f"{name:<16} {_summary(name)}")
        return 0
    module = _module(given.name)
    if given.full and not hasattr(module, "FULL"):
        parser.error(f"the benchmark {given.name!r} has only one size; run it without --full.")
    settings = {**(module.FULL if given.full else {}), **_settings(parser, module, given.only)}
    folder = given.results / "bench"
    try:
        folder.mkdir(parents=True, exist_ok=True)  # fail before anything is measured
        with Output(as_json=False, quiet=False).progress(given.name) as progress:
            found = module.run(progress=progress, **settings)
            found.setdefault("columns", getattr(module, "COLUMNS", COLUMNS))
    except (OSError, PucliError) as error:
        print(error, file=sys.stderr)
        return getattr(error, "exit_code", 1)
    page = write_results(folder, f"{given.name}-full" if given.full else given.name, found)
    print(page.read_text(encoding="utf-8"), end="")
    return 0


def _settings(parser: argparse.ArgumentParser, module: ModuleType, texts: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of a benchmark that are given as KEY=A,B: tuples of words or numbers, or one number."""
    if not texts:
        return {}
    known = {name: one for name, one in inspect.signature(module.run).parameters.items() if name != "progress"}
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals or key not in known:
            parser.error(f"--only {text}: give KEY=A,B with KEY one of {', '.join(known)}.")
        parts = tuple(_number_or_text(part) for part in re.split(r",(?! )", values))
        several = isinstance(known[key].default, tuple | list) or str(known[key].annotation).startswith("list[")
        found[key] = parts if several else parts[0]
    return found


def _number_or_text(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def names() -> list[str]:
    """Return the names of the benchmarks, one per module of this package."""
    modules = pkgutil.iter_modules(benchmarks.__path__)
    return [module.name for module in modules if not module.ispkg and module.name != "__main__"]


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        sys.exit(f"the benchmark {name!r} needs {error.name!r}, which is not installed; `pip install -e '.[bench]'`.")


def _summary(name: str) -> str:
    return (_module(name).__doc__ or "").strip().partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
