"""Classtering learns whatever the scale of a feature, or says that it has not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from pucli import Classtering
from pucli.core.errors import DegenerateModelWarning

RNG = np.random.default_rng(0)
TRUTH = np.arange(120) % 2
X = RNG.normal(size=(120, 3)) + 3.0 * TRUTH[:, None] * [1, 1, 0]
Y = np.where(np.arange(120) < 20, TRUTH, -1)
QUICK = {"n_components": 2, "random_state": 0}


@pytest.mark.parametrize("scale", [[1, 1, 1e4], [1, 1, 1e8], [1e3, 1, 1], [1e-4, 1, 1]])
def test_the_scale_of_a_feature_does_not_matter(scale: list[float]) -> None:
    model = Classtering(**QUICK).fit(X * scale, Y)
    assert model.score(X * scale, TRUTH) > 0.9
    assert np.isfinite(model.score_samples(X * scale)).all()
    np.testing.assert_allclose(model.noise_variance_ > 0.0, True)


def test_a_single_class_for_all_labeled_rows_is_no_success() -> None:
    with pytest.warns(ConvergenceWarning, match="has not learned: it predicts"):
        model = Classtering(n_components=1).fit(X, Y)
    assert not model.converged_


def test_one_labeled_class_is_told() -> None:
    with pytest.warns(DegenerateModelWarning, match="only one class has labels, 1"):
        Classtering(**QUICK).fit(X, np.where(Y == 1, 1, -1))
