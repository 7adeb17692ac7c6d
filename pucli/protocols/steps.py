"""The one skeleton of protocols: rows, parameters, fit, predictions, declared metrics.

A protocol is a subclass of `ProtocolSteps` that declares its steps; all else of planning and running a cell is here.
"""

from __future__ import annotations

import functools
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.errors import UsageError
from pucli.models.certificates import certificate, watched
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, declared_method, make, scaling, seed_of, timed
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.experiment import Experiment, Strict
from pucli.runner.profiles import Scope

NOT_CONVERGED = "not converged"


@dataclass(frozen=True)
class SplitRows:
    """Rows of a data set, setting and repeat, as `ProtocolSteps.rows` returns them.

    Parameters
    ----------
    X_train : array of shape (n, m)
        Training rows.
    y_train : array of shape (n,), optional
        Their labels as the method sees them: 1 for labeled and 0 for unlabeled rows, or classes and -1.
    X_test : array of shape (k, m), optional
        Rows that are predicted.
    hidden : HiddenLabels
        True labels of the rows that are scored.
    notes : list of str
        Remarks on the rows for the result of every cell.
    groups : array of int of shape (n,), optional
        Groups of training rows, given to methods that make folds.
    more : tuple of arrays of shape (j, m)
        Further rows, standardized as the others.
    shared : dict
        What methods keep for one another, e.g. graphs.
    """

    X_train: Floats
    y_train: Any = None
    X_test: Any = None
    hidden: HiddenLabels = field(default_factory=lambda: HiddenLabels(np.empty(0)))
    notes: list[str] = field(default_factory=list, kw_only=True)
    groups: Ints | None = field(default=None, kw_only=True)
    more: tuple[Floats, ...] = field(default=(), kw_only=True)
    shared: dict[Any, Any] = field(default_factory=dict, kw_only=True)


@dataclass
class RunningCell:
    """A cell that runs: its declaration, its rows, and its result so far."""

    cell: Cell
    context: Context
    rows: Any  # what `ProtocolSteps.rows` returned
    result: CellResult

    @property
    def method(self) -> Mapping[str, Any]:
        """Return the declared method."""
        method: Mapping[str, Any] = self.cell.declared["method"]
        return method

    def make(self, params: Mapping[str, Any] | None = None, **given: Any) -> Any:
        """Return an unfitted estimator with the chosen or these parameters."""
        return make(self.method, self.result.params if params is None else params, **given)

    def timed(self, name: str) -> AbstractContextManager[None]:
        """Add the seconds of the context to those of the result."""
        return timed(self.result.seconds, name)


class ProtocolSteps(ABC):
    """A protocol, which plans and runs cells by the steps that a subclass declares.

    Planning asks `check`, `datasets`, `method`, `conditions` and `parts`. A cell then goes through `rows`,
    `parameters`, `fit`, `predict`, `score` and `conclude`, in this order. Only `conditions` and `rows` have no default.
    `version` is increased when a step changes what a cell computes.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    options: type[Strict] = Strict
    scales: ClassVar[bool] = True  # whether features may be standardized
    tunes: ClassVar[bool] = True  # whether a column may have a grid
    seeds: ClassVar[bool] = True  # whether the repeat gives the fit its seed
    repeated: ClassVar[bool] = True  # whether there are repeats
    by_repeat: ClassVar[bool] = False  # whether all methods of a repeat come before the next repeat
    keeps_groups: ClassVar[bool] = False  # whether rows of one group of the data set stay together
    example: ClassVar[tuple[int, ...]] = ()  # labels of the random rows of `warm_up`; without, it does nothing

    def identity(self) -> list[Any]:
        """Return the name and version of the protocol, as they are part of the key of a cell."""
        return [self.name, self.version]

    def cells(self, experiment: Experiment, scope: Scope) -> list[Cell]:
        """Return the cells of an experiment in the order of the table."""
        options = read_options(self.options, experiment, scope.profile.options)
        if not self.scales and experiment.data.standardize != "none":
            raise UsageError(
                f"{experiment.name}: the protocol {self.name} does not scale features; add data.standardize: none."
            )
        for column in scope.methods if not self.tunes else ():
            if experiment.methods[column].grid:
                raise UsageError(f"{experiment.name}: methods.{column}.grid: the protocol {self.name} does not tune.")
        return list(self.plan(Planner(experiment, scope, options, self)))

    def plan(self, planner: Planner) -> Iterator[Cell]:
        """Plan the cells in the order data set, condition, method, repeat, or with `by_repeat` repeat, method."""
        self.check(planner)
        repeats = range(planner.scope.repeats if self.repeated else 1)
        for dataset in self.datasets(planner):
            methods = {column: self.method(planner, column, dataset) for column in planner.scope.methods}
            pairs = [(column, repeat) for column in methods for repeat in repeats]
            if self.by_repeat:
                pairs = [(column, repeat) for repeat in repeats for column in methods]
            for condition in self.conditions(planner, dataset):
                for column, repeat in pairs:
                    parts = self.parts(planner, condition, column, methods[column], repeat)
                    if parts is not None:
                        yield planner.cell(dataset, column, repeat, methods[column], **parts)

    def check(self, planner: Planner) -> None:  # noqa: B027  # most protocols run whatever is declared
        """Raise UsageError for a declaration that the protocol cannot run."""

    def datasets(self, planner: Planner) -> list[str]:
        """Return the data sets, in the order of the table."""
        return planner.scope.datasets

    def method(self, planner: Planner, column: str, dataset: str) -> dict[str, Any]:
        """Return the declared method of a column on a data set."""
        return declared_method(planner.experiment, column)

    @abstractmethod
    def conditions(self, planner: Planner, dataset: str) -> Iterable[Mapping[str, Any]]:
        """Return the conditions of a data set: the arguments `setting`, `data`, `split`, ... of `Planner.cell`."""

    def parts(
        self, planner: Planner, condition: Mapping[str, Any], column: str, method: Mapping[str, Any], repeat: int
    ) -> Mapping[str, Any] | None:
        """Return the condition with what depends on method and repeat; None leaves the cell out."""
        return condition

    def run_cell(self, cell: Cell, context: Context) -> CellResult:
        """Run a cell through all steps."""
        run = RunningCell(cell, context, context.shared(cell, self.prepare), CellResult(seconds={"tune": 0.0}))
        run.result.notes += run.rows.notes
        run.result.params = self.parameters(run)
        with watched() as seen:
            model = self.fit(run)
            with run.timed("predict"):
                predictions = self.predict(run, model)
            run.result.predictions = predictions
            run.result.metrics |= self.score(run, model, predictions)
        self.conclude(run, model, seen)
        return run.result

    def prepare(self, cell: Cell, context: Context) -> Any:
        """Return the rows of a cell, standardized by its training rows if the experiment says so."""
        rows = self.rows(cell, context)
        scaled = scaling(cell.declared["data"].get("standardize", "none"), rows.X_train)
        X_test = None if rows.X_test is None else scaled(rows.X_test)
        return replace(rows, X_train=scaled(rows.X_train), X_test=X_test, more=tuple(map(scaled, rows.more)))

    @abstractmethod
    def rows(self, cell: Cell, context: Context) -> SplitRows:
        """Load and divide the rows; cells of a group share them."""

    def parameters(self, run: RunningCell) -> dict[str, Any]:
        """Return the parameters of the fit; by default those that are declared, with a seed."""
        params = dict(run.method["params"])
        return seeded(run.method["name"], params, seed_of(run.cell, "fit")) if self.seeds else params

    def fit(self, run: RunningCell) -> Any:
        """Return the model; by default one fit to the training rows, with their groups if it takes groups."""
        with run.timed("fit"):
            return fitted(run.make(), run.rows.X_train, run.rows.y_train, run.rows.groups)

    def predict(self, run: RunningCell, model: Any) -> Any:
        """Return the predictions for the rows that are scored; None if there are none."""
        return None if run.rows.X_test is None else model.predict(run.rows.X_test)

    def score(self, run: RunningCell, model: Any, predictions: Any) -> dict[str, float]:
        """Return the metrics, from `HiddenLabels`, beside those that were found by fitting."""
        return {}

    def conclude(self, run: RunningCell, model: Any, seen: Mapping[str, Any]) -> None:
        """Add certificate, notes and flags to the result; `seen` are the warnings of the steps before."""
        result = run.result
        result.notes += [text for text in seen["texts"] if text not in result.notes]
        result.certificate = certificate(model)
        if seen[NOT_CONVERGED] or result.certificate.get("converged") is False:
            result.flags.append(NOT_CONVERGED)

    def warm_up(self, cell: Cell) -> None:
        """Compile the method of a cell, or load it from the cache; it is called, untimed, before the first cell."""
        if self.example:
            _warm_up(self.example, canonical_json(cell.declared["method"]))


def fitted(model: Any, X: Floats, y: AnyArray, groups: Ints | None = None) -> Any:
    """Fit a model, with the groups of the rows if there are any and it takes them, and return it."""
    takes = groups is not None and "groups" in inspect.signature(model.fit).parameters
    model.fit(X, y, **({"groups": groups} if takes else {}))
    return model


@functools.lru_cache(maxsize=64)
def _warm_up(labels: tuple[int, ...], content: str) -> None:
    method = json.loads(content)
    X = np.random.default_rng(0).normal(size=(len(labels), 3))
    with watched():
        make(method, seeded(method["name"], method["params"], 0)).fit(X, np.array(labels))
