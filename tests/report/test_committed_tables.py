"""Every committed table is what `pucli report` makes today of the committed cells.csv.gz, byte for byte."""

import gzip

import pytest

from pucli.report import Gathered, assemble
from pucli.report.build import keep_recorded
from pucli.report.cells_csv import read_cells_csv
from pucli.report.files import read_provenance
from pucli.report.formats.render import rendered
from pucli.runner import load_experiment
from pucli.runner.profiles import scope
from tests.helpers import ROOT, planned

EXPERIMENTS = sorted(path.parent.name for path in (ROOT / "results").glob("*/cells.csv.gz"))
# thousands of cells to plan
SLOW = {"safe-learning-curves", "classtering-classification", "classtering-clustering"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in EXPERIMENTS]
)
def test_committed_tables_are_made_of_the_committed_cells(name):
    folder = ROOT / "results" / name
    experiment = load_experiment(name, check_methods=False)
    provenance = read_provenance(folder)
    profile = provenance["profile"]
    cells, rows = planned(name, profile), read_cells_csv(folder)
    report = assemble(Gathered(experiment, scope(experiment, profile), cells, rows, folder))
    keep_recorded(report, provenance)
    assert report.cells == provenance["cells"] and report.flags == provenance["flags"]
    for file, text in rendered(report).items():
        assert text == (folder / file).read_text(encoding="utf-8"), f"run `pucli report {name}`"


def test_every_recorded_figure_is_there():
    for name in EXPERIMENTS:
        folder = ROOT / "results" / name
        recorded = read_provenance(folder)
        for path, _ in [*recorded["figures"], *recorded["texts"]]:
            assert (folder / path).is_file(), f"{name}/{path}"


def test_no_two_columns_of_a_cells_file_have_one_name():
    for name in EXPERIMENTS:
        with gzip.open(ROOT / "results" / name / "cells.csv.gz", "rt", encoding="utf-8") as file:
            head = file.readline().strip().split(",")
        assert len(head) == len(set(head)), name
