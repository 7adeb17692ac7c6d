"""The network learns at small priors and at any scale of the features, or says that it has not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from pucli import NNPU, UPU

SHIFT = np.array([2.5, 1.0, 1.0])


def rows(prior: float, n: int = 600, shift: Any = SHIFT, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prior
    X = np.vstack([rng.normal(size=(60, 3)) + shift, rng.normal(size=(n, 3)) + positive[:, None] * shift])
    return X, (np.arange(n + 60) < 60).astype(int), positive


@pytest.mark.slow  # several trainings of 500 steps
@pytest.mark.parametrize("kind", [NNPU, UPU])
@pytest.mark.parametrize("prior", [0.05, 0.03])
def test_a_small_prior_is_learned(kind: Any, prior: float) -> None:
    X, y, positive = rows(prior, 1500)
    model = kind(prior=prior, random_state=0).fit(X, y)
    assert model.converged_
    assert roc_auc_score(positive, model.decision_function(X[60:])) > 0.95


@pytest.mark.parametrize("change", [lambda X: 100.0 * X, lambda X: X + 50.0, lambda X: X * [1e-3, 1.0, 1e3] - 7.0])
def test_the_scale_and_the_place_of_features_do_not_matter(change: Any) -> None:
    X, y, positive = rows(0.3)
    model = NNPU(prior=0.3, random_state=0).fit(change(X), y)
    assert model.converged_
    assert roc_auc_score(positive, model.decision_function(change(X)[60:])) > 0.9


@pytest.mark.slow  # three trainings of 500 steps
def test_a_network_that_has_not_learned_says_so() -> None:
    X, y, _ = rows(0.1, shift=np.zeros(3))
    with pytest.warns(ConvergenceWarning, match="NNPU has not learned"):
        model = NNPU(prior=0.1, random_state=0).fit(X, y)
    assert not model.converged_


def test_a_given_number_of_epochs_is_the_method_of_the_paper() -> None:
    X, y, _ = rows(0.03)
    model = NNPU(prior=0.03, n_epochs=20, random_state=0).fit(X, y)
    assert model.n_iter_ == 20 and model.converged_
