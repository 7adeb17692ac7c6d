"""The bounds on error rates cited in section 2.3 of Sansone, De Natale and Zhou 2019, by simulation.

The strategy: of all classifiers that miss at most a share ALPHA of the labeled positives, take the one that calls the
fewest unlabeled rows positive. Here the classifiers are thresholds on a line, so that V = 1 and the rates are known.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from tests.helpers import examples

ALPHA, SHIFT, DELTA, CONSTANT = 0.1, 1.0, 0.1, 1.0


def epsilon(size):
    return np.sqrt((np.log(size) - np.log(DELTA)) / size)


def excess(p, n, prior, seed):
    """Return FNR(f) - FNR(f*) and FPR(f) - FPR(f*) of the strategy on p positives and n unlabeled rows."""
    rng = np.random.default_rng(seed)
    positives = rng.normal(SHIFT, 1.0, size=p)
    unlabeled = rng.normal(np.where(rng.uniform(size=n) < prior, SHIFT, -SHIFT), 1.0)
    missed = int(ALPHA * p)
    allowed = np.sort(positives)[missed]  # a threshold at or below it misses no more
    points = np.append(unlabeled[unlabeled < allowed], allowed - 1e-9)
    calls = np.searchsorted(np.sort(-unlabeled), -points, side="left")
    threshold = points[np.argmin(calls)]
    best = norm.ppf(ALPHA, loc=SHIFT)
    rates = [(norm.cdf(t, loc=SHIFT), norm.sf(t, loc=-SHIFT)) for t in (threshold, best)]
    return rates[0][0] - rates[1][0], rates[0][1] - rates[1][1]


@examples(60)
@given(st.integers(10, 2000), st.integers(10, 2000), st.floats(0.05, 0.9), st.integers(0, 10_000))
@pytest.mark.slow
def test_both_rates_are_within_the_bounds_with_probability_one_less_delta(p, n, prior, seed):
    found = np.array([excess(p, n, prior, seed + 100_000 * draw) for draw in range(40)])
    # a constant of one will do; 0.35 is the share 0.1 plus five standard errors of 40 draws
    assert np.mean(found[:, 0] > CONSTANT * epsilon(p)) < 0.35
    assert np.mean(found[:, 1] > CONSTANT / (1 - prior) * (epsilon(n) + epsilon(p))) < 0.35


@pytest.mark.slow
def test_what_bounds_the_missed_positives_is_the_number_of_labeled_ones():
    """The paper prints epsilon_n, of the unlabeled rows; with few labeled rows no number of these is enough."""
    few = [excess(20, 20_000, 0.5, seed)[0] for seed in range(100)]
    assert np.mean(np.array(few) > epsilon(20_000)) > 2 * DELTA
    many = [excess(2000, 500, 0.5, seed)[0] for seed in range(40)]
    assert np.mean(np.abs(many)) < np.mean(np.abs(few)) / 4


@pytest.mark.parametrize("size", [100, 10_000])
def test_the_bound_narrows_with_the_root_of_the_sample(size):
    assert epsilon(100 * size) == pytest.approx(epsilon(size) / 10, rel=0.45)
