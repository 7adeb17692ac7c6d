"""scikit-learn's checks of every method that ships with pucli; where one is expected to fail, the reason stands here.

Quick runs leave this file out before it makes its thousands of tests.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

from pucli.methods import METHODS, estimator_class
from tests.test_every_method import DEEP, OURS, PU, QUICK, SEMI_SUPERVISED, quick

pytestmark = pytest.mark.slow

# Settings that reach other code than the defaults do.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("glpual", {"solver": "admm"}),
    ("glpual", {"kernel": "rbf"}),
    ("glpual", {"kernel": "rbf", "form": "thesis"}),
    ("gllc", {"kernel": "rbf"}),
    ("gllc", {"kernel": "rbf", "form": "thesis"}),
    ("bsvm", {"kernel": "rbf"}),
    ("blssvm", {"kernel": "rbf"}),
    ("svc-naive", {"prior": "estimate"}),
    ("e-glpual", {"solver": "admm", "tol": 1e-4}),
    ("ekf-glpual", {"solver": "admm", "tol": 1e-3, "max_iter": 2000}),
    ("cpb-glpual", {"prior": 0.3, "kernel": "rbf"}),
    ("cpb-glpual", {"prior": 0.3, "kernel": "rbf", "form": "thesis"}),
    ("cpb-glpual", {"prior": 0.3, "solver": "admm", "max_iter": 50}),
    ("upu", {"loss": "squared"}),
    ("upu", {"prior": 0.3, "loss": "double-hinge"}),
    ("usmo", {"kernel": "linear"}),
    ("cpls", {"lam": 1.0}),
    ("mcpl", {"family": "gaussian-diagonal"}),
    ("mcpl", {"family": "gaussian-fixed"}),
    ("gaussian-mcpl", {"ridge": 0.1}),
    ("cpb-glpual", {}),
    ("nnpu", {}),
    ("usmo", {}),
    ("ramp-pu", {}),
]

# Methods that estimate the class prior if none is given: the estimate, ten times as long as the rest of such a fit, is
# the same function for all. By day it is checked with `upu`, by night with each.
GIVEN_PRIOR = {name: {"prior": 0.3} for name in ("cpb-glpual", "nnpu", "usmo", "ramp-pu")}

# Checks of scikit-learn that fail because of what a method is, and why.
_MINUS_ONE = (
    "its last problem names a class -1, which marks an unlabeled row; scikit-learn exempts its own semi-supervised "
    "classifiers from it by name"
)
_WORDS = (
    "it has labels 'one' and 'two' without saying which of them marks the labeled positives: such words are refused, "
    "because a wrong guess turns the model upside down"
)
_HALF = "a row is predicted by the sign of f, also where the estimated probability of a positive is below 1/2"
_UNWEIGHTED = "probabilities are estimated from scores of training rows, each of which counts once"
_PROBABILITIES = {
    "check_classifiers_train": _HALF,
    "check_sample_weight_equivalence_on_dense_data": _UNWEIGHTED,
    "check_sample_weight_equivalence_on_sparse_data": _UNWEIGHTED,
}
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    **{name: {"check_classifiers_classes": _WORDS} | ({} if name == "auto" else _PROBABILITIES) for name in PU},
    **{name: {"check_classifiers_classes": _MINUS_ONE} for name in SEMI_SUPERVISED},
}


def _without_probabilities(name: str) -> Any:
    """Return a method without the estimated probabilities, so that the rest of the checks that they fail is run."""
    kind = estimator_class(METHODS[name])
    plain = type(kind.__name__, (kind,), {"predict_proba": property(lambda self: self.no_probabilities)})
    return plain(**{**QUICK.get(name, {}), **GIVEN_PRIOR.get(name, {})})


def _checked() -> list[Any]:
    return [quick(name, **GIVEN_PRIOR.get(name, {})) for name in OURS if METHODS[name].extra != "deep"]


def _expected(estimator: Any) -> dict[str, str]:
    names = {estimator_class(METHODS[name]): name for name in OURS}
    return EXPECTED_FAILURES.get(names[type(estimator)], {})


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(_checked(), expected_failed_checks=_expected)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in PU if METHODS[name].extra != "deep" and name != "auto"])
def test_predictions_and_weights_pass_scikit_learns_checks_without_probabilities(name: str) -> None:
    for check in _PROBABILITIES:
        if check == "check_classifiers_train" or has_fit_parameter(estimator_class(METHODS[name]), "sample_weight"):
            getattr(estimator_checks, check)(name, _without_probabilities(name))


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([quick("pae")])
def test_scikit_learn_checks_of_a_network(estimator: Any, check: Any) -> None:
    pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")
    check(estimator)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([quick(name) for name in DEEP])
def test_scikit_learn_checks_of_every_network(estimator: Any, check: Any) -> None:
    pytest.importorskip("torch", reason="the extra [deep] is not installed: no torch")
    check(estimator)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([quick(name, **params) for name, params in VARIANTS], expected_failed_checks=_expected)
def test_scikit_learn_checks_of_variants(estimator: Any, check: Any) -> None:
    check(estimator)


def test_every_expected_failure_belongs_to_a_method() -> None:
    assert set(EXPECTED_FAILURES) <= set(OURS)
    assert all(reason for reasons in EXPECTED_FAILURES.values() for reason in reasons.values())
