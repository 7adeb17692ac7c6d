"""Cells run again: the committed figures come out the same, so that no change of results goes unnoticed.

All columns of cells.csv.gz are compared but times and memory, and the lines of the cell in curves.csv. As harm.csv
counts over repeats, all repeats of some columns are run again.

By default one quick cell (at most 3 s) of every experiment, or its quickest (at most 60 s) if it has none, and the
quickest cell (at most 1 s) of every column; of models that train for longer, the first point of a curve. Experiments
`BY_NIGHT` take longer and run with .ci/nightly. TEST_COMMITTED_CELLS=3 takes three cells, the middle one and the
slowest of those below TEST_COMMITTED_SECONDS (30) among them, and the quickest of every column if it takes 3 s.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pucli.data import dataset_entry
from pucli.methods import constructor_defaults, get_method
from pucli.protocols.deep import protocol as deep
from pucli.protocols.deep.training import TrainingState, position_of
from pucli.protocols.pu_figures import protocol as pu_figures
from pucli.protocols.semi_supervised.report import curves_of, harm_rows
from pucli.report.cells_csv import HEAD, METRIC, SECONDS, SEPARATOR, WAY, read_cells_csv
from pucli.report.protocol_parts import extras_of
from pucli.runner import Cell, CellResult, Context, Experiment, load_experiment
from pucli.runner.execute import execute
from pucli.runner.provenance import blas, cpu_name, instructions
from tests.helpers import ROOT, SHARED, by_night, planned

EXPERIMENTS = sorted(path.parent.name for path in (ROOT / "results").glob("*/cells.csv.gz"))
BY_NIGHT = ("pae-", "pu-bench", "ceiling-")  # minutes of training; 26 s a cell; every point of a grid
WANTED = int(os.environ.get("TEST_COMMITTED_CELLS", "1"))
LONGEST = float(os.environ.get("TEST_COMMITTED_SECONDS", "30" if WANTED > 1 else "3"))
TRAINS_LONG, QUICK = 60.0, 3.0 if WANTED > 1 else 1.0  # seconds
# what is measured differs from run to run
MEASURED = ("seconds", "iterations_per_second", "peak_mb", "exponent")
CLOSE = 2e-9  # the committed figures have ten digits
# (experiment, column) -> the relative difference that linear algebra and exponentials of another processor may make in
# a metric
BY_PROCESSOR = {
    ("table-3.1", "svc-naive/linear"): 0.2,  # libsvm stops early on features of the sizes 1 and 1000
    ("wang-figure-3.4", "glpual/linear"): 1e-3,  # test rows with nearly the same score
    ("safe-learning-curves", "ridge/icls"): 5e-2,  # a Hessian that is close to singular
    ("usmo-table-iii", "ramp-0.0001"): 0.1,  # a concave-convex procedure with many local optima
    ("usmo-table-iv", "ramp-0.0001"): 0.1,
    ("plain-5.1", "glpual"): 0.2,  # all scores equal but for rounding (one class predicted): their order is chance
    ("odds-5.3", "cpb-glpual/odds"): 1e-3,  # one pair of rows changes places in an AUC of .51
    ("pu-bench", "auto"): 1e-4,  # probabilities of members that follow one another for many steps
}
# Data sets whose files are not among the copies beside the checkout.
ELSEWHERE = {
    *("spambase", "magic", "car", "banknote", "rice", "credit-default", "abalone", "letter-u-c", "iranian-churn"),
    *("wine-quality", "connect-4", "disdat-swi", "disdat-swi-sites", "disdat-swi-survey"),
    *("magic-gamma", "electrical-grid", "letter-a-f", "wilt", "mice-protein", "cdc-diabetes", "anurans", "dry-beans"),
    "room-occupancy",
}
# metric -> how far two runs may differ: a rounding error, in millionths of the objective; and a difference of two equal
# losses, which is 4e-17 or 0
ROUNDING = {"objective_difference_ppm": 1e-3, "loss_gain": 1e-15}
ROUNDING_ELSEWHERE = {**ROUNDING, "objective_difference_ppm": 1.0}
# (experiment, column) -> how far apart, as a share of the objective, the runs of two processors may end: the tolerance
# of a solver that then stops elsewhere, as near to the optimum. Their gaps and residuals are thus compared only where
# the rounding is the same. The last two end elsewhere with OpenBLAS's kernels for SkylakeX alone. No others did with
# those for Prescott, Nehalem, Sandybridge, Haswell and SkylakeX and exponentials for AVX2, AVX-512 and without them.
USMO, RAMP, GLPUAL, ICLS = 1e-6, 1e-4, 1e-6, 1e-5
ENDS_ELSEWHERE = {
    ("usmo-figure-1", "usmo/one-class"): USMO,
    ("usmo-figures-4-7", "usmo/gaussian"): USMO,
    ("usmo-figures-4-7", "usmo/gaussian-3"): USMO,
    ("usmo-figures-4-7", "ramp/linear"): RAMP,  # of a cell that only TEST_COMMITTED_CELLS=3 takes
    ("usmo-figures-4-7", "ramp/gaussian"): RAMP,
    ("usmo-figures-4-7", "ramp/gaussian-3"): RAMP,
    ("usmo-panels", "usmo/gaussian"): USMO,
    ("usmo-panels", "ramp/linear"): RAMP,
    ("usmo-panels", "ramp/gaussian"): RAMP,
    ("usmo-table-iv", "usmo-0.0001"): USMO,
    ("usmo-table-iv", "ramp-0.0001"): RAMP,
    ("usmo-table-iv", "ramp-0.001"): RAMP,
    ("usmo-table-iv", "ramp-0.01"): RAMP,
    ("usmo-table-iv", "ramp-0.1"): RAMP,
    ("wang-figure-3.4", "glpual/linear"): GLPUAL,
    ("safe-learning-curves", "ridge/icls"): ICLS,
}
# the share of its iterations, or the number, that such a solver may take more or less; so far none did
MORE_STEPS = 0.1, 2.0


# Metrics that all runs have had since they came, together; a file has their columns if a cell of it was run later.
LATER = ("average_precision", "bedroc@20", "boyce", "lift@1%", "precision@10%", "recall@10%")


def committed(name: str) -> tuple[str, list[dict[str, str]]]:
    """Return the profile and the rows of a committed cells.csv.gz."""
    folder = ROOT / "results" / name
    with gzip.open(folder / "cells.csv.gz", "rt", encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    rows = without_later_metrics(rows)
    return json.loads((folder / "provenance.json").read_text(encoding="utf-8"))["profile"], rows


def without_later_metrics(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the rows without the empty metrics of those that were made before these metrics came."""
    return [
        {
            name: text
            for name, text in row.items()
            if row.get(LATER[0]) or name not in LATER or row["status"] == "failed"
        }
        for row in rows
    ]


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
    assert {row["key"] for row in rows} == {cell.key for cell in planned(name, profile)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * name.startswith(BY_NIGHT)) for name in EXPERIMENTS]
)
def test_a_cell_run_again_has_the_committed_figures(name, monkeypatch):
    if WANTED == 1:  # t-SNE takes longer than all else, and nothing that is compared is made of its maps
        monkeypatch.setattr(pu_figures, "_map", lambda *_: {})
    profile, rows = committed(name)
    experiment = load_experiment(name, check_methods=False)
    cells = {cell.key: cell for cell in planned(name, profile)}
    here = [row for row in rows if row["dataset"] not in ELSEWHERE]
    if not here:
        pytest.skip("none of its data sets is among the copies beside the checkout")
    wanted = [(cells[row["key"]], row) for row in chosen(here)]
    if any(dataset_entry(cell.dataset).files for cell, _ in wanted) and not SHARED.is_dir():
        pytest.skip("the data are not beside the checkout, and tests download nothing")
    if name.startswith("pae"):
        pytest.importorskip("torch", reason="the extra [deep] is not installed")
    context = Context(mirror=str(SHARED / "data") if SHARED.is_dir() else None, offline=True)
    for cell, row in wanted:
        if seconds(row) > TRAINS_LONG:
            check_first_look(cell, context, name)
    check([(cell, row) for cell, row in wanted if seconds(row) <= TRAINS_LONG], experiment, context)


def check_first_look(cell: Cell, context: Context, name: str) -> None:
    """Train as the cell does, but only up to the first point of its curve."""
    deep.PROTOCOL.warm_up(cell)
    method, options = cell.declared["method"], cell.declared["options"]
    drawn = deep.PROTOCOL.prepare(cell, context)
    seed, iterations = deep.fit_seed(cell), min(options["looks"])
    with position_of(cell, context) as folder:
        model = TrainingState.of(folder).stage(method, drawn.X_train, seed, iterations, block=1000)
    generated = model.sample(options["generated"], random_state=seed)
    (expected,) = (
        float(line["log_likelihood"])
        for line in own_lines((ROOT / "results" / name / "curves.csv").read_text(encoding="utf-8"), cell)
        if line["iterations"] == str(iterations)
    )
    assert deep._likelihood(generated, drawn)[0] == pytest.approx(expected, rel=CLOSE + torch_error(name))


def check(wanted: list[tuple[Cell, dict[str, str]]], experiment: Experiment, context: Context) -> None:
    """Run cells again, and compare them with their rows of cells.csv.gz and their lines of curves.csv."""
    groups: dict[Any, list[Cell]] = {}
    for cell, _ in wanted:
        groups.setdefault(cell.group, []).append(cell)
    done = {run.cell.key: run.result for run in execute(list(groups.values()), context, n_jobs=1, backend="loky")}
    curves = ROOT / "results" / experiment.name / "curves.csv"
    made: dict[str, Any] = {}
    if curves.is_file() and wanted:
        rows = {key: stored(result) for key, result in done.items()}
        extras = extras_of(experiment.protocol)(experiment, [cell for cell, _ in wanted], rows)
        made = {extra.path: extra.content for extra in extras}
    for cell, row in wanted:
        compare_cell(cell, row, done[cell.key], experiment.name)
        if made:
            lines = [own_lines(text, cell) for text in (made[curves.name], curves.read_text(encoding="utf-8"))]
            for point, expected in zip(*lines, strict=True):
                compare(point, expected, experiment.name, cell.method)


def compare_cell(cell: Cell, row: dict[str, str], result: CellResult, name: str) -> None:
    """Compare all columns of a row of cells.csv.gz that are not measured."""
    assert result.status == row["status"], result.error
    assert complete(cell, result.params) == complete(cell, json.loads(row["params"]))
    texts = {"flags": SEPARATOR.join(result.flags), "notes": SEPARATOR.join(result.notes), "error": result.error}
    assert texts == {name: row[name] for name in texts}
    # a metric with the name of a column of the run has a prefix
    metrics = {METRIC + name if METRIC + name in row else name: value for name, value in result.metrics.items()}
    numbers = {name: text for name, text in row.items() if name not in texts}
    compare({**metrics, **result.certificate, "n_fits": result.n_fits}, numbers, name, cell.method)


def complete(cell: Cell, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of a fit; rows of before November 2026 leave out some that the experiment declares."""
    declared = cell.declared["method"]
    defaults = constructor_defaults(get_method(declared["name"]))
    return json.loads(json.dumps({**defaults, **declared["params"], **params}))


def stored(result: CellResult) -> Any:
    """Return what files beside cells.csv.gz are made of."""
    return {"status": result.status, "details": result.details}


def own_lines(text: str, cell: Cell) -> list[dict[str, str]]:
    """Return the lines of a curves.csv that belong to a cell, without the columns that say so."""
    own = {"dataset": cell.dataset, "method": cell.method, "repeat": cell.repeat, **cell.setting}
    return [
        {name: text for name, text in line.items() if name not in own}
        for line in csv.DictReader(io.StringIO(text))
        if all(line.get(name, str(value)) == str(value) for name, value in own.items())
    ]


def compare(found: Mapping[str, Any], committed: Mapping[str, str], name: str, method: str) -> None:
    """Compare numbers with all committed ones that are not measured; what is no longer there counts as NaN."""
    here, unlike = same_rounding(name), torch_error(name)
    objective = float(committed.get("objective") or 0.0)
    for column, text in committed.items():
        if column in {*HEAD, WAY, *MEASURED} or column.startswith(SECONDS):
            continue
        if unlike and column == "residual":  # the gradient of one step, after thousands that differ
            continue
        close, rounding = allowance(column, objective, (name, method), here)
        expected = pytest.approx(number(text), rel=close + unlike, abs=rounding, nan_ok=True)
        assert number(found.get(column)) == expected, (column, method, committed)


def allowance(figure: str, objective: float, column: tuple[str, str], here: bool) -> tuple[float, float]:
    """Return by how much, relatively and absolutely, a figure of (experiment, column) may differ."""
    if here:
        return CLOSE, ROUNDING.get(figure, 0.0)
    local = column[0].startswith("usmo-starts") and column[1].startswith("ramp")  # one of many local optima
    end = ENDS_ELSEWHERE.get(column, RAMP if local else CLOSE)
    if figure in ("objective", "dual_gap", "residual"):  # the last two are differences of numbers like the first
        return end, end * (1.0 + abs(objective))
    if figure == "n_iter" and (local or column in ENDS_ELSEWHERE):
        return MORE_STEPS
    return BY_PROCESSOR.get(column, end), ROUNDING_ELSEWHERE.get(figure, 0.0)


def number(value: Any) -> float:
    """Return a value, or its text in a CSV file, as a number: 1 for True, NaN for nothing."""
    if value in ("True", "False"):
        return float(value == "True")
    return float("nan") if value in ("", None) else float(value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "roles"),
    by_night([("least-squares", "icls cpls"), ("lda", "mcpl em self-training")], [("least-squares", "icls cpls")]),
)
def test_repeats_run_again_have_the_committed_counts_of_harm(family, roles):
    """All repeats on the quickest set; not with a ridge, where the processor decides on safe fits."""
    name, dataset = "safe-learning-curves", "iris"
    columns = [f"{family}/{role}" for role in ("supervised", *roles.split())]
    every = planned(name, committed(name)[0])
    cells = [cell for cell in every if cell.dataset == dataset and cell.method in columns]
    done = execute([cells], Context(offline=True), n_jobs=1, backend="loky")
    rows = {finished.cell.key: stored(finished.result) for finished in done}
    with (ROOT / "results" / name / "harm.csv").open(encoding="utf-8", newline="") as handle:
        lines = {line["method"]: line for line in csv.DictReader(handle) if line["dataset"] == dataset}
    found = harm_rows(curves_of(cells, rows))
    assert [row["method"] for row in found] == columns[1:]
    for row in found:
        compare(row, lines[row["method"]], name, row["method"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["usmo-table-iii", "usmo-table-iv"])
def test_committed_scorings_are_made_of_the_committed_cells(name):
    folder, experiment = ROOT / "results" / name, load_experiment(name, check_methods=False)
    made = extras_of(experiment.protocol)(experiment, planned(name, committed(name)[0]), read_cells_csv(folder))
    assert {extra.path for extra in made} == {"scorings.md", "scorings.csv"}
    assert all(extra.content == (folder / extra.path).read_text(encoding="utf-8") for extra in made)


def test_every_committed_csv_file_is_compared():
    """Here, or with what is made of cells.csv.gz (tests/report/test_committed_tables.py)."""
    names = {path.name for path in (ROOT / "results").glob("*/*.csv*")}
    assert names == {"cells.csv.gz", "curves.csv", "harm.csv", "scorings.csv", "table.csv", "comparisons.csv"}


def test_the_folders_hold_what_their_names_say():
    assert len(EXPERIMENTS) >= 20
    assert all((Path(ROOT) / "experiments" / f"{name}.yaml").is_file() for name in EXPERIMENTS)
