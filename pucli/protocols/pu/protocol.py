"""PU protocol: split, standardise by the training rows, tune without true labels, fit once, score the test rows.

This is the protocol of Wang 2024, sections 3.4, 3.6, 4.3, 4.5 and 5.7. All methods use the same rows and validation
folds for a data set, setting and repeat, so that comparisons are paired.

A method declared with `prior: "true"` is given the share of positives among the unlabeled rows, training and test
(5.2.2), which is unknown outside of experiments. `options` are those of `Options`. If features are known to be
irrelevant, `irrelevant_zeroed` is the share of these features whose coefficients are zero. The threshold of the columns
in `options.cut_at_prior` is moved, after tuning, to where that share of the unlabeled training rows is above it.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.errors import UsageError, unknown
from pucli.data.catalogue.entries import dataset_entry
from pucli.data.splits.labelling import LABELLINGS
from pucli.estimators.base.pu import has_own_probabilities
from pucli.methods import make_estimator
from pucli.metrics import all_metrics, classification_scores, pu_counts, puf
from pucli.models.certificates import certificate, watched
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, declared_method, make, seed_of, timed
from pucli.protocols.options import read_options
from pucli.protocols.pu.rows import SCENARIOS
from pucli.protocols.pu.rows import Prepared as Prepared
from pucli.protocols.pu.rows import prepare as prepare_rows
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import TRUE_ODDS, TRUE_PRIOR, Experiment, Strict
from pucli.runner.profiles import Scope, data_settings, resolved_grid, tuning_settings
from pucli.tuning import Trials, tune

# Raise it when the protocol changes what a cell computes.
VERSION = 1


class Options(Strict):
    """Options of the protocol."""

    irrelevant_per_feature: int = Field(
        default=0,
        ge=0,
        description="standard normal columns added per column of a declared data set, all rows standardised (4.5.2)",
    )
    scaled: bool = Field(
        default=True, description="whether rows with irrelevant columns are standardised before these are added"
    )
    cut_at_prior: list[str] = Field(
        default=[],
        description="columns that predict the true share of positives among the unlabeled training rows",
    )
    labelled_as_unlabeled: list[str] = Field(
        default=[],
        description="columns whose unlabeled rows include a copy of each labelled row, as in Kiryo's nnPU code",
    )


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells of an experiment in the order data set, setting, method, repeat."""
    options = _checked(experiment, scope)
    split = experiment.split
    planner = Planner(experiment, "pu", VERSION)
    columns = {column: _method(experiment, column, scope, options) for column in scope.methods}
    fraction = getattr(split, SCENARIOS[split.scenario])
    planned = []
    for dataset in scope.datasets:
        for parameters in data_settings(scope.parameters):
            data = {
                "parameters": parameters,
                "standardise": experiment.data.standardise,
                # unused options do not change the key
                **options.model_dump(exclude_defaults=True, exclude={"cut_at_prior", "labelled_as_unlabeled"}),
            }
            for frequency in scope.label_frequencies:
                division = {"scenario": split.scenario, "label_frequency": frequency, "fraction": fraction}
                if split.labelling != "scar":  # the default is not in the key
                    division["labelling"] = split.labelling
                if together := dataset_entry(dataset).group_columns:
                    division["groups"] = together
                if split.labelled != "training":
                    division["labelled"] = split.labelled
                for column, method in columns.items():
                    tuning = method["tuning"]
                    planned += [
                        replace(
                            planner.cell(
                                dataset,
                                column,
                                repeat,
                                method,
                                setting={**parameters, "label_frequency": frequency},
                                data=data,
                                split=division,
                                **_places(experiment),
                            ),
                            n_fits=1 + _tuning_fits(method),
                            open_ended=bool(tuning and tuning["greedy_step"]),
                        )
                        for repeat in range(scope.repeats)
                    ]
    return planned


def _places(experiment: Experiment) -> dict[str, Any]:
    """Return the metrics at other places than those of the list, which every cell has; part of the key if any."""
    own = [name for name in experiment.metrics if name not in all_metrics()]
    return {"metrics": own} if own else {}


def _checked(experiment: Experiment, scope: Scope) -> Options:
    """Return the options; raise UsageError for a declaration that the protocol cannot run."""
    split = experiment.split
    if split.scenario not in SCENARIOS:
        raise unknown("scenario", split.scenario, SCENARIOS)
    if not scope.label_frequencies:
        raise UsageError(f"{experiment.name}: the protocol pu needs split.label_frequencies; give at least one.")
    options = read_options(Options, experiment, scope.profile.options)
    if options.irrelevant_per_feature and experiment.data.generate:
        raise UsageError(
            f"{experiment.name}: options.irrelevant_per_feature is for declared data sets; the generator "
            f"{experiment.data.generate} adds columns by data.parameters."
        )
    for option in ("cut_at_prior", "labelled_as_unlabeled"):
        for column in getattr(options, option):
            if column not in experiment.methods:
                raise unknown(f"column of options.{option}", column, experiment.methods)
    if split.labelled != "training" and split.scenario != "single-training-set":
        raise UsageError(f"{experiment.name}: split.labelled belongs to the scenario single-training-set; remove it.")
    if split.labelling not in LABELLINGS:
        raise unknown("labelling", split.labelling, LABELLINGS)
    for scenario, key in SCENARIOS.items():
        if getattr(split, key) is not None and scenario != split.scenario:
            raise UsageError(f"{experiment.name}: split.{key} belongs to the scenario {scenario}; remove it.")
    return options


def _method(experiment: Experiment, column: str, scope: Scope, options: Options) -> dict[str, Any]:
    """Return the declared method of a column with its grid, its tuning, and what options say of it."""
    entry = experiment.methods[column]
    grid = resolved_grid(entry, scope.profile)
    tuning = tuning_settings(experiment, entry, scope.profile, grid) if grid else None
    more: dict[str, Any] = {"cut": "prior"} if column in options.cut_at_prior else {}
    if column in options.labelled_as_unlabeled:
        more["copies"] = True
    return declared_method(experiment, column, grid=grid, tuning=tuning, **more)


def _tuning_fits(method: Mapping[str, Any]) -> int:
    tuning = method["tuning"]
    if not tuning:
        return 0
    points = math.prod(map(len, method["grid"].values()))
    return int(points * tuning["folds"] * tuning["cv_repeats"])


def run_cell(cell: Cell, context: Context, prepare: Callable[[Cell, Context], Prepared] | None = None) -> CellResult:
    """Tune, fit and score a method on a split.

    Parameters
    ----------
    cell : Cell
        The cell.
    context : Context
        What the cells of a group share.
    prepare : callable, optional
        Function from the cell and the context to the rows; by default those of the split that the cell declares.
    """
    rows = context.shared(cell, prepare or prepare_rows)
    method = cell.declared["method"]
    if "copies" in method:
        rows = _with_copies(rows)
    params = seeded(method["name"], {**method["params"], **true_prior(method["params"], rows)}, seed_of(cell, "fit"))
    result = CellResult(notes=list(rows.notes), seconds={"tune": 0.0})
    result.params = _tuned(cell, params, rows, result) if method["tuning"] else params

    with watched() as seen:
        with timed(result.seconds, "fit"):
            model = make(method, result.params)
            takes = rows.groups is not None and "groups" in inspect.signature(model.fit).parameters
            model.fit(rows.X_train, rows.s, **({"groups": rows.groups} if takes else {}))
        with timed(result.seconds, "predict"):
            predictions = predicted_classes(model, rows.X_test)
            if "cut" in method:
                predictions = _called_at(rows.prior, model, rows.X_train[rows.s == 0], rows.X_test)
        decision = model.decision_function(rows.X_test) if hasattr(model, "decision_function") else None
    result.notes += seen["texts"]
    result.certificate = certificate(model)
    if seen["not converged"] or result.certificate.get("converged") is False:
        result.flags.append("not converged")
    result.predictions = predictions
    probability = np.asarray(model.predict_proba(rows.X_test))[:, 1] if has_own_probabilities(model) else None
    result.metrics = _scored(rows, predictions, decision, probability, cell.declared.get("metrics", ()))
    used = _used_features(model)
    if used is not None and rows.relevant < len(used):
        result.metrics["irrelevant_zeroed"] = float(np.mean(~used[rows.relevant :]))
    return result


def true_prior(params: Mapping[str, Any], rows: Prepared) -> dict[str, float]:
    """Return the class prior of a method that is declared to be given the true one, else nothing."""
    given = params.get("prior")
    if given == TRUE_ODDS and rows.prior >= 0.5:
        raise UsageError(f"prior: {TRUE_ODDS} is {rows.prior / (1 - rows.prior):.3g} here, and a prior is below 1.")
    values = {TRUE_PRIOR: rows.prior, TRUE_ODDS: rows.prior / (1 - rows.prior)}
    return {"prior": values[given]} if given in (TRUE_PRIOR, TRUE_ODDS) else {}


def _with_copies(rows: Prepared) -> Prepared:
    """Return rows in which the labelled ones are among the unlabeled ones as well."""
    labelled = rows.X_train[np.asarray(rows.s) == 1]
    s = np.concatenate([rows.s, np.zeros(len(labelled), dtype=np.int8)])
    return replace(rows, X_train=np.vstack([rows.X_train, labelled]), s=s, prior=rows.prior_with_copies, shared={})


def _scored(
    rows: Prepared, predictions: Ints, decision: Floats | None, probability: Floats | None, also: Sequence[str]
) -> dict[str, float]:
    metrics = classification_scores(rows.y_test, predictions, decision, positive=1, probability=probability, also=also)
    # with the recall of all positives, which the recall on labelled rows estimates
    metrics["puf"] = float(puf(pu_counts(rows.y_test == 1, predictions, 1), "all"))
    return metrics


def prepared(cell: Cell, context: Context) -> Prepared:
    """Return the rows of a cell, prepared once for its group; for protocols of plug-ins."""
    return context.shared(cell, prepare_rows)


def predicted_classes(model: Any, X: Floats) -> Ints:
    """Return the predictions (n,) of a PU model as -1 and +1."""
    return np.where(np.asarray(model.predict(X)) == model.classes_[1], 1, -1)


def _called_at(share: float, model: Any, unlabeled: Floats, X: Floats) -> Ints:
    """Return the classes (n,), -1 or +1, at the threshold that a share of the unlabeled training rows exceeds."""
    scores = np.sort(model.decision_function(unlabeled))
    cut = scores[len(scores) - 1 - round(share * len(scores))]
    return np.where(model.decision_function(X) > cut, 1, -1)


def _tuned(cell: Cell, params: Mapping[str, Any], rows: Prepared, result: CellResult) -> dict[str, Any]:
    """Return `params` updated by tuning on the training rows, and record the tuning in `result`."""
    method = cell.declared["method"]
    grid, tuning = method["grid"], method["tuning"]
    fixed = {key: value for key, value in params.items() if key not in grid}
    with watched() as seen, timed(result.seconds, "tune"):
        tuned = tune(
            method["name"],
            rows.X_train,
            rows.s,
            params=fixed,
            grid=grid,
            folds=tuning["folds"],
            cv_repeats=tuning["cv_repeats"],
            rule=tuning["rule"],
            denominator=tuning["denominator"],
            greedy_step=tuning["greedy_step"],
            stay_on_grid=tuning.get("stay_on_grid"),
            score_error=tuning.get("score_error", 0.0),
            seed=seed_of(cell, "folds"),
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
        chosen |= {name: tuned.params[name] for name in ("cut", "prior") if tuned.params.get(name) is not None}
    if _on_edge(chosen, grid):
        result.flags.append("edge of the grid")
    return chosen


def warm_up(cell: Cell) -> None:
    """Compile the method of a cell, or load it from the cache, by tuning and fitting on 40 random rows."""
    method = cell.declared["method"]
    grid = {key: values[:2] for key, values in method["grid"].items()}
    _warm_up(method["name"], json.dumps([method["params"], grid, method["tuning"]], sort_keys=True))


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
