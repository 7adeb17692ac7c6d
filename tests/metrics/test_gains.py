"""The gains curve is that of the scores."""

from __future__ import annotations

import numpy as np
import pytest

from pucli import BLSSVM, GainsCurveDisplay
from pucli.metrics import pu_auc_scorer


def test_a_gains_curve_is_that_of_the_scores() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + 2.0 * (np.arange(300) < 120)[:, None]
    s = (np.arange(300) < 60).astype(int)
    model = BLSSVM().fit(X, s)
    drawn = GainsCurveDisplay.from_estimator(model, X, s, color="C3")
    assert drawn.name == "BLSSVM" and drawn.line_.get_color() == "C3" and drawn.ax_.get_legend() is not None
    assert np.trapezoid(drawn.found, drawn.looked_at) == pytest.approx(pu_auc_scorer(model, X, s))
    again = GainsCurveDisplay.from_predictions(s == 1, model.decision_function(X), ax=drawn.ax_)
    assert again.ax_ is drawn.ax_ and np.array_equal(again.found, drawn.found) and again.name is None
    matplotlib.pyplot.close(drawn.figure_)
