"""PU ceiling: the best F1 of any point of a grid on the test rows; a diagnosis that is not used to choose parameters.

Rows, splits and standardization are those of the protocol pu. Every point of the grid of a column is fitted once on the
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
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, seed_of
from pucli.protocols.pu.protocol import PU, predicted_classes, true_prior
from pucli.protocols.steps import NOT_CONVERGED, RunningCell
from pucli.runner.cells import Cell
from pucli.tuning.grids import expand
from pucli.tuning.routes import FoldedRows, Point, make_route


class PUCeiling(PU):
    """The protocol pu with a fit of every grid point in place of tuning."""

    name = "pu_ceiling"
    version = 1

    def plan(self, planner: Planner) -> Iterator[Cell]:
        """Plan the cells of the protocol pu; every column needs a grid."""
        for cell in super().plan(planner):
            if not cell.declared["method"]["grid"]:
                where = f"{planner.experiment.name}: methods.{cell.method}.grid"
                raise UsageError(f"{where}: the protocol pu_ceiling needs a grid.")
            yield dataclasses.replace(cell, n_fits=0, open_ended=False)

    def parameters(self, run: RunningCell) -> dict[str, Any]:
        """Return the parameters that all points share."""
        params = {**run.method["params"], **true_prior(run.method["params"], run.rows)}
        return seeded(run.method["name"], params, seed_of(run.cell, "fit"))

    def fit(self, run: RunningCell) -> list[float]:
        """Fit every point of the grid once, and return its scores on the test rows."""
        points = expand(run.method["grid"])
        fits = _path_wise if run.method["tuning"]["route"] == "path" else _one_by_one
        with run.timed("fit"):
            scores = [run.rows.hidden.score(f1, predicted, 1) for predicted in fits(run, points)]
        best = int(np.argmax(scores))
        run.result.params |= points[best]
        run.result.metrics = {"f1_ceiling": scores[best], "f1_median": float(np.median(scores))}
        run.result.details = {"points": points, "f1": scores}
        run.result.n_fits = len(points)
        return scores

    def predict(self, run: RunningCell, model: list[float]) -> Any:
        """Return nothing, as the scores of all points are known."""

    def score(self, run: RunningCell, model: list[float], predictions: Any) -> dict[str, float]:
        """Return nothing more."""
        return {}

    def conclude(self, run: RunningCell, model: list[float], seen: Mapping[str, Any]) -> None:
        """Count the fits that did not converge."""
        if seen[NOT_CONVERGED]:
            run.result.notes.append(f"{seen[NOT_CONVERGED]} of {len(model)} fits did not converge")


PROTOCOL = PUCeiling()


def _one_by_one(run: RunningCell, points: Sequence[Point]) -> Iterator[AnyArray]:
    """Yield the classes of the test rows by each point."""
    fixed, rows = run.result.params, run.rows
    for point in points:
        model = run.make({**fixed, **point}).fit(rows.X_train, rows.y_train)
        yield predicted_classes(model, rows.X_test)


def _path_wise(run: RunningCell, points: Sequence[Point]) -> Iterator[AnyArray]:
    """Yield them from the path-wise route of the method, with the test rows as the one held-out fold."""
    method, rows = run.method, run.rows
    n = len(rows.X_train)
    X = np.vstack([rows.X_train, rows.X_test])
    s = np.append(rows.y_train, np.zeros(len(rows.X_test), dtype=rows.y_train.dtype))
    fold = np.arange(n), np.arange(n, len(X))
    error = method["tuning"].get("score_error", 0.0)
    folded, entry = FoldedRows(X, s, [[fold]]), get_method(method["name"])
    route = make_route("path", entry, folded, run.result.params, None, scores=True, score_error=error)
    for scores in route.outcomes(points)[:, 0, n:]:
        yield (scores > 0.0).astype(int)
