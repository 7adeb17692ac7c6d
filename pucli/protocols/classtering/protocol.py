"""Classtering protocol: clustering and classification against the number of labels per class (Sansone 2018, 2.4).

`task: clustering` (Figures 2.2 to 2.4): all rows are for training, `labels` of each class are labelled, and NMI is
measured on all rows between the true classes and what the method answers: the predicted class where there are labels,
the component where there are none. `task: classification` (Figure 2.5): repeats go through the folds of a stratified
cross-validation, a new one after each round; rows of the training folds are labelled, and the error rate is that of
the test fold. A method's `grid` is searched by cross-validation on the labelled rows. Generated sets are drawn anew
for each repeat (clustering) or round (classification).

The experiment's `options` are those of `Options`.
"""

from __future__ import annotations

import functools
import itertools
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from pucli.errors import UsageError
from pucli.protocols.fitting import certificate
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.experiment import Strict
from pucli.runner.profiles import Scope, resolved_grid
from pucli.seeding import seed_words, stream

if TYPE_CHECKING:
    from pucli.runner.experiment import Experiment

# Raise it when the protocol changes what a cell computes.
VERSION = 1
_SHOWN_ROWS = 1000  # of a set in the plane or in space, kept for the figure of answers


class Options(Strict):
    """What the protocol takes beyond the common keys."""

    task: Literal["clustering", "classification"]
    labels: list[int] = Field(min_length=1, description="labelled rows of each class")
    generated: list[str] = Field(default=[], description="generated sets beside those of data.names")
    unsupervised: list[str] = Field(default=[], description="labels of methods that can do without labelled rows")
    classes: dict[str, list[int | str]] = Field(default={}, description="data set -> the classes that are kept")
    rows: dict[str, int] = Field(default={}, description="data set -> how many rows of these are drawn, once for all")
    embed: dict[str, int] = Field(default={}, description="data set -> dimensions of a t-SNE map that replaces X")
    folds: int = Field(default=5, ge=2, description="of the cross-validation for testing")
    inner_folds: int = Field(default=3, ge=2, description="of the search of a grid")
    per_dataset: dict[str, dict[str, dict[str, Any]]] = Field(
        default={}, description="data set -> method label -> parameters that it has there"
    )


@dataclass(frozen=True)
class Rows:
    """The rows of one data set, setting and repeat. y : codes of the classes; seen : the same with -1 = unlabeled."""

    X: np.ndarray
    seen: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def options_of(experiment: Experiment, scope: Scope) -> Options:
    """Return the experiment's options under a profile; a wrong key is an error that names it."""
    options = read_options(Options, experiment, scope.profile.options)
    everything = [*experiment.options.get("generated", []), *options.generated, *experiment.dataset_names]
    known = dict.fromkeys(("classes", "rows", "embed", "per_dataset"), everything)
    known["unsupervised"] = list(experiment.methods)
    for key, names in known.items():
        for name in getattr(options, key):
            if name not in names:
                raise UsageError(f"{experiment.name}: options.{key}: {name!r} is none of {', '.join(names)}.")
    for dataset, methods in options.per_dataset.items():
        for label in methods:
            if label not in experiment.methods:
                raise UsageError(f"{experiment.name}: options.per_dataset.{dataset}.{label}: no such method label.")
    return options


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, number of labels, repeat, method."""
    from pucli.data import data_sha256
    from pucli.methods import get_method

    options = options_of(experiment, scope)
    planned = []
    datasets = scope.datasets if scope.narrowed else [*options.generated, *scope.datasets]
    for dataset, labels in itertools.product(datasets, options.labels):
        identity = data_sha256(dataset)
        for repeat, label in itertools.product(range(scope.repeats), scope.methods):
            if labels == 0 and label not in options.unsupervised:
                continue
            entry = experiment.methods[label]
            method = get_method(entry.method)
            own = options.per_dataset.get(dataset, {}).get(label, {})
            settings = {
                "protocol": ["classtering", VERSION],
                "data": {
                    "name": dataset,
                    "sha256": identity,
                    "standardise": experiment.data.standardise,
                    "classes": options.classes.get(dataset, []),
                    "rows": options.rows.get(dataset, 0),
                    "embed": options.embed.get(dataset, 0),
                },
                "split": {
                    "task": options.task,
                    "labels": labels,
                    "folds": options.folds,
                    "seed": experiment.split.seed,
                    "repeat": repeat,
                },
                "method": {
                    "name": method.name,
                    "version": method.version,
                    "params": {**method.params, **entry.params, **own},
                    "grid": resolved_grid(entry, scope.profile) if entry.grid else {},
                    "inner_folds": options.inner_folds,
                },
            }
            group = canonical_json([settings["data"], settings["split"]])
            planned.append(Cell(dataset, {"labels": labels}, repeat, label, settings, group))
    return planned


def run_cell(cell: Cell, experiment: Experiment, context: Context) -> CellResult:
    """Fit one method on one choice of labelled rows and measure what it answers."""
    from pucli.metrics.classification import error_rate
    from pucli.metrics.clustering import nmi

    if cell.group not in context.cache:
        context.cache.clear()
        context.cache[cell.group] = _prepare(cell, context)
    rows: Rows = context.cache[cell.group]
    declared = cell.settings["method"]
    result = CellResult()
    started = time.perf_counter()
    params = {**declared["params"], **_searched(declared, rows)}
    result.params = params
    result.seconds["tune"] = time.perf_counter() - started if declared["grid"] else 0.0
    started = time.perf_counter()
    model = _fit(declared["name"], params, rows.X, rows.seen, _seed(cell))
    result.seconds["fit"] = time.perf_counter() - started
    started = time.perf_counter()
    answers = _answers(model, rows.X_test, labelled=bool((rows.seen >= 0).any()))
    result.seconds["predict"] = time.perf_counter() - started
    result.metrics["nmi"] = nmi(rows.y_test, answers)
    if cell.settings["split"]["task"] == "classification":
        result.metrics["error"] = error_rate(rows.y_test, answers)
    if hasattr(model, "predict_cluster"):
        clusters = model.predict_cluster(rows.X_test)
        result.metrics["nmi_clusters"] = nmi(rows.y_test, clusters)
        result.metrics["n_components"] = float(model.n_components_)
    result.certificate = certificate(model)
    if result.certificate.get("converged") is False:
        result.flags.append("not converged")
    if cell.repeat == 0 and rows.X_test.shape[1] in (2, 3):
        n = len(rows.X_test)
        shown = np.linspace(0, n - 1, min(n, _SHOWN_ROWS)).astype(int)
        result.details = {
            "X": np.round(rows.X_test[shown], 3).tolist(),
            "truth": rows.y_test[shown].tolist(),
            "answers": np.unique(answers, return_inverse=True)[1][shown].tolist(),
        }
    return result


def _answers(model: Any, X: np.ndarray, *, labelled: bool) -> np.ndarray:
    if not labelled and hasattr(model, "predict_cluster"):
        return model.predict_cluster(X)
    return model.predict(X)


def _fit(name: str, params: Mapping[str, Any], X: np.ndarray, seen: np.ndarray, seed: int) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    from pucli.methods import estimator_class, get_method, make_estimator

    extra: dict[str, Any] = {}
    if "random_state" in estimator_class(get_method(name))._get_param_names():  # type: ignore[attr-defined]
        extra = {"random_state": seed}
    # label spreading divides 0 by 0 for rows that no label reaches
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_estimator(name, **{**extra, **params}).fit(X, seen)


def _searched(declared: Mapping[str, Any], rows: Rows) -> dict[str, Any]:
    """Return the point of the grid with the fewest errors on held-out labelled rows; the first among equals.

    Held-out rows stay in the training set as unlabeled ones. With fewer labelled rows in a class than folds there is
    nothing to choose by: the first point is taken.
    """
    from sklearn.model_selection import StratifiedKFold

    grid = declared["grid"]
    if not grid:
        return {}
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    labelled = np.flatnonzero(rows.seen >= 0)
    y = rows.seen[labelled]
    folds = declared["inner_folds"]
    if np.bincount(y).min() < folds:
        return points[0]
    errors = np.zeros(len(points))
    for _, held in StratifiedKFold(folds, shuffle=True, random_state=0).split(labelled, y):
        seen = rows.seen.copy()
        seen[labelled[held]] = -1
        for number, point in enumerate(points):
            model = _fit(declared["name"], {**declared["params"], **point}, rows.X, seen, 0)
            errors[number] += np.sum(model.predict(rows.X[labelled[held]]) != y[held])
    return points[int(np.argmin(errors))]


def _seed(cell: Cell) -> int:
    """A seed for this (data set, setting, repeat), the same for all methods."""
    return seed_words(cell.settings["split"]["seed"], "fit", cell.dataset, dict(cell.setting), cell.repeat)[0]


def _prepare(cell: Cell, context: Context) -> Rows:
    """Load, divide and label. Test rows of a classification never get a label and are not seen in training."""
    from sklearn.model_selection import StratifiedKFold

    data, split = cell.settings["data"], cell.settings["split"]
    classification = split["task"] == "classification"
    round_number, fold = divmod(cell.repeat, split["folds"]) if classification else (cell.repeat, 0)
    X, y = _load(data, split["seed"], round_number, context)
    train = test = np.arange(len(X))
    if classification:
        seed = seed_words(split["seed"], "folds", cell.dataset, round_number)[0]
        folds = StratifiedKFold(split["folds"], shuffle=True, random_state=seed)
        train, test = list(folds.split(X, y))[fold]
    if data["standardise"] == "train":
        centre, spread = X[train].mean(axis=0), X[train].std(axis=0)
        X = (X - centre) / np.where(np.ptp(X[train], axis=0) == 0, np.inf, spread)
    # the same order for every number of labels: more labels are the fewer ones and some more
    rng = stream(split["seed"], "labels", cell.dataset, cell.repeat)
    seen = np.full(len(train), -1)
    for label in np.unique(y):
        own = rng.permutation(np.flatnonzero(y[train] == label))
        seen[own[: split["labels"]]] = label
    return Rows(X[train], seen, X[test], y[test])


def _load(data: Mapping[str, Any], seed: int, number: int, context: Context) -> tuple[np.ndarray, np.ndarray]:
    """Return X and the codes of the classes: drawn anew, or read once in this process."""
    from pucli.data import dataset_entry, load_dataset

    name = data["name"]
    if dataset_entry(name).generator:
        drawn = load_dataset(name, rng=stream(seed, "data", name, number))
        return drawn.X, np.unique(drawn.y, return_inverse=True)[1]
    return _read(name, tuple(data["classes"]), data["rows"], data["embed"], context.mirror, context.offline)


@functools.lru_cache(maxsize=4)
def _read(
    name: str, classes: tuple[Any, ...], rows: int, embed: int, mirror: str | None, offline: bool | None
) -> tuple[np.ndarray, np.ndarray]:
    from pucli.data import load_dataset

    dataset = load_dataset(name, multiclass=True, mirror=mirror, offline=offline)
    X, y = dataset.X, dataset.y
    if classes:
        kept = np.isin(y.astype(str), [str(label) for label in classes])
        if not kept.any():
            raise UsageError(f"{name} has none of the classes {', '.join(map(str, classes))} (options.classes).")
        X, y = X[kept], y[kept]
    if rows:
        drawn = np.sort(stream(0, "rows", name, rows).permutation(len(X))[:rows])
        X, y = X[drawn], y[drawn]
    if embed:
        from sklearn.manifold import TSNE

        X = TSNE(embed, random_state=0, init="pca").fit_transform(X).astype(np.float64)
    return X, np.unique(y, return_inverse=True)[1]
