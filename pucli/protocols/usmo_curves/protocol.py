"""USMO curves: time, memory and test F against the number of unlabeled rows (Sansone et al. 2019, Figures 4 to 7).

In each data set and repeat, 100 positives are labeled, `test_rows` rows are used for testing, and the others are the
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
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.metrics.classification import f_of_class
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, check_two_classes, declared_method, make, read_rows
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.steps import NOT_CONVERGED, RunningCell, SplitRows
from pucli.protocols.usmo.protocol import USMOProtocol
from pucli.runner.cells import Cell, Context
from pucli.runner.experiment import Strict

# The exponent is estimated from fits with at least this number of unlabeled rows, so that fixed costs do not matter.
ASYMPTOTIC = 1000


class UsmoCurvesOptions(Strict):
    """Options of the protocol."""

    unlabeled: list[int] = Field(min_length=1, description="numbers of unlabeled rows, in ascending order")
    largest: dict[str, int] = Field(default={}, description="column -> largest number of unlabeled rows")
    positive: dict[str, list[int | str]] = Field(
        default={}, description="data set -> classes of the source that are positive; those declared when omitted"
    )
    panels: dict[str, list[int | str]] = Field(
        default={}, description="data set -> classes of the source, each of which is positive in a panel of its own"
    )
    labeled: int = Field(default=100, ge=1)
    labeled_share: float = Field(default=1.0, gt=0, le=1, description="largest share of the positives that is labeled")
    test_rows: int = Field(default=2000, ge=1)


@dataclass(frozen=True, kw_only=True)
class PoolRows(SplitRows):
    """Labeled rows and then the pool of unlabeled rows, whose classes give the prior of each fit."""

    positive_in_pool: AnyArray


class USMOCurves(USMOProtocol):
    """The protocol; methods and warm-up are those of usmo."""

    name = "usmo_curves"
    version = 3
    options = UsmoCurvesOptions
    scales = True

    def check(self, planner: Planner) -> None:
        """Raise UsageError for a name that is not in the experiment."""
        experiment, options = planner.experiment, planner.options
        for kind, names, known in (
            ("largest", list(options.largest), list(experiment.methods)),
            ("positive", list(options.positive), experiment.dataset_names),
            ("panels", list(options.panels), experiment.dataset_names),
        ):
            for name in names:
                if name not in known:
                    raise UsageError(f"{experiment.name}: options.{kind}.{name}: there are {', '.join(known)}.")
        if both := sorted(options.panels.keys() & options.positive):
            raise UsageError(
                f"{experiment.name}: options.panels.{both[0]}: also in options.positive; remove one of them."
            )
        for column, entry in experiment.methods.items():
            if "prior" in entry.params:
                where = f"{experiment.name}: methods.{column}.prior"
                raise UsageError(f"{where}: each fit uses the prior of its unlabeled rows; remove it.")

    def method(self, planner: Planner, column: str, dataset: str) -> dict[str, Any]:
        """Return the declared method; its prior is the share of positives among the unlabeled rows of each fit."""
        return declared_method(planner.experiment, column, given={"prior"})

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield a condition for each panel, which has a class of its own and is named after it."""
        options = planner.options
        split = options.model_dump(include={"labeled", "labeled_share", "test_rows"})
        panels = [({"panel": f"{dataset} {name}"}, [name]) for name in options.panels.get(dataset, [])]
        for setting, positive in panels or [({}, options.positive.get(dataset, []))]:
            yield {"setting": setting, "data": {"positive": positive}, "split": split}

    def parts(
        self, planner: Planner, condition: Mapping[str, Any], column: str, method: Mapping[str, Any], repeat: int
    ) -> Mapping[str, Any] | None:
        """Return the condition with the numbers of unlabeled rows of the method."""
        options = planner.options
        unlabeled = [n for n in options.unlabeled if n <= options.largest.get(column, max(options.unlabeled))]
        return {**condition, "unlabeled": unlabeled, "n_fits": len(unlabeled)}

    def rows(self, cell: Cell, context: Context) -> PoolRows:
        """Divide the rows into labeled positives, pool and test rows."""
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
        labeled = positives[: min(split["labeled"], math.ceil(split["labeled_share"] * len(positives)))]
        # in another order: the first rows of this one have lost their positives
        rest = rng.permutation(order[~np.isin(order, labeled)])
        test, pool = rest[: split["test_rows"]], rest[split["test_rows"] :]
        train = np.concatenate([labeled, pool])
        s = np.arange(len(train)) < len(labeled)
        return PoolRows(X[train], s, X[test], HiddenLabels(y[test]), positive_in_pool=y[pool] == 1)

    def fit(self, run: RunningCell) -> Any:
        """Fit with each number of unlabeled rows that the pool has, score each fit, and return the last."""
        points: list[dict[str, float]] = []
        available = len(run.rows.positive_in_pool)
        for n in run.cell.declared["unlabeled"]:
            if n > available:
                run.result.notes.append(f"the pool has {available} rows: the curve ends there")
                break
            model, point = self._point(run, n)
            if not model.converged_:
                run.result.flags.append(NOT_CONVERGED)
            points.append(point)
        if not points:
            raise UsageError(
                f"{run.cell.dataset} has {available} rows for the pool, fewer than the smallest number declared."
            )
        curve = {name: [point[name] for point in points] for name in points[0]}
        run.result.details = {"curve": curve, "trace": np.asarray(getattr(model, "trace_", np.empty((0, 3)))).tolist()}
        run.result.seconds["fit"] = float(sum(curve["seconds"]))
        return model

    def _point(self, run: RunningCell, n: int) -> tuple[Any, dict[str, float]]:
        """Return the model fitted to the first `n` rows of the pool, and its point of the curve."""
        rows, name = run.rows, run.method["name"]
        # the classes of these rows are used only for the prior; those of other rows are not used
        prior = float(np.clip(rows.positive_in_pool[:n].mean(), 0.5 / n, 1.0 - 0.5 / n))
        model = make(run.method, seeded(name, run.method["params"], 0), prior=prior)
        seen = len(rows.X_train) - len(rows.positive_in_pool) + n
        seconds, peak = measured(functools.partial(model.fit, rows.X_train[:seen], rows.y_train[:seen]))
        f1 = rows.hidden.score(_f1, self.predict(run, model))
        point = {"unlabeled": n, "seconds": seconds, "peak_mb": peak, "f1": f1}
        return model, {**point, "objective": model.objective_, "dual_gap": model.dual_gap_}

    def predict(self, run: RunningCell, model: Any) -> AnyArray:
        """Return the classes of the test rows."""
        return np.where(model.decision_function(run.rows.X_test) > 0, 1, -1)

    def score(self, run: RunningCell, model: Any, predictions: AnyArray) -> dict[str, float]:
        """Return the last point of the curve, and its exponent."""
        curve = run.result.details["curve"]
        if math.isnan(curve["f1"][-1]):
            run.result.notes.append("no test row is positive: F is undefined")
        return {name: curve[name][-1] for name in ("f1", "seconds", "peak_mb")} | {"exponent": _exponent(curve)}

    def conclude(self, run: RunningCell, model: Any, seen: Mapping[str, Any]) -> None:
        """Keep the certificate of the last fit."""
        names = ("objective", "dual_gap", "converged")
        run.result.certificate = {name: getattr(model, f"{name}_") for name in names}


PROTOCOL = USMOCurves()


def _f1(y: AnyArray, predictions: AnyArray) -> float:
    return f_of_class(y, predictions, 1) if (y == 1).any() else math.nan


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
