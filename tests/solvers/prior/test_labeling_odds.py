"""Bounds if some positives were labeled more readily than others, against every choice of weights."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pucli.solvers.ensemble.estimates import if_odds
from pucli.solvers.ensemble.hidden_share import PriorWithDraws
from pucli.solvers.ensemble.joint import joint_estimate
from pucli.solvers.prior.best_bin import prior_factors, shares_above
from pucli.solvers.prior.labeling_odds import ahead_of, odds_between, with_odds


@pytest.mark.parametrize("ratio", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("above", [0, 1, 4, 9])
def test_no_weights_give_a_recall_outside_and_monotone_ones_reach_both_ends(ratio: float, above: int) -> None:
    ends = ratio**-0.5, ratio**0.5
    rows = np.arange(9) < above  # in the order of the scores
    low, high = with_odds(above / 9, 1.0 / ratio), with_odds(above / 9, ratio)
    vertices = np.array(list(product(ends, repeat=9)))  # a linear-fractional function is extreme at one of them
    recalls = vertices @ rows / vertices.sum(axis=1)
    assert recalls.min() == pytest.approx(low) and recalls.max() == pytest.approx(high)
    inside = np.random.default_rng(above).uniform(*ends, (500, 9))
    recalls = inside @ rows / inside.sum(axis=1)
    assert low - 1e-12 <= recalls.min() and recalls.max() <= high + 1e-12
    steps = [np.where(np.arange(9) < k, *pair) for k in range(10) for pair in (ends, ends[::-1])]
    recalls = np.array([w[rows].sum() / w.sum() for w in steps])
    assert recalls.min() == pytest.approx(low) and recalls.max() == pytest.approx(high)


def test_a_conclusion_tips_where_its_bound_is_reached() -> None:
    assert with_odds(0.83, 1.0 / odds_between(0.83, 0.5)) == pytest.approx(0.5)
    assert with_odds(0.6, 1.0 / odds_between(0.6, 0.1)) == pytest.approx(0.1)


def test_no_weights_move_the_best_bin_beyond_the_factors() -> None:
    rng = np.random.default_rng(0)
    positive, population = rng.normal(2, 1, 40), np.r_[rng.normal(2, 1, 60), rng.normal(0, 1, 140)]
    q_p, q_u = shares_above(positive, population)
    thresholds = np.unique(np.r_[positive, population])[::-1]
    bins = [np.min(q_u / np.maximum(with_odds(q_p, ratio), 1e-9)) for ratio in (2.0, 0.5)]
    for _ in range(300):
        w = rng.choice([0.5**0.5, 2.0**0.5], 40)
        weighted = np.array([w[positive >= t].sum() / w.sum() for t in thresholds])
        assert bins[0] - 1e-12 <= np.min(q_u / np.maximum(weighted, 1e-9)) <= bins[1] + 1e-12
    low, high = prior_factors(positive, population, 2.0)
    assert 0.5 < low < 1.0 < high < 2.0
    assert prior_factors(positive, population, 1.0) == (1.0, 1.0)


def test_rows_ahead_stay_ahead_whatever_the_odds() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        odds = rng.uniform(2.0**-0.5, 2.0**0.5, 60)
        seen = np.sort(rng.uniform(0.0, 0.7, 60))  # by which rows rank: odds times the probability
        true, threshold = seen / odds, seen[15]
        ahead = ahead_of(seen, threshold, 2.0)
        assert ahead.any() and true[ahead].min() > true[:16].max()


def test_bounds_hold_where_the_odds_truly_differ_and_plain_intervals_do_not() -> None:
    held = {"plain": 0, "bounds": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        positive, negative = rng.normal(1.5, 1.0, 600), rng.normal(0.0, 1.0, 1400)
        labels = np.where(positive > 1.0, 0.5, 1.0 / 3.0)  # odds 1 and 1/2
        labeled = rng.random(600) < labels
        scores = np.sort(positive[labeled]), np.sort(np.r_[positive[~labeled], negative])
        share = float(np.mean(~labeled) * 600 / (2000 - labeled.sum()))
        prior = PriorWithDraws(share, share, share, np.full(40, share))
        found = joint_estimate(*scores, prior, known_prior=True).at(1.0)
        truth = float(np.mean(positive[~labeled] > 1.0))
        held["plain"] += found["recall"].low <= truth <= found["recall"].high
        bounds = if_odds(found, 2.0).recall
        held["bounds"] += bounds.low <= truth <= bounds.high
    assert held["plain"] <= 24 and held["bounds"] >= 36  # 16 and 39 of 40
