"""Every parameter of a PU method changes the model, or it is declared when it does."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

from pucli.methods import METHODS, estimator_class, make_estimator
from pucli.methods.effects import without_effect

PU = [name for name, method in METHODS.items() if method.kind == "pu" and name != "auto"]
# What only bounds the work, or starts it elsewhere, may leave the model as it is.
OF_THE_WORK = {"tol", "max_iter", "cache_size", "init", "batch_size", "beta", "gamma"}
OTHERS = {"prior": 0.3, "prior_estimator": "km2", "random_state": 5, "pos_label": 0, "n_epochs": 3, "max_rank": 3}
# What a second value of a word needs, so that it is allowed.
WITH = {"form": {"kernel": "rbf"}}
ESTIMATE = [name for name in PU if METHODS[name].prior.startswith("estimated")]
QUICK = {"upu": {"n_epochs": 2}, "nnpu": {"n_epochs": 2}}


def rows() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    truth = np.arange(80) % 2
    return random.normal(size=(80, 3)) + 1.5 * truth[:, None], truth * (np.arange(80) < 40)


def scores(name: str, params: dict[str, Any]) -> np.ndarray:
    X, s = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(make_estimator(name, **{**QUICK.get(name, {}), **params}).fit(X, s).decision_function(X))


def another(name: str, parameter: str, default: Any) -> Any:
    if parameter in OTHERS:
        return OTHERS[parameter]
    constraints = estimator_class(METHODS[name])._parameter_constraints[parameter]
    words = [word for c in constraints for word in sorted(getattr(c, "options", ())) if word != default]
    if isinstance(default, str) and len(words) > 0 and not any("Interval" in str(type(c).__mro__) for c in constraints):
        return words[0]
    return 2 if default is None else 7 if isinstance(default, int) else 0.37


@pytest.mark.parametrize("name", PU)
@pytest.mark.slow
def test_a_parameter_has_an_effect_or_is_declared(name: str) -> None:
    fixed = (
        {"random_state": 0} if "random_state" in inspect.signature(estimator_class(METHODS[name])).parameters else {}
    )
    for parameter in inspect.signature(estimator_class(METHODS[name])).parameters.values():
        if parameter.name in OF_THE_WORK | {"random_state", "pos_label", "neg_label"}:  # of y
            continue
        base = {**fixed, **WITH.get(parameter.name, {})}
        if name in ESTIMATE and not parameter.name.startswith("prior"):
            base["prior"] = 0.4  # its estimate would take most of the time
        changed = {**base, parameter.name: another(name, parameter.name, parameter.default)}
        told = without_effect(name, [parameter.name], changed)
        same = np.array_equal(scores(name, base), scores(name, changed))
        assert same == bool(told) or parameter.name == "solver", (parameter.name, changed, told)


@pytest.mark.parametrize(
    ("name", "params", "parameter"),
    [
        ("upu", {"loss": "squared"}, "lam"),
        ("upu", {"loss": "squared", "kernel": "rbf"}, "width"),
        ("usmo", {"kernel": "polynomial"}, "degree"),
        ("glpual", {"solver": "admm", "max_iter": 5}, "mu"),
        ("glpual", {"kernel": "rbf"}, "width"),
    ],
)
def test_under_its_condition_a_parameter_has_an_effect(name: str, params: dict[str, Any], parameter: str) -> None:
    default = inspect.signature(estimator_class(METHODS[name])).parameters[parameter].default
    changed = {**params, parameter: another(name, parameter, default)}
    assert without_effect(name, [parameter], changed) == []
    assert not np.array_equal(scores(name, params), scores(name, changed))


def test_methods_of_classes_are_declared_too() -> None:
    assert without_effect("mcpl", ["covariance"], {"covariance": "supervised"}) == [
        "covariance has no effect: mcpl uses it only with family=gaussian-fixed, and family is gaussian-shared."
    ]
    assert without_effect("classtering", ["max_components"], {"max_components": 5}) == []
    (line,) = without_effect("classtering", ["max_components"], {"max_components": 5, "n_components": 3})
    assert line.endswith("only with n_components=auto, and n_components is 3.")


def test_every_declared_parameter_is_one() -> None:
    for name, method in METHODS.items():
        if method.needs:
            known = set(inspect.signature(estimator_class(method)).parameters)
            assert set(method.needs) <= known, (name, set(method.needs) - known)


def test_a_grid_that_may_use_the_parameter_is_not_warned_of() -> None:
    assert without_effect("glpual", ["width"], {"width": [1.0, 2.0], "kernel": ["linear", "rbf"]}) == []
    (line,) = without_effect("upu", ["width"], {"width": 9.0})
    assert line == (
        "width has no effect: upu uses it only with loss=squared or double-hinge and kernel=rbf, and loss is sigmoid, "
        "kernel is linear."
    )


@pytest.mark.slow
def test_options_in_vain_are_told(pucli: Any, customers: Any) -> None:
    own = ("train", "--data", customers.pu, "--label", "bought", "--positive", "yes", "--method", "blssvm")
    assert "width has no effect: blssvm uses it only with kernel=rbf" in pucli(*own, "--param", "width=9").err
    assert "does not change how blssvm is trained" in pucli(*own, "--scenario", "single-training-set").err
    done = pucli(*own, "--label-frequency", "0.2")
    assert done.code == 2 and "--label-frequency needs --dataset" in done.err
    assert "has no effect" not in pucli(*own, "--param", "width=9", "--param", "kernel=rbf").err
