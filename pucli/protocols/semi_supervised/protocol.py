"""Semi-supervised protocol: learning curves against the number of unlabeled rows, and how often a method does harm.

Of each data set and repeat a few rows are labelled, some are for testing, the rest are unlabeled and are added step by
step. A method's label is `family/role`; every role is held against `family/supervised` on the same rows. Two roles
are special: `supervised` sees the labelled rows alone, `oracle` the true labels of all training rows. All others see
-1 for the unlabeled rows.

The experiment's `options` are those of `Options`. Everything is measured on the full training rows (labelled and
unlabeled, with their true labels), where the contrastive pessimistic methods promise never to be worse in their own
loss, and the error rate also on the test rows.
"""

from __future__ import annotations

import functools
import math
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from pucli.errors import UsageError
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.experiment import Strict, base_name, variant_name
from pucli.runner.profiles import Scope
from pucli.seeding import stream

if TYPE_CHECKING:
    from pucli.runner.experiment import Experiment

# Raise it when the protocol changes what a cell computes.
VERSION = 1
SUPERVISED, ORACLE = "supervised", "oracle"
SCENARIO = "learning-curve"
_PER_CLASS = 2  # labelled rows that every class has at least
_SLACK = 1e-9  # a loss is worse when it is larger by more than this fraction: summation rounds


class Options(Strict):
    """What the protocol takes beyond the common keys."""

    labelled: list[int] = Field(default=[10, 20], min_length=2, max_length=2)
    unlabeled: list[int] = Field(default=[10, 20, 50, 100, 200, 500, 1000], min_length=1)
    test: float = Field(default=0.3, gt=0, lt=1)
    test_rows: int = Field(default=1000, ge=1)


@dataclass(frozen=True)
class Rows:
    """The rows of one data set and repeat; the first `n_labelled` rows of X are labelled. y in {0, 1}."""

    X: np.ndarray
    y: np.ndarray
    n_labelled: int
    X_test: np.ndarray
    y_test: np.ndarray


def options_of(experiment: Experiment, scope: Scope) -> Options:
    """Return the experiment's options under a profile; a wrong key is an error that names it."""
    return read_options(Options, experiment, scope.profile.options)


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, method, repeat; a cell holds a whole curve."""
    from pucli.data import data_sha256
    from pucli.methods import get_method

    options = options_of(experiment, scope)
    if experiment.split.scenario != SCENARIO:
        raise UsageError(f"{experiment.name}: split.scenario must be {SCENARIO} for the protocol semi_supervised.")
    for label in experiment.methods:
        if f"{base_name(label)}/{SUPERVISED}" not in experiment.methods or not variant_name(label):
            raise UsageError(
                f"{experiment.name}: methods.{label}: labels are family/role, and every family needs "
                f"{base_name(label)}/{SUPERVISED}, against which its roles are held."
            )

    def declared(label: str) -> dict[str, Any]:
        method = get_method(experiment.methods[label].method)
        return {
            "name": method.name,
            "version": method.version,
            "params": {**method.params, **experiment.methods[label].params},
        }

    low, high = options.labelled
    planned = []
    for dataset in scope.datasets:
        identity = data_sha256(dataset)
        for label in scope.methods:
            for repeat in range(scope.repeats):
                settings = {
                    "protocol": ["semi_supervised", VERSION],
                    "data": {"name": dataset, "standardise": experiment.data.standardise, "sha256": identity},
                    "split": {
                        "labelled": low + repeat % (high - low + 1),
                        "unlabeled": options.unlabeled,
                        "test": options.test,
                        "test_rows": options.test_rows,
                        "seed": experiment.split.seed,
                        "repeat": repeat,
                    },
                    "method": {**declared(label), "role": variant_name(label)},
                    "reference": declared(f"{base_name(label)}/{SUPERVISED}"),
                }
                group = canonical_json([settings["data"], settings["split"]])
                planned.append(Cell(dataset, {}, repeat, label, settings, group, n_fits=len(options.unlabeled)))
    return planned


def run_cell(cell: Cell, experiment: Experiment, context: Context) -> CellResult:
    """Fit one method at every number of unlabeled rows, and hold it against the supervised fit of its family."""
    if cell.group not in context.cache:
        context.cache.clear()
        context.cache[cell.group] = _prepare(cell, context)
    rows: Rows = context.cache[cell.group]
    role = cell.settings["method"]["role"]
    reference = _fit(cell.settings["reference"], rows.X[: rows.n_labelled], rows.y[: rows.n_labelled])
    result = CellResult(params=dict(cell.settings["method"]["params"]), seconds={"tune": 0.0, "fit": 0.0})
    points: list[dict[str, float]] = []
    not_converged = 0
    available = len(rows.X) - rows.n_labelled
    model = reference
    for wanted in cell.settings["split"]["unlabeled"]:
        n = rows.n_labelled + min(wanted, available)
        if points and points[-1]["n_unlabeled"] == n - rows.n_labelled:
            break
        if role != SUPERVISED:
            seen = rows.y[:n].copy()
            if role != ORACLE:
                seen[rows.n_labelled :] = -1
            started = time.perf_counter()
            model = _fit(cell.settings["method"], rows.X[:n], seen)
            result.seconds["fit"] += time.perf_counter() - started
            not_converged += not getattr(model, "converged_", True)
        points.append(_measure(model, reference, rows, n))
    result.details = {
        "n_labelled": rows.n_labelled,
        "curve": {name: [point[name] for point in points] for name in points[0]},
    }
    result.metrics = {**points[-1], "n_labelled": float(rows.n_labelled)}
    result.certificate = {
        name: float(getattr(model, f"{name}_")) for name in ("objective", "dual_gap") if hasattr(model, f"{name}_")
    }
    result.certificate["converged"] = not not_converged
    if not_converged:
        result.flags.append("not converged")
    return result


def warm_up(cell: Cell) -> None:
    """Compile, or load from the cache, what the cell's method needs."""
    _warm_up(canonical_json(cell.settings["method"]))


@functools.lru_cache(maxsize=64)
def _warm_up(declared: str) -> None:
    import json

    rng = np.random.default_rng(0)
    _fit(json.loads(declared), rng.normal(size=(30, 3)), np.repeat([0, 1, -1], 10))


def _measure(model: Any, reference: Any, rows: Rows, n: int) -> dict[str, float]:
    """Return what is said about `model` on the first n training rows and on the test rows; losses are per row."""
    X, y = rows.X[:n], rows.y[:n]
    loss, loss_of_supervised = model.own_loss(X, y) / n, reference.own_loss(X, y) / n
    error, error_of_supervised = (float(np.mean(fitted.predict(X) != y)) for fitted in (model, reference))
    improvement = getattr(model, "improvement_", math.nan) if model is not reference else 0.0
    return {
        "n_unlabeled": n - rows.n_labelled,
        "error": float(np.mean(model.predict(rows.X_test) != rows.y_test)),
        "error_full": error,
        "loss": loss,
        "loss_gain": loss_of_supervised - loss,
        "guaranteed_gain": improvement / n,
        "worse_loss": float(loss > loss_of_supervised + _SLACK * (1.0 + abs(loss_of_supervised))),
        "worse_error": float(error > error_of_supervised),
        "worse_test_error": float(
            np.mean(model.predict(rows.X_test) != rows.y_test) > np.mean(reference.predict(rows.X_test) != rows.y_test)
        ),
    }


def _make(declared: dict[str, Any]) -> Any:
    from pucli.methods import make_estimator

    return make_estimator(declared["name"], **declared["params"])


def _fit(declared: dict[str, Any], X: np.ndarray, y: np.ndarray) -> Any:
    """Fit to labels 0 and 1, -1 for an unlabeled row; the cell says itself whether its fits converged."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _make(declared).fit(X, y)


def _prepare(cell: Cell, context: Context) -> Rows:
    """Load, divide and standardise (by all training rows, whose labels play no part in it)."""
    data, split = cell.settings["data"], cell.settings["split"]
    X, y = _read(cell.dataset, context.mirror, context.offline)
    if set(np.unique(y)) != {-1, 1}:
        raise UsageError(f"{cell.dataset} has no positive and negative class; name them in datasets.yaml (target).")
    y = (y + 1) // 2
    rng = stream(split["seed"], "learning-curve", cell.dataset, cell.repeat)
    order = rng.permutation(len(X))
    first = np.concatenate([order[y[order] == label][:_PER_CLASS] for label in (0, 1)])
    rest = np.setdiff1d(order, first, assume_unique=True)
    rest = rng.permutation(rest)
    n_more = split["labelled"] - len(first)
    n_test = min(split["test_rows"], round(split["test"] * len(X)))
    if n_more + n_test >= len(rest):
        raise UsageError(f"{cell.dataset} has only {len(X)} rows: none is left to be unlabeled.")
    labelled, test = np.concatenate([first, rest[:n_more]]), rest[n_more : n_more + n_test]
    unlabeled = rest[n_more + n_test :][: max(split["unlabeled"])]
    train = np.concatenate([labelled, unlabeled])
    X_train, X_test = X[train], X[test]
    if data["standardise"] == "train":
        centre, spread = X_train.mean(axis=0), X_train.std(axis=0)
        spread = np.where(np.ptp(X_train, axis=0) == 0, np.inf, spread)
        X_train, X_test = (X_train - centre) / spread, (X_test - centre) / spread
    return Rows(X_train, y[train], split["labelled"], X_test, y[test])


@functools.lru_cache(maxsize=4)
def _read(name: str, mirror: str | None, offline: bool | None) -> tuple[np.ndarray, np.ndarray]:
    from pucli.data import load_dataset

    dataset = load_dataset(name, mirror=mirror, offline=offline)
    return dataset.X, dataset.y
