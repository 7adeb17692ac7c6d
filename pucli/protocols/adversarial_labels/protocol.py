"""Protocol of the examples in Bertazzi 2018, section 4.3: the most adversarial labels of one or two unlabeled points.

A cell fits MCPL to a few labeled points of one feature and an unlabeled point u, for u on a grid and, optionally, to
two unlabeled points on a grid of pairs. It checks the statements of the thesis: the improvement is never negative, and
where the orthogonality condition (4.34) holds to 1e-4, the posterior at u is that of the supervised fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Floats
from pucli.core.seeding import stream
from pucli.data import load_dataset
from pucli.protocols.common import Planner, make
from pucli.protocols.steps import ProtocolSteps, RunningCell, SplitRows
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import Strict
from pucli.runner.profiles import data_settings

ORTHOGONAL = 1e-4  # bound of the thesis on the difference of the two sides of (4.34)


class AdversarialLabelsOptions(Strict):
    """Options of the protocol."""

    examples: dict[str, list[int]] = Field(description="column -> the examples that it is fitted to")
    two_points: list[int] = Field(default=[], description="examples that also get two unlabeled points")
    span: float = Field(default=10.0, gt=0, description="u runs over [-span, span]")
    points: int = Field(default=201, ge=2, description="values of u with one unlabeled point")
    grid: int = Field(default=41, ge=2, description="values of u1 and of u2 with two unlabeled points")


class AdversarialLabels(ProtocolSteps):
    """The protocol."""

    name = "adversarial_labels"
    version = 1
    options = AdversarialLabelsOptions
    scales = seeds = repeated = False

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield a condition for each example."""
        options = planner.options
        for parameters in data_settings(planner.scope.parameters):
            pairs = options.grid if parameters.get("example") in options.two_points else 0
            yield {
                "setting": parameters,
                "data": {"parameters": parameters},
                "grid": {"span": options.span, "points": options.points, "pairs": pairs},
                "shares": ("data", "grid", "method"),
            }

    def parts(
        self, planner: Planner, condition: Mapping[str, Any], column: str, method: Mapping[str, Any], repeat: int
    ) -> Mapping[str, Any] | None:
        """Leave out examples that the method is not fitted to."""
        fitted = condition["setting"].get("example") in planner.options.examples.get(column, [])
        return condition if fitted else None

    def rows(self, cell: Cell, context: Context) -> SplitRows:
        """Return the labeled points of the example."""
        parameters = dict(cell.declared["data"]["parameters"])
        drawn = load_dataset(cell.dataset, rng=stream(0, "points"), parameters=parameters)
        return SplitRows(drawn.X, drawn.y)

    def fit(self, run: RunningCell) -> None:
        """Fit the method for every u and every pair."""
        X, y, grid, result = run.rows.X_train, run.rows.y_train, run.cell.declared["grid"], run.result
        with run.timed("fit"):
            single = np.linspace(-grid["span"], grid["span"], grid["points"])
            one = _fits(run.cell, X, y, single[:, None])
            holds, change = one["spread"] < ORTHOGONAL, np.abs(one["posterior"] - one["supervised"])
            result.details = {
                "labeled": X[:, 0].tolist(),
                "classes": y.tolist(),
                "u": single.tolist(),
                "one": {name: (values[:, 0] if values.ndim == 3 else values).tolist() for name, values in one.items()},
            }
            result.metrics = {
                "least_improvement": float(one["improvement"].min()),
                "orthogonal_share": float(np.mean(holds)),
                # under the orthogonality condition
                "largest_posterior_change": float(np.max(change[holds])) if holds.any() else math.nan,
                "least_soft_label": float(one["soft_labels"].min()),
                "largest_gap": float(one["gap"].max()),
                "orthogonal_share_of_two": math.nan,
            }
            if grid["pairs"]:
                _add_pairs(run.cell, X, y, result)

    def conclude(self, run: RunningCell, model: None, seen: Mapping[str, Any]) -> None:
        """Keep the largest gap of all fits."""
        run.result.certificate = {"dual_gap": run.result.metrics["largest_gap"], "converged": True}


PROTOCOL = AdversarialLabels()


def _add_pairs(cell: Cell, X: Floats, y: AnyArray, result: CellResult) -> None:
    """Fit every pair of unlabeled points on the grid, and add the measurements to `result`."""
    grid, metrics = cell.declared["grid"], result.metrics
    axis = np.linspace(-grid["span"], grid["span"], grid["pairs"])
    pairs = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    two = _fits(cell, X, y, pairs)
    shape = (len(axis), len(axis))
    result.details["u_of_two"] = axis.tolist()
    result.details["two"] = {
        "soft_label": two["soft_labels"][:, 0, 0].reshape(shape).tolist(),
        "posterior": two["posterior"][:, 0, 0].reshape(shape).tolist(),
        "supervised": two["supervised"][:, 0, 0].reshape(shape).tolist(),
    }
    metrics["orthogonal_share_of_two"] = float(np.mean(two["spread"] < ORTHOGONAL))
    metrics["least_improvement"] = min(metrics["least_improvement"], float(two["improvement"].min()))
    metrics["largest_gap"] = max(metrics["largest_gap"], float(two["gap"].max()))


def _fits(cell: Cell, X: Floats, y: AnyArray, unlabeled: Floats) -> dict[str, Floats]:
    """Fit once for each row of `unlabeled` (n, M); return arrays by fit, unlabeled point and class."""
    method = cell.declared["method"]
    supervised = make(method).fit(X, y)
    found: dict[str, list[Any]] = {
        name: [] for name in ("soft_labels", "posterior", "supervised", "spread", "contrast", "improvement", "gap")
    }
    partial = np.concatenate([y, np.full(unlabeled.shape[1], -1)])
    for u in unlabeled:
        new = u[:, None]
        model = make(method).fit(np.vstack([X, new]), partial)
        posterior, before = model.predict_log_proba(new), supervised.predict_log_proba(new)
        own = model.log_likelihood(X, y) - supervised.log_likelihood(X, y)
        # the gradient of the contrastive likelihood in the labels of u, (4.29)
        gains = model.log_joint(new) - supervised.log_joint(new)
        found["soft_labels"].append(model.soft_labels_)
        found["posterior"].append(np.exp(posterior))
        found["supervised"].append(np.exp(before))
        found["spread"].append(np.ptp(gains, axis=1).max())
        found["contrast"].append(own + gains)
        found["improvement"].append(model.improvement_)
        found["gap"].append(model.gap_)
    return {name: np.array(values) for name, values in found.items()}
