"""Prior, threshold, probabilities and estimates from scores with known classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.metrics.ranking import auc, true_auc
from pucli.solvers.ensemble.calibration import make_calibration
from pucli.solvers.ensemble.estimates import Estimate
from pucli.solvers.ensemble.hidden_share import PriorWithDraws, estimate_prior, two_groups
from pucli.solvers.ensemble.joint import joint_estimate
from pucli.solvers.ensemble.threshold import (
    SHARES,
    best_share,
    expected_f1,
    recall_above,
    recall_curve,
    share_for_f1,
    threshold_for,
    threshold_for_recall,
)
from pucli.solvers.prior.best_bin import best_bin
from pucli.solvers.prior.gains import greatest_prior


def estimates(positive, population, threshold, prior, curve=None) -> dict[str, Estimate]:
    """Return the estimates at a threshold."""
    return joint_estimate(np.sort(positive), np.sort(population), prior, curve).at(threshold)


def scores(prior: float, apart: float, seed: int, n: int = 2000, p: int = 600) -> tuple[np.ndarray, ...]:
    """Return the scores of labeled rows and of the population, and which of the population are positive."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prior
    return rng.normal(apart, 1, p), rng.normal(np.where(truth, apart, 0.0), 1), truth


def expected_recall(positive: np.ndarray, population: np.ndarray, prior: float) -> np.ndarray:
    """Return the recall curve of calibrated probabilities."""
    return recall_curve(make_calibration(positive, population, prior, np.random.default_rng(0)).of(population))


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("apart", [3.0, 5.0])
def test_the_prior_of_a_mixture_is_found(prior: float, apart: float) -> None:
    positive, population, _ = scores(prior, apart, 0)
    assert best_bin(positive, population) == pytest.approx(prior, abs=0.07)

    found = estimate_prior(positive, population, np.random.default_rng(0))
    assert found.value == pytest.approx(prior, abs=0.08)
    assert found.low <= prior <= found.high


def test_the_prior_is_near_one_for_positives_only_and_near_zero_for_negatives_only() -> None:
    rng = np.random.default_rng(0)
    assert best_bin(rng.normal(size=1000), rng.normal(size=1000)) > 0.9
    assert best_bin(rng.normal(8, 1, 1000), rng.normal(size=1000)) < 0.05


def test_two_groups_of_scores_have_their_share_and_are_apart_and_one_heap_is_not() -> None:
    rng = np.random.default_rng(0)
    share, separation = two_groups(np.concatenate([rng.normal(0, 1, 700), rng.normal(9, 1, 300)]))
    assert share == pytest.approx(0.3)
    assert separation > 0.9
    assert two_groups(rng.normal(size=5000))[1] == pytest.approx(2 / np.pi, abs=0.02)
    assert two_groups(np.ones(10)) == (0.5, 0.0)
    assert two_groups(np.array([1.0, 1.0, 1.0, 5.0])) == (0.25, 1.0)


def test_groups_that_are_apart_make_the_prior_of_few_labeled_rows_more_precise() -> None:
    errors: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(12):
        positive, population, truth = scores(0.5, 6.0, seed, n=400, p=12)
        heap = np.random.default_rng(seed).normal(size=(1, 400))
        for apart in errors:
            grouped = population[None] if apart else heap
            found = estimate_prior(positive, population, np.random.default_rng(0), grouped)
            errors[apart].append(abs(found.value - truth.mean()))
    assert np.mean(errors[True]) < 0.03 < np.mean(errors[False])


def test_with_many_labeled_rows_best_bins_outweigh_groups_of_another_size() -> None:
    grouped = (np.arange(2000) < 200).astype(float)[None]
    few, many = (
        estimate_prior(*scores(0.4, 5.0, 0, p=p)[:2], np.random.default_rng(0), grouped).value for p in (60, 4000)
    )
    assert few + 0.1 < many < 0.42


def test_what_overlapping_classes_add_to_the_prior_is_taken_off() -> None:
    errors: dict[float, list[float]] = {}
    for seed in range(20):
        for apart in (1.5, 6.0):
            positive, population, truth = scores(0.2, apart, seed, n=600, p=100)
            found = estimate_prior(positive, population, np.random.default_rng(0))
            less = found.less_overlap(float(auc(positive, population)))
            assert less.value <= found.value and less.low <= less.value and less.high == found.high
            assert np.all((less.draws > 0.0) & (less.draws <= 1.0))
            before, after = (abs(one.value - truth.mean()) for one in (found, less))
            errors.setdefault(apart, []).append(after - before)
    assert np.mean(errors[1.5]) < -0.01  # they overlap: the estimate is too high
    assert abs(np.mean(errors[6.0])) < 0.002  # they do not: it stays


def test_the_prior_less_the_overlap_is_not_below_the_labeled_share() -> None:
    found = PriorWithDraws(0.5, 0.3, 0.7, np.linspace(0.3, 0.7, 40), labeled=0.45).less_overlap(0.6)
    assert found.value == 0.45
    assert found.draws.min() >= 0.45
    apart = replace(found, value=0.5, labeled=0.0).less_overlap(0.75)  # every positive above every negative
    assert apart.value == 0.5


def test_the_true_auc_follows_from_the_pu_auc() -> None:
    positive, population, truth = scores(0.4, 1.5, 3, n=20_000, p=5_000)
    assert true_auc(auc(positive, population), 0.4) == pytest.approx(
        auc(population[truth], population[~truth]), abs=0.02
    )


@pytest.mark.parametrize("wanted", [0.5, 0.8, 0.95])
def test_a_wanted_recall_is_reached_nine_times_in_ten(wanted: float) -> None:
    rng = np.random.default_rng(1)
    kept = [
        1.0 - (threshold_for_recall(rng.random(150), wanted)) >= wanted for _ in range(400)
    ]  # recall above c is 1 - c
    assert np.mean(kept) >= 0.87
    assert np.mean(kept) <= 0.99


def test_a_recall_out_of_reach_of_few_rows_predicts_every_row_positive() -> None:
    assert threshold_for_recall(np.random.default_rng(0).random(5), 0.95) == -np.inf


def at_prior(curve: np.ndarray, prior: float) -> np.ndarray:
    """Return F1 at each of `SHARES` where the prior is known."""
    return 2.0 * prior * curve / (SHARES + prior)


def test_expected_f1_of_a_known_prior_is_that_of_the_recall_curve() -> None:
    positive, population, _ = scores(0.3, 2.0, 0)
    found = expected_f1(positive, population, np.full(20, 0.3), np.random.default_rng(0))
    curve = at_prior(expected_recall(positive, population, 0.3), 0.3)
    assert np.abs(found - curve).max() < 0.03


def test_an_uncertain_prior_moves_the_cut_less_than_its_ends_would() -> None:
    positive, population, _ = scores(0.3, 2.0, 0)
    low, both, high = (
        best_share(expected_f1(positive, population, np.array(priors), np.random.default_rng(0)))
        for priors in ([0.2] * 10, [0.2, 0.4] * 5, [0.4] * 10)
    )
    assert low < both < high


def test_the_cut_for_f1_is_near_the_best_one() -> None:
    for seed in range(5):
        positive, population, truth = scores(0.3, 2.0, seed)
        curve = expected_recall(positive, population, 0.3)
        threshold = threshold_for("f1", None, positive, population, 0.3, curve, at_prior(curve, 0.3), 0.9, 0.0)

        def f1(value: float, population: np.ndarray = population, truth: np.ndarray = truth) -> float:
            predicted = population > value
            return float(2 * (predicted & truth).sum() / (predicted.sum() + truth.sum()))

        assert f1(threshold.value) > max(map(f1, np.sort(population)[::20])) - 0.03


def test_the_cut_for_f1_lies_between_the_best_share_and_the_prior() -> None:
    positive, population, _ = scores(0.3, 1.5, 0)
    curve = expected_recall(positive, population, 0.3)
    f1 = at_prior(curve, 0.3)
    found = threshold_for("f1", None, positive, population, 0.3, curve, f1, 0.9, 0.0)
    assert 0.3 < found.share < best_share(f1)


@pytest.mark.parametrize("prior", [0.05, 0.4, 0.9])
def test_without_a_ranking_every_row_is_called_positive_which_is_best_then(prior: float) -> None:
    at_chance = 2.0 * prior * SHARES / (SHARES + prior)  # the recall of a random share is the share
    assert SHARES[np.argmax(at_chance)] == 1.0
    assert share_for_f1(at_chance, prior, 0.5) == share_for_f1(at_chance, prior, 0.3) == 1.0


def test_the_share_for_f1_falls_as_the_ranking_gets_better() -> None:
    positive, population, _ = scores(0.3, 1.0, 0)
    f1 = at_prior(expected_recall(positive, population, 0.3), 0.3)
    found = [share_for_f1(f1, 0.3, ranking) for ranking in np.linspace(0.45, 0.95, 51)]
    assert found == sorted(found, reverse=True)
    assert found[0] == 1.0 and found[25] == pytest.approx(best_share(f1))
    assert found[-1] == pytest.approx(np.sqrt(0.3 * best_share(f1)))


def test_a_cut_for_f1_that_would_take_one_row_lies_where_the_probability_is_one_half() -> None:
    population, positive = np.linspace(0.0, 1.0, 100), np.array([0.9, 0.95])
    given = {"goal": "f1", "wanted": None, "positive": positive, "population": population, "ranking": 0.95}
    thresholds = {}
    for prior in (0.005, 0.2):
        curve = np.minimum(1.0, SHARES / prior)  # no negative before the last positive
        f1 = 2.0 * prior * curve / (SHARES + prior)
        thresholds[prior] = threshold_for(**given, prior=prior, curve=curve, f1=f1, even=0.755)
    assert thresholds[0.005].value == 0.755 and thresholds[0.005].share == 0.25
    assert thresholds[0.2].value != 0.755


@pytest.mark.slow
def test_the_cut_for_f1_takes_most_rows_where_most_are_positive_and_few_are_ranked_apart() -> None:
    """There the prior is unknown and estimated too low; the threshold must not follow it."""
    rng, shares, f1 = np.random.default_rng(2), [], []
    for _ in range(12):
        truth = rng.random(200) < 0.85
        population, positive = rng.normal(size=200) + truth, rng.normal(1.0, size=60)
        prior = estimate_prior(np.sort(positive), np.sort(population), rng)
        ranking = float(true_auc(auc(positive, population), prior.value))
        expected = expected_f1(positive, population, prior.draws, rng)
        curve = expected_recall(positive, population, prior.value)
        threshold = threshold_for("f1", None, positive, population, prior.value, curve, expected, ranking, 0.0)
        predicted = population > threshold.value
        shares.append(threshold.share)
        f1.append(2.0 * np.sum(predicted & truth) / (predicted.sum() + truth.sum()))
    assert np.mean(shares) > 0.65 and np.mean(f1) > 0.8


def test_a_wanted_share_and_number_of_rows_are_reached() -> None:
    positive, population, _ = scores(0.3, 2.0, 0)
    curve = expected_recall(positive, population, 0.3)
    assert (
        np.sum(
            population
            > threshold_for("top", 150, positive, population, 0.3, curve, at_prior(curve, 0.3), 0.9, 0.0).value
        )
        == 150
    )
    share = threshold_for("share", 0.05, positive, population, 0.3, curve, at_prior(curve, 0.3), 0.9, 0.0)
    assert np.mean(population > share.value) == pytest.approx(0.05, abs=1e-3)


def test_the_printed_precision_is_the_wanted_one() -> None:
    """The labeled rows rank worse here than the smooth curve says, which alone would put the threshold too low."""
    random = np.random.default_rng(0)
    population = np.concatenate([random.normal(size=1400), random.normal(size=600) + 2.5])
    positive = random.normal(size=60) + 2.2
    curve = np.minimum(1.0, SHARES / 0.3)
    threshold = threshold_for("precision", 0.75, positive, population, 0.3, curve, at_prior(curve, 0.3), 0.9, 0.0)
    prior = PriorWithDraws(0.3, 0.25, 0.35, np.full(40, 0.3))
    assert estimates(positive, population, threshold.value, prior, curve)["precision"].value >= 0.75


def test_a_few_labeled_rows_above_the_cut_hardly_move_the_recall() -> None:
    """The share of the labeled rows above a high threshold is 0 or 1/50 by chance; the expected recall is not."""
    positive, population, truth = scores(0.3, 3.0, 1, n=4000, p=50)
    curve = expected_recall(positive, population, 0.3)
    prior = PriorWithDraws(0.3, 0.28, 0.32, np.full(40, 0.3))
    for share in (0.005, 0.02, 0.05):
        threshold = np.quantile(population, 1.0 - share)
        found = estimates(positive, population, threshold, prior, curve)["precision"]
        assert found.value == pytest.approx(truth[population > threshold].mean(), abs=0.1)
        assert found.low <= truth[population > threshold].mean() <= found.high
    many = np.sort(np.random.default_rng(0).normal(size=2000))
    assert recall_above(many, 0.5, 0.0, np.zeros(len(SHARES))) == pytest.approx(np.mean(many > 0.0), rel=0.05)
    assert recall_above(many, 0.5, many[-1], SHARES) == pytest.approx(0.5)


@pytest.mark.parametrize("above", [0, 3])
def test_three_labeled_rows_leave_the_recall_open(above: int) -> None:
    """Bootstrap samples of three rows on one side of the threshold are all alike."""
    population = np.linspace(-1.0, 1.0, 400)
    positive = np.array([0.2, 0.3, 0.4]) - (above == 0)
    prior = PriorWithDraws(0.3, 0.25, 0.35, np.full(200, 0.3))
    found = estimates(positive, population, 0.0, prior)
    recall = found["recall"]
    assert recall.value == above / 3
    assert recall.high - recall.low > 0.45
    assert found["precision"].high - found["precision"].low > 0.2
    assert found["f1"].high - found["f1"].low > 0.2
    everything = estimates(positive, population, -2.0, prior)["recall"]
    assert everything.value == 1.0 and everything.low > 0.8


def test_a_wanted_precision_is_reached() -> None:
    positive, population, truth = scores(0.3, 2.0, 0, n=8000, p=2000)
    curve = expected_recall(positive, population, 0.3)
    threshold = threshold_for("precision", 0.8, positive, population, 0.3, curve, at_prior(curve, 0.3), 0.9, 0.0)
    assert truth[population > threshold.value].mean() == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize(
    ("goal", "wanted", "part"),
    [
        ("recal", 0.5, "recall"),
        ("recall", None, "needs a value"),
        ("share", 1.5, "above 0 and at most 1"),
        ("recall", 0.0, "above 0 and at most 1"),
        ("top", 0, "between 1 and"),
        ("precision", 0.9, "highest"),
    ],
)
def test_the_error_of_an_impossible_goal_names_the_reason(goal: str, wanted: float | None, part: str) -> None:
    positive, population, _ = scores(0.2, 0.0, 0)
    curve = expected_recall(positive, population, 0.2)
    with pytest.raises(UsageError, match=part):
        threshold_for(goal, wanted, positive, population, 0.2, curve, at_prior(curve, 0.2), 0.9, 0.0)


def test_the_share_of_a_cut_is_what_is_above_it_also_among_equal_scores() -> None:
    population = np.array([0.0] * 60 + [1.0] * 30 + [2.0] * 10)
    curve = np.minimum(1.0, 2.0 * SHARES)
    for wanted in (0.05, 0.2, 0.5):
        threshold = threshold_for("share", wanted, np.ones(10), population, 0.2, curve, at_prior(curve, 0.2), 0.9, 0.0)
        assert threshold.share == np.mean(population > threshold.value)


def test_the_highest_precision_is_not_rounded_up_to_the_wanted_one() -> None:
    positive, population = np.linspace(1.0, 2.0, 100), np.linspace(0.0, 2.0, 200)
    curve = np.minimum(1.0, SHARES / 0.5)
    with pytest.raises(UsageError, match=r"precision of 0\.994; the highest is 0\.993\. "):
        threshold_for("precision", 0.994, positive, population, 0.4968, curve, at_prior(curve, 0.4968), 0.9, 0.0)


def test_probabilities_are_calibrated_on_hidden_labels() -> None:
    positive, population, truth = scores(0.35, 2.0, 5, n=8000, p=2000)
    p = make_calibration(positive, population, 0.35, np.random.default_rng(0)).of(population)
    assert p.min() >= 0
    assert p.max() <= 1
    assert p.mean() == pytest.approx(0.35, abs=0.02)
    for low in np.arange(0.0, 1.0, 0.2):
        rows = (p >= low) & (p <= low + 0.2)
        assert truth[rows].mean() == pytest.approx(p[rows].mean(), abs=0.08)


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.6])
def test_probabilities_add_up_to_the_prior_unless_the_scores_contradict_it(prior: float) -> None:
    positive, population, _ = scores(prior, 1.5, 6, n=160, p=40)
    population = np.sort(population)
    p = make_calibration(positive, population, prior, np.random.default_rng(0)).of(population)
    assert p.mean() == pytest.approx(prior, abs=1e-9)
    apart = make_calibration(positive + 9.0, population, prior, np.random.default_rng(0)).of(population)
    assert apart.mean() < prior


@pytest.mark.slow
def test_intervals_contain_the_true_values() -> None:
    held: dict[str, list[bool]] = {"prior": [], "recall": [], "precision": [], "f1": [], "auc": []}
    for seed in range(40):
        positive, population, truth = scores(0.3, 2.5, seed, n=500, p=150)
        prior = estimate_prior(positive, population, np.random.default_rng(seed))
        found = estimates(positive, population, 1.25, prior)
        predicted = population > 1.25
        hit = (predicted & truth).sum()
        actual = {
            "prior": truth.mean(),
            "recall": hit / truth.sum(),
            "precision": hit / predicted.sum(),
            "f1": 2 * hit / (predicted.sum() + truth.sum()),
            "auc": auc(population[truth], population[~truth]),
        }
        for name, value in actual.items():
            held[name].append(found[name].low <= value <= found[name].high)
    assert {name: np.mean(values) for name, values in held.items() if np.mean(values) < 0.7} == {}


def test_classes_that_overlap_everywhere_bound_the_prior_from_above_only() -> None:
    rng = np.random.default_rng(1)
    positive, population = rng.normal(0.5, 1, 60), rng.normal(0.0, 1, 1000)
    prior = estimate_prior(positive, population, np.random.default_rng(0))
    found = estimates(positive, population, 0.0, prior)
    assert prior.low > 0.1
    assert found["prior"].low < 0.001
    assert not any(found[name].known for name in ("prior", "precision", "f1"))
    apart = rng.normal(6.0, 1, 60)
    population[:400] += 6.0
    prior = estimate_prior(apart, population, np.random.default_rng(0))
    found = estimates(apart, population, 3.0, prior)
    assert 0.2 < prior.low < found["prior"].low < 0.4 < found["prior"].high
    assert found["prior"].known and found["auc"].known


def test_the_lower_end_of_the_prior_is_lower_the_more_the_classes_overlap() -> None:
    prior = PriorWithDraws(0.3, 0.2, 0.4, np.array([0.2, 0.3, 0.4]), labeled=0.1)
    ends = [prior.lower_end(0.7 * auc + 0.15, 1000) for auc in (1.0, 0.97, 0.95)]
    assert 0.3 > ends[0] > ends[1] > ends[2] > 0.1
    assert prior.lower_end(0.5, 1000) == 0.1  # labeled rows are positive


def test_the_prior_is_not_below_the_labeled_share() -> None:
    rng = np.random.default_rng(3)
    positive = rng.normal(0.5, 1, 60)
    population = np.append(positive, rng.normal(0.0, 1, 300))
    prior = replace(estimate_prior(positive, population, np.random.default_rng(0)), labeled=60 / 360)
    assert estimates(positive, population, 0.0, prior)["prior"].low >= min(60 / 360, prior.value)


@pytest.mark.parametrize(
    ("low", "high", "narrow", "known"),
    [(0.4, 0.6, True, True), (0.3, 0.7, False, False), (0.03, 0.25, True, False), (0.01, 0.03, True, True)],
)
def test_an_estimate_is_known_if_its_ends_are_near_for_its_size(low, high, narrow, known) -> None:
    found = Estimate((low + high) / 2, low, high)
    assert (found.narrow, found.known) == (narrow, known)


@pytest.mark.parametrize("share", [0.6, 0.9])
def test_the_upper_end_of_the_prior_holds_with_few_labeled_rows(share: float) -> None:
    rng = np.random.default_rng(5)
    above: dict[int, list[bool]] = {20: [], 100: [], 2000: []}
    for _ in range(60):
        truth = rng.random(400) < share
        population = np.sort(rng.normal(size=400) + 1.5 * truth)
        for labeled, missed in above.items():
            missed.append(truth.mean() > greatest_prior(np.sort(rng.normal(1.5, size=labeled)), population))
    assert all(np.mean(missed) <= 0.1 for missed in above.values())
