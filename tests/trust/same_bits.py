"""The same experiment under other conditions: every stored number must have the same bits."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, TypeAlias

from tests.trust import processes
from tests.trust.lines import Line

Rows: TypeAlias = dict[str, dict[str, Any]]
# Changed condition -> options, environment.
CONDITIONS: dict[str, tuple[list[str], dict[str, str]]] = {
    "two workers": (["--n-jobs", "2"], {}),
    "hash seed 7": ([], {"PYTHONHASHSEED": "7"}),
    "four BLAS threads": ([], {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4", "MKL_NUM_THREADS": "4"}),
    "Turkish locale, other time zone": ([], {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Tokyo"}),
    "C locale": ([], {"LC_ALL": "C", "PYTHONUTF8": "0"}),
    "another folder": ([], {}),
    "three workers, hash seed 1": (["--n-jobs", "3"], {"PYTHONHASHSEED": "1"}),
}
# Compiling everything anew takes minutes.
SLOW: dict[str, tuple[list[str], dict[str, str]]] = {
    "nothing compiled before": ([], {"NUMBA_CACHE_DIR": "cold"}),
    "optimized bytecode": ([], {"PYTHONOPTIMIZE": "1"}),
    "Dask": (["--backend", "dask", "--n-jobs", "2"], {}),
}


def lines(full: bool) -> list[Line]:
    line = Line("the same bits, whatever the workers, threads, folder, locale and hash seed")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        whole, problem = _run(root, "base", [], {"PYTHONHASHSEED": "0"})
        if problem:
            line.count("as it is", problem)
            return [line]
        for name, (options, environment) in {**CONDITIONS, **(SLOW if full else {})}.items():
            rows, problem = _run(root, name.replace(" ", "-").replace(",", ""), options, environment)
            line.count(name, problem or ("" if rows == whole else _difference(rows, whole)))
    return [line]


def _run(root: Path, name: str, options: list[str], environment: dict[str, str]) -> tuple[Rows, str]:
    """Run the experiment in a separate folder; return its stored cells and what went wrong."""
    place = root / name
    place.mkdir()
    processes.write_experiment(place)
    changed = {key: str(place / value) if key.endswith("_DIR") else value for key, value in environment.items()}
    words = ["reproduce", "small.yaml", "--quiet", "--results", "r", *options]
    code, err = processes.finished(processes.started(words, place, changed))
    if code != 0:
        return {}, f"exit code {code}: {err[-200:]}"
    return processes.results(processes.stored(place / "r")), ""


def _difference(rows: Rows, whole: Rows) -> str:
    if set(rows) != set(whole):
        return "other cells"
    names = {name for key in whole for name in whole[key] if rows[key][name] != whole[key][name]}
    return f"other {', '.join(sorted(names))}"
