"""The binormal law of the scores: what it says where positives are rare, and where it says nothing."""

import numpy as np
import pytest

from pucli.solvers.ensemble.hidden_share import estimate_prior, rare_prior
from pucli.solvers.prior.binormal import binormal


def scores(
    prior: float, distance: float, labeled: int = 100, rows: int = 10_000, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sorted scores of labeled rows and of the population, and which of the latter are positive."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) < round(prior * rows)
    population = rng.normal(distance * y, 1.0)
    order = np.argsort(population)
    return np.sort(rng.normal(distance, 1.0, labeled)), population[order], y[order]


def f1(y: np.ndarray, share: float) -> float:
    called = round(share * len(y))
    return 2.0 * float(y[len(y) - called :].sum()) / (called + y.sum())


def test_the_law_depends_on_the_order_of_the_scores_alone():
    positive, population, _ = scores(0.02, 2.0)
    law, changed = binormal(positive, population), binormal(np.exp(positive), np.exp(population))
    np.testing.assert_array_equal(law.weights, changed.weights)


@pytest.mark.parametrize("prior", [0.005, 0.02])
@pytest.mark.slow
def test_a_small_prior_is_estimated_better_than_by_best_bins(prior):
    errors, kept = [], 0
    for seed in range(12):
        positive, population, _ = scores(prior, 2.5, seed=seed)
        found = rare_prior(positive, population)
        assert found is not None
        kept += found.low <= prior <= found.high
        general = estimate_prior(positive, population, np.random.default_rng(0))
        errors.append([abs(found.value - prior), abs(general.value - prior)])
    ours, theirs = np.mean(errors, axis=0)
    assert ours < 0.5 * theirs and kept >= 8


@pytest.mark.parametrize("prior", [0.01, 0.05])
@pytest.mark.parametrize("distance", [1.5, 2.5])
def test_the_share_has_nearly_the_best_f1(prior, distance):
    ratios = []
    for seed in range(5):
        positive, population, y = scores(prior, distance, seed=seed)
        best = max(f1(y, share) for share in np.geomspace(1e-3, 1.0, 200))
        ratios.append(f1(y, binormal(positive, population).share_for_f1()) / best)
    assert np.median(ratios) > 0.8


@pytest.mark.parametrize(("prior", "distance"), [(0.3, 1.0), (0.3, 3.0), (0.5, 2.0), (0.01, 0.0)])
def test_common_positives_and_scores_that_do_not_rank_are_not_rare(prior, distance):
    positive, population, _ = scores(prior, distance)
    assert rare_prior(positive, population) is None


def test_draws_follow_the_law():
    positive, population, y = scores(0.02, 2.0)
    law, levels = binormal(positive, population), (np.arange(500) + 0.5) / 500
    assert np.all(np.diff(law.priors(levels)) >= 0.0) and abs(np.mean(law.priors(levels)) - law.mean) < 0.002
    few, many = law.recalls(levels, 0.01), law.recalls(levels, 0.05)
    assert np.all(few <= many) and np.all(law.priors(levels) * few <= 0.01 + 1e-3)
    low, high = np.quantile(many, [0.01, 0.99])
    assert low <= y[-round(0.05 * len(y)) :].sum() / y.sum() <= high


def test_the_prior_is_not_below_the_share_that_is_labeled():
    positive, population, _ = scores(0.02, 2.0)
    assert binormal(positive, population, 0.05).quantiles(np.array([0.01]))[0] > 0.04
