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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError, unknown
from pucli.core.seeding import stream
from pucli.data.catalogue.entries import dataset_entry
from pucli.data.splits.labelling import LABELLINGS, labelling_tilt
from pucli.data.splits.scenarios import Split
from pucli.models.certificates import certificate, watched
from pucli.protocols.common import (
    Planner,
    check_two_classes,
    declared_method,
    make,
    read_groups,
    read_rows,
    seed_of,
    standardised,
    takes_seed,
    timed,
)
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.experiment import TRUE_PRIOR, Experiment, Strict
from pucli.runner.profiles import Scope, data_settings, resolved_grid, tuning_settings
from pucli.tuning import Trials, tune

# Raise it when the protocol changes what a cell computes.
VERSION = 1
SCENARIOS = {"case-control": "unlabeled_train", "single-training-set": "train"}


class Options(Strict):
    """Options of the protocol."""

    irrelevant_per_feature: int = Field(
        default=0,
        ge=0,
        description="standard normal columns added per column of a declared data set, all rows standardised (4.5.2)",
    )
    cut_at_prior: list[str] = Field(
        default=[],
        description="columns that predict the true share of positives among the unlabeled training rows",
    )


@dataclass(frozen=True)
class Prepared:
    """Rows of a data set, setting and repeat. `y_test` is used only for the metrics.

    relevant : number of features before those that are known to be irrelevant.
    prior : share of positives among the unlabeled rows, for methods declared to use it.
    """

    X_train: Floats
    s: AnyArray
    X_test: Floats
    y_test: AnyArray
    relevant: int
    prior: float
    notes: list[str]
    shared: dict[Any, Any]
    groups: Ints | None = None


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
                **options.model_dump(exclude_defaults=True, exclude={"cut_at_prior"}),
            }
            for frequency in scope.label_frequencies:
                division = {"scenario": split.scenario, "label_frequency": frequency, "fraction": fraction}
                if split.labelling != "scar":  # the default is not in the key
                    division["labelling"] = split.labelling
                if together := dataset_entry(dataset).group_columns:
                    division["groups"] = together
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
    from pucli.metrics import all_metrics

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
    for column in options.cut_at_prior:
        if column not in experiment.methods:
            raise unknown("column of options.cut_at_prior", column, experiment.methods)
    if split.labelling not in LABELLINGS:
        raise unknown("labelling", split.labelling, LABELLINGS)
    for scenario, key in SCENARIOS.items():
        if getattr(split, key) is not None and scenario != split.scenario:
            raise UsageError(f"{experiment.name}: split.{key} belongs to the scenario {scenario}; remove it.")
    return options


def _method(experiment: Experiment, column: str, scope: Scope, options: Options) -> dict[str, Any]:
    """Return the declared method of a column with its grid, its tuning, and its cut if that is moved."""
    entry = experiment.methods[column]
    grid = resolved_grid(entry, scope.profile)
    tuning = tuning_settings(experiment, entry, scope.profile, grid) if grid else None
    moved: dict[str, Any] = {"cut": "prior"} if column in options.cut_at_prior else {}
    return declared_method(experiment, column, grid=grid, tuning=tuning, **moved)


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
    rows = context.shared(cell, prepare or _prepare)
    method = cell.declared["method"]
    params = dict(method["params"])
    if params.get("prior") == TRUE_PRIOR:
        params["prior"] = rows.prior
    if takes_seed(method["name"]):
        params.setdefault("random_state", seed_of(cell, "fit"))
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
                predictions = called_at(rows.prior, model, rows.X_train[rows.s == 0], rows.X_test)
        decision = model.decision_function(rows.X_test) if hasattr(model, "decision_function") else None
    result.notes += seen["texts"]
    result.certificate = certificate(model)
    if seen["not converged"] or result.certificate.get("converged") is False:
        result.flags.append("not converged")
    result.predictions = predictions
    probability = np.asarray(model.predict_proba(rows.X_test))[:, 1] if hasattr(model, "predict_proba") else None
    result.metrics = _scored(rows, predictions, decision, probability, cell.declared.get("metrics", ()))
    used = _used_features(model)
    if used is not None and rows.relevant < len(used):
        result.metrics["irrelevant_zeroed"] = float(np.mean(~used[rows.relevant :]))
    return result


def _scored(
    rows: Prepared, predictions: Ints, decision: Floats | None, probability: Floats | None, also: Sequence[str]
) -> dict[str, float]:
    """Return the metrics of predictions for the test rows; test labels are read only here."""
    from pucli.metrics import classification_scores, pu_counts, puf

    metrics = classification_scores(rows.y_test, predictions, decision, positive=1, probability=probability, also=also)
    # with the recall of all positives, which the recall on labelled rows estimates
    metrics["puf"] = float(puf(pu_counts(rows.y_test == 1, predictions, 1), "all"))
    return metrics


def prepared(cell: Cell, context: Context) -> Prepared:
    """Return the rows of a cell, prepared once for its group."""
    return context.shared(cell, _prepare)


def predicted_classes(model: Any, X: Floats) -> Ints:
    """Return the predictions (n,) of a PU model as -1 and +1."""
    return np.where(np.asarray(model.predict(X)) == model.classes_[1], 1, -1)


def called_at(share: float, model: Any, unlabeled: Floats, X: Floats) -> Ints:
    """Return the classes of rows at the threshold that a given share of the unlabeled rows exceeds.

    Parameters
    ----------
    share : float
        Share of the unlabeled rows that are predicted positive.
    model : estimator
        A fitted model with `decision_function`.
    unlabeled : array of shape (u, m)
        The unlabeled training rows.
    X : array of shape (n, m)
        Rows to classify.

    Returns
    -------
    array of shape (n,)
        -1 or +1.
    """
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
            groups=rows.groups,
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
    from pucli.methods import make_estimator

    params, grid, tuning = json.loads(content)
    if params.get("prior") == TRUE_PRIOR:
        params["prior"] = 0.5
    rng = np.random.default_rng(0)
    s = np.repeat([1, 0], [16, 24]).astype(np.int8)
    X = rng.normal(size=(40, 3)) + s[:, None]
    with watched():
        if tuning:
            fixed = {key: value for key, value in params.items() if key not in grid}
            greedy = tuning["greedy_step"]
            how = {"folds": 2, "cv_repeats": 1, "rule": tuning["rule"], "greedy_step": greedy, "route": tuning["route"]}
            tuned = tune(name, X, s, params=fixed, grid=grid, **how)
            params = tuned.params
        make_estimator(name, **params).fit(X, s).predict(X)


def _prepare(cell: Cell, context: Context) -> Prepared:
    """Load, split and standardise the rows. Each step has its own random stream."""
    from pucli.data.encode.duplicates import is_constant

    X, y, relevant = _load(cell, context)
    groups = read_groups(cell.dataset, context)
    chosen = split_of(cell, X, y, groups)
    X_train, X_test = X[chosen.train], X[chosen.test]
    constant = int(np.count_nonzero(is_constant(X_train)))
    notes = [f"{constant} of {X.shape[1]} features are constant in the training rows"] if constant else []
    X_train, X_test = standardised(cell.declared["data"]["standardise"], X_train, X_test)
    s = np.asarray(chosen.s)
    unlabeled = np.concatenate([chosen.train[s == 0], chosen.test])
    prior = float(np.mean(y[unlabeled] == 1))
    together = None if groups is None else groups[chosen.train]
    return Prepared(X_train, s, X_test, y[chosen.test], relevant, prior, notes, {}, together)


def split_of(cell: Cell, X: Floats, y: AnyArray, groups: Ints | None = None) -> Split:
    """Return the split of a cell.

    Parameters
    ----------
    cell : Cell
        The cell.
    X : array of shape (n, m)
        All rows of the data set; a labelling other than SCAR depends on them.
    y : array of shape (n,)
        True classes, -1 or +1.
    groups : array of int of shape (n,), optional
        Group of each row.
    """
    from pucli.data.splits.scenarios import make_split, split_stream

    split = cell.declared["split"]
    scenario, frequency, fraction = split["scenario"], split["label_frequency"], split["fraction"]
    rng = split_stream(split["seed"], _set_name(cell), scenario, frequency, cell.repeat)
    options = {} if fraction is None else {SCENARIOS[scenario]: fraction}
    how = stream(split["seed"], "labelling", _set_name(cell), cell.repeat)
    tilt = labelling_tilt(split.get("labelling", "scar"), X, y, how)
    return make_split(scenario, y, frequency, rng=rng, tilt=tilt, groups=groups, **options)


def _set_name(cell: Cell) -> str:
    """Return the name of the data set in random streams; declared data sets have the splits of `pucli split`."""
    parameters = cell.declared["data"]["parameters"]
    return f"{cell.dataset} {canonical_json(parameters)}" if parameters else cell.dataset


def _load(cell: Cell, context: Context) -> tuple[Floats, AnyArray, int]:
    """Return X, y in {-1, +1}, and the number of features before those that are known to be irrelevant.

    Generated data sets are drawn for this repeat; declared data sets are read once per process.
    """
    from pucli.data import add_irrelevant_features, dataset_entry, load_dataset

    data, split = cell.declared["data"], cell.declared["split"]
    added = data.get("irrelevant_per_feature", 0)
    if dataset_entry(cell.dataset).generator:
        parameters = dict(data["parameters"])
        rng = stream(split["seed"], "data", cell.dataset, parameters, cell.repeat)
        drawn = load_dataset(cell.dataset, rng=rng, parameters=parameters)
        X, y = drawn.X, drawn.y
        relevant = X.shape[1] // (1 + int(parameters.get("irrelevant", 0)))
    else:
        X, y = read_rows(cell.dataset, context)
        relevant = X.shape[1]
        if added:
            rng = stream(split["seed"], "irrelevant", cell.dataset, split["label_frequency"], cell.repeat)
            X = add_irrelevant_features(X, rng, per_feature=added)
    check_two_classes(cell.dataset, y)
    return X, y, relevant


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
