"""Checks of saved objects beyond the kinds of their attributes: constructor parameters, and how numbers relate."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np


class StateError(ValueError):
    """An attribute is not as its class declares it."""


def check_svc(state: Mapping[str, Any], where: str) -> None:
    """Raise StateError unless the counts and numbers of the support vectors are those of the arrays."""
    support, counts, rows = state["support_"], state["_n_support"], state["shape_fit_"][0]
    if counts.sum() != len(support):
        raise StateError(f"{where}._n_support is not that of {len(support)} support vectors")
    if len(support) and support.max() >= rows:
        raise StateError(f"{where}.support_ has a row beyond the last")


def parameters_of(kind: type) -> list[str]:
    """Return the constructor parameters of an estimator, none for another class."""
    return (
        [name for name in inspect.signature(kind).parameters if name != "self"] if hasattr(kind, "get_params") else []
    )


def check_parameters(value: Any, where: str) -> None:
    """Raise StateError for a constructor parameter of an estimator that is missing or out of its declared range."""
    missing = [name for name in parameters_of(type(value)) if name not in vars(value)]
    if missing:
        raise StateError(f"{where} has no {missing[0]}")
    constraints = getattr(type(value), "_parameter_constraints", None)
    if not isinstance(constraints, Mapping):
        return
    from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

    known = {
        name: vars(value)[name]
        for name in parameters_of(type(value))
        if name in constraints.keys() & vars(value).keys()
    }
    try:
        validate_parameter_constraints(constraints, known, type(value).__name__)
    except InvalidParameterError as error:
        raise StateError(f"{where}: {' '.join(str(error).split())[:200]}") from error


def check_ascending(values: Any, start: Any, where: str) -> None:
    """Raise StateError unless the parts of an array that begin at `start` ascend."""
    steps = np.diff(values) < 0
    borders = np.zeros(len(steps), dtype=bool)
    inner = start[(start > 0) & (start < len(values))]
    borders[inner - 1] = True
    if (steps & ~borders).any():
        raise StateError(f"{where} does not ascend")


def check_starts(start: Any, length: int, where: str) -> None:
    """Raise StateError unless `start` divides an array of `length` numbers into parts, which may be empty."""
    if len(start) < 1 or start[0] != 0 or start[-1] != length or (np.diff(start) < 0).any():
        raise StateError(f"{where} does not divide {length} numbers")
