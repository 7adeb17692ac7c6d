"""scikit-learn's checks of every estimator in the list of methods, at its defaults."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

from pucli.methods import METHODS, Method, make_estimator
from tests.trust.lines import Line

MINUS_ONE = (
    "its last problem names a class -1, which marks an unlabeled row; scikit-learn exempts its own semi-supervised "
    "classifiers from it by name"
)
WORDS = "words of which neither is plainly positive are refused"
BY_SCORES = "probabilities are an estimate from unweighted scores; a row is predicted by the sign of f"
OF_PROBABILITIES = (
    "check_classifiers_train",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
# Parameters with which a network trains in a tenth of a second.
_SMALL: dict[str, Any] = {"hidden": (8,), "n_iterations": 10, "block": 5}


def expected_failures(method: Method) -> dict[str, str]:
    ours = method.estimator.startswith("pucli.") and method.name != "label-spreading"  # which is that of scikit-learn
    if ours and method.kind == "pu":
        by_scores = {} if method.name == "auto" else dict.fromkeys(OF_PROBABILITIES, BY_SCORES)
        return {"check_classifiers_classes": WORDS} | by_scores
    return {"check_classifiers_classes": MINUS_ONE} if ours and method.kind == "semi-supervised" else {}


def lines(full: bool) -> list[Line]:
    """Return the lines of the checks; `full` adds all networks but PAE, and Classtering at its defaults."""
    line = Line("scikit-learn's checks of estimators")
    forced = []
    for name, method in METHODS.items():
        if method.extra == "deep" and importlib.util.find_spec("torch") is None:
            continue
        if method.extra == "deep" and name != "pae" and not full:
            continue
        params = _SMALL if method.extra == "deep" else {}
        if name == "classtering" and not full:
            params = {"n_components": 3, "tol": 1e-3, "max_iter": 50}
        forced += _check(line, name, method, params)
    line.note = f"and {len(forced)} fail as expected, for the reasons in tests/trust/estimator_checks.py"
    return [line]


def _check(line: Line, name: str, method: Method, params: dict[str, Any]) -> list[str]:
    """Count the checks of one method; return the names of those that failed as expected."""
    expected = expected_failures(method)
    with warnings.catch_warnings(action="ignore"):
        found = check_estimator(
            make_estimator(name, **params), expected_failed_checks=expected, on_skip=None, on_fail=None
        )
    for result in found:
        if result["status"] in ("passed", "failed"):
            reason = " ".join(str(result["exception"]).split()) or "failed without a message"
            problem = "" if result["status"] == "passed" else reason
            line.count(f"{name} {result['check_name']} {line.tried}", problem)
    return [name for result in found if result["status"] == "xfail"]
