"""Benchmark `rare`: what it draws and what it counts."""

import numpy as np
import pytest

from benchmarks import rare
from benchmarks.common.quality_tasks import Rows


def test_the_unlabeled_rows_have_the_wanted_share_and_the_labeled_ones_are_positive():
    y = np.arange(3000) < 600
    X, s, truth = rare.draw(Rows(np.c_[np.arange(3000.0), y], y.astype(int)), 0.02, 50, 1000, np.random.default_rng(0))
    assert s.sum() == 50 and truth.sum() == 20 and len(truth) == 1000
    np.testing.assert_array_equal(X[:, 1], np.r_[np.ones(50), truth])
    assert len(np.unique(X[:, 0])) == len(X)


@pytest.mark.slow  # fits the whole ensemble to 1,100 rows
def test_a_small_run_calls_few_rows_and_tells_what_the_first_hold():
    found = rare.run(tables=[rare.GENERATED], priors=[0.02], labeled=[100], rows=1000)
    (cell,) = found["cells"]
    assert cell["told"] and cell["called"] < 4.0 and cell["of_best"] <= 1.0
    assert 0.0 < cell["recall"] <= 1.0 and np.isclose(cell["lift"], cell["precision"] / 0.02)
    assert found["rows"][0]["table"] == rare.GENERATED
