"""Declared causes rest on what is committed: the numbers of their notes are those of the experiments that they name."""

import math
import re

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


def cited_notes():
    for name in experiment_names():
        for number, note in enumerate(load_experiment(name, check_methods=False).notes):
            found = CITED.search(note.text)
            if found:
                yield pytest.param(name, note, float(found[1]), found[2], id=f"{name}-{number}")


def place(frame, note, column):
    ((key, value),) = note.setting.items()
    rows = frame[(frame["column"] == column) & (frame["setting"] == f"{key}={value:g}")]
    return rows if note.dataset is None else rows[rows["dataset"] == note.dataset]


@pytest.mark.parametrize(("name", "note", "best", "ceiling"), list(cited_notes()))
def test_a_note_on_the_grid_says_what_its_ceiling_gives(name, note, best, ceiling):
    # table 5.3 shows the fits of table 3.3 under another name
    column = "glpual/thesis" if (name, note.method) == ("table-5.3", "glpual") else note.method
    seen = table(ceiling, "f1_ceiling")
    if column not in set(seen["column"]):  # another rule of choice on the same grid
        column = base_name(column)
    (row,) = place(seen, note, column).itertuples()
    assert round(row.obtained_mean, 1) == best
    (published,) = place(table(name, "f1"), note, note.method).itertuples()
    repeats = int(row.repeats)
    error = math.sqrt((row.obtained_sd**2 + published.published_sd**2) / repeats)
    reached = published.published_mean - row.obtained_mean <= 2 * error
    assert reached == ("the grid has points within" in note.text)
    assert (note.cause == "tuning noise") == reached and (note.cause or "") in CAUSES_OF_A_CEILING
    assert published.verdict in ("worse", "degenerate", "inconclusive")


def agreeing_notes():
    for name in experiment_names():
        for number, note in enumerate(load_experiment(name, check_methods=False).notes):
            found = AGREES.search(note.text)
            # see test_selections.py, and below
            if found and not found[2].startswith(("selections-", "usmo-starts-")):
                yield pytest.param(name, note, float(found[1]), found[2], id=f"{name}-{number}")


@pytest.mark.parametrize(("name", "note", "figure", "variant"), list(agreeing_notes()))
def test_a_variant_that_is_said_to_agree_does(name, note, figure, variant):
    rows = judged(name, variant)
    (frequency,) = note.setting.values()
    rows = rows[(rows["dataset"] == note.dataset) & (rows["setting"] == f"label_frequency={frequency:g}")]
    rows = rows[rows["column"].eq(note.method) & rows["agrees"]]
    assert figure in set(rows["mean"].round(1))


@pytest.mark.parametrize("number", ["iii", "iv"])
def test_notes_on_other_starts_name_those_that_agree_and_no_others(number):
    name, folder = f"usmo-table-{number}", f"(usmo-starts-{number})"
    words = {"double-hinge": "from the double hinge", "random": "from random scores", "uniform": "from equal rows"}
    wanted = set()
    for row in other_starts(number).itertuples():
        if row.agrees and row.verdict in ("better", "worse"):
            wanted.add((row.dataset, row.method, f"{words[row.start]} it is {row.mean:.1f}, which agrees {folder}"))
    notes = [note for note in load_experiment(name).notes if folder in note.text and note.dataset]
    assert {(note.dataset, note.method, note.text) for note in notes} == wanted
    assert all(
        note.cause == ("form of the method" if "equal rows" in note.text else "not stated in print") for note in notes
    )
