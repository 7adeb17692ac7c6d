"""Classtering protocol: clustering and classification against the number of labels per class (Sansone 2018, 2.4).

`task: clustering` (Figures 2.2 to 2.4): all rows are used for training, `labels` rows of each class are labeled, and
NMI is measured on all rows between the true classes and the predictions, which are classes if there are labels and
components otherwise. `task: classification` (Figure 2.5): repeats go through the folds of a stratified
cross-validation, with new folds after each round; rows of the training folds are labeled, and the error rate is
measured on the test fold. The `grid` of a method is searched by cross-validation on the labeled rows. Generated data
sets are drawn again for each repeat (clustering) or round (classification).

The experiment's `options` are those of `ClassteringOptions`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.errors import UsageError
from pucli.core.seeding import seed_sequence, stream
from pucli.metrics.classification import error_rate
from pucli.metrics.clustering import nmi
from pucli.models.certificates import certificate, watched
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, declared_method, make, read_rows, seed_of
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.options import read_options
from pucli.protocols.steps import NOT_CONVERGED, ProtocolSteps, RunningCell, SplitRows
from pucli.runner.cells import Cell, Context
from pucli.runner.experiment import Experiment, Strict
from pucli.runner.profiles import Scope, resolved_grid
from pucli.tuning.grids import expand

_SHOWN_ROWS = 1000  # rows of a data set in two or three dimensions kept for the figure of predictions


class ClassteringOptions(Strict):
    """Options of the protocol."""

    task: Literal["clustering", "classification"]
    labels: list[int] = Field(min_length=1, description="labeled rows of each class")
    labels_of: dict[str, Annotated[list[int], Field(min_length=1)]] = Field(
        default={}, description="data set -> numbers of labels that replace `labels`"
    )
    generated: list[str] = Field(default=[], description="generated data sets in addition to data.names")
    unsupervised: list[str] = Field(default=[], description="columns of methods that need no labeled rows")
    classes: dict[str, list[int | str]] = Field(default={}, description="data set -> the classes that are kept")
    rows: dict[str, int] = Field(default={}, description="data set -> how many rows of these are drawn, once for all")
    embed: dict[str, int] = Field(default={}, description="data set -> dimensions of a t-SNE map that replaces X")
    folds: int = Field(default=5, ge=2, description="of the cross-validation for testing")
    inner_folds: int = Field(default=3, ge=2, description="of the search of a grid")
    per_dataset: dict[str, dict[str, dict[str, Any]]] = Field(
        default={}, description="data set -> column -> parameters of the column on this data set"
    )


def options_of(experiment: Experiment, scope: Scope) -> ClassteringOptions:
    """Return the options of the experiment under a profile; errors name a wrong key."""
    options = read_options(ClassteringOptions, experiment, scope.profile.options)
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


class ClassteringProtocol(ProtocolSteps):
    """The protocol. Classes are coded from 0, and -1 marks unlabeled rows."""

    name = "classtering"
    version = 1
    options = ClassteringOptions

    by_repeat = True

    def datasets(self, planner: Planner) -> list[str]:
        """Return the generated data sets of the options and the declared ones."""
        options, scope = options_of(planner.experiment, planner.scope), planner.scope
        return scope.datasets if scope.narrowed else [*options.generated, *scope.datasets]

    def method(self, planner: Planner, column: str, dataset: str) -> dict[str, Any]:
        """Return the declared method of a column on a data set, with its grid."""
        entry, options = planner.experiment.methods[column], planner.options
        return declared_method(
            planner.experiment,
            column,
            changes=options.per_dataset.get(dataset, {}).get(column, {}),
            grid=resolved_grid(entry, planner.scope.profile) if entry.grid else {},
            inner_folds=options.inner_folds,
        )

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield a condition for each number of labels."""
        options = planner.options
        data = {
            "classes": options.classes.get(dataset, []),
            "rows": options.rows.get(dataset, 0),
            "embed": options.embed.get(dataset, 0),
        }
        for labels in options.labels_of.get(dataset, options.labels):
            split = {"task": options.task, "labels": labels, "folds": options.folds}
            yield {"setting": {"labels": labels}, "data": data, "split": split}

    def parts(
        self, planner: Planner, condition: Mapping[str, Any], column: str, method: Mapping[str, Any], repeat: int
    ) -> Mapping[str, Any] | None:
        """Leave out methods that need labeled rows where there are none."""
        fits = condition["setting"]["labels"] > 0 or column in planner.options.unsupervised
        return condition if fits else None

    def rows(self, cell: Cell, context: Context) -> SplitRows:
        """Return all rows, or a fold of them for testing, with the same labeled rows for every method."""
        from sklearn.model_selection import StratifiedKFold

        data, split = cell.declared["data"], cell.declared["split"]
        classification = split["task"] == "classification"
        round_number, fold = divmod(cell.repeat, split["folds"]) if classification else (cell.repeat, 0)
        X, y = _load(data, split["seed"], round_number, context)
        train = test = np.arange(len(X))
        if classification:
            seed = seed_sequence(split["seed"], "folds", cell.dataset, round_number)[0]
            folds = StratifiedKFold(split["folds"], shuffle=True, random_state=seed)
            train, test = list(folds.split(X, y))[fold]
        # the same order for every number of labels, so that the labeled rows are nested
        rng = stream(split["seed"], "labels", cell.dataset, cell.repeat)
        visible = np.full(len(train), -1)
        for label in np.unique(y):
            own = rng.permutation(np.flatnonzero(y[train] == label))
            visible[own[: split["labels"]]] = label
        return SplitRows(X[train], visible, X[test], HiddenLabels(y[test]))

    def parameters(self, run: RunningCell) -> dict[str, Any]:
        """Return those of the column, with the best point of its grid."""
        if not run.method["grid"]:
            return dict(run.method["params"])
        with run.timed("tune"):
            return {**run.method["params"], **_searched(run.method, run.rows)}

    def fit(self, run: RunningCell) -> Any:
        """Fit with a seed that the repeat determines."""
        with run.timed("fit"):
            return _fit(run.method, run.result.params, run.rows.X_train, run.rows.y_train, seed_of(run.cell, "fit"))

    def predict(self, run: RunningCell, model: Any) -> AnyArray:
        """Return classes, or clusters if no row is labeled and the model has clusters."""
        clusters = (run.rows.y_train < 0).all() and hasattr(model, "predict_cluster")
        # label spreading divides 0 by 0 for rows not connected to a labeled row
        with np.errstate(invalid="ignore"):
            predictions: AnyArray = (model.predict_cluster if clusters else model.predict)(run.rows.X_test)
        return predictions

    def score(self, run: RunningCell, model: Any, predictions: AnyArray) -> dict[str, float]:
        """Return NMI, for a classification also the error rate, and for a mixture what its components are worth."""
        hidden, X = run.rows.hidden, run.rows.X_test
        metrics = {"nmi": hidden.score(nmi, predictions)}
        if run.cell.declared["split"]["task"] == "classification":
            metrics["error"] = hidden.score(error_rate, predictions)
        if hasattr(model, "predict_cluster"):
            metrics["nmi_clusters"] = hidden.score(nmi, model.predict_cluster(X))
            metrics["n_components"] = float(model.n_components_)
        if run.cell.repeat == 0 and X.shape[1] in (2, 3):
            shown = np.linspace(0, len(X) - 1, min(len(X), _SHOWN_ROWS)).astype(int)
            run.result.details = {
                "X": np.round(X[shown], 3).tolist(),
                "truth": hidden.drawn(shown).tolist(),
                # the name used in committed results
                "answers": np.unique(predictions, return_inverse=True)[1][shown].tolist(),
            }
        return metrics

    def conclude(self, run: RunningCell, model: Any, seen: Mapping[str, Any]) -> None:
        """Add the certificate; warnings of scikit-learn's methods are no notes."""
        run.result.certificate = certificate(model)
        if run.result.certificate.get("converged") is False:
            run.result.flags.append(NOT_CONVERGED)


PROTOCOL = ClassteringProtocol()


def _fit(method: Mapping[str, Any], params: Mapping[str, Any], X: Floats, visible: Ints, seed: int) -> Any:
    with np.errstate(invalid="ignore"):
        return make(method, seeded(method["name"], params, seed)).fit(X, visible)


def _searched(method: Mapping[str, Any], rows: SplitRows) -> dict[str, Any]:
    """Return the first point of the grid with the fewest errors on held-out labeled rows.

    Held-out rows stay in the training set as unlabeled rows. If a class has fewer labeled rows than there are folds,
    the first point is returned.
    """
    from sklearn.model_selection import StratifiedKFold

    points = expand(method["grid"])
    labeled = np.flatnonzero(rows.y_train >= 0)
    y = rows.y_train[labeled]
    folds = method["inner_folds"]
    if np.bincount(y).min() < folds:
        return points[0]
    parts = [held for _, held in StratifiedKFold(folds, shuffle=True, random_state=0).split(labeled, y)]
    errors = np.zeros(len(points))
    # a point on all folds in turn: what the methods keep of the rows depends on the point, not on the labels
    for number, point in enumerate(points):
        for held in parts:
            visible = rows.y_train.copy()
            visible[labeled[held]] = -1
            with watched():
                model = _fit(method, {**method["params"], **point}, rows.X_train, visible, 0)
            errors[number] += np.sum(model.predict(rows.X_train[labeled[held]]) != y[held])
    return points[int(np.argmin(errors))]


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
