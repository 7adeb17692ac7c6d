"""Semi-supervised protocol: learning curves over the number of unlabeled rows, and how often a method does harm.

In each data set and repeat, a few rows are labeled, some are used for testing, and the others are unlabeled and added
step by step. A column is named `family/role`; every role is compared with `family/supervised` on the same rows. Two
roles are special: `supervised` uses only the labeled rows, and `oracle` the true labels of all training rows. All
other roles see -1 for the unlabeled rows.

The experiment's `options` are those of `SemiSupervisedOptions`. All metrics are on all training rows (labeled and
unlabeled, with their true labels), on which the contrastive pessimistic methods are guaranteed not to be worse in their
own loss; the error rate is also computed on the test rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Floats
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.metrics.classification import error_rate
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, check_two_classes, declared_method, make, read_rows
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.steps import NOT_CONVERGED, ProtocolSteps, RunningCell, SplitRows
from pucli.runner.cells import Cell, Context
from pucli.runner.experiment import Strict, base_name, variant_name

SUPERVISED, ORACLE = "supervised", "oracle"
SCENARIO = "learning-curve"
_PER_CLASS = 2  # minimum number of labeled rows of every class
_SLACK = 1e-9  # a loss is worse if it is larger by more than this fraction, which allows for rounding


class SemiSupervisedOptions(Strict):
    """Options of the protocol."""

    labeled: list[int] = Field(default=[10, 20], min_length=2, max_length=2)
    unlabeled: list[int] = Field(default=[10, 20, 50, 100, 200, 500, 1000], min_length=1)
    test: float = Field(default=0.3, gt=0, lt=1)
    test_rows: int = Field(default=1000, ge=1)


@dataclass(frozen=True, kw_only=True)
class CurveRows(SplitRows):
    """Rows whose first `n_labeled` are labeled; `true_classes`, 0 and 1, are those of all training rows."""

    n_labeled: int
    true_classes: AnyArray


class SemiSupervised(ProtocolSteps):
    """The protocol."""

    name = "semi_supervised"
    version = 1
    options = SemiSupervisedOptions
    example = (0, 1, -1) * 10
    seeds = False

    def check(self, planner: Planner) -> None:
        """Raise UsageError for columns without a supervised one of their family."""
        experiment = planner.experiment
        if experiment.split.scenario != SCENARIO:
            raise UsageError(f"{experiment.name}: split.scenario must be {SCENARIO} for the protocol semi_supervised.")
        for column in experiment.methods:
            if f"{base_name(column)}/{SUPERVISED}" not in experiment.methods or not variant_name(column):
                raise UsageError(
                    f"{experiment.name}: methods.{column}: columns are named family/role, and every family needs "
                    f"{base_name(column)}/{SUPERVISED}, with which its roles are compared."
                )

    def method(self, planner: Planner, column: str, dataset: str) -> dict[str, Any]:
        """Return the declared method with its role."""
        return declared_method(planner.experiment, column, role=variant_name(column))

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield the one condition of a data set; a cell computes a whole curve."""
        options = planner.options
        split = options.model_dump(include={"unlabeled", "test", "test_rows"})
        yield {"split": split, "n_fits": len(options.unlabeled)}

    def parts(
        self, planner: Planner, condition: Mapping[str, Any], column: str, method: Mapping[str, Any], repeat: int
    ) -> Mapping[str, Any] | None:
        """Return the condition with the number of labeled rows, and the supervised method of the family."""
        low, high = planner.options.labeled
        split = {**condition["split"], "labeled": low + repeat % (high - low + 1)}
        reference = declared_method(planner.experiment, f"{base_name(column)}/{SUPERVISED}")
        return {**condition, "split": split, "reference": reference}

    def rows(self, cell: Cell, context: Context) -> CurveRows:
        """Return labeled rows, some of each class, and then the unlabeled ones."""
        split = cell.declared["split"]
        X, y = read_rows(cell.dataset, context)
        check_two_classes(cell.dataset, y)
        y = (y + 1) // 2
        rng = stream(split["seed"], "learning-curve", cell.dataset, cell.repeat)
        order = rng.permutation(len(X))
        first = np.concatenate([order[y[order] == label][:_PER_CLASS] for label in (0, 1)])
        rest = rng.permutation(np.setdiff1d(order, first, assume_unique=True))
        n_more = split["labeled"] - len(first)
        n_test = min(split["test_rows"], round(split["test"] * len(X)))
        if n_more + n_test >= len(rest):
            raise UsageError(f"{cell.dataset} has only {len(X)} rows: none is left to be unlabeled.")
        test = rest[n_more : n_more + n_test]
        train = np.concatenate([first, rest[:n_more], rest[n_more + n_test :][: max(split["unlabeled"])]])
        visible = np.where(np.arange(len(train)) < split["labeled"], y[train], -1)
        return CurveRows(
            X[train],
            visible,
            X[test],
            HiddenLabels(y[test]),
            n_labeled=split["labeled"],
            true_classes=y[train],
        )

    def fit(self, run: RunningCell) -> Any:
        """Fit for every number of unlabeled rows, compare with the supervised fit, and return the last model."""
        rows, role, result = run.rows, run.method["role"], run.result
        n_labeled = rows.n_labeled
        reference = model = _fit(run.cell.declared["reference"], rows.X_train[:n_labeled], rows.y_train[:n_labeled])
        classes = rows.true_classes if role == ORACLE else rows.y_train
        points: list[dict[str, float]] = []
        converged = True
        for wanted in run.cell.declared["split"]["unlabeled"]:
            n = min(n_labeled + wanted, len(rows.X_train))
            if points and points[-1]["n_unlabeled"] == n - n_labeled:
                break
            if role != SUPERVISED:
                with run.timed("fit"):
                    model = _fit(run.method, rows.X_train[:n], classes[:n])
                converged &= bool(getattr(model, "converged_", True))
            points.append(_measure(model, reference, rows, n))
        curve = {name: [point[name] for point in points] for name in points[0]}
        result.details = {"n_labeled": n_labeled, "curve": curve}
        result.metrics = {**points[-1], "n_labeled": float(n_labeled)}
        for name in ("objective", "dual_gap"):
            if hasattr(model, f"{name}_"):
                result.certificate[name] = float(getattr(model, f"{name}_"))
        result.certificate["converged"] = converged
        return model

    def conclude(self, run: RunningCell, model: Any, seen: Mapping[str, Any]) -> None:
        """Flag a curve with a fit that did not converge."""
        if not run.result.certificate["converged"]:
            run.result.flags.append(NOT_CONVERGED)


PROTOCOL = SemiSupervised()


def _measure(model: Any, reference: Any, rows: CurveRows, n: int) -> dict[str, float]:
    """Return the measures of `model` on the first n training rows and on the test rows; losses are per row."""
    X, y = rows.X_train[:n], rows.true_classes[:n]
    loss, loss_of_supervised = model.own_loss(X, y) / n, reference.own_loss(X, y) / n
    error, error_of_supervised = (float(np.mean(fitted.predict(X) != y)) for fitted in (model, reference))
    test_error, test_error_of_supervised = (
        rows.hidden.score(error_rate, fitted.predict(rows.X_test)) for fitted in (model, reference)
    )
    improvement = getattr(model, "improvement_", math.nan) if model is not reference else 0.0
    return {
        "n_unlabeled": n - rows.n_labeled,
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
    """Fit to classes 0 and 1, -1 for an unlabeled row."""
    return make(method, seeded(method["name"], method["params"], 0)).fit(X, y)
