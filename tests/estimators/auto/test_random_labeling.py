"""The test of random labeling."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.core.errors import naming_options
from pucli.estimators.auto.random_labeling import NAMED_LEVEL, DifferingFeature, RandomLabeling, random_labeling
from tests.solvers.ensemble.helpers import two_clouds


def p_values(bias: float) -> list[float]:
    """Return the p-values of ten samples whose labels depend on the second feature with that strength."""
    found = []
    for seed in range(10):
        X, _, truth = two_clouds(200, labeled=40, apart=3.0, seed=seed)
        rng = np.random.default_rng(seed)
        positive = np.flatnonzero(truth)
        weight = np.exp(bias * X[positive, 1])
        s = np.zeros(len(X), bool)
        s[rng.choice(positive, 40, replace=False, p=weight / weight.sum())] = True
        found.append(random_labeling(X, s, float(truth[~s].mean()), rng).p_value)
    return found


@pytest.mark.slow
def test_random_labeling_is_rarely_rejected() -> None:
    assert np.mean(np.array(p_values(0.0)) <= 0.05) <= 0.2


@pytest.mark.slow
def test_labeling_that_depends_on_a_feature_is_rejected() -> None:
    assert np.median(p_values(0.0)) > 0.2
    assert np.median(p_values(2.0)) < 0.1


@pytest.mark.parametrize("rows", [300, 900])  # at most 400 are used
def test_the_order_of_rows_and_columns_does_not_matter(rows: int) -> None:
    X, s, _ = two_clouds(rows, labeled=40)
    order, columns = np.random.default_rng(1).permutation(len(X)), np.array([2, 0, 3, 1])
    found = random_labeling(X, s, 0.3, np.random.default_rng(0))
    other = random_labeling(X[np.ix_(order, columns)], s[order], 0.3, np.random.default_rng(0))
    assert (other.p_value, other.difference) == (found.p_value, found.difference)
    assert [columns[one.feature] for one in other.differing] == [one.feature for one in found.differing]
    assert columns[other.feature] == found.feature


@pytest.mark.slow
def test_columns_are_named_where_labels_depend_on_one_and_hardly_where_they_are_random() -> None:
    of_bias, of_random = [], []
    for seed in range(6):
        X, _, truth = two_clouds(400, labeled=40, apart=3.0, seed=seed)
        rng, positive = np.random.default_rng(seed), np.flatnonzero(truth)
        for names, strength in ((of_bias, 1.0), (of_random, 0.0)):
            weight = np.exp(strength * X[positive, 1])
            s = np.zeros(len(X), bool)
            s[rng.choice(positive, 60, replace=False, p=weight / weight.sum())] = True
            found = random_labeling(X, s, float(truth[~s].mean()), rng)
            assert all(one.p_value <= NAMED_LEVEL for one in found.differing)
            names.append({one.feature for one in found.differing})
    assert sum(map(bool, of_bias)) >= 3 and set().union(*of_bias) <= {0, 1} and sum(map(len, of_random)) <= 1


def test_differing_features_are_numbered_as_in_the_table() -> None:
    found = RandomLabeling(0.005, 1, 4.0, (DifferingFeature(1, 4.0, 0.005), DifferingFeature(0, -3.0, 0.01)))
    moved = found.of_columns(np.array([7, 9]))
    assert moved.feature == 9 and [one.feature for one in moved.differing] == [9, 7]


def test_an_unlikely_verdict_says_what_to_do() -> None:
    with naming_options():
        assert "again with --labeling sar" in RandomLabeling(0.005, 0, 5.0).verdict
    assert 'again with labeling="sar"' in RandomLabeling(0.005, 0, 5.0).verdict
    assert "--labeling" not in RandomLabeling(0.5, 0, 1.0).verdict


def test_a_verdict_says_from_which_p_value_on_labels_count_as_biased() -> None:
    assert (
        RandomLabeling(0.5, 0, 0.2).verdict
        == "the test found no bias (p = .5), but it misses most kinds: how were these rows chosen?"
    )
    assert RandomLabeling(0.015, 0, 2.0).verdict == (
        "the test found a weak sign of bias (p = .015), and it misses most kinds: how were these rows chosen?"
    )
    assert "the limit is 0.01" in RandomLabeling(0.005, 0, 5.0).verdict
