"""Classtering protocol: clustering and classification against the number of labels per class (Sansone 2018, 2.4).

`task: clustering` (Figures 2.2 to 2.4): all rows are used for training, `labels` rows of each class are labelled, and
NMI is measured on all rows between the true classes and the predictions, which are classes if there are labels and
components otherwise. `task: classification` (Figure 2.5): repeats go through the folds of a stratified
cross-validation, with new folds after each round; rows of the training folds are labelled, and the error rate is
measured on the test fold. The `grid` of a method is searched by cross-validation on the labelled rows. Generated data
sets are drawn again for each repeat (clustering) or round (classification).

The experiment's `options` are those of `Options`.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.errors import UsageError
from pucli.core.seeding import seed_words, stream
from pucli.models.certificates import certificate
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, declared_method, make, read_rows, seed_of, standardised, timed
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import Experiment, Strict
from pucli.runner.profiles import Scope, resolved_grid
from pucli.tuning.grids import expand

# Raise it when the protocol changes what a cell computes.
VERSION = 1
_SHOWN_ROWS = 1000  # rows of a data set in two or three dimensions kept for the figure of predictions


class Options(Strict):
    """Options of the protocol."""

    task: Literal["clustering", "classification"]
    labels: list[int] = Field(min_length=1, description="labelled rows of each class")
    labels_of: dict[str, Annotated[list[int], Field(min_length=1)]] = Field(
        default={}, description="data set -> numbers of labels that replace `labels`"
    )
    generated: list[str] = Field(default=[], description="generated data sets in addition to data.names")
    unsupervised: list[str] = Field(default=[], description="columns of methods that need no labelled rows")
    classes: dict[str, list[int | str]] = Field(default={}, description="data set -> the classes that are kept")
    rows: dict[str, int] = Field(default={}, description="data set -> how many rows of these are drawn, once for all")
    embed: dict[str, int] = Field(default={}, description="data set -> dimensions of a t-SNE map that replaces X")
    folds: int = Field(default=5, ge=2, description="of the cross-validation for testing")
    inner_folds: int = Field(default=3, ge=2, description="of the search of a grid")
    per_dataset: dict[str, dict[str, dict[str, Any]]] = Field(
        default={}, description="data set -> column -> parameters of the column on this data set"
    )


@dataclass(frozen=True)
class Rows:
    """Rows of a data set, setting and repeat. Classes are coded from 0; in `visible`, -1 marks unlabeled rows."""

    X: Floats
    visible: Ints
    X_test: Floats
    y_test: Ints


def options_of(experiment: Experiment, scope: Scope) -> Options:
    """Return the options of the experiment under a profile; errors name a wrong key."""
    options = read_options(Options, experiment, scope.profile.options)
    everything = [*experiment.options.get("generated", []), *options.generated, *experiment.dataset_names]
    known = dict.fromkeys(("labels_of", "classes", "rows", "embed", "per_dataset"), everything)
    known["unsupervised"] = list(experiment.methods)
    for key, names in known.items():
        for name in getattr(options, key):
            if name not in names:
                raise UsageError(f"{experiment.name}: options.{key}: {name!r} is none of {', '.join(names)}.")
    for dataset, methods in options.per_dataset.items():
        for column in methods:
            if column not in experiment.methods:
                raise UsageError(f"{experiment.name}: options.per_dataset.{dataset}.{column}: no such column.")
    return options


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, number of labels, repeat, method."""
    options = options_of(experiment, scope)
    planner = Planner(experiment, "classtering", VERSION)
    planned = []
    for dataset in scope.datasets if scope.narrowed else [*options.generated, *scope.datasets]:
        methods = {column: _method(experiment, column, scope, options, dataset) for column in scope.methods}
        data = {
            "standardise": experiment.data.standardise,
            "classes": options.classes.get(dataset, []),
            "rows": options.rows.get(dataset, 0),
            "embed": options.embed.get(dataset, 0),
        }
        for labels in options.labels_of.get(dataset, options.labels):
            split = {"task": options.task, "labels": labels, "folds": options.folds}
            planned += [
                planner.cell(dataset, column, repeat, method, setting={"labels": labels}, data=data, split=split)
                for repeat in range(scope.repeats)
                for column, method in methods.items()
                if labels > 0 or column in options.unsupervised
            ]
    return planned


def _method(experiment: Experiment, column: str, scope: Scope, options: Options, dataset: str) -> dict[str, Any]:
    """Return the declared method of a column on a data set, with its grid."""
    entry = experiment.methods[column]
    return declared_method(
        experiment,
        column,
        changes=options.per_dataset.get(dataset, {}).get(column, {}),
        grid=resolved_grid(entry, scope.profile) if entry.grid else {},
        inner_folds=options.inner_folds,
    )


def run_cell(cell: Cell, context: Context) -> CellResult:
    """Fit a method with a choice of labelled rows and score its predictions."""
    from pucli.metrics.classification import error_rate
    from pucli.metrics.clustering import nmi

    rows = context.shared(cell, _prepare)
    method = cell.declared["method"]
    result = CellResult(seconds={"tune": 0.0})
    result.params = dict(method["params"])
    if method["grid"]:
        with timed(result.seconds, "tune"):
            result.params |= _searched(method, rows)
    with timed(result.seconds, "fit"):
        model = _fit(method, result.params, rows.X, rows.visible, seed_of(cell, "fit"))
    with timed(result.seconds, "predict"):
        predictions = _predictions(model, rows.X_test, labelled=bool((rows.visible >= 0).any()))
    result.predictions = predictions
    result.metrics["nmi"] = nmi(rows.y_test, predictions)
    if cell.declared["split"]["task"] == "classification":
        result.metrics["error"] = error_rate(rows.y_test, predictions)
    if hasattr(model, "predict_cluster"):
        result.metrics["nmi_clusters"] = nmi(rows.y_test, model.predict_cluster(rows.X_test))
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
            # the name used in committed results
            "answers": np.unique(predictions, return_inverse=True)[1][shown].tolist(),
        }
    return result


def _predictions(model: Any, X: Floats, *, labelled: bool) -> AnyArray:
    """Return classes, or clusters if no row is labelled and the model has clusters."""
    clusters = not labelled and hasattr(model, "predict_cluster")
    # label spreading divides 0 by 0 for rows not connected to a labelled row
    with np.errstate(invalid="ignore"):
        predictions: AnyArray = model.predict_cluster(X) if clusters else model.predict(X)
    return predictions


def _fit(method: Mapping[str, Any], params: Mapping[str, Any], X: Floats, visible: Ints, seed: int) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning), np.errstate(invalid="ignore"):
        return make(method, seeded(method["name"], params, seed)).fit(X, visible)


def _searched(method: Mapping[str, Any], rows: Rows) -> dict[str, Any]:
    """Return the first point of the grid with the fewest errors on held-out labelled rows.

    Held-out rows stay in the training set as unlabeled rows. If a class has fewer labelled rows than there are folds,
    the first point is returned.
    """
    from sklearn.model_selection import StratifiedKFold

    points = expand(method["grid"])
    labelled = np.flatnonzero(rows.visible >= 0)
    y = rows.visible[labelled]
    folds = method["inner_folds"]
    if np.bincount(y).min() < folds:
        return points[0]
    parts = [held for _, held in StratifiedKFold(folds, shuffle=True, random_state=0).split(labelled, y)]
    errors = np.zeros(len(points))
    # a point on all folds in turn: what the methods keep of the rows depends on the point, not on the labels
    for number, point in enumerate(points):
        for held in parts:
            visible = rows.visible.copy()
            visible[labelled[held]] = -1
            model = _fit(method, {**method["params"], **point}, rows.X, visible, 0)
            errors[number] += np.sum(model.predict(rows.X[labelled[held]]) != y[held])
    return points[int(np.argmin(errors))]


def _prepare(cell: Cell, context: Context) -> Rows:
    """Load, split and label the rows. Test rows in classification are not labelled and not used in training."""
    from sklearn.model_selection import StratifiedKFold

    data, split = cell.declared["data"], cell.declared["split"]
    classification = split["task"] == "classification"
    round_number, fold = divmod(cell.repeat, split["folds"]) if classification else (cell.repeat, 0)
    X, y = _load(data, split["seed"], round_number, context)
    train = test = np.arange(len(X))
    if classification:
        seed = seed_words(split["seed"], "folds", cell.dataset, round_number)[0]
        folds = StratifiedKFold(split["folds"], shuffle=True, random_state=seed)
        train, test = list(folds.split(X, y))[fold]
    X_train, X_test = standardised(data["standardise"], X[train], X[test])
    # the same order for every number of labels, so that the labelled rows are nested
    rng = stream(split["seed"], "labels", cell.dataset, cell.repeat)
    visible = np.full(len(train), -1)
    for label in np.unique(y):
        own = rng.permutation(np.flatnonzero(y[train] == label))
        visible[own[: split["labels"]]] = label
    return Rows(X_train, visible, X_test, y[test])


def _load(data: Mapping[str, Any], seed: int, number: int, context: Context) -> tuple[Floats, Ints]:
    """Return X and the codes of the classes, drawn again or read once per process."""
    from pucli.data import dataset_entry, load_dataset

    name = data["name"]
    if dataset_entry(name).generator:
        drawn = load_dataset(name, rng=stream(seed, "data", name, number))
        return drawn.X, _codes(drawn.y)
    return _chosen(name, tuple(data["classes"]), data["rows"], data["embed"], context.mirror, context.offline)


@functools.lru_cache(maxsize=4)
def _chosen(
    name: str, classes: tuple[Any, ...], rows: int, embed: int, mirror: str | None, offline: bool | None
) -> tuple[Floats, Ints]:
    """Return the chosen rows of a declared data set, mapped by t-SNE if `embed` is not 0."""
    X, y = read_rows(name, Context(mirror, offline), multiclass=True)
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
    return X, _codes(y)


def _codes(y: AnyArray) -> Ints:
    return np.unique(y, return_inverse=True)[1]
