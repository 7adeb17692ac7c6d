"""USMO protocol: transductive F on the unlabeled rows, scored in three ways (Sansone et al. 2019, Tables III and IV).

A fifth of the positives, floor(frequency n prior), is labelled at random; the other rows are unlabeled and used both
for fitting and for scoring. The tables come from a released script with two unexpected properties: it computes the F of
the class with more unlabeled rows, and it compares the predictions for all rows, in the order of the file, with the
labels of the unlabeled rows, so that the two are misaligned after the first labelled row. Metrics:

    f_published : F in per cent, computed as in that script
    f_majority  : F in per cent of the same class, with predictions and labels aligned
    f1          : F of the positive class, with predictions and labels aligned
    objective_difference_ppm : |objective - that of the option `reference`| in millionths of the larger modulus
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Bools, Floats
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.metrics import compute
from pucli.metrics.classification import f_of_class
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, check_two_classes, check_unscaled, declared_method, make, read_rows, timed
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.experiment import Experiment, Strict
from pucli.runner.profiles import Scope

# Raise it when the protocol changes what a cell computes.
VERSION = 1


class Options(Strict):
    """Options of the protocol."""

    reference: str | None = Field(default=None, description="solver with whose objective that of USMO is compared")


class Rows(NamedTuple):
    """A labelling: X (n, m) and y (n,) in {-1, +1} in the order of the file, labelled (n,) bool."""

    X: Floats
    y: AnyArray
    labelled: Bools


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, label frequency, repeat, method; a group shares its reference fits."""
    check_unscaled(experiment)
    options = read_options(Options, experiment, scope.profile.options)
    if not scope.label_frequencies:
        raise UsageError(f"{experiment.name}: the protocol usmo needs split.label_frequencies; give at least one.")
    planner = Planner(experiment, "usmo", VERSION)
    planned = []
    for dataset in scope.datasets:
        prior = _prior(experiment, dataset)
        methods = {column: declared_method(experiment, column, changes={"prior": prior}) for column in scope.methods}
        for frequency in scope.label_frequencies:
            planned += [
                planner.cell(
                    dataset,
                    column,
                    repeat,
                    method,
                    setting={"label_frequency": frequency},
                    split={"label_frequency": frequency},
                    reference=options.reference if _compared(method["name"], method["params"]) else None,
                )
                for repeat in range(scope.repeats)
                for column, method in methods.items()
            ]
    return planned


def _prior(experiment: Experiment, dataset: str) -> float:
    from pucli.data import dataset_entry

    prior = dataset_entry(dataset).prior
    if prior is None:
        raise UsageError(f"{experiment.name}: the protocol usmo needs a prior; give {dataset} one in datasets.yaml.")
    return float(prior)


def _compared(name: str, params: dict[str, Any]) -> bool:
    """Return whether the objective should equal that of the reference, which holds for USMO run to convergence."""
    return name == "usmo" and params.get("solver", "usmo") == "usmo" and params.get("max_iter") != 0


def run_cell(cell: Cell, context: Context) -> CellResult:
    """Fit and predict all rows, and score the unlabeled rows in three ways."""
    rows = context.shared(cell, _rows)
    method = cell.declared["method"]
    params = dict(method["params"])
    model, seconds = _fit(method, params, rows, context)
    result = CellResult(params=params, seconds={"tune": 0.0, "fit": seconds})
    with timed(result.seconds, "predict"):
        decision = model.decision_function(rows.X)
    certificate = {name: getattr(model, f"{name}_", None) for name in ("objective", "dual_gap", "residual", "n_iter")}
    result.certificate = {name: float(value) for name, value in certificate.items() if value is not None}
    result.certificate["converged"] = model.converged_
    if not model.converged_ and params.get("max_iter") != 0:
        result.flags.append("not converged")

    signs, truth = np.sign(decision), rows.y[~rows.labelled]
    result.predictions = unlabeled_signs = signs[~rows.labelled]
    result.metrics = {
        **compute({"unlabeled_truth": truth, "signs": signs, "unlabeled_signs": unlabeled_signs}),
        "f1": f_of_class(truth, unlabeled_signs, 1),
        "objective": model.objective_,
    }
    if cell.declared["reference"]:
        other, _ = _fit(method, {**params, "solver": cell.declared["reference"]}, rows, context)
        scale = max(abs(model.objective_), abs(other.objective_))
        result.metrics["objective_difference_ppm"] = 1e6 * abs(model.objective_ - other.objective_) / scale
    return result


def warm_up(cell: Cell) -> None:
    """Compile the method of a cell, or load it from the cache."""
    method = cell.declared["method"]
    _warm_up(method["name"], method["params"].get("kernel", "rbf"), method["params"].get("solver", "usmo"))


@functools.cache
def _warm_up(name: str, kernel: str, solver: str) -> None:
    from pucli.methods import make_estimator

    X = np.random.default_rng(0).normal(size=(40, 3))
    more = {"solver": solver} if name == "usmo" else {}
    with warnings.catch_warnings(action="ignore"):
        make_estimator(name, prior=0.3, kernel=kernel, **more).fit(X, np.arange(40) < 10)


def _rows(cell: Cell, context: Context) -> Rows:
    split = cell.declared["split"]
    X, y = read_rows(cell.dataset, context)
    check_two_classes(cell.dataset, y)
    frequency = split["label_frequency"]
    count = int(np.floor(frequency * len(y) * cell.declared["method"]["params"]["prior"]))
    rng = stream(split["seed"], "usmo labels", cell.dataset, frequency, split["repeat"])
    labelled = np.zeros(len(y), bool)
    labelled[rng.choice(np.flatnonzero(y == 1), count, replace=False)] = True
    return Rows(X, y, labelled)


def _fit(method: Mapping[str, Any], params: dict[str, Any], rows: Rows, context: Context) -> tuple[Any, float]:
    """Return the fitted model and its seconds, computed once per method and parameters in a group."""
    key = canonical_json([method["name"], params])
    if key not in context.cache:
        seconds: dict[str, float] = {}
        with timed(seconds, "fit"), warnings.catch_warnings(action="ignore"):
            model = make(method, seeded(method["name"], params, 0)).fit(rows.X, rows.labelled)
        context.cache[key] = model, seconds["fit"]
    fitted: tuple[Any, float] = context.cache[key]
    return fitted
