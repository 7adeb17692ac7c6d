"""USMO curves: time, memory and test F against the number of unlabeled rows (Sansone et al. 2019, Figures 4 to 7).

Of each data set and repeat, 100 positives are labelled, `test_rows` rows are for testing, and the rest is the pool of
unlabeled rows, of which every fit takes the first n. A cell is one method on one data set: its whole curve, and the
trace of its last fit (Figure 1). The largest n of a method is declared, so that what is computed never depends on the
machine; seconds and memory do. Metrics are those of the last fit:

    f1, seconds, peak_mb : on the test rows; CPU time of the fit; by which the process grew while fitting, at its peak
    exponent : slope of log seconds over log n, from the fits with at least 1000 unlabeled rows
"""

from __future__ import annotations

import ctypes
import functools
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from pucli.errors import UsageError
from pucli.metrics.classification import f_of_class
from pucli.protocols.options import read_options
from pucli.protocols.usmo.protocol import warm_up as warm_up  # same methods, same compiled functions
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.experiment import Strict
from pucli.runner.profiles import Scope
from pucli.seeding import stream

if TYPE_CHECKING:
    from pucli.runner.experiment import Experiment

# Raise it when the protocol changes what a cell computes.
VERSION = 2
# The exponent is fitted to fits of at least this many unlabeled rows: below, fixed costs count.
ASYMPTOTIC = 1000


class Options(Strict):
    """What the protocol takes beyond the common keys."""

    unlabeled: list[int] = Field(min_length=1, description="numbers of unlabeled rows, rising")
    largest: dict[str, int] = Field(default={}, description="label -> the largest number it is run with")
    positive: dict[str, list[int | str]] = Field(
        default={}, description="data set -> classes of the source that are positive; those declared when omitted"
    )
    labelled: int = Field(default=100, ge=1)
    test_rows: int = Field(default=2000, ge=1)


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, repeat, method."""
    from pucli.data import data_sha256
    from pucli.methods import get_method

    options = read_options(Options, experiment, scope.profile.options)
    for kind, names, known in (
        ("largest", options.largest, list(experiment.methods)),
        ("positive", options.positive, experiment.dataset_names),
    ):
        for name in names:
            if name not in known:
                raise UsageError(f"{experiment.name}: options.{kind}.{name}: there are {', '.join(known)}.")
    planned = []
    for dataset in scope.datasets:
        identity = data_sha256(dataset)
        for repeat in range(scope.repeats):
            for label in scope.methods:
                entry = experiment.methods[label]
                method = get_method(entry.method)
                most = options.largest.get(label, max(options.unlabeled))
                settings = {
                    "protocol": ["usmo_curves", VERSION],
                    "data": {
                        "name": dataset,
                        "sha256": identity,
                        "standardise": experiment.data.standardise,
                        "positive": options.positive.get(dataset, []),
                    },
                    "split": {
                        "labelled": options.labelled,
                        "test_rows": options.test_rows,
                        "seed": experiment.split.seed,
                        "repeat": repeat,
                    },
                    "unlabeled": [n for n in options.unlabeled if n <= most],
                    "method": {
                        "name": method.name,
                        "version": method.version,
                        "params": {**method.params, **entry.params},
                    },
                }
                group = canonical_json([settings["data"], settings["split"]])
                fits = len(settings["unlabeled"])
                planned.append(Cell(dataset, {}, repeat, label, settings, group, n_fits=fits))
    return planned


def run_cell(cell: Cell, experiment: Experiment, context: Context) -> CellResult:
    """Fit at every number of unlabeled rows that the pool has, and score each fit on the test rows."""
    from pucli.methods import make_estimator

    if "rows" not in context.cache:
        context.cache["rows"] = _rows(cell, context)
    X_p, pool, pool_y, X_test, y_test = context.cache["rows"]
    declared = cell.settings["method"]
    points: list[dict[str, float]] = []
    result = CellResult(params=declared["params"])
    model: Any = None
    for n in cell.settings["unlabeled"]:
        if n > len(pool):
            result.notes.append(f"the pool has {len(pool)} rows: the curve ends there")
            break
        prior = float(np.clip((pool_y[:n] == 1).mean(), 0.5 / n, 1.0 - 0.5 / n))
        more = {"random_state": 0} if declared["name"] == "usmo" else {}
        model = make_estimator(declared["name"], prior=prior, **more, **declared["params"])
        X, s = np.concatenate([X_p, pool[:n]]), np.arange(len(X_p) + n) < len(X_p)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, peak = measured(functools.partial(model.fit, X, s))
        if not model.converged_:
            result.flags.append("not converged")
        said = np.where(model.decision_function(X_test) > 0, 1, -1)
        points.append(
            {"unlabeled": n, "seconds": seconds, "peak_mb": peak, "f1": f_of_class(y_test, said, 1)}
            | {"objective": model.objective_, "dual_gap": model.dual_gap_}
        )
    if not points:
        raise UsageError(f"{cell.dataset} has {len(pool)} rows for the pool, fewer than the smallest number declared.")
    curve = {name: [point[name] for point in points] for name in points[0]}
    last = points[-1]
    result.details = {"curve": curve, "trace": np.asarray(getattr(model, "trace_", np.empty((0, 3)))).tolist()}
    result.metrics = {name: last[name] for name in ("f1", "seconds", "peak_mb")} | {"exponent": _exponent(curve)}
    result.certificate = {name: last[name] for name in ("objective", "dual_gap")} | {"converged": model.converged_}
    result.seconds = {"tune": 0.0, "fit": float(sum(curve["seconds"])), "predict": 0.0}
    return result


def measured(call: Callable[[], Any]) -> tuple[float, float]:
    """Return (CPU seconds, MB by which the resident memory of this process rose at its peak) of a call.

    Fits run on one thread, so that CPU seconds are what the clock shows on an idle machine. Memory is NaN off Linux.
    """
    # what the process has set free goes back to the system first, or taking it again would not count
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
            (process / "clear_refs").write_text("5")  # sets the peak back to the present
        lines = (process / "status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1e3
    except (OSError, StopIteration):
        return math.nan


def _exponent(curve: dict[str, list[float]]) -> float:
    n, seconds = np.array(curve["unlabeled"]), np.array(curve["seconds"])
    large = n >= ASYMPTOTIC
    return float(np.polyfit(np.log(n[large]), np.log(seconds[large]), 1)[0]) if large.sum() > 1 else math.nan


def _rows(cell: Cell, context: Context):
    """Return labelled rows, the pool and its classes, test rows and theirs, standardised on labelled rows and pool."""
    from pucli.data import load_dataset

    data, split = cell.settings["data"], cell.settings["split"]
    positive = data["positive"]
    source = load_dataset(cell.dataset, multiclass=bool(positive), mirror=context.mirror, offline=context.offline)
    if not positive and set(np.unique(source.y)) != {-1, 1}:
        raise UsageError(f"{cell.dataset} has no positive and negative class; name the positive in options.positive.")
    wanted = np.isin(source.y.astype(str), [str(item) for item in positive]) if positive else source.y == 1
    y = np.where(wanted, 1, -1)
    rng = stream(split["seed"], "usmo curves", cell.dataset, split["repeat"])
    order = rng.permutation(len(y))
    labelled = order[y[order] == 1][: split["labelled"]]
    rest = order[~np.isin(order, labelled)]
    test, pool = rest[: split["test_rows"]], rest[split["test_rows"] :]
    X = source.X
    if data["standardise"] == "train":
        train = np.concatenate([labelled, pool])
        centre, spread = X[train].mean(axis=0), X[train].std(axis=0)
        X = (X - centre) / np.where(spread > 0, spread, np.inf)
    return X[labelled], X[pool], y[pool], X[test], y[test]
