"""The one list of methods: command-line name, estimator, default grid, source."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pucli.errors import unknown


@dataclass(frozen=True)
class Method:
    """One method.

    Parameters
    ----------
    name : command-line name.
    estimator : ``"module:Class"``, imported when first needed.
    kind : "pu" (y marks labelled positives), "semi-supervised" (-1 marks unlabeled rows) or "density".
    source : document and equations.
    params : constructor parameters that this entry fixes.
    grid : default tuning grid, parameter -> values or the name of a series (see `pucli.tuning.grids`).
    path : ``"module:Class"``, the route that shares work between the points of a grid (`pucli.tuning.search`), or "".
    extra : the optional dependency it needs ("deep"), "" if none.
    version : raise it when the results of the method change; it is part of every cell's key.
    """

    name: str
    estimator: str
    kind: str
    source: str
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    extra: str = ""
    version: int = 1


_ALL = [
    Method(
        name="glpual",
        estimator="pucli.estimators.glpual:GLPUAL",
        kind="pu",
        source="Wang 2024, eq. 3.2 (linear), 3.17-3.26 (kernel)",
        grid={"lam": "decades", "sigma": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        path="pucli.tuning.glpual_path:GlobalLocalPath",
    ),
    Method(
        name="gllc",
        estimator="pucli.estimators.glpual:GLLC",
        kind="pu",
        source="Ke et al. 2018; Wang 2024, eq. 2.5",
        grid={"lam": "decades", "sigma": "decades", "c_u": [0.5, 0.3, 0.1, 0.05, 0.01]},
        path="pucli.tuning.glpual_path:GlobalLocalPath",
    ),
]

METHODS: dict[str, Method] = {method.name: method for method in _ALL}


def get_method(name: str) -> Method:
    """Return the method called `name` on the command line; the error suggests the nearest names."""
    if name not in METHODS:
        raise unknown("method", name, METHODS, listing="pucli list methods")
    return METHODS[name]


def estimator_class(method: Method) -> type:
    """Import and return the estimator class of `method`."""
    module, _, name = method.estimator.partition(":")
    return getattr(importlib.import_module(module), name)


def make_estimator(name: str, **params: Any) -> Any:
    """Return an unfitted estimator of the method `name`, with `params` over the fixed ones."""
    method = get_method(name)
    return estimator_class(method)(**{**method.params, **params})
