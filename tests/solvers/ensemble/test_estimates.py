"""Intervals on one screen agree: labeled rows narrow the recall, and the likeliest rows bound prior and precision."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.models.auto.summary import _reported
from pucli.solvers.ensemble.estimates import Estimate, FirstRows, estimates
from pucli.solvers.ensemble.hidden_share import PriorWithDraws


@pytest.mark.parametrize(("count", "widest"), [(50, 0.4), (100, 0.32), (1600, 0.1)])
def test_the_recall_is_narrower_with_more_labeled_rows(count: int, widest: float) -> None:
    rng = np.random.default_rng(0)
    prior = PriorWithDraws(0.3, 0.3, 0.3, np.full(200, 0.3))
    recall = estimates(rng.normal(1, 1, count), rng.normal(0, 1, 5000), 0.5, prior, rng)["recall"]
    assert 0.02 < recall.high - recall.low < widest


def test_lower_ends_are_at_least_what_the_likeliest_rows_hold() -> None:
    one = Estimate(1.0, 1.0, 1.0)
    first = [
        FirstRows(rows, Estimate(middle, low, rows), one, one, one)
        for rows, middle, low in ((50, 40, 20), (200, 90, 60))
    ]
    of = dict.fromkeys(("recall", "f1", "auc"), one) | {
        "share": Estimate(0.1, 0.1, 0.1), "prior": Estimate(0.1, 0.0, 1.0), "precision": Estimate(0.5, 0.01, 1.0)
    }  # fmt: skip
    shown = _reported(of, dict.fromkeys(of, True), first, 1000)
    assert shown.prior.low == pytest.approx(60 / 1000)
    assert shown.precision.low == pytest.approx(20 / 100)  # of the 100 called rows; 200 are not all called
