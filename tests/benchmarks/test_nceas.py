"""The benchmark of species: folds in blocks, the precision-recall-gain curve, and the page of the committed cells."""

from __future__ import annotations

import sqlite3
import struct

import numpy as np
import pandas as pd
import pytest

from benchmarks import nceas
from benchmarks.common.result_files import read_results
from pucli.core.errors import UsageError
from tests.helpers import ROOT

# Squares of ten, five by five.
BLOCKS = np.array([[x, x + 10.0, y, y + 10.0] for x in range(0, 50, 10) for y in range(0, 50, 10)])


def test_the_area_under_precision_recall_gain_is_that_of_a_curve_by_hand():
    present, scores = np.array([True, False, True, False, False]), np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    # two positives of five: a recall gain of 0 at 4/5 found, of 1/3 at one found (precision gain 1, and 1/3 with the
    # false one), and of 1 at both (2/3, then 1/3 and 0)
    expected = (1 / 3) * 1.0 + (2 / 3) * (1 / 3 + 2 / 3) / 2.0
    assert np.isclose(nceas.gain_area(present, scores), expected)
    assert np.isclose(nceas.gain_area(present, np.zeros(5)), 0.0)  # all at once: from a recall gain of 0 to 1 at 0
    assert np.isclose(nceas.gain_area(present, present * 1.0), 1.0)


def test_folds_are_whole_blocks_and_the_best_draw_with_rows_of_every_kind():
    random = np.random.default_rng(0)
    places, kind = random.uniform(0, 50, (600, 2)), np.sort(random.integers(0, 4, 600))
    fold = nceas.block_folds(places, kind, BLOCKS, 32)
    block = (places // 10).astype(int) @ [5, 1]
    assert all(len({*fold[block == number]}) == 1 for number in range(25))
    assert [len({*block[fold == number]}) for number in range(5)] == [5] * 5
    assert (fold == nceas.block_folds(places, kind, BLOCKS, 32)).all()
    assert (fold != nceas.block_folds(places, kind, BLOCKS, 33)).any()
    # nearly all records are in five blocks: a draw that puts these into five folds is kept
    few = np.where((kind == 1) & (block >= 5) & (np.arange(600) % 20 > 0), 0, kind)
    counts = np.bincount(nceas.block_folds(places, few, BLOCKS, 32)[few == 1], minlength=5)
    assert counts.min() > 0
    # a record on an edge is in one of both blocks, by the seed
    places[kind == 1] = [10.0, 5.0]
    folds = [nceas.block_folds(places, kind, BLOCKS, seed) for seed in (32, 33)]
    assert all(1 < len({*one[kind == 1]}) <= 2 or len({one[block == 0][0], one[block == 5][0]}) == 1 for one in folds)


def test_blocks_are_read_from_the_envelopes_of_a_geopackage(tmp_path):
    with sqlite3.connect(tmp_path / "blocks.gpkg") as base:
        base.execute("create table gpkg_contents (table_name)")
        base.execute("insert into gpkg_contents values ('AWT')")
        base.execute("create table AWT (geom blob)")
        base.executemany(
            "insert into AWT values (?)", [(b"GP\0\3\0\0\0\0" + struct.pack("<4d", *row),) for row in BLOCKS]
        )
    assert (nceas.blocks_of(tmp_path / "blocks.gpkg") == BLOCKS).all()


def test_the_committed_page_is_that_of_its_cells():
    found = read_results(ROOT / "results" / "bench", "nceas")
    cells = pd.DataFrame(found["cells"])
    auto = cells[cells["method"] == "auto"].set_index(["test", "seed", "name"])["AUC"]
    table = f"NCEAS, {nceas.SURVEYS}"
    (row,) = [row for row in found["standing"] if (row["table"], row["measure"]) == (table, "AUC")]
    assert row["n"] == len(auto[nceas.SURVEYS].dropna()) and np.isclose(row["auto"], auto[nceas.SURVEYS].mean())
    assert np.isclose(row["auto"] - row["other"], row["difference"], atol=1e-6)


def test_a_folder_without_the_files_is_an_error_with_the_way_out(tmp_path):
    with pytest.raises(UsageError, match=r"no file AWT.*; clone .* --only folder=DIR"):
        nceas.run(folder=tmp_path)
