"""The in-group proportion of table 2.2 of Sansone 2018."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from pucli.metrics import in_group_proportion
from tests.helpers import examples


@examples(30)
@given(st.integers(0, 10_000), st.integers(4, 40), st.integers(2, 5))
def test_it_is_the_share_of_rows_whose_nearest_row_is_in_their_cluster(seed, n, k):
    rng = np.random.default_rng(seed)
    X, clusters = rng.normal(size=(n, 3)), rng.integers(0, k, size=n)
    nearest = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X, return_distance=False)[:, 1]
    found = in_group_proportion(X, clusters)
    assert list(found) == sorted(set(clusters.tolist()))
    for name, value in found.items():
        rows = np.flatnonzero(clusters == name)
        assert value == pytest.approx(np.mean(clusters[nearest[rows]] == name))
    # it depends on neither the unit nor the names
    renamed = in_group_proportion(10 * X, np.array(list("abcde"))[clusters])
    assert list(renamed.values()) == list(found.values())


def test_clusters_far_apart_have_one_and_a_lone_row_zero():
    X = np.vstack([np.random.default_rng(0).normal(size=(20, 2)) + shift for shift in (0, 100)])
    clusters = np.repeat([0, 1], 20)
    assert in_group_proportion(X, clusters) == {0: 1.0, 1: 1.0}
    clusters[0] = 2
    found = in_group_proportion(X, clusters)
    assert found[2] == 0.0 and found[1] == 1.0
