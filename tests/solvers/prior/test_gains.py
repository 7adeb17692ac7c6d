"""The bound that the gains curve puts on the class prior, and its band."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.solvers.prior.gains import BOUND, effective, greatest_prior, local_level


@pytest.mark.parametrize(("labeled", "hidden", "negative"), [(30, 20, 1000), (30, 200, 300), (400, 100, 200)])
def test_the_bound_is_rarely_below_the_true_prior(labeled: int, hidden: int, negative: int) -> None:
    rng = np.random.default_rng(0)
    bounds = []
    for _ in range(120):
        others = rng.normal(8, 1, hidden), rng.normal(0, 1, negative)
        bounds.append(greatest_prior(np.sort(rng.normal(8, 1, labeled)), np.sort(np.concatenate(others))))
    prior = hidden / (hidden + negative)
    assert np.mean(np.array(bounds) < prior - 1e-9) <= BOUND + 0.02
    assert np.median(bounds) < (1.0 + 4.0 / np.sqrt(float(effective(labeled, hidden)))) * prior


def test_the_bound_counts_labeled_rows_of_the_population() -> None:
    rng = np.random.default_rng(0)
    positive = np.sort(rng.normal(8, 1, 100))
    population = np.sort(np.concatenate([positive, rng.normal(8, 1, 100), rng.normal(0, 1, 300)]))
    assert 0.4 <= greatest_prior(positive, population, whole=True) < 0.45
    assert greatest_prior(positive, positive, whole=True) == 1.0


def test_a_band_of_more_rows_needs_a_smaller_level() -> None:
    levels = [local_level(rows, BOUND) for rows in (2.0, 20.0, 200.0, 20_000.0)]
    assert levels == sorted(levels, reverse=True) and levels[0] == pytest.approx(BOUND / 2)
