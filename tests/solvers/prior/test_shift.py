"""The class prior of new rows against plain EM and a grid, and the test of features on known changes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from pucli.solvers.prior.shift import FeatureShares, adapted, changed_features, new_prior


def population(n: int, share: float, rng: np.random.Generator, move: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    y = rng.random(n) < share
    return rng.normal(size=(n, 4)) + np.array([1.5, 0.5, 0.0, move]) * np.column_stack([y, y, y, np.ones(n)]), y


def probability(x: np.ndarray, prior: float) -> np.ndarray:
    up, down = prior * norm.pdf(x, 1.5), (1 - prior) * norm.pdf(x)
    return up / (up + down)


def em(p: np.ndarray, prior: float) -> float:
    """Saerens, Latinne, Decaestecker (2002), eq. 2.9, as it is written."""
    new = prior
    for _ in range(5000):
        up = new / prior * p
        new = float(np.mean(up / (up + (1 - new) / (1 - prior) * (1 - p))))
    return new


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7, 0.95])
def test_the_new_prior_is_where_em_arrives_and_near_the_truth(share):
    rng = np.random.default_rng(1)
    X, y = population(3000, share, rng)
    p = probability(X[:, 0], 0.2)
    found = new_prior(p, 0.2, (0.2, 0.2), 10_000, rng)
    assert found.value == pytest.approx(em(p, 0.2), abs=2e-3)
    assert found.value == pytest.approx(y.mean(), abs=0.04)
    assert found.low < found.value < found.high


def test_adapted_probabilities_are_those_of_the_new_population():
    x = np.linspace(-3, 4, 50)
    assert adapted(probability(x, 0.2), 0.2, 0.7) == pytest.approx(probability(x, 0.7))
    assert adapted(np.array([0.0, 1.0]), 0.2, 0.7).tolist() == [0.0, 1.0]
    assert adapted(np.array([0.3]), 0.3, 0.3) == pytest.approx(0.3)


def test_an_uncertain_prior_and_few_labeled_rows_widen_the_interval():
    rng = np.random.default_rng(2)
    p = probability(population(500, 0.5, rng)[0][:, 0], 0.2)
    widths = []
    for ends, labeled in (((0.2, 0.2), 5000), ((0.2, 0.2), 30), ((0.05, 0.4), 30)):
        found = new_prior(p, 0.2, ends, labeled, np.random.default_rng(0))
        widths.append(found.high - found.low)
    assert widths[0] < widths[1] < widths[2]


def binned(X: np.ndarray, points: np.ndarray) -> FeatureShares:
    up_to = (points[:, :, None] >= X.T[:, None, :]).mean(axis=2)
    return FeatureShares(np.diff(up_to, axis=1, prepend=0.0, append=1.0), len(X))


def rates(share: float, move: float, *, any_prior: bool, trials: int) -> float:
    """The share of trials in which the test at 5 % finds a change: 40 labeled, 300 unlabeled, 250 new rows."""
    rng = np.random.default_rng(3)
    called = 0
    for _ in range(trials):
        X, y = population(600, 0.3, rng)
        U, P = X[:300], X[300:][y[300:]][:40]
        points = np.quantile(U, (0.1, 0.3, 0.5, 0.7, 0.9), axis=0).T
        new = population(250, share, rng, move)[0]
        p, _ = changed_features(binned(P, points), binned(U, points), binned(new, points), any_prior=any_prior)
        called += p <= 0.05
    return called / trials


@pytest.mark.slow
def test_false_alarms_are_at_most_one_in_twenty():
    assert rates(0.3, 0.0, any_prior=False, trials=150) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)
    assert rates(0.7, 0.0, any_prior=True, trials=40) <= 0.1


@pytest.mark.slow
def test_changes_are_found_and_told_apart():
    assert rates(0.7, 0.0, any_prior=False, trials=20) > 0.9
    assert rates(0.7, 1.0, any_prior=True, trials=20) > 0.9


def test_features_that_are_the_same_in_all_rows_change_nothing():
    same = FeatureShares(np.array([[1.0, 0, 0, 0, 0, 0], [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]]), 100)
    p, of_each = changed_features(same, same, same, any_prior=True)
    assert p == 1.0 and of_each.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("any_prior", [False, True])
def test_the_chance_of_each_feature_is_multiplied_by_their_number(any_prior):
    rng = np.random.default_rng(0)
    points = np.array([[-1.0, -0.5, 0.0, 0.5, 1.0]])
    samples = [binned(rng.normal(move, 1.0, (n, 1)), points) for move, n in ((1.0, 60), (0.0, 200), (0.2, 200))]
    one = changed_features(*samples, any_prior=any_prior)[1]
    three = changed_features(
        *(s._replace(shares=np.repeat(s.shares, 3, axis=0)) for s in samples), any_prior=any_prior
    )[1]
    assert 0.0 < one[0] < 0.3
    np.testing.assert_allclose(three, 3.0 * one[0])


def test_a_prior_outside_its_interval_extends_it():
    p = np.random.default_rng(0).random(200)
    for ends, extended in (((0.6, 0.7), (0.5, 0.7)), ((0.2, 0.3), (0.2, 0.5))):
        found, expected = (new_prior(p, 0.5, one, 50, np.random.default_rng(1)) for one in (ends, extended))
        assert found == expected
