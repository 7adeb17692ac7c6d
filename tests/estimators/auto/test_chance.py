"""Ranks of held-out known positives, and whether they may be chance."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.estimators.auto.chance import FEWEST, ChanceTest, FirstKnown, chance_test, ranks_among


def test_ranks_count_the_unlabeled_rows_with_at_least_the_score() -> None:
    assert ranks_among(np.array([3.0, 1.0, 0.0]), np.array([2.0, 1.0, 0.5])).tolist() == [1, 3, 4]


def test_known_positives_among_the_first_rows_are_counted() -> None:
    found = chance_test(np.array([200.0, 99.5, 95.0, 50.0, 0.5]), np.arange(1.0, 101.0))
    assert found.first == [FirstKnown(1, 1), FirstKnown(5, 2), FirstKnown(10, 3), FirstKnown(20, 3)]
    assert found.median_rank == 7 and found.known == 5 and found.unlabeled == 100
    assert "of 5 held-out known positives 3 rank in the first 10 (by chance 0.5); median rank 7 of 100" in found.words


@pytest.mark.parametrize("known", [10, 30, 400])
def test_scores_that_spread_as_measured_on_noise_are_rarely_better_than_chance(known: int) -> None:
    """Independent scores spread less than held-out ones of noise, on which the law is measured (docs/limits.md)."""
    rng = np.random.default_rng(0)
    found = [chance_test(rng.normal(size=known), rng.normal(size=500)).p_value for _ in range(300)]
    assert np.mean(np.array(found) <= 0.05) <= 0.02
    assert chance_test(rng.normal(1.5, 1.0, known), rng.normal(size=500)).p_value < 0.05


def test_a_few_known_positives_are_never_better_than_chance() -> None:
    first = [FirstKnown(1, 0)]
    assert not ChanceTest(FEWEST - 1, 100, 1.0, first, 1e-9).better and ChanceTest(FEWEST, 100, 1.0, first, 1e-9).better
    assert "could be chance" in ChanceTest(FEWEST - 1, 100, 1.0, first, 0.5).words
