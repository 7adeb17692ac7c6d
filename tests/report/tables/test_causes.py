"""Declared causes rest on what is committed: the numbers of their notes are those of the experiments that they name."""

import math
import re
from functools import cache

import pytest

from pucli.runner import load_experiment
from pucli.runner.experiment import base_name
from pucli.runner.loading import experiment_names
from tests.report.page_numbers import table
from tests.report.variants import judged, other_starts

# what may be concluded: the choice misses it; nothing can reach it (fully described data); or nothing
CAUSES_OF_A_CEILING = ("tuning noise", "cannot be produced as described", "")
AGREES = re.compile(r"it is ([\d.]+), which agrees \(([\w.-]+)")
CITED = re.compile(r"the best on the test rows has ([\d.]+) \((ceiling-[\d.]+)\)")


@cache  # and read when a test runs: every worker collects this file
def notes():
    return [(name, note) for name in experiment_names() for note in load_experiment(name, check_methods=False).notes]


def place(frame, note, column):
    ((key, value),) = note.setting.items()
    rows = frame[(frame["column"] == column) & (frame["setting"] == f"{key}={value:g}")]
    return rows if note.dataset is None else rows[rows["dataset"] == note.dataset]


@pytest.mark.slow
def test_a_note_on_the_grid_says_what_its_ceiling_gives():
    cited = [(name, note, found) for name, note in notes() if (found := CITED.search(note.text))]
    assert len(cited) > 50
    for name, note, found in cited:
        the_note_on_the_grid_holds(name, note, float(found[1]), found[2])


def the_note_on_the_grid_holds(name, note, best, ceiling):
    # table 5.3 shows the fits of table 3.3 under another name
    column = "glpual/thesis" if (name, note.method) == ("table-5.3", "glpual") else note.method
    seen = table(ceiling, "f1_ceiling")
    if column not in set(seen["column"]):  # another rule of choice on the same grid
        column = base_name(column)
    (row,) = place(seen, note, column).itertuples()
    assert round(row.obtained_mean, 1) == best, (name, note)
    (published,) = place(table(name, "f1"), note, note.method).itertuples()
    repeats = int(row.repeats)
    error = math.sqrt((row.obtained_sd**2 + published.published_sd**2) / repeats)
    reached = published.published_mean - row.obtained_mean <= 2 * error
    assert reached == ("the grid has points within" in note.text), (name, note)
    assert (note.cause == "tuning noise") == reached and (note.cause or "") in CAUSES_OF_A_CEILING, (name, note)
    assert published.verdict in ("worse", "degenerate", "inconclusive"), (name, note)


def test_a_variant_that_is_said_to_agree_does():
    agreeing = [(name, note, found) for name, note in notes() if (found := AGREES.search(note.text))]
    # the others: see test_selections.py, and below
    agreeing = [each for each in agreeing if not each[2][2].startswith(("selections-", "usmo-starts-"))]
    assert agreeing
    for name, note, found in agreeing:
        rows = judged(name, found[2])
        (frequency,) = note.setting.values()
        rows = rows[(rows["dataset"] == note.dataset) & (rows["setting"] == f"label_frequency={frequency:g}")]
        rows = rows[rows["column"].eq(note.method) & rows["agrees"]]
        assert float(found[1]) in set(rows["mean"].round(1)), (name, note)


@pytest.mark.parametrize("number", ["iii", "iv"])
def test_notes_on_other_starts_name_those_that_agree_and_no_others(number):
    name, folder = f"usmo-table-{number}", f"(usmo-starts-{number})"
    words = {"double-hinge": "from the double hinge", "random": "from random scores", "uniform": "from equal rows"}
    wanted = set()
    for row in other_starts(number).itertuples():
        if row.agrees and row.verdict in ("better", "worse"):
            wanted.add((row.dataset, row.method, f"{words[row.start]} it is {row.mean:.1f}, which agrees {folder}"))
    said = [note for note in load_experiment(name).notes if folder in note.text and note.dataset]
    assert {(note.dataset, note.method, note.text) for note in said} == wanted
    assert all(
        note.cause == ("form of the method" if "equal rows" in note.text else "not stated in print") for note in said
    )
