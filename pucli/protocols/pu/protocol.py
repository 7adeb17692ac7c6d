"""PU protocol: split, standardise on the training rows, tune without true labels, fit once, score the test rows.

This is the protocol of Wang 2024, sections 3.4, 3.6, 4.3, 4.5 and 5.7. Every method of one (data set, setting, repeat)
sees the same rows and the same validation folds, so that methods are compared in pairs.

A method declared with `prior: "true"` is given the share of positives among the unlabeled rows, training and test
(5.2.2): a setting that nobody has outside an experiment. `options` are those of `Options`. Where features are known to
be irrelevant, `irrelevant_zeroed` is the share of them that the model leaves out: those whose coefficients are zero.
"""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from pucli.errors import UsageError, unknown
from pucli.protocols.fitting import certificate, watched
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.experiment import TRUE_PRIOR, Strict
from pucli.runner.profiles import Scope, data_settings, resolved_grid, tuning_settings
from pucli.seeding import seed_words, stream

if TYPE_CHECKING:
    from pucli.runner.experiment import Experiment

# Raise it when the protocol changes what a cell computes.
VERSION = 1
SCENARIOS = {"case-control": "unlabeled_train", "single-training-set": "train"}


class Options(Strict):
    """What the protocol takes beyond the common keys."""

    irrelevant_per_feature: int = Field(
        default=0,
        ge=0,
        description="standard normal columns to add for each one of a declared set, all rows standardised (4.5.2)",
    )


@dataclass(frozen=True)
class Prepared:
    """The rows of one (data set, setting, repeat). `y_test` is for the metrics only.

    relevant : number of features that are not known to be irrelevant; these stand behind them.
    prior : share of positives among the unlabeled rows, for methods that are declared to be given it.
    """

    X_train: np.ndarray
    s: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    relevant: int
    prior: float
    notes: list[str]
    shared: dict[Any, Any]


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells of an experiment in the order data set, setting, method, repeat."""
    from pucli.data import data_sha256
    from pucli.methods import get_method

    split = experiment.split
    if split.scenario not in SCENARIOS:
        raise unknown("scenario", split.scenario, SCENARIOS)
    if not scope.label_frequencies:
        raise UsageError(f"{experiment.name}: the protocol pu needs split.label_frequencies; give at least one.")
    options = _options(experiment, scope)
    for scenario, key in SCENARIOS.items():
        if getattr(split, key) is not None and scenario != split.scenario:
            raise UsageError(f"{experiment.name}: split.{key} belongs to the scenario {scenario}; remove it.")
    planned = []
    for dataset in scope.datasets:
        identity = data_sha256(dataset)
        for parameters in data_settings(scope.parameters):
            for frequency in scope.label_frequencies:
                setting = {**parameters, "label_frequency": frequency}
                for label in scope.methods:
                    entry = experiment.methods[label]
                    method = get_method(entry.method)
                    grid = resolved_grid(entry, scope.profile)
                    tuning = tuning_settings(experiment, entry, scope.profile, grid) if grid else None
                    for repeat in range(scope.repeats):
                        settings = {
                            "protocol": ["pu", VERSION],
                            "data": {
                                "name": dataset,
                                "parameters": parameters,
                                "standardise": experiment.data.standardise,
                                "sha256": identity,
                                # options that are not in use leave the key as it is
                                **options.model_dump(exclude_defaults=True),
                            },
                            "split": {
                                "scenario": split.scenario,
                                "label_frequency": frequency,
                                "fraction": getattr(split, SCENARIOS[split.scenario]),
                                "seed": split.seed,
                                "repeat": repeat,
                            },
                            "method": {
                                "name": method.name,
                                "version": method.version,
                                "params": {**method.params, **entry.params},
                                "grid": grid,
                                "tuning": tuning,
                            },
                        }
                        group = canonical_json([settings["data"], settings["split"]])
                        points = math.prod(map(len, grid.values())) if tuning else 0
                        planned.append(
                            Cell(
                                dataset=dataset,
                                setting=setting,
                                repeat=repeat,
                                method=label,
                                settings=settings,
                                group=group,
                                n_fits=1 + (points * tuning["folds"] * tuning["cv_repeats"] if tuning else 0),
                                open_ended=bool(tuning and tuning["greedy_step"]),
                            )
                        )
    return planned


def _options(experiment: Experiment, scope: Scope) -> Options:
    options = read_options(Options, experiment, scope.profile.options)
    if options.irrelevant_per_feature and experiment.data.generate:
        raise UsageError(
            f"{experiment.name}: options.irrelevant_per_feature is for declared sets; the generator "
            f"{experiment.data.generate} adds columns by data.parameters."
        )
    return options


def run_cell(cell: Cell, experiment: Experiment, context: Context) -> CellResult:
    """Tune, fit and score one method on one split; `experiment` adds nothing to what the cell's settings say."""
    from pucli.methods import estimator_class, get_method, make_estimator
    from pucli.metrics import classification_scores, pu_counts, puf
    from pucli.tuning import tune

    if cell.group not in context.cache:
        context.cache.clear()
        context.cache[cell.group] = _prepare(cell, context)
    rows: Prepared = context.cache[cell.group]
    declared = cell.settings["method"]
    tuning = declared["tuning"]
    fixed = dict(declared["params"])
    if fixed.get("prior") == TRUE_PRIOR:
        fixed["prior"] = rows.prior
    method = get_method(declared["name"])
    if "random_state" in estimator_class(method)._get_param_names():  # type: ignore[attr-defined]
        fixed.setdefault("random_state", _seed(cell, "fit"))
    result = CellResult(notes=list(rows.notes))

    params = fixed
    result.seconds["tune"] = 0.0
    if tuning:
        with watched() as seen:
            started = time.perf_counter()
            tuned = tune(
                method.name,
                rows.X_train,
                rows.s,
                params=fixed,
                grid=declared["grid"],
                folds=tuning["folds"],
                cv_repeats=tuning["cv_repeats"],
                rule=tuning["rule"],
                denominator=tuning["denominator"],
                greedy_step=tuning["greedy_step"],
                seed=_seed(cell, "folds"),
                route=tuning["route"],
                cache=rows.shared,
            )
            result.seconds["tune"] = time.perf_counter() - started
        params = dict(tuned.params)
        result.trials = _columns(tuned.trials)
        result.n_fits = tuned.n_fits
        result.notes += tuned.notes
        if seen["not converged"]:
            result.notes.append(f"{seen['not converged']} fits of the tuning did not converge")
        if _on_edge(params, declared["grid"]):
            result.flags.append("edge of the grid")
    result.params = params

    with watched() as seen:
        started = time.perf_counter()
        model = make_estimator(method.name, **params).fit(rows.X_train, rows.s)
        result.seconds["fit"] = time.perf_counter() - started
        started = time.perf_counter()
        said = np.where(np.asarray(model.predict(rows.X_test)) == model.classes_[1], 1, -1)
        result.seconds["predict"] = time.perf_counter() - started
        decision = model.decision_function(rows.X_test) if hasattr(model, "decision_function") else None
    result.notes += seen["texts"]
    result.certificate = certificate(model)
    if seen["not converged"] or result.certificate.get("converged") is False:
        result.flags.append("not converged")
    if len(np.unique(said)) == 1:
        result.flags.append("one class predicted")

    # the one place where test labels are read
    result.metrics = classification_scores(rows.y_test, said, decision, positive=1)
    # with the recall of all positives, which that of labelled ones estimates
    result.metrics["puf"] = float(puf(pu_counts(rows.y_test == 1, said, 1), "all"))
    used = _used_features(model)
    if used is not None and rows.relevant < len(used):
        result.metrics["irrelevant_zeroed"] = float(np.mean(~used[rows.relevant :]))
    return result


def warm_up(cell: Cell) -> None:
    """Compile, or load from the cache, what the cell's method needs: tune and fit 40 drawn rows."""
    declared = cell.settings["method"]
    grid = {key: values[:2] for key, values in declared["grid"].items()}
    _warm_up(declared["name"], json.dumps([declared["params"], grid, declared["tuning"]], sort_keys=True))


@functools.lru_cache(maxsize=64)
def _warm_up(name: str, declared: str) -> None:
    from pucli.methods import make_estimator
    from pucli.tuning import tune

    params, grid, tuning = json.loads(declared)
    if params.get("prior") == TRUE_PRIOR:
        params["prior"] = 0.5
    rng = np.random.default_rng(0)
    s = np.repeat([1, 0], [16, 24]).astype(np.int8)
    X = rng.normal(size=(40, 3)) + s[:, None]
    with watched():
        if tuning:
            greedy = tuning["greedy_step"]
            tuned = tune(name, X, s, params=params, grid=grid, folds=2, greedy_step=greedy, route=tuning["route"])
            params = tuned.params
        make_estimator(name, **params).fit(X, s).predict(X)


def _prepare(cell: Cell, context: Context) -> Prepared:
    """Load, split and standardise. Each step has a random stream of its own."""
    from pucli.data.preprocessing import Standardiser, constant_features
    from pucli.data.splits import make_split, split_stream

    data, split = cell.settings["data"], cell.settings["split"]
    X, y, relevant = _load(cell, context)
    fraction = split["fraction"]
    chosen = make_split(
        split["scenario"],
        y,
        split["label_frequency"],
        rng=split_stream(split["seed"], _set_name(cell), split["scenario"], split["label_frequency"], cell.repeat),
        **({} if fraction is None else {SCENARIOS[split["scenario"]]: fraction}),
    )
    X_train, X_test = X[chosen.train], X[chosen.test]
    constant = constant_features(X_train)
    notes = [f"{constant} of {X.shape[1]} features are constant in the training rows"] if constant else []
    if data["standardise"] == "train":
        scaler = Standardiser().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    s = np.asarray(chosen.s)
    unlabeled = np.concatenate([chosen.train[s == 0], chosen.test])
    prior = float(np.mean(y[unlabeled] == 1))
    return Prepared(X_train, s, X_test, y[chosen.test], relevant, prior, notes, {})


def _set_name(cell: Cell) -> str:
    """The data set's name in random streams: a declared set has the splits that `pucli split` writes."""
    parameters = cell.settings["data"]["parameters"]
    return f"{cell.dataset} {canonical_json(parameters)}" if parameters else cell.dataset


def _load(cell: Cell, context: Context) -> tuple[np.ndarray, np.ndarray, int]:
    """Return X, y in {-1, +1}, and the number of features before those that are known to be irrelevant.

    Generated sets are drawn for this repeat, declared ones are read once in this process.
    """
    from pucli.data import add_irrelevant_features, dataset_entry, load_dataset

    data, split = cell.settings["data"], cell.settings["split"]
    added = data.get("irrelevant_per_feature", 0)
    if dataset_entry(cell.dataset).generator:
        parameters = data["parameters"]
        rng = stream(split["seed"], "data", cell.dataset, dict(parameters), cell.repeat)
        drawn = load_dataset(cell.dataset, rng=rng, parameters=dict(parameters))
        X, y = drawn.X, drawn.y
        relevant = X.shape[1] // (1 + int(parameters.get("irrelevant", 0)))
    else:
        X, y = _read(cell.dataset, context.mirror, context.offline)
        relevant = X.shape[1]
        if added:
            rng = stream(split["seed"], "irrelevant", cell.dataset, split["label_frequency"], cell.repeat)
            X = add_irrelevant_features(X, rng, per_feature=added)
    if not set(np.unique(y)) <= {-1, 1}:
        raise UsageError(f"{cell.dataset} has no positive and negative class; name them in datasets.yaml (target).")
    return X, y, relevant


def _used_features(model: Any) -> np.ndarray | None:
    """Which features the decision depends on, (n_features,) bool; None for a model that cannot tell."""
    selected = getattr(model, "selected_", None)
    if selected is not None:
        return np.asarray(selected, dtype=bool)
    if getattr(model, "kernel", "linear") != "linear" or not hasattr(model, "coef_"):
        return None
    used = np.ravel(model.coef_) != 0.0
    return used if len(used) == model.n_features_in_ else None


@functools.lru_cache(maxsize=4)
def _read(name: str, mirror: str | None, offline: bool | None) -> tuple[np.ndarray, np.ndarray]:
    from pucli.data import load_dataset

    dataset = load_dataset(name, mirror=mirror, offline=offline)
    return dataset.X, dataset.y


def _seed(cell: Cell, purpose: str) -> int:
    """A seed for this (data set, setting, repeat), the same for all methods."""
    split = cell.settings["split"]
    return seed_words(split["seed"], purpose, cell.dataset, dict(cell.setting), cell.repeat)[0]


def _columns(trials: Any) -> dict[str, list]:
    """Return trials by column; parameters keep their names under `param.`."""
    if not len(trials):
        return {}
    columns = getattr(trials, "columns", None)
    if columns is None:
        flat = [{**{k: v for k, v in trial.items() if k != "params"}, **_prefixed(trial["params"])} for trial in trials]
        return {name: [trial[name] for trial in flat] for name in flat[0]}
    return {
        f"param.{name}" if name in trials.parameters else name: np.asarray(values).tolist()
        for name, values in columns.items()
    }


def _prefixed(params: Mapping[str, Any]) -> dict[str, Any]:
    return {f"param.{name}": value for name, value in params.items()}


def _on_edge(params: Mapping[str, Any], grid: Mapping[str, list]) -> bool:
    """Whether a chosen number lies at or beyond the end of its grid (of more than two values)."""
    for name, values in grid.items():
        if len(values) > 2 and all(isinstance(v, (int, float)) for v in values):
            chosen = params.get(name)
            if isinstance(chosen, (int, float)) and not min(values) < chosen < max(values):
                return True
    return False
