"""What tables of Wang 2024 say of other selections of rows or columns, held against the runs of these."""

import csv
import gzip
import json
import math
from collections import Counter, defaultdict

import pytest

from pucli.data.catalogue.entries import load_catalogue
from pucli.report.tables.causes import SELECTION
from pucli.report.tables.published import IN_VIEW
from pucli.report.tables.verdict import MeanAndSd, judge
from tests.helpers import ROOT

RESULTS = ROOT / "results"
CATALOGUE = load_catalogue()
# The experiments with other selections of a table, and its columns there where they have another name.
OTHERS = {
    "table-3.3": {"selections-3.3": {}},
    "table-4.4": {"selections-4.4": {}},
    "table-4.5": {"selections-4.4": {}},
    "table-5.3": {"selections-3.3": {"glpual": "glpual/thesis"}, "selections-5.3": {}},
}


def read(name, file="table.csv"):
    opened = gzip.open if file.endswith(".gz") else open
    with opened(RESULTS / name / file, "rt", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def number(text):
    return float(text) if text else math.nan


def column(row):
    return "/".join(filter(None, (row["method"], row["variant"])))


def of_one_class(name):
    """How many cells predict one class only, by data set, label frequency and column."""
    cells = [row for row in read(name, "cells.csv.gz") if "one class predicted" in row["flags"]]
    return Counter((row["dataset"], str(json.loads(row["setting"])["label_frequency"]), column(row)) for row in cells)


def agreeing(table):
    """For each row that is better or worse on a guessed selection: those tried, and those that reproduce it."""
    tried = defaultdict(list)
    for name in OTHERS[table]:
        degenerate = of_one_class(name)
        for row in read(name):
            one_class = degenerate[row["dataset"], row["setting"].partition("=")[2], column(row)]
            if CATALOGUE[row["dataset"]].selection == IN_VIEW:
                continue
            place = CATALOGUE[row["dataset"]].like, row["setting"], row["metric"]
            tried[name, *place, column(row)].append((row, one_class))
    found = []
    for row in read(table):
        if row["verdict"] not in ("better", "worse") or CATALOGUE[row["dataset"]].selection == "known":
            continue
        published = MeanAndSd(number(row["published_mean"]), number(row["published_sd"]), 10)
        of, agree = [], []
        for name, renamed in OTHERS[table].items():
            wanted = renamed.get(column(row), column(row))
            for other, one_class in tried[name, row["dataset"], row["setting"], row["metric"], wanted]:
                obtained = MeanAndSd(
                    number(other["obtained_mean"]), number(other["obtained_sd"]), int(other["repeats"])
                )
                judged = judge(obtained, published, row["metric"].partition(" ")[0], one_class=one_class)
                of.append((name, other["dataset"]))
                if judged.verdict == "reproduced":
                    agree.append((name, other["dataset"], obtained.mean))
        found.append((row, of, agree))
    return found


@pytest.mark.parametrize("table", OTHERS)
def test_a_guessed_selection_is_the_cause_where_another_agrees_and_only_there(table):
    for row, of, agree in agreeing(table):
        where = f"{table}: {row['dataset']}, {row['setting']}, {column(row)}, {row['metric']}"
        assert (row["cause"] == SELECTION) == bool(agree), where
        for name, dataset, mean in agree:
            assert f"with {dataset} it is {mean:.1f}, which agrees ({name})" in row["note"], where
        if of and not agree:
            names = ", ".join(dict.fromkeys(name for name, _ in of))
            assert f"disagrees as well, or spreads too widely to tell ({names})" in row["note"], where
            assert all(dataset in row["note"] for _, dataset in of), where
        if not of:
            assert "selections-" not in row["note"], where


def test_other_selections_were_tried_for_every_guessed_set_of_table_3_3():
    guessed = {row["dataset"] for row in read("table-3.3") if CATALOGUE[row["dataset"]].selection == "guessed"}
    assert guessed == {CATALOGUE[row["dataset"]].like for row in read("selections-3.3")}
