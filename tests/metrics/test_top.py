"""Metrics of the first rows and of probabilities against scikit-learn, mpmath, and their definitions."""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import mpmath
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score, brier_score_loss

from pucli.core.errors import UsageError
from pucli.metrics import classification_scores, compute, get_metric, pu_counts
from pucli.metrics.probabilities import brier, calibration_error
from pucli.metrics.pu import lift_labeled_at, proxy_accuracy, recall_labeled_at
from pucli.metrics.ranking import likely_negative_auc
from pucli.metrics.top import (
    _boyce,
    average_precision,
    bedroc,
    boyce,
    boyce_labeled,
    lift_at,
    precision_at,
    recall_at,
    rows_at,
)


def drawn(seed: int, n: int = 70, decimals: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    y[:2] = 0, 1
    return y, (rng.normal(size=n) + y).round(decimals)


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_average_precision_and_brier_are_those_of_scikit_learn(decimals):
    y, f = drawn(decimals, decimals=decimals)
    assert average_precision(y, f, 1) == pytest.approx(average_precision_score(y, f))
    p = 1 / (1 + np.exp(-f))
    assert brier(y, p, 1) == pytest.approx(brier_score_loss(y, p))


def test_the_first_rows_are_averaged_over_all_orders_of_ties():
    y, f = np.array([1, 0, 1, 0, 1, 0]), np.array([3.0, 2.0, 2.0, 2.0, 1.0, 2.0])
    for k in range(1, 7):
        hits, weights = [], []
        for order in permutations(range(6)):
            if all(f[a] >= f[b] for a, b in pairwise(order)):
                hits.append(y[list(order[:k])].sum())
                weights.append([math.exp(-20 * (r + 1) / 6) for r, row in enumerate(order) if y[row]])
        assert precision_at(y, f, 1, str(k)) == pytest.approx(np.mean(hits) / k)
        assert recall_at(y, f, 1, str(k)) == pytest.approx(np.mean(hits) / 3)
        assert lift_at(y, f, 1, str(k)) == pytest.approx(np.mean(hits) / k / 0.5)
    ends = [sum(math.exp(-20 * r / 6) for r in ranks) for ranks in ((4, 5, 6), (1, 2, 3))]
    mean = np.mean([sum(parts) for parts in weights])
    assert bedroc(y, f, 1, "20") == pytest.approx((mean - ends[0]) / (ends[1] - ends[0]))


@pytest.mark.parametrize("alpha", ["4000", "1e9"])
def test_bedroc_where_the_weights_underflow(alpha):
    """Only the first rows then count, also those of a tie."""
    y = np.array([1, 1, 0, 0, 0])
    assert bedroc(y, [5.0, 4.0, 3.0, 2.0, 1.0], 1, alpha) == 1.0
    assert bedroc(y, [4.0, 3.0, 5.0, 2.0, 1.0], 1, alpha) == 0.0
    assert bedroc(y, [5.0, 3.0, 5.0, 2.0, 1.0], 1, alpha) == 0.5


@pytest.mark.parametrize("alpha", ["5", "20", "160.9"])
def test_bedroc_is_equation_36_of_truchon_and_bayly(alpha):
    y, f = drawn(4, n=300, decimals=12)
    n, m, a = 300, int(y.sum()), mpmath.mpf(alpha)
    ranks = [int(r) + 1 for r in np.flatnonzero(y[np.argsort(-f)])]
    rie = mpmath.fsum(mpmath.exp(-a * r / n) for r in ranks) / m
    rie /= (1 - mpmath.exp(-a)) / (mpmath.exp(a / n) - 1) / n  # eq. 18
    share = mpmath.mpf(m) / n
    factor = share * mpmath.sinh(a / 2) / (mpmath.cosh(a / 2) - mpmath.cosh(a / 2 - a * share))
    expected = rie * factor + 1 / (1 - mpmath.exp(a * (1 - share)))
    assert bedroc(y, f, 1, alpha) == pytest.approx(float(expected), abs=1e-12)


def boyce_by_definition(presences, background):
    both = [*presences, *background]
    low, width = min(both), (max(both) - min(both)) / 10
    ratios = []
    for k in range(101):
        start = low + k * 9 * width / 100
        shares = [
            sum(start - 1e-12 <= v <= start + width + 1e-12 for v in values) / len(values)
            for values in (presences, background)
        ]
        if shares[1]:
            ratios.append(shares[0] / shares[1])
    return spearmanr(range(len(ratios)), ratios).statistic


@pytest.mark.parametrize("decimals", [1, 2, 9])
def test_boyce_index_counts_every_window(decimals):
    y, f = drawn(7, n=150, decimals=decimals)
    f = f + 0.003 * np.pi  # no score on the edge of a window
    assert boyce(y, f, 1) == pytest.approx(boyce_by_definition(f[y == 1].tolist(), f.tolist()))
    assert boyce_labeled(y == 1, f, "unlabeled") == pytest.approx(_boyce(f[y == 1], f[y == 0]))


def test_boyce_index_keeps_the_windows_of_the_highest_scores():
    # the ratio rises, then is the same, and 0, in the last windows, which dropping equal neighbors leaves out
    background = np.linspace(0.0, 1.0, 2001)
    presences = np.concatenate([np.linspace(0.0, 0.3, 300), np.linspace(0.3, 0.5, 600)])
    assert _boyce(presences, background) < 0.0
    assert _boyce(background**0.5, background) == pytest.approx(1.0, abs=0.01)
    assert math.isnan(_boyce(background, background)) and math.isnan(_boyce(np.ones(3), np.ones(9)))


def test_calibration_error_by_bins():
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(200), [0.0, 0.1, 0.5, 1.0]])
    y = (rng.random(204) < p).astype(int)
    expected = 0.0
    for k in range(10):
        inside = [i for i in range(204) if (k / 10 < p[i] <= (k + 1) / 10) or (k == 0 and p[i] == 0.0)]
        if inside:
            expected += len(inside) / 204 * abs(np.mean(y[inside]) - np.mean(p[inside]))
    assert calibration_error(y, p, 1) == pytest.approx(expected)


@pytest.mark.parametrize("denominator", ["unlabeled", "all"])
@pytest.mark.parametrize("place", ["7", "10%", "100%"])
def test_labeled_rows_estimate_recall_at_the_threshold_of_the_population(denominator, place):
    s, f = drawn(3)
    population = f if denominator == "all" else f[s == 0]
    count = rows_at(place, len(population))
    copies = []  # means over random orders of ties
    for seed in range(400):
        noise = np.random.default_rng(seed).random(len(f)) * 1e-6
        moved = f + noise
        inside = moved if denominator == "all" else moved[s == 0]
        copies.append(np.mean(moved[s == 1] >= np.sort(inside)[::-1][int(count) - 1]))
    found = recall_labeled_at(s == 1, f, denominator, place)
    assert found == pytest.approx(np.mean(copies), abs=0.02)
    assert lift_labeled_at(s == 1, f, denominator, place) == pytest.approx(found * len(population) / count)


def test_metrics_from_labeled_rows_estimate_those_of_true_labels():
    rng = np.random.default_rng(5)
    y = (rng.random(40_000) < 0.3).astype(int)
    f = rng.normal(size=len(y)) + 1.5 * y
    labeled = (y == 1) & (rng.random(len(y)) < 0.3)  # at random, of one sample
    estimated = compute(
        {
            "labeled": labeled, "decision": f, "denominator": "all", "prior": y.mean(),
            "counts": pu_counts(labeled, np.where(f > 0.8, 1, 0), 1),
        }
    )  # fmt: skip
    true = classification_scores(y, np.where(f > 0.8, 1, 0), f)
    assert estimated["recall_labeled@10%"] == pytest.approx(true["recall@10%"], abs=0.02)
    assert estimated["lift_labeled@1%"] == pytest.approx(true["lift@1%"], abs=0.3)
    assert estimated["proxy_accuracy"] == pytest.approx(true["accuracy"], abs=0.01)


def test_proxy_accuracy_is_exact_where_all_positives_are_labeled():
    y, f = drawn(8)
    called = f > 0.5
    found = proxy_accuracy(pu_counts(y == 1, called, True), "all", float(y.mean()))
    assert found == pytest.approx(np.mean(called == (y == 1)))


def test_likely_negatives_are_free_of_hidden_positives():
    rng = np.random.default_rng(6)
    y = (rng.random(8000) < 0.3).astype(int)
    signal = rng.normal(size=len(y)) + 2.0 * y
    labeled = (y == 1) & (rng.random(len(y)) < 0.5)
    prior = float(y[~labeled].mean())
    scores = {name: signal + sd * rng.normal(size=len(y)) for name, sd in (("good", 0.2), ("bad", 1.5))}
    found = {name: likely_negative_auc(labeled, f, signal, prior) for name, f in scores.items()}
    low = ~labeled & (signal <= np.quantile(signal[~labeled], 1 - prior))
    by_pairs = np.mean(scores["good"][labeled][:, None] > scores["good"][low])
    assert found["good"] == pytest.approx(by_pairs) and found["good"] > found["bad"]


def test_other_places_are_declared_in_the_name():
    y, f = drawn(9, n=250)
    found = classification_scores(y, f > 0, f, positive=1, also=["precision@100", "lift@2.5%", "bedroc@80"])
    assert found["precision@100"] == precision_at(y, f, 1, "100")
    assert found["lift@2.5%"] == lift_at(y, f, 1, "7") and found["bedroc@80"] == bedroc(y, f, 1, "80")
    assert get_metric("precision@100").unit == "%" and get_metric("bedroc@80").margin == get_metric("bedroc@20").margin
    for wrong in ("precision@", "lift@0%", "lift@101%", "recall@1.5", "bedroc@10%", "bedroc@0", "recall@-3"):
        with pytest.raises(UsageError, match="give a number"):
            get_metric(wrong)
    with pytest.raises(UsageError, match="unknown metric"):
        get_metric("prec@100")


def test_metrics_of_the_first_rows_at_the_edges():
    assert math.isnan(precision_at([1, 0], [1.0, 0.0], 1, "3")) and math.isnan(recall_at([0, 0], [1.0, 0.0], 1, "1"))
    assert math.isnan(bedroc([1, 1], [1.0, 0.0], 1)) and math.isnan(average_precision([0, 0], [1.0, 0.0], 1))
    assert math.isnan(lift_at([1, 0], [np.nan, 0.0], 1, "1")) and math.isnan(boyce([1, 0], [np.nan, 0.0], 1))
    assert math.isnan(recall_labeled_at([True, True], [1.0, 0.0], "unlabeled", "1"))
    assert rows_at("1%", 300) == 3 and rows_at("1%", 301) == 4
    assert rows_at("7%", 100) == 7  # 0.07 times 100 is above 7 by rounding
