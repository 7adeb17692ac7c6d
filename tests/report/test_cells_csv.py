"""cells.csv.gz: what is written is read back, and makes the same report as the store."""

import gzip
import json
import math

import pytest

from pucli.core.errors import UsageError
from pucli.core.json_values import json_values
from pucli.report import collect
from pucli.report.cells_csv import HEAD, TAIL, cells_csv, read_cells_csv, write_cells_csv
from pucli.report.files import csv_text
from pucli.runner import Cell, run
from pucli.runner.loading import load_experiment
from tests.helpers import ROOT

SMALL = """
title: Small
data: {generate: wang-two-gaussians, parameters: {mean_p2: 50}}
split: {scenario: single-training-set, label_frequencies: [0.25], repeats: 3, seed: 1}
tuning: {folds: 2, score: puf}
methods:
  gllc/one: {method: gllc, grid: {lam: [1, 10]}}
  gllc/two: {method: gllc, lam: 3}
metrics: [f1, auc]
profiles: {quick: {repeats: 2}}
"""


def stored(cells):
    """Rows with awkward numbers, and metrics named like columns of the run."""
    return {
        cell.key: {
            "status": "done", "metrics": {"f1": 0.1 + 0.2, "error": 1 / 3, "objective": -1e-17, "nmi": None},
            "seconds": {"tune": 0.1, "fit": 1e-9}, "params": {"lam": 0.1, "kernel": "rbf", "c_u": None},
            "certificate": {"objective": 123456789.123456789, "dual_gap": 5e-324, "n_iter": 12, "converged": True},
            "n_fits": 3, "flags": ["not converged", "edge of the grid"], "notes": ["a, b", 'say "c"'], "error": "",
        }
        for cell in cells
    }  # fmt: skip


@pytest.fixture
def cells():
    return [
        Cell("seeds", {"label_frequency": 0.5}, r, f"gllc/{v}", {"r": r, "v": v}, "g") for r in (0, 1) for v in "ab"
    ]


def test_every_digit_is_read_back(cells, tmp_path):
    rows = stored(cells[:3])
    text = cells_csv(cells, rows)
    head = text.splitlines()[0].split(",")
    assert len(head) == len(set(head)) and {"metric_error", "metric_objective", "objective", "error"} <= set(head)
    write_cells_csv(tmp_path, text)
    back = read_cells_csv(tmp_path)
    assert set(back) == {cell.key for cell in cells[:3]}  # the fourth has not run
    for key, row in rows.items():
        for part in ("seconds", "certificate", "params", "n_fits", "flags", "notes", "status", "error"):
            assert back[key][part] == row[part]
        assert back[key]["metrics"] == {name: value for name, value in row["metrics"].items() if value is not None}
        assert back[key]["metrics"]["f1"] == 0.1 + 0.2 != 0.3


def test_the_same_cells_are_the_same_bytes(cells, tmp_path):
    text = cells_csv(cells, stored(cells))
    path = write_cells_csv(tmp_path, text)
    first = path.read_bytes()
    path.unlink()
    assert write_cells_csv(tmp_path, text).read_bytes() == first and first[4:8] == bytes(4)  # no time
    path.write_bytes(gzip.compress(text.encode(), 1))  # as by another zlib
    kept = path.read_bytes()
    assert write_cells_csv(tmp_path, text).read_bytes() == kept
    path.write_bytes(first[: len(first) // 2])
    with pytest.raises(UsageError, match=r"cells.csv.gz: cannot be read"):
        read_cells_csv(tmp_path)
    assert write_cells_csv(tmp_path, text).read_bytes() == first


def test_a_file_with_a_mistake_is_named(cells, tmp_path):
    assert read_cells_csv(tmp_path) == {}
    good = cells_csv(cells, stored(cells))
    write_cells_csv(tmp_path, good.replace("n_fits", "fits", 1))
    with pytest.raises(UsageError, match=r"cells.csv.gz: the column 'n_fits' is missing"):
        read_cells_csv(tmp_path)
    write_cells_csv(tmp_path, good.replace("0.30000000000000004", "a third", 1))
    with pytest.raises(UsageError, match=r"cells.csv.gz: line 2: could not convert string to float: 'a third'"):
        read_cells_csv(tmp_path)


@pytest.fixture
def ran(tmp_path):
    (tmp_path / "small.yaml").write_text(SMALL)
    experiment = load_experiment(tmp_path / "small.yaml")
    run(experiment, results_dir=tmp_path / "results")
    return experiment, tmp_path / "results"


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_clone_without_the_store_gives_the_same_report(ran):
    experiment, results = ran
    first = collect(experiment, results_dir=results)
    assert first.profile == "full" and not first.kept
    for path in (results / "small").glob("store*"):
        path.unlink()
    before = contents(results)
    again = collect(experiment, results_dir=results)
    assert contents(results) == before
    assert again.kept == [] and again.figures == first.figures
    assert json_values(again.rows) == json_values(first.rows)


@pytest.mark.slow
def test_cells_that_are_run_later_join_the_committed_ones(ran):
    experiment, results = ran
    collect(experiment, results_dir=results, profile="quick")  # cells.csv.gz of 4 cells
    for path in (results / "small").glob("store*"):
        path.unlink()
    run(experiment, results_dir=results, methods=["gllc/two"])  # 3 cells, one of them new
    report = collect(experiment, results_dir=results, profile="full")
    assert report.cells == {"total": 6, "done": 5, "failed": 0, "missing": 1}
    provenance = json.loads((results / "small" / "provenance.json").read_text())
    assert sum(way["cells"] for way in provenance["made_with"]) == 5  # two of the three replace those of the file
    before = contents(results)
    collect(experiment, results_dir=results, profile="full")
    assert contents(results) == before  # nothing is counted twice


def test_each_cell_keeps_the_way_in_which_it_was_made(cells, tmp_path):
    rows = stored(cells)
    ways = [{"commit": "a", "cells": 1}, {"commit": "b", "cells": len(rows) - 1}]
    for number, row in enumerate(rows.values()):
        row["provenance"] = {"commit": "ab"[number > 0]}
    write_cells_csv(tmp_path, cells_csv(cells, rows, ways))
    recorded = json.loads((ROOT / "results" / "table-3.1" / "provenance.json").read_text(encoding="utf-8"))
    (tmp_path / "provenance.json").write_text(json.dumps({**recorded, "made_with": ways}))
    back = read_cells_csv(tmp_path)
    assert {key: row["provenance"] for key, row in back.items()} == {
        key: row["provenance"] for key, row in rows.items()
    }
    # one way needs no column; of several without it the way is not known
    write_cells_csv(tmp_path, cells_csv(cells, rows))
    assert all(row["provenance"] == {} for row in read_cells_csv(tmp_path).values())
    (tmp_path / "provenance.json").write_text(json.dumps({**recorded, "made_with": ways[:1]}))
    assert all(row["provenance"] == {"commit": "a"} for row in read_cells_csv(tmp_path).values())


def test_the_error_without_cells_names_the_command(tmp_path):
    (tmp_path / "small.yaml").write_text(SMALL)
    with pytest.raises(UsageError, match=r"no run of small is finished in .*; `pucli reproduce small"):
        collect(load_experiment(tmp_path / "small.yaml"), results_dir=tmp_path)


def test_numbers_that_are_not_finite_are_empty(cells, tmp_path):
    rows = stored(cells)
    rows[cells[0].key]["metrics"]["f1"] = math.nan
    write_cells_csv(tmp_path, cells_csv(cells, rows))
    assert "f1" not in read_cells_csv(tmp_path)[cells[0].key]["metrics"]


def test_lines_are_counted_past_a_note_of_two_lines(tmp_path):
    values = dict.fromkeys((*HEAD, "seconds_fit", *TAIL), "")
    rows = [{**values, "key": "a", "status": "missing", "notes": "two\nlines"}, {**values, "key": "a"}]
    write_cells_csv(tmp_path, csv_text(list(values), [list(row.values()) for row in rows]))
    with pytest.raises(UsageError, match="line 4 has the cell of line 2 again"):
        read_cells_csv(tmp_path)
