"""USMO protocol: transductive F on the unlabeled rows, scored in three ways (Sansone et al. 2019, Tables III and IV).

A fifth of the positives, floor(frequency n prior), is labeled at random; the other rows are unlabeled and used both
for fitting and for scoring. The tables come from a released script with two unexpected properties: it computes the F of
the class with more unlabeled rows, and it compares the predictions for all rows, in the order of the file, with the
labels of the unlabeled rows, so that the two are misaligned after the first labeled row. Metrics:

    f_published : F in per cent, computed as in that script
    f_majority  : F in per cent of the same class, with predictions and labels aligned
    f1          : F of the positive class, with predictions and labels aligned
    objective_difference_ppm : |objective - that of the option `reference`| in millionths of the larger modulus
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray
from pucli.core.errors import UsageError
from pucli.core.seeding import stream
from pucli.data import dataset_entry
from pucli.metrics.classification import f_majority, f_of_class, f_published
from pucli.models.certificates import certificate
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, check_two_classes, declared_method, make, read_rows, timed
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.steps import NOT_CONVERGED, ProtocolSteps, RunningCell, SplitRows
from pucli.runner.cells import Cell, Context, canonical_json
from pucli.runner.experiment import Strict


class UsmoOptions(Strict):
    """Options of the protocol."""

    reference: str | None = Field(default=None, description="solver with whose objective that of USMO is compared")


class USMOProtocol(ProtocolSteps):
    """The protocol."""

    name = "usmo"
    version = 1
    options: type[Strict] = UsmoOptions
    scales = seeds = False
    by_repeat = True
    example = (1,) * 10 + (0,) * 30

    def check(self, planner: Planner) -> None:
        """Raise UsageError without label frequencies."""
        if not planner.scope.label_frequencies:
            where = planner.experiment.name
            raise UsageError(f"{where}: the protocol usmo needs split.label_frequencies; give at least one.")

    def method(self, planner: Planner, column: str, dataset: str) -> dict[str, Any]:
        """Return the declared method with the prior of the data set."""
        prior = dataset_entry(dataset).prior
        if prior is None:
            where = planner.experiment.name
            raise UsageError(f"{where}: the protocol usmo needs a prior; give {dataset} one in datasets.yaml.")
        return declared_method(planner.experiment, column, changes={"prior": float(prior)})

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield a condition for each label frequency."""
        for frequency in planner.scope.label_frequencies:
            yield {"setting": {"label_frequency": frequency}, "split": {"label_frequency": frequency}}

    def parts(
        self, planner: Planner, condition: Mapping[str, Any], column: str, method: Mapping[str, Any], repeat: int
    ) -> Mapping[str, Any] | None:
        """Return the condition with the reference, whose objective USMO run to convergence should have."""
        params = method["params"]
        converges = params.get("solver", "usmo") == "usmo" and params.get("max_iter") != 0
        compared = method["name"] == "usmo" and converges
        return {**condition, "reference": planner.options.reference if compared else None}

    def rows(self, cell: Cell, context: Context) -> SplitRows:
        """Return all rows in the order of the file, some of them labeled; the unlabeled ones are scored."""
        split = cell.declared["split"]
        X, y = read_rows(cell.dataset, context)
        check_two_classes(cell.dataset, y)
        frequency = split["label_frequency"]
        count = int(np.floor(frequency * len(y) * cell.declared["method"]["params"]["prior"]))
        rng = stream(split["seed"], "usmo labels", cell.dataset, frequency, split["repeat"])
        labeled = np.zeros(len(y), bool)
        labeled[rng.choice(np.flatnonzero(y == 1), count, replace=False)] = True
        return SplitRows(X, labeled, X, HiddenLabels(y[~labeled]))

    def fit(self, run: RunningCell) -> Any:
        """Fit once for all cells of the group that have these parameters."""
        model, run.result.seconds["fit"] = _fitted(run, run.result.params)
        return model

    def predict(self, run: RunningCell, model: Any) -> AnyArray:
        """Return the signs of all rows."""
        signs: AnyArray = np.sign(model.decision_function(run.rows.X_test))
        return signs

    def score(self, run: RunningCell, model: Any, predictions: AnyArray) -> dict[str, float]:
        """Return F in three ways, and the objective beside that of the reference."""
        hidden, params = run.rows.hidden, run.result.params
        run.result.predictions = of_unlabeled = predictions[~run.rows.y_train]
        metrics = {
            "f_published": hidden.score(f_published, predictions),
            "f_majority": hidden.score(f_majority, of_unlabeled),
            "f1": hidden.score(f_of_class, of_unlabeled, 1),
            "objective": model.objective_,
        }
        if run.cell.declared["reference"]:
            other, _ = _fitted(run, {**params, "solver": run.cell.declared["reference"]})
            scale = max(abs(model.objective_), abs(other.objective_))
            metrics["objective_difference_ppm"] = 1e6 * abs(model.objective_ - other.objective_) / scale
        return metrics

    def conclude(self, run: RunningCell, model: Any, seen: Mapping[str, Any]) -> None:
        """Add the certificate; a run without iterations is not meant to converge."""
        run.result.certificate = certificate(model)
        if not model.converged_ and run.result.params.get("max_iter") != 0:
            run.result.flags.append(NOT_CONVERGED)

    def warm_up(self, cell: Cell) -> None:
        """Compile the method of a cell, with any prior where each fit has its own."""
        method = cell.declared["method"]
        params = {"prior": 0.3, **method["params"]}
        super().warm_up(replace(cell, declared={**cell.declared, "method": {**method, "params": params}}))


PROTOCOL = USMOProtocol()


def _fitted(run: RunningCell, params: Mapping[str, Any]) -> tuple[Any, float]:
    """Return the fitted model and its seconds, computed once per method and parameters in a group."""
    key = canonical_json([run.method["name"], params])
    if key not in run.context.cache:
        seconds: dict[str, float] = {}
        with timed(seconds, "fit"):
            model = make(run.method, seeded(run.method["name"], params, 0)).fit(run.rows.X_train, run.rows.y_train)
        run.context.cache[key] = model, seconds["fit"]
    fitted: tuple[Any, float] = run.context.cache[key]
    return fitted
