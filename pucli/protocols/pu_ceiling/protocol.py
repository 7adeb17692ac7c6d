"""PU ceiling: the best F1 of any point of a grid on the test rows; a diagnosis that is not used to choose parameters.

Rows, splits and standardisation are those of the protocol pu. Every point of the grid of a column is fitted once on the
training rows and scored on the test rows **with their true labels**. The best of these scores is not an estimate of
performance but an upper bound for any choice among these points (a refinement after the grid may exceed it). If it is
below a published figure, no point of the grid gives that figure; otherwise, tuning does not choose the right point.

A column whose tuning declares `route: path` is fitted path-wise, as tuning fits it, with scores as accurate as its
`score_error` allows; a large grid then takes seconds. Such fits do not report a lack of convergence.

Metrics of a cell: `f1_ceiling`, the best of the scores, and `f1_median`, their median. Parameters are those of the best
point; `details` has the score of every point.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pucli.core.arrays import AnyArray
from pucli.core.errors import UsageError
from pucli.methods import get_method
from pucli.metrics.classification import f1
from pucli.models.certificates import watched
from pucli.models.fitting import seeded
from pucli.protocols.common import make, seed_of, timed
from pucli.protocols.pu import protocol as pu
from pucli.protocols.pu.rows import prepare
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import Experiment
from pucli.runner.profiles import Scope
from pucli.tuning.grids import expand
from pucli.tuning.routes import FoldedRows, Point, make_route

# Raise it when the protocol changes what a cell computes.
VERSION = 1
warm_up = pu.warm_up


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells of the protocol pu with separate keys.

    Raises
    ------
    UsageError
        A column has no grid.
    """
    planned = []
    for cell in pu.cells(experiment, scope):
        if not cell.declared["method"]["grid"]:
            raise UsageError(f"{experiment.name}: methods.{cell.method}.grid: the protocol pu_ceiling needs a grid.")
        declared = {**cell.declared, "protocol": ["pu_ceiling", VERSION, pu.VERSION]}
        planned.append(dataclasses.replace(cell, declared=declared, n_fits=0, open_ended=False))
    return planned


def run_cell(cell: Cell, context: Context) -> CellResult:
    """Fit every point of the grid once and score it on the test rows."""
    rows = context.shared(cell, prepare)
    method = cell.declared["method"]
    fixed = {**method["params"], **pu.true_prior(method["params"], rows)}
    fixed = seeded(method["name"], fixed, seed_of(cell, "fit"))
    result = CellResult(notes=list(rows.notes))
    points = expand(method["grid"])
    fits = _path_wise if method["tuning"]["route"] == "path" else _one_by_one
    with watched() as seen, timed(result.seconds, "fit"):
        # test labels are used for the diagnosis of this protocol
        scores = [f1(rows.y_test, predicted, 1) for predicted in fits(method, rows, fixed, points)]
    best = int(np.argmax(scores))
    result.params = {**fixed, **points[best]}
    result.metrics = {"f1_ceiling": scores[best], "f1_median": float(np.median(scores))}
    result.details = {"points": points, "f1": scores}
    result.n_fits = len(points)
    if seen["not converged"]:
        result.notes.append(f"{seen['not converged']} of {len(points)} fits did not converge")
    return result


def _one_by_one(
    method: Mapping[str, Any], rows: pu.Prepared, fixed: Point, points: Sequence[Point]
) -> Iterator[AnyArray]:
    """Yield the classes of the test rows by each point."""
    for point in points:
        model: Any = make(method, {**fixed, **point}).fit(rows.X_train, rows.s)
        yield pu.predicted_classes(model, rows.X_test)


def _path_wise(
    method: Mapping[str, Any], rows: pu.Prepared, fixed: Point, points: Sequence[Point]
) -> Iterator[AnyArray]:
    """Yield them from the path-wise route of the method, with the test rows as the one held-out fold."""
    n = len(rows.X_train)
    X = np.vstack([rows.X_train, rows.X_test])
    s = np.append(rows.s, np.zeros(len(rows.X_test), dtype=rows.s.dtype))
    fold = np.arange(n), np.arange(n, len(X))
    error = method["tuning"].get("score_error", 0.0)
    folded, entry = FoldedRows(X, s, [[fold]]), get_method(method["name"])
    route = make_route("path", entry, folded, fixed, None, scores=True, score_error=error)
    for scores in route.outcomes(points)[:, 0, n:]:
        yield (scores > 0.0).astype(int)
