"""Where the processor seconds of `auto`, `predict` and `prior` go: imports, reading, members, estimates, page."""

from __future__ import annotations

import importlib
import importlib._bootstrap as bootstrap
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd

from benchmarks.common.timing import Progress, silent
from benchmarks.scale import make_rows, measured

LABEL = "--label bought --positive yes --id customer"
README = f"auto customers.csv {LABEL} --scored scored.csv --report page.html --model auto.model"
# The commands, and the seconds that each should take at most.
COMMANDS = {
    "README's first command, nothing compiled": (README, None),
    "README's first command": (README, 3.0),
    "predict, 8,000 rows": ("predict new.csv --model auto.model --out out.csv", 1.5),
    "prior, 1,000 rows": (f"prior thousand.csv {LABEL}", 3.0),
    "auto, 18,000 rows, 200 columns": ("auto large.parquet --label label --positive 1 --report page.html", None),
}
FULL = {"commands": tuple(COMMANDS)}
# Where a function is looked up, and its stage; what it calls of another stage counts for the other.
STAGES = {
    "pucli.cli.text.columns:rows_to_learn_from": "reading",
    "pucli.data.columns.encoder:TableEncoder:transform": "encoding",
    "pucli.solvers.ensemble.members:fit_bags": "trees",
    "pucli.solvers.ensemble.members:fit_forest": "forest",
    "pucli.solvers.ensemble.members:fit_kernel_ridge": "ridges",
    "pucli.estimators.auto.auto_pu:first_fit": "folds",
    "pucli.solvers.ensemble.class_prior:first_fit": "folds",
    "pucli.estimators.auto.auto_pu:AutoPU:fit": "estimates",
    "pucli.models.auto.ranking:ranking_of": "estimates",
    "pucli.models.auto.ranking:summary": "estimates",
    "pucli.models.class_prior:estimate_of": "estimates",
    "pucli.models.prediction:_predicted": "scores",
    "pucli.models.auto.ranking:explainer_of": "reasons",
    "pucli.models.reasons:Explainer:of": "reasons",
    "pucli.models.auto.page:write_report": "page",
}
ABOUT = (
    "Each command is a process of its own with one thread, run once. Imports are those of all stages; "
    "folds include the views of the columns and the search for copies; reasons are those of rows, for `--scored` and "
    "the page; the page includes the importance of columns. Other programs on the same processors lengthen all "
    "figures, by half and more."
)


def run(progress: Progress = silent, *, commands: Sequence[str] = tuple(COMMANDS)[:4]) -> dict[str, Any]:
    """Return the table of benchmark `stages`; the first command writes the model of the others."""
    rows, back = [], Path.cwd()
    table = pd.read_csv("examples/customers.csv", dtype=str)
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, {"PYTHONPATH": str(back)}):
        os.chdir(name)
        try:
            table.to_csv("customers.csv", index=False)
            table[:1000].to_csv("thousand.csv", index=False)
            pd.concat([table] * 4).to_csv("new.csv", index=False)
            make_rows(18_000, Path("large.parquet"), columns=200)
            for command in commands:
                words, target = COMMANDS[command]
                with patch.dict(os.environ, {"NUMBA_CACHE_DIR": name} if "compiled" in command else {}):
                    cost = measured(["-m", "benchmarks.stages", *words.split()])
                if isinstance(cost, str):
                    raise RuntimeError(cost)
                spent = json.loads(Path("stages.json").read_text(encoding="utf-8"))
                rows.append({"name": command, "total": cost.cpu, "target": target, **spent})
                progress(len(rows), len(commands))
        finally:
            os.chdir(back)
    columns = ("what", "total", "target", "imports", *dict.fromkeys(STAGES.values()), "rest")
    return {"title": "Processor seconds by stage", "about": ABOUT, "columns": columns, "rows": rows}


def clocked(words: list[str]) -> None:
    """Run `pucli WORDS` in this process, and write the seconds of its stages to stages.json."""
    spent, running, last = {"imports": time.process_time()}, ["rest"], time.process_time()

    def switch() -> None:
        nonlocal last
        now = time.process_time()
        spent[running[-1]] = spent.get(running[-1], 0.0) + now - last
        last = now

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            switch()
            running.append(stage)
            try:
                return function(*args, **options)
            finally:
                switch()
                running.pop()

        return call

    vars(bootstrap)["_find_and_load"] = timed("imports", vars(bootstrap)["_find_and_load"])
    for place, stage in STAGES.items():
        module, *outer, name = place.split(":")
        holder: Any = importlib.import_module(module)
        for one in outer:
            holder = getattr(holder, one)
        setattr(holder, name, timed(stage, getattr(holder, name)))
    from pucli.__main__ import main

    sys.argv = ["pucli", *words]
    code = main()
    switch()
    Path("stages.json").write_text(json.dumps(spent), encoding="utf-8")
    sys.exit(code)


if __name__ == "__main__":
    clocked(sys.argv[1:])
