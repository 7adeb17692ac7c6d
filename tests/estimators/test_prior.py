"""The prior that is not given: which estimator finds it is a parameter of every method that needs one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from pucli.estimators import CPBGLPUAL, NNPU, UPU, USMO, RampPU
from pucli.estimators.unbiased.naive_svc import NaiveSVC
from pucli.solvers.prior.estimate import estimate_prior


@pytest.mark.parametrize(
    "model",
    [UPU(loss="squared"), NNPU(n_epochs=1), USMO(), RampPU(), CPBGLPUAL(), NaiveSVC(prior="estimate")],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("estimator", ["bbe", "km2"])
def test_the_prior_is_that_of_the_estimator(model, estimator: str) -> None:
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(3, 1, (60, 2)), rng.normal(0, 1, (60, 2))]
    labelled = np.arange(120) < 25
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(prior_estimator=estimator, random_state=0).fit(X, labelled.astype(int))
    expected = estimate_prior(X, labelled, estimator, random_state=np.random.RandomState(0)).prior
    assert model.prior_ == pytest.approx(np.clip(expected, 0.01, 0.99))


def test_the_two_estimators_differ_here() -> None:
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(3, 1, (60, 2)), rng.normal(0, 1, (60, 2))]
    labelled = np.arange(120) < 25
    found = [estimate_prior(X, labelled, name, random_state=np.random.RandomState(0)).prior for name in ("bbe", "km2")]
    assert abs(found[0] - found[1]) > 1e-3


def test_an_unknown_estimator_is_refused() -> None:
    with pytest.raises(ValueError, match="prior_estimator"):
        UPU(prior_estimator="guess").fit(np.eye(4), [1, 1, 0, 0])
