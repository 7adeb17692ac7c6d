"""Semi-supervised protocol: learning curves over the number of unlabeled rows, and how often a method does harm.

In each data set and repeat, a few rows are labelled, some are used for testing, and the others are unlabeled and added
step by step. A column is named `family/role`; every role is compared with `family/supervised` on the same rows. Two
roles are special: `supervised` uses only the labelled rows, and `oracle` the true labels of all training rows. All
other roles see -1 for the unlabeled rows.

The experiment's `options` are those of `Options`. All metrics are computed on all training rows (labelled and
unlabeled, with their true labels), on which the contrastive pessimistic methods are guaranteed not to be worse in their
own loss; the error rate is also computed on the test rows.
"""

from __future__ import annotations

import functools
import json
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import Field
from sklearn.exceptions import ConvergenceWarning

from pucli.core.arrays import AnyArray, Floats
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, check_two_classes, declared_method, make, read_rows, standardised, timed
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.experiment import Experiment, Strict, base_name, variant_name
from pucli.runner.profiles import Scope

# Raise it when the protocol changes what a cell computes.
VERSION = 1
SUPERVISED, ORACLE = "supervised", "oracle"
SCENARIO = "learning-curve"
_PER_CLASS = 2  # minimum number of labelled rows of every class
_SLACK = 1e-9  # a loss is worse if it is larger by more than this fraction, which allows for rounding


class Options(Strict):
    """Options of the protocol."""

    labelled: list[int] = Field(default=[10, 20], min_length=2, max_length=2)
    unlabeled: list[int] = Field(default=[10, 20, 50, 100, 200, 500, 1000], min_length=1)
    test: float = Field(default=0.3, gt=0, lt=1)
    test_rows: int = Field(default=1000, ge=1)


@dataclass(frozen=True)
class Rows:
    """Rows of a data set and repeat; the first `n_labelled` rows of X are labelled. y in {0, 1}."""

    X: Floats
    y: AnyArray
    n_labelled: int
    X_test: Floats
    y_test: AnyArray


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, method, repeat; a cell computes a whole curve."""
    options = read_options(Options, experiment, scope.profile.options)
    if experiment.split.scenario != SCENARIO:
        raise UsageError(f"{experiment.name}: split.scenario must be {SCENARIO} for the protocol semi_supervised.")
    for column in experiment.methods:
        if f"{base_name(column)}/{SUPERVISED}" not in experiment.methods or not variant_name(column):
            raise UsageError(
                f"{experiment.name}: methods.{column}: columns are named family/role, and every family needs "
                f"{base_name(column)}/{SUPERVISED}, with which its roles are compared."
            )
    planner = Planner(experiment, "semi_supervised", VERSION)
    low, high = options.labelled
    split = options.model_dump(include={"unlabeled", "test", "test_rows"})
    columns = {
        column: (
            declared_method(experiment, column, role=variant_name(column)),
            declared_method(experiment, f"{base_name(column)}/{SUPERVISED}"),
        )
        for column in scope.methods
    }
    return [
        replace(
            planner.cell(
                dataset,
                column,
                repeat,
                method,
                data={"standardise": experiment.data.standardise},
                split={**split, "labelled": low + repeat % (high - low + 1)},
                reference=reference,
            ),
            n_fits=len(options.unlabeled),
        )
        for dataset in scope.datasets
        for column, (method, reference) in columns.items()
        for repeat in range(scope.repeats)
    ]


def run_cell(cell: Cell, context: Context) -> CellResult:
    """Fit a method for every number of unlabeled rows, and compare it with the supervised fit of its family."""
    rows = context.shared(cell, _prepare)
    role = cell.declared["method"]["role"]
    reference = _fit(cell.declared["reference"], rows.X[: rows.n_labelled], rows.y[: rows.n_labelled])
    result = CellResult(params=dict(cell.declared["method"]["params"]), seconds={"tune": 0.0, "fit": 0.0})
    points: list[dict[str, float]] = []
    not_converged = 0
    available = len(rows.X) - rows.n_labelled
    model = reference
    for wanted in cell.declared["split"]["unlabeled"]:
        n = rows.n_labelled + min(wanted, available)
        if points and points[-1]["n_unlabeled"] == n - rows.n_labelled:
            break
        if role != SUPERVISED:
            with timed(result.seconds, "fit"):
                model = _fit(cell.declared["method"], rows.X[:n], _visible_classes(rows, n, role))
            not_converged += not getattr(model, "converged_", True)
        points.append(_measure(model, reference, rows, n))
    result.details = {
        "n_labelled": rows.n_labelled,
        "curve": {name: [point[name] for point in points] for name in points[0]},
    }
    result.predictions = model.predict(rows.X_test)
    result.metrics = {**points[-1], "n_labelled": float(rows.n_labelled)}
    result.certificate = {
        name: float(getattr(model, f"{name}_")) for name in ("objective", "dual_gap") if hasattr(model, f"{name}_")
    }
    result.certificate["converged"] = not not_converged
    if not_converged:
        result.flags.append("not converged")
    return result


def _visible_classes(rows: Rows, n: int, role: str) -> AnyArray:
    """Return the classes of the first n training rows as the method sees them, with -1 for hidden ones."""
    visible = rows.y[:n].copy()
    if role != ORACLE:
        visible[rows.n_labelled :] = -1
    return visible


def warm_up(cell: Cell) -> None:
    """Compile, or load from the cache, what the cell's method needs."""
    _warm_up(canonical_json(cell.declared["method"]))


@functools.lru_cache(maxsize=64)
def _warm_up(content: str) -> None:
    rng = np.random.default_rng(0)
    _fit(json.loads(content), rng.normal(size=(30, 3)), np.repeat([0, 1, -1], 10))


def _measure(model: Any, reference: Any, rows: Rows, n: int) -> dict[str, float]:
    """Return the measures of `model` on the first n training rows and on the test rows; losses are per row."""
    X, y = rows.X[:n], rows.y[:n]
    loss, loss_of_supervised = model.own_loss(X, y) / n, reference.own_loss(X, y) / n
    error, error_of_supervised = (float(np.mean(fitted.predict(X) != y)) for fitted in (model, reference))
    test_error, test_error_of_supervised = (
        float(np.mean(fitted.predict(rows.X_test) != rows.y_test)) for fitted in (model, reference)
    )
    improvement = getattr(model, "improvement_", math.nan) if model is not reference else 0.0
    return {
        "n_unlabeled": n - rows.n_labelled,
        "error": test_error,
        "error_full": error,
        "loss": loss,
        "loss_gain": loss_of_supervised - loss,
        "guaranteed_gain": improvement / n,
        "worse_loss": float(loss > loss_of_supervised + _SLACK * (1.0 + abs(loss_of_supervised))),
        "worse_error": float(error > error_of_supervised),
        "worse_test_error": float(test_error > test_error_of_supervised),
    }


def _fit(method: Mapping[str, Any], X: Floats, y: AnyArray) -> Any:
    """Fit to classes 0 and 1, -1 for an unlabeled row; `run_cell` counts the fits that did not converge."""
    params = seeded(method["name"], method["params"], 0)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return make(method, params).fit(X, y)


def _prepare(cell: Cell, context: Context) -> Rows:
    """Load, split and standardise the rows (by all training rows, without their classes)."""
    data, split = cell.declared["data"], cell.declared["split"]
    X, y = read_rows(cell.dataset, context)
    check_two_classes(cell.dataset, y)
    y = (y + 1) // 2
    rng = stream(split["seed"], "learning-curve", cell.dataset, cell.repeat)
    order = rng.permutation(len(X))
    first = np.concatenate([order[y[order] == label][:_PER_CLASS] for label in (0, 1)])
    rest = rng.permutation(np.setdiff1d(order, first, assume_unique=True))
    n_more = split["labelled"] - len(first)
    n_test = min(split["test_rows"], round(split["test"] * len(X)))
    if n_more + n_test >= len(rest):
        raise UsageError(f"{cell.dataset} has only {len(X)} rows: none is left to be unlabeled.")
    labelled, test = np.concatenate([first, rest[:n_more]]), rest[n_more : n_more + n_test]
    unlabeled = rest[n_more + n_test :][: max(split["unlabeled"])]
    train = np.concatenate([labelled, unlabeled])
    X_train, X_test = standardised(data["standardise"], X[train], X[test])
    return Rows(X_train, y[train], split["labelled"], X_test, y[test])
