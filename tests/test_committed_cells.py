"""Cells run again: the committed figures come out the same, so that no change of results goes unnoticed.

By default one quick cell (at most 10 s) of every experiment, or its quickest (at most 60 s) if it has none, and the
quickest cell (at most 3 s) of every column; of models that train for longer, the first point of a curve.
TEST_COMMITTED_CELLS=3 takes three cells, the middle one and the slowest of those below TEST_COMMITTED_SECONDS (30)
among them.
"""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from pucli.data import dataset_entry
from pucli.protocols.deep import protocol as deep
from pucli.protocols.deep.training import Training, place_of
from pucli.runner import Cell, Context, load_experiment, plan
from pucli.runner.execute import execute
from pucli.runner.provenance import blas, cpu_name, instructions
from tests.helpers import ROOT, SHARED

EXPERIMENTS = sorted(path.parent.name for path in (ROOT / "results").glob("*/cells.csv"))
WANTED = int(os.environ.get("TEST_COMMITTED_CELLS", "1"))
LONGEST = float(os.environ.get("TEST_COMMITTED_SECONDS", "30" if WANTED > 1 else "10"))
TRAINS_LONG, QUICK = 60.0, 3.0  # seconds
# what is measured differs from run to run
MEASURED = ("seconds", "iterations_per_second", "peak_mb", "exponent")
# (experiment, column) -> the relative difference that linear algebra and exponentials of another processor may make
BY_PROCESSOR = {
    ("table-3.1", "svc-naive/linear"): 0.2,  # libsvm stops early on features of the sizes 1 and 1000
    ("wang-figure-3.4", "glpual/linear"): 1e-3,  # test rows with nearly the same score
    ("safe-learning-curves", "ridge/icls"): 5e-2,  # a Hessian that is close to singular
    ("usmo-table-iii", "ramp-0.0001"): 0.1,  # a concave-convex procedure with many local optima
    ("usmo-table-iv", "ramp-0.0001"): 0.1,
    ("usmo-table-iv", "usmo-0.0001"): 1e-6,  # it stops at another iteration, as near to the optimum
    ("plain-5.1", "glpual"): 0.2,  # all scores equal but for rounding (one class predicted): their order is chance
}
# Data sets whose files are not among the copies beside the checkout.
ELSEWHERE = {
    *("spambase", "magic", "car", "banknote", "rice", "credit-default", "abalone", "letter-u-c", "iranian-churn"),
    *("wine-quality", "connect-4"),
}
# metric -> how far two runs may differ: a rounding error, in millionths of the objective; and a difference of two equal
# losses, which is 4e-17 or 0
ROUNDING = {"objective_difference_ppm": 1e-3, "loss_gain": 1e-15}
ROUNDING_ELSEWHERE = {**ROUNDING, "objective_difference_ppm": 1.0}


def committed(name: str) -> tuple[str, list[dict[str, str]]]:
    """Return the profile and the rows of a committed cells.csv."""
    folder = ROOT / "results" / name
    with (folder / "cells.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    return json.loads((folder / "provenance.json").read_text(encoding="utf-8"))["profile"], rows


def same_rounding(name: str) -> bool:
    """Whether this processor is known to round as that with which the cells were made."""
    made = json.loads((ROOT / "results" / name / "provenance.json").read_text(encoding="utf-8"))["made_with"]
    # cells made before 24 November 2026 do not tell the instructions of exponentials
    return {(kernels(way["blas"]), way.get("instructions")) for way in made} == {(kernels(blas()), instructions())}


def torch_error(name: str) -> float:
    """Return the relative difference that another processor may make in thousands of steps of float32 networks."""
    if not name.startswith("pae"):
        return 0.0
    import torch

    made = json.loads((ROOT / "results" / name / "provenance.json").read_text(encoding="utf-8"))["made_with"]
    same = {way["cpu"] for way in made} == {cpu_name()} and torch.backends.cpu.get_cpu_capability() == "AVX512"
    return 0.0 if same else 0.02


def kernels(described: str) -> str:
    """Return the last word of "openblas 0.3.29 Haswell"; cells without it were made with those of SkylakeX."""
    last = described.split()[-1]
    return last if last.isalpha() else "SkylakeX"


def seconds(row: dict[str, str]) -> float:
    return sum(float(value or 0) for name, value in row.items() if name.startswith("seconds_"))


def chosen(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return `WANTED` rows, the median, the quickest and the slowest of those that are quick enough, and some more.

    These are the quickest of each column, as far as they are very quick.
    """
    done = sorted((row for row in rows if row["status"] == "done"), key=seconds)
    quick = [row for row in done if seconds(row) <= LONGEST] or done[:1]
    places = [len(quick) // 2, 0, len(quick) - 1][:WANTED]
    of_columns = {(row["method"], row["variant"]): row for row in reversed(done) if seconds(row) <= QUICK}
    found = [quick[place] for place in places] + list(of_columns.values())
    return list({row["key"]: row for row in found}.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_committed_key_is_planned_today(name):
    profile, rows = committed(name)
    planned = {cell.key for cell in plan(load_experiment(name, check_methods=False), profile)}
    assert {row["key"] for row in rows} == planned


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_cell_run_again_has_the_committed_figures(name):
    profile, rows = committed(name)
    experiment = load_experiment(name, check_methods=False)
    planned = {cell.key: cell for cell in plan(experiment, profile)}
    for row in chosen([row for row in rows if row["dataset"] not in ELSEWHERE]):
        cell = planned[row["key"]]
        if dataset_entry(cell.dataset).files and not SHARED.is_dir():
            pytest.skip("the data are not beside the checkout, and tests download nothing")
        if name.startswith("pae"):
            pytest.importorskip("torch", reason="the extra [deep] is not installed")
        context = Context(mirror=str(SHARED / "data") if SHARED.is_dir() else None, offline=True)
        if seconds(row) > TRAINS_LONG:
            check_first_look(cell, context, name)
        else:
            check(cell, row, experiment, context)


def check_first_look(cell: Cell, context: Context, name: str) -> None:
    """Train as the cell does, but only up to the first point of its curve."""
    deep.warm_up(cell)
    method, options = cell.declared["method"], cell.declared["options"]
    drawn = deep._prepare(cell, context)
    seed, iterations = deep.fit_seed(cell), min(options["looks"])
    with place_of(cell, context) as folder:
        model = Training.of(folder).stage(method, drawn.X, seed, iterations, block=1000)
    generated = model.sample(options["generated"], random_state=seed)
    with (ROOT / "results" / name / "curves.csv").open(encoding="utf-8", newline="") as handle:
        place = [cell.dataset, cell.method, str(cell.repeat), str(iterations)]
        (expected,) = (line[-1] for line in csv.reader(handle) if line[:-1] == place)
    assert deep._likelihood(generated, drawn)[0] == pytest.approx(float(expected), rel=2e-9 + torch_error(name))


def check(cell: Cell, row: dict[str, str], experiment, context: Context) -> None:
    (finished,) = execute([[cell]], context, n_jobs=1, backend="loky")
    result = finished.result
    here = same_rounding(experiment.name)
    assert result.status == row["status"], result.error
    assert json.loads(json.dumps(result.params)) == json.loads(row["params"])
    for metric, value in result.metrics.items():
        # a metric with the name of a column of the run has a prefix
        column = f"metric_{metric}" if f"metric_{metric}" in row else metric
        if column in row and metric not in MEASURED:
            # the committed figures have ten digits
            close = 2e-9 if here else BY_PROCESSOR.get((experiment.name, cell.method), 2e-9)
            close += torch_error(experiment.name)
            rounding = (ROUNDING if here else ROUNDING_ELSEWHERE).get(metric, 0.0)
            expected = pytest.approx(float(row[column] or "nan"), rel=close, abs=rounding, nan_ok=True)
            assert value == expected, (metric, cell.dataset, cell.method)


def test_the_folders_hold_what_their_names_say():
    assert len(EXPERIMENTS) >= 20
    assert all((Path(ROOT) / "experiments" / f"{name}.yaml").is_file() for name in EXPERIMENTS)
