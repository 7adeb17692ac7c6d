"""The prior that is not given: which estimator finds it is a parameter of every method that needs one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import EstimatedPriorWarning
from pucli.estimators import CPBGLPUAL, NNPU, UPU, USMO, RampPU
from pucli.estimators.unbiased.naive_svc import NaiveSVC
from pucli.solvers.folds import stratified_folds
from pucli.solvers.prior.estimate import estimate_prior

ALL = pytest.mark.parametrize(
    "model",
    [UPU(loss="squared"), NNPU(n_epochs=1), USMO(), RampPU(), CPBGLPUAL(), NaiveSVC(prior="estimate")],
    ids=lambda model: type(model).__name__,
)


@ALL
@pytest.mark.parametrize("estimator", ["bbe", "km2"])
def test_the_prior_is_that_of_the_estimator(model, estimator: str) -> None:
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(3, 1, (60, 2)), rng.normal(0, 1, (60, 2))]
    labeled = np.arange(120) < 25
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(prior_estimator=estimator, random_state=0).fit(X, labeled.astype(int))
    expected = estimate_prior(X, labeled, estimator, random_state=np.random.RandomState(0)).prior
    assert model.prior_ == pytest.approx(np.clip(expected, 0.01, 0.99))


def visits(seed: int, people: int = 120, each: int = 5) -> tuple[Floats, Ints, Ints]:
    """Return the visits of some people, each of which is nearly the same; a third of the positive half is labeled."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), each)
    of_people = rng.normal(0, 1, (people, 12))
    of_people[: people // 2, 0] += 1.2
    X = of_people[person] + rng.normal(0, 0.05, (len(person), 12))
    return X, (person < people // 6).astype(int), person


@ALL
def test_visits_of_one_person_are_in_one_fold_of_the_estimate(model) -> None:
    X, y, person = visits(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(prior_estimator="bbe", random_state=0)
        without, grouped = clone(model).fit(X, y).prior_, clone(model).fit(X, y, groups=person).prior_
    expected = estimate_prior(X, y == 1, "bbe", random_state=np.random.RandomState(0), groups=person).prior
    assert grouped == pytest.approx(expected)
    assert without < 0.05 < 0.3 < grouped  # 0.4 is true


def test_the_threshold_that_calls_the_prior_is_held_out_by_groups() -> None:
    X, y, person = visits(0)
    model = NaiveSVC(prior=0.4, random_state=0).fit(X, y, groups=person)
    scores = np.empty(len(X))
    rng = np.random.default_rng(np.random.RandomState(0).randint(2**31))
    fold = stratified_folds(y == 1, 5, rng, person)
    for held in (fold == k for k in range(5)):
        assert not set(person[held]) & set(person[~held])
        scores[held] = NaiveSVC().fit(X[~held], y[~held]).decision_function(X[held])
    assert model.threshold_ == pytest.approx(np.quantile(scores[y == 0], 0.6))


def test_ends_near_zero_are_said_without_powers_of_ten() -> None:
    X, y, _ = visits(0)
    with pytest.warns(EstimatedPriorWarning, match=r"estimate 0\.01 of .* \(0(\.\d+)? to 0\.\d+ with 90%"):
        NaiveSVC(prior="estimate", random_state=0).fit(X, y)


def test_a_missing_group_is_refused() -> None:
    with pytest.raises(ValueError, match="one group for each of the 4 rows"):
        UPU(loss="squared").fit(np.eye(4), [1, 1, 0, 0], groups=[1, 2, 3])


def test_the_two_estimators_differ_here() -> None:
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(3, 1, (60, 2)), rng.normal(0, 1, (60, 2))]
    labeled = np.arange(120) < 25
    found = [estimate_prior(X, labeled, name, random_state=np.random.RandomState(0)).prior for name in ("bbe", "km2")]
    assert abs(found[0] - found[1]) > 1e-3


def test_an_unknown_estimator_is_refused() -> None:
    with pytest.raises(ValueError, match="prior_estimator"):
        UPU(prior_estimator="guess").fit(np.eye(4), [1, 1, 0, 0])
