"""The list of methods, which `methods.yaml` declares.

An installed package adds entries by the entry-point group ``pucli.methods``; each entry point is a `Method` or a list
of them. An experiment may also name a class as ``module:Class``.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

from pucli.core.errors import UsageError, unknown
from pucli.core.plug_ins import load_class, named, own_entries, source_sha256
from pucli.methods.entry import Method as Method

METHODS = {name: Method(name, **entry) for name, entry in own_entries(Path(__file__).with_name("methods.yaml")).items()}


def all_methods() -> dict[str, Method]:
    """Return our own methods and those of installed packages, by name."""
    offered = named("pucli.methods", Method, frozenset(METHODS))
    return METHODS | {
        method.name: replace(method, package=offer.package, package_version=offer.version) for offer, method in offered
    }


def get_method(name: str) -> Method:
    """Return the method called `name`, or that of a class ``module:Class``; the error suggests the nearest names."""
    if name in METHODS:
        return METHODS[name]
    if ":" in name:
        file = source_sha256(load_class(name))
        return Method(name, name, "pu", f"the class {name}", package=name.partition(":")[0], package_version=file)
    methods = all_methods()
    if name not in methods:
        raise unknown("method", name, methods, listing="pucli list methods")
    return methods[name]


def estimator_class(method: Method) -> type[Any]:
    """Import and return the estimator class of `method`."""
    if method.package:
        try:
            return load_class(method.estimator)
        except UsageError as error:
            raise UsageError(f"the method {method.name!r} of {method.package} cannot be used: {error}") from error
    return _own_class(method.estimator)


@functools.cache
def _own_class(where: str) -> type[Any]:
    module, _, name = where.partition(":")
    found: type[Any] = getattr(importlib.import_module(module), name)
    return found


def make_estimator(name: str, **params: Any) -> Any:
    """Return an unfitted estimator of the method `name`, with `params` over the fixed ones."""
    method = get_method(name)
    return estimator_class(method)(**{**method.params, **params})


def constructor_defaults(method: Method) -> dict[str, Any]:
    """Return constructor parameter -> present default of the method's estimator."""
    estimator: Any = estimator_class(method)
    return dict(_defaults(estimator))


@functools.lru_cache(maxsize=256)
def _defaults(estimator: Any) -> dict[str, Any]:
    parameters = inspect.signature(estimator).parameters.values()
    return {p.name: p.default for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def identity(method: Method) -> dict[str, str]:
    """Return the part of a cell's key that identifies a method of another package; empty for pucli's own.

    It is the name of the package, whose author raises `Method.version`, or the hash of the file of a ``module:Class``.
    """
    if ":" in method.name:
        return {"source_sha256": method.package_version}
    return {"package": method.package} if method.package else {}


def check_value(name: str, parameter: str, *values: Any) -> None:
    """Raise UsageError where the method's estimator declares a range for `parameter` that does not hold a value.

    Estimators that declare none check when they are fitted.
    """
    from sklearn.utils._param_validation import make_constraint

    from pucli.methods.parameter_ranges import allowed_values

    estimator = estimator_class(get_method(name))
    constraints = getattr(estimator, "_parameter_constraints", {})
    if parameter not in constraints or constraints[parameter] == "no_validation":
        return
    ranges = [make_constraint(constraint) for constraint in constraints[parameter]]
    for value in values:
        for constraint in ranges:
            if constraint.is_satisfied_by(value):
                break
        else:
            allowed = allowed_values(constraints[parameter])
            raise UsageError(f"{parameter} of {name} must be {allowed}, not {value!r}")
