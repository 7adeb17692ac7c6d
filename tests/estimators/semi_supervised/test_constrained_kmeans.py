"""Pairs that ConstrainedKMeans is given: none, wrong ones, and what they change."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.estimators.semi_supervised.constrained_kmeans import ConstrainedKMeans

X = np.random.default_rng(0).normal(size=(12, 2))


@pytest.mark.parametrize(
    "empty", [None, [], np.empty((0, 2)), np.empty(0, int)], ids=["None", "list", "(0, 2)", "(0,)"]
)
def test_empty_pairs_are_no_pairs(empty):
    free = ConstrainedKMeans(2, random_state=0).fit(X)
    given = ConstrainedKMeans(2, random_state=0).fit(X, must=empty, cannot=empty)
    np.testing.assert_array_equal(given.labels_, free.labels_)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ({"must": [[0, 1, 2]]}, r"must must be pairs of row numbers, shape \(m, 2\)"),
        ({"cannot": [0, 1]}, "cannot must be pairs of row numbers"),
        ({"must": [[0.5, 1.0]]}, "must must be pairs of row numbers"),
        ({"must": [[0, 12]]}, "must has a row number outside 0 to 11"),
        ({"cannot": [[-1, 3]]}, "cannot has a row number outside 0 to 11"),
    ],
)
def test_wrong_pairs_are_named(pairs, message):
    with pytest.raises(ValueError, match=message):
        ConstrainedKMeans(2).fit(X, **pairs)
