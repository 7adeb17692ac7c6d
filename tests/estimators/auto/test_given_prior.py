"""A class prior known from elsewhere: what follows from it, what stays, and what a wrong one costs."""

from __future__ import annotations

import numpy as np
import pytest

from pucli import AutoPU
from pucli.core.errors import UsageError
from tests.solvers.ensemble.helpers import two_clouds


@pytest.mark.slow
def test_threshold_probabilities_and_estimates_follow_and_the_order_stays():
    X, s, truth = two_clouds(300, prior=0.3, labeled=40, apart=1.5)
    model = AutoPU().fit(X, s)
    before = model.prior_, model.threshold_, dict(model.estimates_)
    share = float(truth[~s].mean())
    few, true, many = (model.with_prior(prior) for prior in (0.1, share, 0.6))
    assert (model.prior_, model.threshold_, dict(model.estimates_)) == before  # a copy moves
    assert few.threshold_ > true.threshold_ > many.threshold_
    assert np.array_equal(few.score_rows(X), model.score_rows(X))
    for moved, prior in ((few, 0.1), (true, share), (many, 0.6)):
        assert moved.prior_ == prior and moved.prior_interval_ == (prior, prior)
        p = moved.probability_of(model.held_out_[~s])
        assert abs(p.mean() - prior) < 0.03
        widths = [np.subtract(*m.probability_range(p)[::-1]).mean() for m in (moved, model)]
        assert widths[0] < widths[1]  # the prior is known
        for name, estimate in moved.estimates_.items():
            assert estimate.low <= estimate.value <= estimate.high, name
    width = [m.estimates_["precision"].high - m.estimates_["precision"].low for m in (model, true)]
    assert width[1] < 0.5 * width[0]
    called = (model.held_out_ > true.threshold_) & ~s
    assert true.estimates_["precision"].low <= truth[called].mean() <= true.estimates_["precision"].high
    assert true.with_threshold("recall", 0.9).prior_interval_ == (
        share,
        share,
    )  # the prior stays when the threshold moves


@pytest.mark.slow
def test_a_prior_that_cannot_be_is_refused():
    X, s, _ = two_clouds(100, labeled=20)
    model = AutoPU(scenario="single-training-set").fit(X, s)
    for prior in (0.0, 0.1, 1.0):  # a sixth of the rows are labeled
        with pytest.raises(UsageError, match="must be below 1 and at least"):
            model.with_prior(prior)
    with pytest.raises(UsageError, match="labels at random"):
        AutoPU(labeling="sar").fit(X, s).with_prior(0.3)


@pytest.mark.nightly  # a minute; docs/how_to/review.md sums it up
@pytest.mark.filterwarnings("ignore")
def test_a_true_prior_narrows_and_a_wrong_one_misleads():
    found = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        share, apart, labeled = random.uniform(0.08, 0.5), random.uniform(1.0, 2.2), int(random.choice([30, 60, 100]))
        truth = np.r_[np.ones(labeled, bool), random.random(500) < share]
        X = random.normal(size=(len(truth), 4))
        X[truth, :2] += apart * np.r_[1.0, 0.5]
        s = np.arange(len(truth)) < labeled
        model, prior = AutoPU().fit(X, s), truth[~s].mean()
        row = []
        for moved in (model, *(model.with_prior(min(0.99, prior * factor)) for factor in (1.0, 1.3, 1 / 1.3))):
            called = (model.held_out_ > moved.threshold_) & ~s
            right, precision = np.sum(called & truth), moved.estimates_["precision"]
            value = right / max(called.sum(), 1)
            row.append(
                [
                    2 * right / (called.sum() + truth[~s].sum()),
                    precision.low <= value <= precision.high,
                    precision.high - precision.low,
                    abs(precision.value - value),
                ]
            )
        found.append(row)
    print(np.round(np.mean(found, axis=0), 3))
    (f1, *_), (f1_true, holds, width, error), (_, holds_many, *_), (_, holds_few, *_) = np.mean(found, axis=0)
    assert f1_true > f1 and holds > 0.8 and width < 0.3 and error < 0.08
    assert holds_many < 0.3 and holds_few < 0.6
