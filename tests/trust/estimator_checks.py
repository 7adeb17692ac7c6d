"""scikit-learn's checks of every estimator in the list of methods, at its defaults."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

from pucli.methods import METHODS, Method, make_estimator
from tests.trust.lines import Line

MINUS_ONE = (
    "its last problem names a class -1, which marks an unlabeled row; scikit-learn exempts its own semi-supervised "
    "classifiers from it by name"
)
# Parameters with which a network trains in a tenth of a second.
_SMALL: dict[str, Any] = {"hidden": (8,), "n_iterations": 10, "block": 5}


def expected_failures(method: Method) -> dict[str, str]:
    """Return the check that a method must fail because -1 marks an unlabeled row, with the reason."""
    ours = method.estimator.startswith("pucli.")
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
    line.note = f"and {len(forced)} fail as expected, all check_classifiers_classes: -1 marks an unlabeled row"
    return [line]


def _check(line: Line, name: str, method: Method, params: dict[str, Any]) -> list[str]:
    """Count the checks of one method; return the names of those that failed as expected."""
    from sklearn.utils.estimator_checks import check_estimator

    expected = expected_failures(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            make_estimator(name, **params), expected_failed_checks=expected, on_skip=None, on_fail=None
        )
    for result in found:
        if result["status"] in ("passed", "failed"):
            problem = "" if result["status"] == "passed" else " ".join(str(result["exception"]).split())
            line.count(f"{name} {result['check_name']} {line.tried}", problem or _silent(result["status"]))
    return [name for result in found if result["status"] == "xfail"]


def _silent(status: str) -> str:
    return "" if status == "passed" else "failed without a message"
