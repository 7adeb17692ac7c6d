"""Protocol of Example 3.7 and Theorem 3.8 in Bertazzi 2018: when one unlabeled point improves on the supervised line.

A cell fits least squares without an intercept to labelled points of one feature, coded 0 and 1, and one unlabeled point
u. It measures the most adversarial label of u, and what the fit gains over the supervised one for either label of u.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from pucli.core.arrays import Floats
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.protocols.common import Planner, check_unscaled, declared_method, make, timed
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import Experiment, Strict
from pucli.runner.profiles import Scope, data_settings

# Raise it when the protocol changes what a cell computes.
VERSION = 1


class Options(Strict):
    """Options of the protocol."""

    positions: list[float] = Field(min_length=1, description="values of the unlabeled point u")


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return one cell per example, position of u and method."""
    check_unscaled(experiment)
    options = read_options(Options, experiment, scope.profile.options)
    planner = Planner(experiment, "strict_improvement", VERSION)
    columns = {column: declared_method(experiment, column) for column in scope.methods}
    for column, method in columns.items():
        if method["params"].get("fit_intercept", True):
            raise UsageError(
                f"{experiment.name}: methods.{column}: Theorem 3.8 is about a line through the origin; add "
                "fit_intercept: false."
            )
    return [
        planner.cell(
            dataset,
            column,
            0,
            method,
            setting={**parameters, "u": u},
            data={"parameters": parameters},
            u=u,
            shares=("data", "u"),
        )
        for dataset in scope.datasets
        for parameters in data_settings(scope.parameters)
        for u in options.positions
        for column, method in columns.items()
    ]


def run_cell(cell: Cell, context: Context) -> CellResult:
    """Fit the method to the labelled points and u, and the supervised line to the labelled points alone."""
    from pucli.data import load_dataset

    method, u = cell.declared["method"], float(cell.declared["u"])
    drawn = load_dataset(cell.dataset, rng=stream(0, "points"), parameters=dict(cell.declared["data"]["parameters"]))
    rows = np.vstack([drawn.X, [[u]]])
    result = CellResult(params=dict(method["params"]), seconds={"tune": 0.0})
    with timed(result.seconds, "fit"):
        supervised = make(method).fit(drawn.X, drawn.y)
        model = make(method).fit(rows, np.append(drawn.y, -1))
    before, after = float(supervised.coef_[0]), float(model.coef_[0])
    gains = []
    for label in (0, 1):
        labels = np.append(drawn.y, label)
        gains.append(supervised.squared_error(rows, labels) - model.squared_error(rows, labels))
    result.details = {
        "labelled": drawn.X[:, 0].tolist(),
        "classes": drawn.y.tolist(),
        "supervised_slope": before,
        "slope": after,
    }
    result.metrics = {
        "condition_holds": float(improves_strictly(before, rows[-1])),
        "adversarial_label": float(model.soft_labels_[0]),
        "slope_change": after - before,
        "guaranteed_gain": model.improvement_,
        "gain_if_0": gains[0],
        "gain_if_1": gains[1],
    }
    result.certificate = {"dual_gap": model.gap_, "converged": model.converged_}
    return result


def improves_strictly(slope: float, u: Floats) -> bool:
    """Return whether (3.18) holds: no labels in [0, 1] of the points u (M,) lead to the supervised slope again."""
    reach = float(u[u > 0].sum() if slope > 0 else u[u < 0].sum())
    need = slope * float(u @ u)
    return need > reach if slope > 0 else need < reach
