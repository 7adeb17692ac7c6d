"""The test of random labeling."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.core.errors import naming_options
from pucli.estimators.auto.random_labeling import RandomLabeling, random_labeling
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
    assert columns[other.feature] == found.feature


def test_an_unlikely_verdict_says_what_to_do() -> None:
    with naming_options():
        assert "again with --labeling sar" in RandomLabeling(0.005, 0, 5.0).verdict
    assert 'again with labeling="sar"' in RandomLabeling(0.005, 0, 5.0).verdict
    assert "--labeling" not in RandomLabeling(0.5, 0, 1.0).verdict


def test_a_verdict_says_from_which_p_value_on_labels_count_as_biased() -> None:
    assert (
        RandomLabeling(0.5, 0, 0.2).verdict
        == "the test found no bias (p = 0.5), but it misses most kinds: how were these rows chosen?"
    )
    assert RandomLabeling(0.015, 0, 2.0).verdict == (
        "the test found a weak sign of bias (p = 0.015), and it misses most kinds: how were these rows chosen?"
    )
    assert "the limit is 0.01" in RandomLabeling(0.005, 0, 5.0).verdict
