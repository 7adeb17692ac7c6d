"""Counts of verdicts over all tables: each published figure counts once."""

import json
import re
from collections import Counter

import pandas as pd
import pytest

from pucli.core.declared_files import declared_path
from pucli.report.all_experiments import Judged, judged_rows, one_for_each_figure, verdict_counts, verdict_table
from pucli.report.gathering import lacking
from pucli.report.provenance import as_declared
from pucli.report.tables.causes import REDUCED
from pucli.report.tables.verdict import COMPARED, INCONCLUSIVE, NOT_RUN, REPRODUCED, WORSE, Judgment, beside
from pucli.runner.loading import experiment_names, load_experiment
from tests.helpers import ROOT


def row(experiment, verdict, repeats, method="PAE", primary=True, cause=""):
    figure = ("one.csv", "grid", "", method, "log_likelihood")
    return Judged(experiment, "log_likelihood", verdict, cause, primary, figure, repeats)


def primary_of(rows):
    return [(one.experiment, one.verdict) for one in one_for_each_figure(rows) if one.primary]


def test_of_tables_with_one_published_figure_that_with_most_repeats_counts():
    rows = [row("curve", INCONCLUSIVE, 1), row("table", WORSE, 10), row("long", NOT_RUN, 0)]
    for order in (rows, rows[::-1]):
        assert primary_of(order) == [("table", WORSE)]


def test_a_run_of_the_published_length_counts_before_more_repeats_of_a_shorter_one():
    rows = [row("table", WORSE, 10, cause=REDUCED), row("long", INCONCLUSIVE, 5), row("longer", NOT_RUN, 0)]
    for order in (rows, rows[::-1]):
        assert primary_of(order) == [("long", INCONCLUSIVE)]


def test_the_first_of_equals_counts_and_a_figure_that_no_table_ran_counts_once():
    assert primary_of([row("a", NOT_RUN, 0), row("b", NOT_RUN, 0)]) == [("a", NOT_RUN)]


def test_a_variant_never_counts_and_other_figures_count_beside_it():
    rows = [row("a", WORSE, 10, primary=False), row("b", INCONCLUSIVE, 1), row("b", WORSE, 1, method="VAE")]
    assert primary_of(rows) == [("b", INCONCLUSIVE), ("b", WORSE)]
    assert [one.verdict for one in one_for_each_figure(rows)] == [WORSE, INCONCLUSIVE, WORSE]
    counts = [line for line in verdict_table(one_for_each_figure(rows)).splitlines() if "each published" in line]
    assert [word.strip() for word in counts[0].split("|")][1:6] == [
        "**each published figure once**", "", "2", "1", "1"
    ]  # fmt: skip


def test_no_published_figure_of_the_committed_tables_counts_twice():
    primary = [one for one in judged_rows(ROOT / "results") if one.primary]
    assert len(primary) > 800
    assert [figure for figure, times in Counter(one.figure for one in primary).items() if times > 1] == []
    # their runs are as many as those of pae-table-4.1 and -4.2, and longer; that of PAE on the grid is the longest
    curves = {one.experiment for one in primary if one.experiment.startswith(("pae-iterations", "pae-long"))}
    assert curves == {"pae-iterations-4.1", "pae-iterations-4.2", "pae-long-4.1"}


@pytest.mark.slow
def test_every_published_figure_counts():
    """Of each column of each published file; a figure that is a word, "failure", has no verdict."""
    files = {source.file for name in experiment_names() for source in load_experiment(name).published}
    published = 0
    for file in files:
        rows = pd.read_csv(declared_path("experiments") / "published" / file, dtype=str)
        means = [c for c in rows if c in ("mean", "f_measure", "iterations_per_second") or c.endswith("_mean")]
        published += int(pd.to_numeric(rows[means].stack(), errors="coerce").notna().sum())
    rows = judged_rows(ROOT / "results")
    assert sum(one.primary or one.verdict == COMPARED for one in rows) == published


def test_a_figure_of_another_method_is_neither_reproduced_nor_counted():
    rows = judged_rows(ROOT / "results")
    compared = {one.experiment for one in rows if one.verdict == COMPARED}
    assert compared == {"disdat-swi", "pu-bench", "puicl", "pulsnar"}
    assert not any(one.primary or one.cause for one in rows if one.verdict == COMPARED)
    assert not any(one.primary for one in rows if one.experiment in ("disdat-swi", "pu-bench", "puicl"))
    assert beside(Judgment(REPRODUCED)).verdict == "compared with another method: equal"
    assert beside(Judgment(WORSE)).verdict == "compared with another method: worse"


def test_the_tables_add_up_to_the_published_figures():
    rows = judged_rows(ROOT / "results")
    found = verdict_counts(rows)
    assert sum(sum(tally.counted.values()) for tally in found.values()) == sum(one.primary for one in rows)
    apart = found["table-3.3"].apart
    assert set(apart) == {"form rkhs"} and sum(apart["form rkhs"].values()) == 64
    assert set(found["usmo-table-iii"].apart) == {"scored by f_majority", "scored by f1"}
    assert found["puicl"].figures == 0 and list(found["puicl"].apart) == [COMPARED]


def test_the_committed_provenance_says_what_datasets_yaml_says_of_the_rows():
    """`pucli report --all` writes it anew."""
    for path in sorted((ROOT / "results").glob("*/provenance.json")):
        data = json.loads(path.read_text(encoding="utf-8"))["data"]
        assert as_declared(data) == data, path
        page = (path.parent / "provenance.md").read_text(encoding="utf-8")
        for one in data:
            assert re.search(rf"^\| {re.escape(one['name'])} .*\| {one['selection']} ", page, re.M), path


def test_a_table_alone_lacks_what_its_verdicts_are_compared_with(tmp_path):
    table = load_experiment("table-3.3")
    assert lacking(table, ROOT / "results") == []
    assert lacking(table, tmp_path) == ["author-3.3", "author-raw-3.3", "controls.csv"]
