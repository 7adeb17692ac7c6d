"""Probabilities from held-out scores: right on average where the prior is, in [0, 1], and kept in the model file."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from pucli.core.errors import UsageError
from pucli.estimators import BLSSVM, NaiveSVC
from pucli.models import calibration
from pucli.models.calibration import class_curve, curve_of, in_its_scale, prior_of, probability_curve
from pucli.models.saved import SavedModel, load_model, make_pipeline, save_model
from pucli.models.validation import HeldOutScores, held_out_scores
from pucli.solvers.ensemble.calibration import greatest_end, least_end
from pucli.solvers.ensemble.estimates import Estimate
from tests.helpers import by_night

SHARE, LABELED = 0.35, 0.3


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows (n, 4), whether they are positive, and whether they are labeled."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < SHARE
    X = rng.normal(size=(n, 4)) + np.where(positive, 0.9, -0.4)[:, None] * (np.arange(4) < 2)
    return X, positive, positive & (rng.random(n) < LABELED)


def found(n: int = 2000) -> tuple[np.ndarray, np.ndarray, HeldOutScores]:
    X, positive, labeled = rows(n, 0)
    scores = held_out_scores(make_pipeline(BLSSVM(), standardize=True).fit(X, labeled.astype(int)), X, labeled, 0)
    assert scores is not None
    return X, positive, scores


@pytest.mark.parametrize("one_sample", [False, True])
def test_probabilities_are_shares_of_positives_if_the_prior_is_given(one_sample) -> None:
    X, positive, scores = found()
    labeled = rows(2000, 0)[2]
    given = float(positive[~labeled].mean())
    counts = (int(labeled.sum()), int((~labeled).sum())) if one_sample else None
    curve = probability_curve(scores, X, given, counts, 0)
    assert curve.prior.low == curve.prior.high
    model = make_pipeline(BLSSVM(), standardize=True).fit(X, labeled.astype(int))
    new, truth, marked = rows(20_000, 1)
    kept = np.ones(len(new), bool) if one_sample else ~marked  # new rows of the population
    columns = curve.of(model.decision_function(new[kept]))
    p = columns["probability"]
    assert (columns["probability_low"] <= p).all() and (p <= columns["probability_high"]).all()
    assert p.min() >= 0.0 and p.max() <= 1.0
    for low in np.arange(0.0, 1.0, 0.2):
        some = (p >= low) & (p < low + 0.2)
        assert abs(p[some].mean() - truth[kept][some].mean()) < 0.1


@pytest.mark.slow
def test_an_estimated_prior_has_a_range() -> None:
    X, positive, scores = found()
    curve = probability_curve(scores, X, None, None, 0)
    assert curve.prior.low < positive[~rows(2000, 0)[2]].mean() < curve.prior.high
    columns = curve.of(np.linspace(-3, 3, 50))
    assert (columns["probability_low"] <= columns["probability"]).all()
    assert (columns["probability"] <= columns["probability_high"]).all()
    assert all((np.diff(values) >= 0.0).all() for values in columns.values())
    again = probability_curve(scores, X, None, None, 0)
    assert np.array_equal(again.probability, curve.probability)


@pytest.mark.slow
def test_a_model_of_many_rows_has_the_right_probabilities(monkeypatch) -> None:
    """Models of some of the rows have another share of labeled ones, and so scores of another size."""
    monkeypatch.setattr("pucli.models.validation.MOST_UNLABELED", 900)
    rng = np.random.default_rng(3)
    positive = rng.random(8000) < SHARE
    X = rng.normal(size=(8000, 4)) + np.where(positive, 0.9, -0.4)[:, None] * (np.arange(4) < 2)
    labeled = np.zeros(8000, dtype=bool)
    labeled[rng.choice(np.flatnonzero(positive), 150, replace=False)] = True
    given = float(positive[~labeled].mean())
    model = make_pipeline(NaiveSVC(), standardize=True).fit(X, labeled.astype(int))
    scores = held_out_scores(model, X, labeled, 0)
    assert scores is not None and len(scores.rows) == 1050
    values = model.decision_function(rows(20_000, 1)[0])
    moved = in_its_scale(scores, model, X, labeled, 0)
    right, wrong = (probability_curve(one, X, given, None, 0).of(values)["probability"] for one in (moved, scores))
    assert abs(right.mean() - SHARE) < 0.03 < abs(wrong.mean() - SHARE)


def test_scores_move_to_the_quantiles_of_the_model_and_keep_their_distance_beyond(monkeypatch) -> None:
    rows_held = np.arange(23)
    scores = np.r_[np.linspace(0.0, 1.0, 20), 0.5, 1.5, -0.25]
    held = HeldOutScores(rows_held, rows_held >= 20, rows_held % 4, scores, None)
    monkeypatch.setattr(calibration, "decision_values", lambda pipeline, X: 10.0 + 10.0 * np.linspace(0.0, 1.0, len(X)))
    moved = in_its_scale(held, None, np.zeros((1023, 1)), np.isin(np.arange(1023), [20, 21, 22]), 0).scores
    np.testing.assert_allclose(moved[:20], np.linspace(10.0, 20.0, 20), atol=1e-9)
    np.testing.assert_allclose(moved[20:], [15.0, 20.5, 9.75], atol=1e-9)


@pytest.mark.parametrize(
    ("value", "low", "high"), [(None, 0.3, 0.6), (0.5, 0.3, 0.6), (0.2, 0.1, 0.6), (0.7, 0.3, 0.9), (0.05, 0.0, 0.6)]
)
def test_a_prior_outside_the_interval_of_the_scores_extends_it(monkeypatch, value, low, high) -> None:
    monkeypatch.setattr(calibration, "estimate_prior", lambda *given: None)
    monkeypatch.setattr(calibration, "joint_estimate", lambda *_: SimpleNamespace(prior=Estimate(0.4, 0.3, 0.6)))
    found = prior_of(np.zeros(3), np.zeros(3), value)
    assert (found.value, found.low, found.high) == pytest.approx((0.4 if value is None else value, low, high))


def test_the_prior_of_a_model_is_of_the_unlabeled_rows_and_that_of_a_single_sample_of_all(monkeypatch) -> None:
    monkeypatch.setattr(calibration, "RIDGE_COLUMNS", 0)
    monkeypatch.setattr(calibration, "prior_of", lambda p, u, value, seed: Estimate(value, value, value))
    rng = np.random.default_rng(0)
    labeled = np.arange(100) < 20
    scores = HeldOutScores(np.arange(100), labeled, np.arange(100) % 4, rng.normal(size=100) + labeled, 0.25)
    for counts, prior in ((None, 0.25), ((20, 80), 0.4)):
        assert probability_curve(scores, np.zeros((100, 1)), None, counts, 0).prior.value == pytest.approx(prior)


def test_scores_of_all_rows_stay_where_they_are() -> None:
    X, _, scores = found()
    assert in_its_scale(scores, None, X, scores.labeled, 0) is scores


@pytest.mark.slow
@pytest.mark.parametrize("times", by_night([60, 200], by_day=[60]))
def test_no_range_ends_at_zero(times: int) -> None:
    """Positives with scores that no labeled row has are rare, but not impossible."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(times):
        truth = rng.random(3000) < 0.3
        population = np.where(truth, rng.normal(2.0, 1.0, 3000), rng.normal(-1.0, 1.0, 3000))
        curve = curve_of(rng.normal(2.0, 1.0, 40), population, Estimate(0.3, 0.25, 0.35))
        high = curve.of(population)["probability_high"]
        assert high.min() > 0.0
        low = population < np.quantile(population, 0.3)
        held.append(truth[low].mean() <= high[low].mean())
    assert np.mean(held) > 0.95


@pytest.mark.slow
def test_a_known_prior_leaves_open_what_few_rows_cannot_tell() -> None:
    """Probabilities of the lowest and of the highest scores are right on average, and their ranges hold."""
    rng = np.random.default_rng(0)
    error, lowest, highest = [], [], []
    for _ in range(100):
        positives = rng.random(2000) < 0.4
        population = np.where(positives, rng.normal(1.0, 1.0, 2000), rng.normal(-1.0, 1.0, 2000))
        truth = expit(2.0 * population + np.log(0.4 / 0.6))  # the probability of a positive given its score
        positive = rng.normal(1.0, 1.0, 40)
        columns = curve_of(positive, population, Estimate(0.4, 0.4, 0.4)).of(population)
        assert columns["probability"].min() > 0.0
        below, above = population < positive.min(), population > np.quantile(population, 0.95)
        error.append(truth[below].mean() - columns["probability"][below].mean())
        lowest.append(truth[below].mean() <= columns["probability_high"][below].mean())
        highest.append(columns["probability_low"][above].mean() <= truth[above].mean())
    assert abs(np.mean(error)) < 0.01
    assert np.mean(lowest) > 0.9 and np.mean(highest) > 0.9


def test_the_least_end_is_that_of_clopper_and_pearson() -> None:
    from scipy.stats import binomtest

    population, positive = np.linspace(0.0, 1.0, 1000), np.linspace(0.5, 1.0, 30)
    share = np.mean(population < 0.5)
    expected = 0.2 * binomtest(0, 30, alternative="less").proportion_ci(0.95).high / share
    assert least_end(positive, population, 0.2) == pytest.approx(expected, rel=0.05)
    assert least_end(positive, population, 0.2) <= least_end(positive[:10], population, 0.2) <= 1.0
    assert least_end(positive, population[:1], 1.0) <= 1.0
    at = binomtest(30, 30, alternative="greater").proportion_ci(0.98).low
    rows = binomtest(500, 1000, alternative="less").proportion_ci(0.95).high
    assert greatest_end(positive, population, 0.2) == pytest.approx(0.2 * at / rows, rel=0.05)


def test_scores_without_any_order_give_the_prior() -> None:
    curve = curve_of(np.zeros(20), np.zeros(50), Estimate(0.3, 0.3, 0.3))
    assert curve.of(np.array([-1.0, 0.0, 1.0]))["probability"] == pytest.approx(0.3)


def test_two_labeled_classes_give_a_logistic_curve() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=5000) * 10.0
    last = rng.random(5000) < expit(0.2 * scores + 0.5)
    at = np.linspace(-20, 20, 9)
    assert class_curve(scores, last).of(at)["probability"] == pytest.approx(expit(0.2 * at + 0.5), abs=0.03)
    apart = class_curve(np.array([-1.0, -0.9, 1.0, 1.1]), np.array([False, False, True, True]))
    assert 0.0 < apart.probability[0] < 0.5 < apart.probability[-1] < 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"scores": [1.0, 0.0]},
        {"probability": [0.1, 1.5]},
        {"low": [0.1]},
        {"high": ["a", "b"]},
        {"prior_low": 0.9},
    ],
)
def test_a_model_file_with_other_curves_is_refused(tmp_path, wrong) -> None:
    X, _, labeled = rows(60, 0)
    pipeline = make_pipeline(BLSSVM(), standardize=True).fit(X, labeled.astype(int))
    good = {"prior": 0.3, "prior_low": 0.2, "prior_high": 0.4, "scores": [0.0, 1.0]}
    good |= {name: [0.1, 0.9] for name in ("probability", "low", "high")}
    path = tmp_path / "m.model"
    save_model(path, SavedModel(pipeline, "blssvm", list("abcd"), {"kind": "pu", "probability": good}))
    assert load_model(path).metadata["probability"] == good
    save_model(path, SavedModel(pipeline, "blssvm", list("abcd"), {"kind": "pu", "probability": good | wrong}))
    with pytest.raises(UsageError, match="damaged"):
        load_model(path)


@pytest.mark.parametrize("method", ["glpual", "svc-naive", "usmo", "cpls", "mcpl-lda"])
def test_every_method_that_predicts_labels_writes_a_probability(pucli, tmp_path, method) -> None:
    X, positive, labeled = rows(160, 0)
    pu = method in ("glpual", "svc-naive", "usmo")
    known = labeled if pu else np.random.default_rng(0).random(160) < 0.5
    words = np.where(known, np.where(positive, "yes", "no"), "")
    pd.DataFrame(X, columns=list("abcd")).assign(label=words).to_csv("rows.csv", index=False)
    options = ["--positive", "yes"] if pu else []
    prior = ["--param", "prior=0.3"] if method == "usmo" else []
    train = ["train", "--method", method, "--data", "rows.csv", "--label", "label", *options, *prior]
    document = pucli(*train, "--model", "m.model", "--json").document
    text = pucli("predict", "--model", "m.model", "--data", "rows.csv", "--json")
    first = text.document["predictions"][0]
    ranges = {"probability_low", "probability_high"} if pu else set()
    assert set(first) - {"score"} == {"row", "prediction", "probability"} | ranges
    assert all(0.0 <= row["probability"] <= 1.0 for row in json.loads(text.out)["predictions"])
    if pu:
        assert document["probability"]["prior_low"] <= document["probability"]["prior"]


def test_without_held_out_scores_predict_says_why_there_is_no_probability(pucli, tmp_path) -> None:
    X, _, labeled = rows(40, 0)
    labeled[:] = np.arange(40) < 3
    pd.DataFrame(X, columns=list("abcd")).assign(label=labeled.astype(int)).to_csv("rows.csv", index=False)
    train = ["train", "--method", "gllc", "--data", "rows.csv", "--label", "label", "--model", "m.model"]
    assert "gives no probability" in pucli(*train).err
    done = pucli("predict", "--model", "m.model", "--data", "rows.csv")
    assert "no probability is written" in done.err
    assert done.out.splitlines()[0] == "row,prediction,score"


@pytest.mark.parametrize("value", [0.0, 1e-9])
def test_a_prior_of_nearly_nothing_has_a_range(value: float) -> None:
    rng = np.random.default_rng(0)
    curve = curve_of(rng.normal(3.0, 1.0, 30), rng.normal(size=300), Estimate(value, value, value + 0.3))
    assert (curve.probability <= curve.high).all()
    assert 0.0 < curve.high[0] < curve.high[-1] <= 1.0


def test_rows_far_below_every_labeled_one_are_not_possibly_certain() -> None:
    rng = np.random.default_rng(0)
    positive = rng.normal(8.0, 1.0, 60)
    population = np.concatenate([rng.normal(8.0, 1.0, 100), rng.normal(size=200)])
    curve = curve_of(positive, population, Estimate(0.33, 0.3, 0.42))
    assert 0.0 < curve.probability[0] < 0.02
    assert curve.high[0] < 0.1
