"""Protocol of Example 3.7 and Theorem 3.8 in Bertazzi 2018: when one unlabeled point improves on the supervised line.

A cell fits least squares without an intercept to labeled points of one feature, coded 0 and 1, and one unlabeled point
u. It measures the most adversarial label of u, and what the fit gains over the supervised one for either label of u.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import Floats
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.data import load_dataset
from pucli.protocols.common import Planner
from pucli.protocols.steps import ProtocolSteps, RunningCell, SplitRows
from pucli.runner.cells import Cell, Context
from pucli.runner.experiment import Strict
from pucli.runner.profiles import data_settings


class StrictImprovementOptions(Strict):
    """Options of the protocol."""

    positions: list[float] = Field(min_length=1, description="values of the unlabeled point u")


class StrictImprovement(ProtocolSteps):
    """The protocol."""

    name = "strict_improvement"
    version = 1
    options = StrictImprovementOptions
    scales = seeds = repeated = False

    def method(self, planner: Planner, column: str, dataset: str) -> dict[str, Any]:
        """Return the declared method, which must have no intercept."""
        method = super().method(planner, column, dataset)
        if method["params"].get("fit_intercept", True):
            raise UsageError(
                f"{planner.experiment.name}: methods.{column}: Theorem 3.8 is about a line through the origin; add "
                "fit_intercept: false."
            )
        return method

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield a condition for each example and position of u."""
        for parameters in data_settings(planner.scope.parameters):
            for u in planner.options.positions:
                setting = {**parameters, "u": u}
                yield {"setting": setting, "data": {"parameters": parameters}, "u": u, "shares": ("data", "u")}

    def rows(self, cell: Cell, context: Context) -> SplitRows:
        """Return the labeled points of the example, and u as the unlabeled one."""
        parameters = dict(cell.declared["data"]["parameters"])
        drawn = load_dataset(cell.dataset, rng=stream(0, "points"), parameters=parameters)
        X = np.vstack([drawn.X, [[float(cell.declared["u"])]]])
        return SplitRows(X, np.append(drawn.y, -1))

    def fit(self, run: RunningCell) -> tuple[Any, Any]:
        """Return the supervised line of the labeled points alone, and the model of all."""
        X, y = run.rows.X_train, run.rows.y_train
        with run.timed("fit"):
            return run.make().fit(X[:-1], y[:-1]), run.make().fit(X, y)

    def score(self, run: RunningCell, model: tuple[Any, Any], predictions: None) -> dict[str, float]:
        """Return the adversarial label, and the gains for either label of u."""
        X, y = run.rows.X_train, run.rows.y_train
        supervised, fitted = model
        before, after = float(supervised._coef[0]), float(fitted._coef[0])
        gains = []
        for label in (0, 1):
            labels = np.append(y[:-1], label)
            gains.append(supervised.squared_error(X, labels) - fitted.squared_error(X, labels))
        run.result.details = {
            "labeled": X[:-1, 0].tolist(),
            "classes": y[:-1].tolist(),
            "supervised_slope": before,
            "slope": after,
        }
        return {
            "condition_holds": float(improves_strictly(before, X[-1])),
            "adversarial_label": float(fitted.soft_labels_[0]),
            "slope_change": after - before,
            "guaranteed_gain": fitted.improvement_,
            "gain_if_0": gains[0],
            "gain_if_1": gains[1],
        }

    def conclude(self, run: RunningCell, model: tuple[Any, Any], seen: Mapping[str, Any]) -> None:
        """Keep the certificate of the fit with u."""
        run.result.certificate = {"dual_gap": model[1].gap_, "converged": model[1].converged_}


PROTOCOL = StrictImprovement()


def improves_strictly(slope: float, u: Floats) -> bool:
    """Return whether (3.18) holds: no labels in [0, 1] of the points u (M,) lead to the supervised slope again."""
    reach = float(u[u > 0].sum() if slope > 0 else u[u < 0].sum())
    need = slope * float(u @ u)
    return need > reach if slope > 0 else need < reach
