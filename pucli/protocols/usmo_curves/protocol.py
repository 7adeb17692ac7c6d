"""USMO curves: time, memory and test F against the number of unlabeled rows (Sansone et al. 2019, Figures 4 to 7).

In each data set and repeat, 100 positives are labelled, `test_rows` rows are used for testing, and the others are the
pool of unlabeled rows, of which every fit uses the first n. A cell computes the whole curve of a method on a data set
and the trace of its last fit (Figure 1). The largest n of a method is declared, so that the computation does not depend
on the machine, unlike seconds and memory. With `panels`, a data set has a curve for each class against the others.
Metrics are those of the last fit:

    f1 : F on the test rows, NaN if none of them is positive
    seconds, peak_mb : CPU time of the fit; peak increase of the memory of the process
    exponent : slope of log seconds over log n, from the fits with at least 1000 unlabeled rows
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Floats
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.metrics.classification import f_of_class
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, check_two_classes, declared_method, make, read_rows, standardised
from pucli.protocols.options import read_options
from pucli.protocols.usmo.protocol import warm_up as warm_up  # same methods, same compiled functions
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import Experiment, Strict
from pucli.runner.profiles import Scope

# Raise it when the protocol changes what a cell computes.
VERSION = 3
# The exponent is estimated from fits with at least this number of unlabeled rows, so that fixed costs do not matter.
ASYMPTOTIC = 1000


class Options(Strict):
    """Options of the protocol."""

    unlabeled: list[int] = Field(min_length=1, description="numbers of unlabeled rows, in ascending order")
    largest: dict[str, int] = Field(default={}, description="column -> largest number of unlabeled rows")
    positive: dict[str, list[int | str]] = Field(
        default={}, description="data set -> classes of the source that are positive; those declared when omitted"
    )
    panels: dict[str, list[int | str]] = Field(
        default={}, description="data set -> classes of the source, each of which is positive in a panel of its own"
    )
    labelled: int = Field(default=100, ge=1)
    labelled_share: float = Field(
        default=1.0, gt=0, le=1, description="largest share of the positives that is labelled"
    )
    test_rows: int = Field(default=2000, ge=1)


class Rows(NamedTuple):
    """X_labelled (n, m), the pool of unlabeled rows and the test rows, both with classes y in {-1, +1}."""

    X_labelled: Floats
    pool: Floats
    pool_y: AnyArray
    X_test: Floats
    y_test: AnyArray


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, class, repeat, method."""
    options = _checked(experiment, scope)
    planner = Planner(experiment, "usmo_curves", VERSION)
    # the prior is the share of positives among the unlabeled rows of each fit
    methods = {column: declared_method(experiment, column, given={"prior"}) for column in scope.methods}
    planned = []
    for dataset in scope.datasets:
        split = {name: getattr(options, name) for name in ("labelled", "labelled_share", "test_rows")}
        for setting, positive in _panels(options, dataset):
            data = {"standardise": experiment.data.standardise, "positive": positive}
            for repeat, (column, method) in itertools.product(range(scope.repeats), methods.items()):
                most = options.largest.get(column, max(options.unlabeled))
                unlabeled = [n for n in options.unlabeled if n <= most]
                cell = planner.cell(
                    dataset, column, repeat, method, setting=setting, data=data, split=split, unlabeled=unlabeled
                )
                planned.append(replace(cell, n_fits=len(unlabeled)))
    return planned


def _panels(options: Options, dataset: str) -> list[tuple[dict[str, str], list[int | str]]]:
    """Return the setting, which names the data set and a class of it, and the positive classes of each panel."""
    if dataset in options.panels:
        return [({"panel": f"{dataset} {positive}"}, [positive]) for positive in options.panels[dataset]]
    return [({}, options.positive.get(dataset, []))]


def _checked(experiment: Experiment, scope: Scope) -> Options:
    """Return the options; raise UsageError for a name that is not in the experiment."""
    options = read_options(Options, experiment, scope.profile.options)
    for kind, names, known in (
        ("largest", list(options.largest), list(experiment.methods)),
        ("positive", list(options.positive), experiment.dataset_names),
        ("panels", list(options.panels), experiment.dataset_names),
    ):
        for name in names:
            if name not in known:
                raise UsageError(f"{experiment.name}: options.{kind}.{name}: there are {', '.join(known)}.")
    if both := sorted(options.panels.keys() & options.positive):
        raise UsageError(f"{experiment.name}: options.panels.{both[0]}: also in options.positive; remove one of them.")
    for column, entry in experiment.methods.items():
        if "prior" in entry.params:
            raise UsageError(
                f"{experiment.name}: methods.{column}.prior: each fit uses the prior of its unlabeled rows; remove it."
            )
    return options


def run_cell(cell: Cell, context: Context) -> CellResult:
    """Fit with each number of unlabeled rows available in the pool, and score each fit on the test rows."""
    rows = context.shared(cell, _rows)
    method = cell.declared["method"]
    result = CellResult(params=dict(method["params"]))
    points: list[dict[str, float]] = []
    model: Any = None
    for n in cell.declared["unlabeled"]:
        if n > len(rows.pool):
            result.notes.append(f"the pool has {len(rows.pool)} rows: the curve ends there")
            break
        model, point = _point(method, rows, n)
        if not model.converged_:
            result.flags.append("not converged")
        points.append(point)
    if not points:
        raise UsageError(
            f"{cell.dataset} has {len(rows.pool)} rows for the pool, fewer than the smallest number declared."
        )
    if not (rows.y_test == 1).any():
        result.notes.append("no test row is positive: F is undefined")
    curve = {name: [point[name] for point in points] for name in points[0]}
    last = points[-1]
    result.predictions = _predictions(model, rows)
    result.details = {"curve": curve, "trace": np.asarray(getattr(model, "trace_", np.empty((0, 3)))).tolist()}
    result.metrics = {name: last[name] for name in ("f1", "seconds", "peak_mb")} | {"exponent": _exponent(curve)}
    result.certificate = {name: last[name] for name in ("objective", "dual_gap")} | {"converged": model.converged_}
    result.seconds = {"tune": 0.0, "fit": float(sum(curve["seconds"])), "predict": 0.0}
    return result


def _point(method: Mapping[str, Any], rows: Rows, n: int) -> tuple[Any, dict[str, float]]:
    """Return the model fitted to the first `n` rows of the pool, and its point of the curve."""
    # the classes of these rows are used only for the prior; those of other rows are not used
    prior = float(np.clip((rows.pool_y[:n] == 1).mean(), 0.5 / n, 1.0 - 0.5 / n))
    model = make(method, seeded(method["name"], method["params"], 0), prior=prior)
    labelled = len(rows.X_labelled)
    X, s = np.concatenate([rows.X_labelled, rows.pool[:n]]), np.arange(labelled + n) < labelled
    with warnings.catch_warnings(action="ignore"):
        seconds, peak = measured(functools.partial(model.fit, X, s))
    f1 = f_of_class(rows.y_test, _predictions(model, rows), 1) if (rows.y_test == 1).any() else math.nan
    point = {"unlabeled": n, "seconds": seconds, "peak_mb": peak, "f1": f1}
    return model, {**point, "objective": model.objective_, "dual_gap": model.dual_gap_}


def _predictions(model: Any, rows: Rows) -> AnyArray:
    return np.where(model.decision_function(rows.X_test) > 0, 1, -1)


def measured(call: Callable[[], Any]) -> tuple[float, float]:
    """Return the CPU seconds of a call and the peak increase of the resident memory of this process in MB.

    Fits run in one thread, so that CPU time equals wall-clock time on an idle machine. Memory is NaN except on Linux.
    """
    # first return free memory to the system; otherwise, reusing it would not count
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
    before = _memory("VmRSS", reset=True)
    started = time.process_time()
    call()
    seconds = time.process_time() - started
    return seconds, max(_memory("VmHWM") - before, 0.0)


def _memory(name: str, *, reset: bool = False) -> float:
    process = Path("/proc/self")
    try:
        if reset:
            (process / "clear_refs").write_text("5")  # resets the peak to the present value
        lines = (process / "status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1e3
    except (OSError, StopIteration):
        return math.nan


def _exponent(curve: dict[str, list[float]]) -> float:
    n, seconds = np.array(curve["unlabeled"]), np.array(curve["seconds"])
    large = n >= ASYMPTOTIC
    return float(np.polyfit(np.log(n[large]), np.log(seconds[large]), 1)[0]) if large.sum() > 1 else math.nan


def _rows(cell: Cell, context: Context) -> Rows:
    """Split the rows and standardise them by the labelled rows and the pool."""
    data, split = cell.declared["data"], cell.declared["split"]
    positive = data["positive"]
    X, classes = read_rows(cell.dataset, context, multiclass=bool(positive))
    wanted = np.isin(classes.astype(str), [str(item) for item in positive]) if positive else classes == 1
    y = np.where(wanted, 1, -1)
    check_two_classes(
        cell.dataset, y if positive else classes, "name classes that it has in options.positive or panels"
    )
    rng = stream(split["seed"], "usmo curves", cell.dataset, split["repeat"])
    order = rng.permutation(len(y))
    positives = order[y[order] == 1]
    labelled = positives[: min(split["labelled"], math.ceil(split["labelled_share"] * len(positives)))]
    # in another order: the first rows of this one have lost their positives
    rest = rng.permutation(order[~np.isin(order, labelled)])
    test, pool = rest[: split["test_rows"]], rest[split["test_rows"] :]
    X_train, X_test = standardised(data["standardise"], X[np.concatenate([labelled, pool])], X[test])
    return Rows(X_train[: len(labelled)], X_train[len(labelled) :], y[pool], X_test, y[test])
