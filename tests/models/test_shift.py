"""The parts of `pucli shift`: threshold and predictions of another class prior, shares and prior of training."""

from dataclasses import astuple
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.columns.drift import ReferenceShares
from pucli.models import shift
from pucli.models.shift import Shift, _new_prior, _tested, _threshold, _trained_prior, old_shares
from pucli.solvers.ensemble.estimates import Estimate
from pucli.solvers.prior.shift import NewPrior, adapted, new_prior
from pucli.solvers.prior.three_samples import prior_of_three


def test_the_threshold_has_the_largest_expected_f1():
    """By brute force over all thresholds; rows with one score are on one side."""
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=60), 1)
    p = np.clip(1.0 / (1.0 + np.exp(-3.0 * scores)) + 0.1 * rng.normal(size=60), 0.0, 1.0)
    found = _threshold(scores, p)
    levels = np.unique(scores)

    def expected_f1(threshold):
        return 2.0 * p[scores > threshold].sum() / (np.sum(scores > threshold) + p.sum())

    best = max(expected_f1(threshold) for threshold in [levels[0] - 1.0, *levels])
    assert expected_f1(found) == pytest.approx(best)
    assert found not in levels and np.min(np.abs(levels - found)) == pytest.approx(0.05)
    assert _threshold(np.array([2.0, 1.0]), np.ones(2)) < 1.0  # all rows
    assert _threshold(np.zeros(4), np.linspace(0.4, 0.1, 4)) < 0.0


def test_predictions_are_those_of_the_new_prior():
    block = pd.DataFrame(
        {"score": [0.2, 0.6], "probability": [0.3, 0.8], "probability_low": 0.1, "probability_high": 0.9}
    )
    found = Shift(
        40, "prior", NewPrior(0.5, 0.4, 0.7), Estimate(0.3, 0.2, 0.4), 0.01, 0.5, (), threshold=0.5, remarks=()
    )
    (one,) = found.adapt(iter([block]), {"0": "no", "1": "yes"})
    np.testing.assert_allclose(one["score"], [-0.3, 0.1])
    assert one["prediction"].tolist() == ["no", "yes"]
    p = block["probability"].to_numpy()
    for name, prior in (("probability", 0.5), ("probability_low", 0.4), ("probability_high", 0.7)):
        np.testing.assert_allclose(one[name], adapted(p, 0.3, prior))


@pytest.mark.parametrize("single", [True, False])
def test_shares_of_labeled_rows_follow_from_those_of_all_and_of_the_unlabeled(single):
    rng = np.random.default_rng(1)
    Z, labeled = rng.normal(size=(400, 2)), rng.random(400) < 0.2
    Z[labeled] += 1.0
    counts = int(labeled.sum()), int((~labeled).sum())
    usual = ReferenceShares.of(Z, ~labeled)
    of_labeled, population = old_shares(usual, counts, single=single)
    for found, rows in ((of_labeled, Z[labeled]), (population, Z if single else Z[~labeled])):
        assert found.rows == len(rows)
        for k, points in enumerate(usual.points):
            up_to = np.array([0.0, *(np.mean(rows[:, k] <= point) for point in points), 1.0])
            np.testing.assert_allclose(found.shares[k], np.diff(up_to), atol=1e-12)


def test_the_new_prior_comes_from_held_out_scores_if_the_model_keeps_them():
    rng = np.random.default_rng(2)
    positive, population = rng.normal(2, 1, 80), np.r_[rng.normal(2, 1, 60), rng.normal(-2, 1, 140)]
    new = np.r_[rng.normal(2, 1, 150), rng.normal(-2, 1, 150)]
    p, trained = 1.0 / (1.0 + np.exp(-2.0 * new)), Estimate(0.3, 0.2, 0.4)
    kept = SimpleNamespace(_positive=positive, _population=population, threshold_=0.7)
    # scores of predictions are relative to the threshold, held-out ones are not
    found = _new_prior(SimpleNamespace(estimator=kept), new - 0.7, p, trained, 80)
    expected = prior_of_three((positive, population, new), 0.3, (0.2, 0.4), shift.stream(0, "prior shift"))
    assert astuple(found) == pytest.approx(astuple(expected), rel=1e-9)
    without = _new_prior(SimpleNamespace(estimator=object()), new, p, trained, 80)
    assert without == new_prior(p, 0.3, (0.2, 0.4), 80, shift.stream(0, "prior shift"))


@pytest.mark.parametrize(("denominator", "single"), [("all", True), ("unlabeled", False)])
def test_new_rows_are_compared_with_the_population_of_training(denominator, single, monkeypatch):
    asked = []
    monkeypatch.setattr(shift, "old_shares", lambda usual, counts, *, single: (asked.append(single), (None, None))[1])
    monkeypatch.setattr(
        shift, "changed_features", lambda *given, any_prior: (0.01, np.array([0.9, 0.02, 0.001, 0.002]))
    )
    tally = SimpleNamespace(compared=lambda: (["a", "b", "c", "c"], None, np.zeros((4, 5)), 40))
    found = _tested(SimpleNamespace(metadata={"denominator": denominator}), tally, (10, 90))
    assert asked == [single] and found == (0.01, 0.01, ("c", "b"))  # the clearest first


def test_the_prior_of_training_is_that_of_the_ensemble_or_of_the_curve():
    ensemble = SimpleNamespace(prior_=0.3, prior_interval_=(0.2, 0.5))
    assert _trained_prior(SimpleNamespace(estimator=ensemble)) == Estimate(0.3, 0.2, 0.5)
    about = {"kind": "pu", "probability": {"prior": 0.3, "prior_low": 0.1, "prior_high": 0.4}}
    assert _trained_prior(SimpleNamespace(estimator=None, metadata=about)) == Estimate(0.3, 0.1, 0.4)
    with pytest.raises(UsageError, match="pucli auto"):
        _trained_prior(SimpleNamespace(estimator=None, metadata=about | {"kind": "safe"}, method="icls"))
