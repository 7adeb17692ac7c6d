"""PU protocol: split, standardize by the training rows, tune without true labels, fit once, score the test rows.

This is the protocol of Wang 2024, sections 3.4, 3.6, 4.3, 4.5 and 5.7. All methods use the same rows and validation
folds for a data set, setting and repeat, so that comparisons are paired.

A method declared with `prior: "true"` is given the share of positives among the unlabeled rows, training and test
(5.2.2), which is unknown outside of experiments. `options` are those of `PuOptions`. If features are known to be
irrelevant, `irrelevant_zeroed` is the share of these features whose coefficients are zero. The threshold of the columns
in `options.threshold_at_prior` is moved, after tuning, to where that share of the unlabeled training rows is above it.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError, unknown
from pucli.data.catalogue.entries import dataset_entry
from pucli.data.splits.labeling import LABELINGS
from pucli.estimators.base.pu import has_own_probabilities
from pucli.methods import make_estimator
from pucli.metrics import all_metrics, pu_counts, puf
from pucli.models.certificates import watched
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, declared_method, seed_of
from pucli.protocols.pu.rows import SCENARIOS, PURows, divided
from pucli.protocols.steps import ProtocolSteps, RunningCell
from pucli.runner.cells import Cell, Context
from pucli.runner.experiment import TRUE_ODDS, TRUE_PRIOR, Strict
from pucli.runner.profiles import data_settings, resolved_grid, tuning_settings
from pucli.tuning import Trials, tune

# Raise it when the protocol changes what a cell computes.
VERSION = 1


class PuOptions(Strict):
    """Options of the protocol."""

    irrelevant_per_feature: int = Field(
        default=0,
        ge=0,
        description="standard normal columns added per column of a declared data set, all rows standardized (4.5.2)",
    )
    scaled: bool = Field(
        default=True, description="whether rows with irrelevant columns are standardized before these are added"
    )
    threshold_at_prior: list[str] = Field(
        default=[],
        description="columns that predict the true share of positives among the unlabeled training rows",
    )
    labeled_as_unlabeled: list[str] = Field(
        default=[],
        description="columns whose unlabeled rows include a copy of each labeled row, as in Kiryo's nnPU code",
    )


class PU(ProtocolSteps):
    """The protocol; those of other samplings, diagnoses and figures are subclasses."""

    name = "pu"
    version = VERSION
    options: type[Strict] = PuOptions
    keeps_groups = True

    def identity(self) -> list[Any]:
        """Return name and version, in a subclass those of this protocol as well."""
        return [*super().identity(), *([] if self.name == PU.name else [PU.version])]

    def check(self, planner: Planner) -> None:
        """Raise UsageError for a declaration that the protocol cannot run."""
        _check(planner, self.shared_options(planner))

    def shared_options(self, planner: Planner) -> PuOptions:
        """Return the options of this protocol, which are the default ones in a subclass with others."""
        return planner.options if isinstance(planner.options, PuOptions) else PuOptions()

    def method(self, planner: Planner, column: str, dataset: str) -> dict[str, Any]:
        """Return the declared method of a column with its grid, its tuning, and what options say of it."""
        options, entry = self.shared_options(planner), planner.experiment.methods[column]
        grid = resolved_grid(entry, planner.scope.profile)
        tuning = tuning_settings(planner.experiment, entry, planner.scope.profile, grid) if grid else None
        more: dict[str, Any] = {"threshold": "prior"} if column in options.threshold_at_prior else {}
        if column in options.labeled_as_unlabeled:
            more["copies"] = True
        return declared_method(planner.experiment, column, grid=grid, tuning=tuning, **more)

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield the conditions of the scenario parameters and label frequencies."""
        split = planner.experiment.split
        # unused options do not change the key
        used = self.shared_options(planner).model_dump(
            exclude_defaults=True, include={"irrelevant_per_feature", "scaled"}
        )
        own = [name for name in planner.experiment.metrics if name not in all_metrics()]
        for parameters in data_settings(planner.scope.parameters):
            for frequency in planner.scope.label_frequencies:
                division = {
                    "scenario": split.scenario,
                    "label_frequency": frequency,
                    "fraction": getattr(split, SCENARIOS[split.scenario]),
                }
                if split.labeling != "scar":  # the default is not in the key
                    division["labeling"] = split.labeling
                if together := dataset_entry(dataset).group_columns:
                    division["groups"] = together
                if split.labeled != "training":
                    division["labeled"] = split.labeled
                yield {
                    "setting": {**parameters, "label_frequency": frequency},
                    "data": {"parameters": parameters, **used},
                    "split": division,
                    # metrics at other places than those of the list, which every cell has
                    **({"metrics": own} if own else {}),
                }

    def parts(
        self, planner: Planner, condition: Mapping[str, Any], column: str, method: Mapping[str, Any], repeat: int
    ) -> Mapping[str, Any] | None:
        """Return the condition with the number of fits."""
        tuning = method["tuning"]
        if not tuning:
            return condition
        points = math.prod(map(len, method["grid"].values()))
        fits = 1 + points * tuning["folds"] * tuning["cv_repeats"]
        return {**condition, "n_fits": fits, "open_ended": bool(tuning["greedy_step"])}

    def rows(self, cell: Cell, context: Context) -> PURows:
        """Return the rows of the split that the cell declares."""
        return divided(cell, context)

    def parameters(self, run: RunningCell) -> dict[str, Any]:
        """Tune on the training rows if the method has a grid."""
        if "copies" in run.method:
            run.rows = _with_copies(run.rows)
        params = {**run.method["params"], **true_prior(run.method["params"], run.rows)}
        params = seeded(run.method["name"], params, seed_of(run.cell, "fit"))
        return _tuned(run, params) if run.method["tuning"] else params

    def predict(self, run: RunningCell, model: Any) -> Ints:
        """Return the classes of the test rows, -1 or +1."""
        rows = run.rows
        if "threshold" in run.method:
            return _called_at(rows.prior, model, rows.X_train[rows.y_train == 0], rows.X_test)
        return predicted_classes(model, rows.X_test)

    def score(self, run: RunningCell, model: Any, predictions: Ints) -> dict[str, float]:
        """Return all metrics of predictions, scores and probabilities."""
        rows, also = run.rows, run.cell.declared.get("metrics", ())
        decision = model.decision_function(rows.X_test) if hasattr(model, "decision_function") else None
        probability = np.asarray(model.predict_proba(rows.X_test))[:, 1] if has_own_probabilities(model) else None
        metrics: dict[str, float] = rows.hidden.classification(
            predictions, decision, probability=probability, also=also
        )
        metrics["puf"] = rows.hidden.score(_puf, predictions)
        used = _used_features(model)
        if used is not None and rows.relevant < len(used):
            metrics["irrelevant_zeroed"] = float(np.mean(~used[rows.relevant :]))
        return metrics

    def warm_up(self, cell: Cell) -> None:
        """Compile the method of a cell, or load it from the cache, by tuning and fitting on 40 random rows."""
        method = cell.declared["method"]
        grid = {key: values[:2] for key, values in method["grid"].items()}
        _warm_up(method["name"], json.dumps([method["params"], grid, method["tuning"]], sort_keys=True))


PROTOCOL = PU()


def _check(planner: Planner, options: PuOptions) -> None:
    """Raise UsageError for a declaration that the protocol cannot run."""
    experiment, split = planner.experiment, planner.experiment.split
    if split.scenario not in SCENARIOS:
        raise unknown("scenario", split.scenario, SCENARIOS)
    if not planner.scope.label_frequencies:
        raise UsageError(
            f"{experiment.name}: the protocol {planner.steps.name} needs split.label_frequencies; give at least one."
        )
    if options.irrelevant_per_feature and experiment.data.generate:
        raise UsageError(
            f"{experiment.name}: options.irrelevant_per_feature is for declared data sets; the generator "
            f"{experiment.data.generate} adds columns by data.parameters."
        )
    for option in ("threshold_at_prior", "labeled_as_unlabeled"):
        for column in getattr(options, option):
            if column not in experiment.methods:
                raise unknown(f"column of options.{option}", column, experiment.methods)
    if split.labeled != "training" and split.scenario != "single-training-set":
        raise UsageError(f"{experiment.name}: split.labeled belongs to the scenario single-training-set; remove it.")
    if split.labeling not in LABELINGS:
        raise unknown("labeling", split.labeling, LABELINGS)
    for scenario, key in SCENARIOS.items():
        if getattr(split, key) is not None and scenario != split.scenario:
            raise UsageError(f"{experiment.name}: split.{key} belongs to the scenario {scenario}; remove it.")


def true_prior(params: Mapping[str, Any], rows: PURows) -> dict[str, float]:
    """Return the class prior of a method that is declared to be given the true one, else nothing."""
    given = params.get("prior")
    if given == TRUE_ODDS and rows.prior >= 0.5:
        raise UsageError(f"prior: {TRUE_ODDS} is {rows.prior / (1 - rows.prior):.3g} here, and a prior is below 1.")
    values = {TRUE_PRIOR: rows.prior, TRUE_ODDS: rows.prior / (1 - rows.prior)}
    return {"prior": values[given]} if given in (TRUE_PRIOR, TRUE_ODDS) else {}


def _with_copies(rows: PURows) -> PURows:
    """Return rows in which the labeled ones are among the unlabeled ones as well."""
    labeled = rows.X_train[np.asarray(rows.y_train) == 1]
    s = np.concatenate([rows.y_train, np.zeros(len(labeled), dtype=np.int8)])
    return replace(rows, X_train=np.vstack([rows.X_train, labeled]), y_train=s, prior=rows.prior_with_copies, shared={})


def _puf(y: AnyArray, predictions: Ints) -> float:
    """Return PUF with the recall of all positives, which the recall on labeled rows estimates."""
    return float(puf(pu_counts(y == 1, predictions, 1), "all"))


def predicted_classes(model: Any, X: Floats) -> Ints:
    """Return the predictions (n,) of a PU model as -1 and +1."""
    return np.where(np.asarray(model.predict(X)) == model.classes_[1], 1, -1)


def _called_at(share: float, model: Any, unlabeled: Floats, X: Floats) -> Ints:
    """Return the classes (n,), -1 or +1, at the threshold that a share of the unlabeled training rows exceeds."""
    scores = np.sort(model.decision_function(unlabeled))
    threshold = scores[len(scores) - 1 - round(share * len(scores))]
    return np.where(model.decision_function(X) > threshold, 1, -1)


def _tuned(run: RunningCell, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return `params` updated by tuning on the training rows, and record the tuning in the result."""
    method, rows, result = run.method, run.rows, run.result
    grid, tuning = method["grid"], method["tuning"]
    fixed = {key: value for key, value in params.items() if key not in grid}
    with watched() as seen, run.timed("tune"):
        tuned = tune(
            method["name"],
            rows.X_train,
            rows.y_train,
            params=fixed,
            grid=grid,
            folds=tuning["folds"],
            cv_repeats=tuning["cv_repeats"],
            rule=tuning["rule"],
            denominator=tuning["denominator"],
            greedy_step=tuning["greedy_step"],
            stay_on_grid=tuning.get("stay_on_grid"),
            score_error=tuning.get("score_error", 0.0),
            seed=seed_of(run.cell, "folds"),
            route=tuning["route"],
            cache=rows.shared,
            groups=rows.groups,  # copies are no groups: cells keep the published folds
        )
    result.trials = _columns(tuned.trials)
    result.n_fits = tuned.n_fits
    result.notes += tuned.notes
    if seen["not converged"]:
        result.notes.append(f"{seen['not converged']} fits of the tuning did not converge")
    chosen = {**params, **{name: tuned.params[name] for name in grid}}
    if tuned.rule == "pu-auc":  # the threshold that tuning moved, and the class prior that all fits used
        chosen |= {name: tuned.params[name] for name in ("threshold", "prior") if tuned.params.get(name) is not None}
    if _on_edge(chosen, grid):
        result.flags.append("edge of the grid")
    return chosen


@functools.lru_cache(maxsize=64)
def _warm_up(name: str, content: str) -> None:
    params, grid, tuning = json.loads(content)
    if params.get("prior") in (TRUE_PRIOR, TRUE_ODDS):
        params["prior"] = 0.5
    rng = np.random.default_rng(0)
    s = np.repeat([1, 0], [16, 24]).astype(np.int8)
    X = rng.normal(size=(40, 3)) + s[:, None]
    with watched():
        if tuning:
            fixed = {key: value for key, value in params.items() if key not in grid}
            greedy = tuning["greedy_step"]
            how = {"folds": 2, "cv_repeats": 1, "rule": tuning["rule"], "greedy_step": greedy, "route": tuning["route"]}
            tuned = tune(name, X, s, params=fixed, grid=grid, groups=None, **how)
            params = tuned.params
        make_estimator(name, **params).fit(X, s).predict(X)


def _used_features(model: Any) -> Bools | None:
    """Return the mask (n_features,) of features used by the model, or None if unknown."""
    selected = getattr(model, "selected_", None)
    if selected is not None:
        return np.asarray(selected, dtype=bool)
    if getattr(model, "kernel", "linear") != "linear" or not hasattr(model, "coef_"):
        return None
    used: Bools = np.ravel(model.coef_) != 0.0
    return used if len(used) == model.n_features_in_ else None


def _columns(trials: Trials) -> dict[str, list[Any]]:
    """Return trials by column; the names of parameters have the prefix `param.`."""
    if not len(trials):
        return {}
    return {
        f"param.{name}" if name in trials.parameters else name: np.asarray(values).tolist()
        for name, values in trials.columns.items()
    }


def _on_edge(params: Mapping[str, Any], grid: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether a chosen value lies at or beyond the end of its grid (of more than two values)."""
    for name, values in grid.items():
        if len(values) > 2 and all(isinstance(v, (int, float)) for v in values):
            chosen = params.get(name)
            if isinstance(chosen, (int, float)) and not min(values) < chosen < max(values):
                return True
    return False
