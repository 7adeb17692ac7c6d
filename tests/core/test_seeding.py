"""Samples of labeled and unlabeled rows, and z-scores."""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import z_scores
from pucli.core.seeding import sample_of_each_kind, stream


def test_a_sample_has_at_most_so_many_rows_of_each_kind_in_order():
    labeled = stream(0, "labels").random(100) < 0.3
    n = int(labeled.sum())
    for most, expected in (((5,), (5, 5)), ((5, 20), (5, 20)), ((200,), (n, 100 - n)), ((0, 7), (0, 7))):
        rows = sample_of_each_kind(labeled, stream(1, "rows"), *most)
        assert (labeled[rows].sum(), (~labeled[rows]).sum()) == expected
        assert np.all(np.diff(rows) > 0)
        assert np.array_equal(rows, sample_of_each_kind(labeled, stream(1, "rows"), *most))
    assert not np.array_equal(
        sample_of_each_kind(labeled, stream(1, "rows"), 9), sample_of_each_kind(labeled, stream(2, "rows"), 9)
    )


def test_z_scores_have_mean_zero_and_deviation_one():
    X = stream(0, "rows").normal(3.0, 2.0, (40, 3))
    X[:, 1] = 7.0
    Z = z_scores(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(Z.std(axis=0), [1.0, 0.0, 1.0])
    assert not Z[:, 1].any() and np.all(X[:, 1] == 7.0)
