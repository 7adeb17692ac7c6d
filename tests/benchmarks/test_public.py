"""The page of public tables: its rows are those of the committed results, and its differences are paired."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import public
from benchmarks.common.result_files import read_results
from pucli.data.older_pandas import is_older
from tests.helpers import ROOT


@pytest.mark.skipif(is_older(), reason="sums of earlier pandas differ in the last digit")
def test_the_committed_rows_are_those_of_the_committed_results():
    found = public.run(results=ROOT / "results", published=ROOT / "experiments" / "published")["standing"]
    assert found == read_results(ROOT / "results" / "bench", "public")["standing"], "run `python -m benchmarks public`"


def test_differences_are_paired_and_a_smaller_error_is_a_gain():
    index = pd.MultiIndex.from_product([["a", "b", "c"], [0, 1]])
    other = pd.Series([0.5, 0.4, 0.9, 0.8, 0.1, 0.2], index)
    row = public.paired("table", "error", other - 0.1, "other", other, low=True)
    assert np.isclose(row["difference"], 0.1) and np.isclose(row["standard_error"], 0.0) and row["n"] == 3
    # all rows of a table move together: as many observations as tables
    moved = pd.Series([0.1, 0.1, 0.2, 0.2, 0.3, 0.3], index)
    row = public.paired("table", "AUC", other + moved, "other", other, low=False)
    assert np.isclose(row["standard_error"], np.std([0.1, 0.2, 0.3], ddof=1) / np.sqrt(3))
