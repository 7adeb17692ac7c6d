"""Hostile files of every kind that pucli reads: nothing is run or written elsewhere, and the error is one line."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.trust.fuzz import try_cases
from tests.trust.guard import Guard
from tests.trust.lines import Line

SEED = 20
# Kind of file, its module here, and the number of files by default and with --full.
KINDS = (
    ("model files", "hostile_models", 150, 2000),
    ("tables", "hostile_tables", 200, 2000),
    ("experiments (YAML)", "hostile_yaml", 120, 1000),
    ("archives", "hostile_archives", 60, 500),
)
# Rounds by default and with --full, so that a run that is cut short has tried a like share of every kind.
ROUNDS = (1, 50)


def lines(full: bool) -> Iterator[Line]:
    """Yield the line of each kind of file after each round."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        from tests.trust.hostile_models import DATA, trained

        bases = trained(root)
        (root / "d.csv").write_bytes(DATA)
        predict = [["predict", "--model", f"{name}.model", "--data", "d.csv", "--out", "p.csv"] for name in bases]
        warm_up = [["train", "--method", "blssvm", "--data", "base.csv", "--label", "y", "-q"], *predict]
        with Guard(warm_up, root) as guard:
            tasks = []
            for kind, module, few, many in KINDS:
                make = importlib.import_module(f"tests.trust.{module}").cases
                (root / module).mkdir()
                cases = make(np.random.default_rng(SEED), bases, many if full else few)
                tasks.append((Line(f"hostile {kind}"), cases, root / module))
            for turn in range(ROUNDS[full]):
                for line, cases, place in tasks:
                    ends = (len(cases) * part // ROUNDS[full] for part in (turn, turn + 1))
                    try_cases(line, guard, cases, place, range(*ends))
                    yield line
