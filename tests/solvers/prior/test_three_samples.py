"""The class prior of new rows from three samples of scores: mixtures that are known, and a prior that is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from pucli.solvers.prior.three_samples import prior_of_three


def mixture(n: int, share: float) -> np.ndarray:
    """Return n scores of an exact mixture of N(2, 1) and N(0, 1): evenly spaced quantiles, without noise."""
    positive = round(share * n)
    parts = [norm.ppf((np.arange(k) + 0.5) / k, m) for k, m in ((positive, 2.0), (n - positive, 0.0)) if k]
    return np.concatenate(parts)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("change", [1.0, 10.0])
def test_an_exact_mixture_gives_its_share_on_any_scale(share: float, change: float) -> None:
    samples = tuple(change * s - 3.0 for s in (mixture(300, 1.0), mixture(1500, 0.3), mixture(800, share)))
    found = prior_of_three(samples, 0.3, (0.28, 0.32), np.random.default_rng(0))
    assert found.value == pytest.approx(share, abs=0.02)
    assert found.low < share < found.high


def test_new_rows_correct_a_prior_of_training_that_is_not_sure() -> None:
    samples = (mixture(300, 1.0), mixture(1500, 0.3), mixture(800, 0.1))
    sure, unsure = (
        prior_of_three(samples, 0.45, ends, np.random.default_rng(0)).value for ends in ((0.449, 0.451), (0.2, 0.7))
    )
    assert abs(unsure - 0.1) < 0.05 < abs(sure - 0.1)


def test_few_labeled_rows_and_an_uncertain_prior_widen_the_interval() -> None:
    widths = []
    for labeled, ends in ((300, (0.29, 0.31)), (20, (0.29, 0.31)), (20, (0.05, 0.55))):
        samples = (mixture(labeled, 1.0), mixture(600, 0.3), mixture(400, 0.3))
        found = prior_of_three(samples, 0.3, ends, np.random.default_rng(0))
        widths.append(found.high - found.low)
    assert widths[0] < widths[1] < widths[2]


def test_scores_that_are_all_equal_leave_the_prior_of_training() -> None:
    same = (np.ones(20), np.ones(100), np.ones(50))
    found = prior_of_three(same, 0.3, (0.2, 0.4), np.random.default_rng(0))
    assert found.value == pytest.approx(0.3, abs=0.02) and found.low < 0.3 < found.high
