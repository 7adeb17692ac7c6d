"""`AutoPU` where positives are rare: few rows are called, and it is told what the first rows hold."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.estimators.auto.auto_pu import AutoPU
from pucli.estimators.auto.member_list import all_members


@pytest.fixture(scope="module")
def needles() -> tuple[AutoPU, np.ndarray]:
    """A classifier of 60 labeled and 1,000 unlabeled rows, 20 of them positive, and which of all rows are positive."""
    rng = np.random.default_rng(0)
    y = np.arange(1060) < 80
    X = rng.normal(size=(1060, 2)) + 2.0 * y[:, None]
    return AutoPU(members=all_members()[:1]).fit(X, np.arange(1060) < 60), y


@pytest.mark.slow
def test_few_rows_are_called_where_positives_are_rare(needles: tuple[AutoPU, np.ndarray]) -> None:
    model, y = needles
    called = model.held_out_[60:] > model.threshold_
    assert 5 <= called.sum() <= 60 and abs(model.prior_ - 0.02) < 0.02
    assert 2 * np.sum(called & y[60:]) / (called.sum() + 20) > 0.5
    again = model.with_threshold("share", 0.1).with_threshold("f1")
    assert again.threshold_ == model.threshold_


@pytest.mark.slow
def test_the_first_rows_are_told_where_positives_are_rare(needles: tuple[AutoPU, np.ndarray]) -> None:
    model, y = needles
    fifty, hundred = model.among_first([50, 100, 1001])
    order = np.argsort(-model.held_out_[60:])
    for first in (fifty, hundred):
        assert first.positives.low <= y[60:][order[: first.rows]].sum() <= first.positives.high
        assert first.positives.value == pytest.approx(first.precision.value * first.rows)
        assert 1.0 < first.lift.low <= first.lift.value <= first.lift.high
    assert fifty.positives.value <= hundred.positives.value
