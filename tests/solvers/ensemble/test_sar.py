"""The model of labeling that is not random."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.estimators.auto.auto_pu import AutoPU
from pucli.metrics.ranking import auc
from pucli.solvers.ensemble import class_prior, sar
from pucli.solvers.ensemble.hidden_share import PriorWithDraws
from pucli.solvers.ensemble.members import MEMBERS
from pucli.solvers.ensemble.sar import (
    auc_and_recall,
    positive_scores,
    probabilities_if_biased,
    relative_propensities,
    widened,
)
from pucli.solvers.prior.binormal import binormal
from tests.solvers.ensemble.helpers import two_clouds


def biased_sample(seed: int, n: int = 1200) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X, labels, truth and propensities of one sample with e(x) = 0.8 f(x)^2."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    X = rng.normal(size=(n, 3))
    X[truth, 0] += 2.0
    odds = 0.4 / 0.6 * np.exp(2.0 * X[:, 0] - 2.0)
    f = odds / (1.0 + odds)
    e = 0.8 * f**2
    return X, truth & (rng.random(n) < e), truth, e


def test_probability_and_propensity_have_the_product_of_random_labeling() -> None:
    p = np.linspace(0.0, 1.0, 11)
    for exponent in (0.0, 1.0, 2.0, 3.0):
        f = probabilities_if_biased(p, exponent)
        np.testing.assert_allclose(f * relative_propensities(f, exponent), p, atol=1e-12)
        assert (f >= p - 1e-12).all()


def test_scores_of_positives_have_the_weighted_distribution() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=5000)
    weights = 1.0 / (1.0 + np.exp(-2.0 * scores))
    found = positive_scores(scores, weights, 1000)
    assert len(found) == 1000 and (np.diff(found) >= 0).all()
    for threshold in (-0.5, 0.3, 1.0):
        assert np.mean(found > threshold) == pytest.approx(weights[scores > threshold].sum() / weights.sum(), abs=2e-3)


def test_the_interval_of_the_prior_covers_the_other_exponents() -> None:
    p = np.random.default_rng(0).random(500) ** 3
    middle = float(probabilities_if_biased(p).mean())
    found = widened(PriorWithDraws(middle, middle, middle, np.full(40, middle)), p, np.random.default_rng(1))
    ends = [probabilities_if_biased(p, exponent).mean() for exponent in (1.0, 3.0)]
    assert [found.low, found.high] == pytest.approx(ends)
    assert found.draws.min() >= ends[0] and found.draws.max() <= ends[1]


@pytest.mark.slow
def test_prior_and_propensities_are_recovered_where_the_model_holds(monkeypatch) -> None:
    X, labeled, truth, e = biased_sample(0)
    few = MEMBERS[:1]
    biased, seen = (
        AutoPU(scenario="single-training-set", labeling=how, members=few).fit(X, labeled) for how in ("sar", "scar")
    )
    assert seen.labeling == "scar" and seen.labeling_ == "sar"  # the rows show it in a small table
    assert abs(seen.prior_ - truth.mean()) < 0.06
    monkeypatch.setattr(sar, "MOST_ROWS", 0)
    plain = AutoPU(scenario="single-training-set", members=few).fit(X, labeled)
    assert plain.labeling_ == "scar"
    assert abs(biased.prior_ - truth.mean()) < 0.06 < abs(plain.prior_ - truth.mean())
    assert biased.prior_interval_[0] <= truth.mean() <= biased.prior_interval_[1]
    assert np.abs(biased.propensity_ - e / 0.8)[truth].mean() < 0.12
    assert (plain.propensity_ == 1).all()
    recall = np.mean(biased.held_out_[truth] > biased.threshold_)
    assert recall > np.mean(plain.held_out_[truth] > plain.threshold_) + 0.1
    assert abs(biased.estimates_["recall"].value - recall) < 0.1
    (own,) = [line for line in biased.leaderboard_ if line["name"] == "ensemble"]
    assert own["f1"] == biased.estimates_["f1"].value


def test_random_labels_of_small_tables_are_not_taken_for_biased_ones() -> None:
    for seed in range(3):
        X, s, _ = two_clouds(100, labeled=30, seed=seed)
        assert AutoPU(members=MEMBERS[:1]).fit(X, s).labeling_ == "scar"


@pytest.mark.parametrize(
    ("labeled", "unlabeled", "shift", "doubtful", "first"),
    [
        (50, 450, 3.5, True, True),
        (50, 450, 2.0, False, False),  # labeled as the hidden ones are
        (50, 2000, 3.5, False, False),  # of a larger table, rare positives are likelier
        (200, 450, 3.5, False, False),  # with so many labeled rows, few hidden ones are expected
        (50, 450, 9.0, False, False),  # no row lies between the kinds
        (12, 450, 3.5, True, False),  # if positives were rare, these would be few of them
    ],
)
def test_clear_ones_first_needs_a_small_table_and_few_rows_that_rank_high(
    labeled, unlabeled, shift, doubtful, first
) -> None:
    rng = np.random.default_rng(1)
    hidden = unlabeled // 3
    rows = np.concatenate([rng.normal(2, 1, hidden), rng.normal(0, 1, unlabeled - hidden)])
    positive = rng.normal(shift, 1, labeled)
    assert sar.rare_or_biased(binormal(np.sort(positive), np.sort(rows))) == doubtful
    assert sar.clear_ones_first(positive, rows) == first


def test_the_prior_of_a_small_table_in_doubt_is_not_that_of_rare_positives(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(2.5, 1, 80), rng.normal(0, 1, 400)])[:, None]
    model = AutoPU(members=MEMBERS[:1]).fit(X, np.arange(len(X)) < 20)
    law = binormal(model._positive, model._population)
    assert sar.rare_or_biased(law) and model.labeling_ == "scar"
    truth = 60 / 460
    assert abs(model.prior_ - truth) < 0.03 < truth - law.mean and not model.rare_
    monkeypatch.setattr(class_prior, "MEMBERS", MEMBERS[:1])
    assert class_prior.hidden_share_of(X, np.arange(len(X)) < 20, 0).prior == pytest.approx(model.prior_, abs=1e-12)


def test_the_interval_of_the_recall_allows_for_an_odds_ratio_of_four() -> None:
    X, s, _ = two_clouds(100, labeled=30)
    one = AutoPU(labeling="sar", members=MEMBERS[:1]).fit(X, s).estimates_["recall"]
    assert one.low < one.value - 0.2 and one.low <= one.value <= one.high <= 1.0


def test_the_model_moves_the_cut_without_training_again_too() -> None:
    X, s, _ = two_clouds(100, labeled=30)
    model = AutoPU(labeling="sar", members=MEMBERS[:1]).fit(X, s)
    low = model.with_threshold("recall", 0.95)
    assert low.threshold_ < model.threshold_
    np.testing.assert_array_equal(model.score_rows(X), low.score_rows(X))
    assert model.prior_ == low.prior_


def test_auc_and_recall_with_probabilities_of_zero_and_one_are_the_usual_ones() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    scores = np.round(rng.normal(size=300) + truth, 1)
    found, recall = auc_and_recall(scores, truth.astype(float), scores > 0.5)
    assert found == pytest.approx(auc(scores[truth], scores[~truth]))
    assert recall == pytest.approx(np.mean(scores[truth] > 0.5))
