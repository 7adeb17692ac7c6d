"""Presence-only ecology: models of presences and background, tested by a survey of presences and absences.

This is the setting of Elith et al. (2006, 2020) and of Valavi et al. (2022, 2023). A data set NAME is three entries of
the catalogue: NAME has the records of all species and the background, with the species as the class; NAME-sites has the
same features of the surveyed sites, and NAME-survey a 0/1 column per species, both with the site as the class. Each has
one row per record or site.

A cell is a species. The labelled rows are its records, the unlabeled ones the background. Blocks are the squares of
`block_width` in the plane of the two `coordinates`, which are no features. Rows of one block are one group of the folds
that a method makes. The setting `tested` says how the survey is used:

everywhere
    One model of all rows predicts all sites.
in-other-blocks
    Blocks are divided into `folds`, stratified by records and background. Each model predicts the sites of the blocks
    that it was not trained on. The scores of all models are ranked together, as Valavi et al. (2023) do.

Nothing is tuned. The survey is read only to compute the metrics.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import UsageError, unknown
from pucli.data import data_sha256
from pucli.data.catalogue.datasets import Dataset
from pucli.metrics import classification_scores
from pucli.models.certificates import certificate, watched
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, declared_method, make, read_dataset, seed_of, standardised, timed
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import Experiment, Strict
from pucli.runner.profiles import Scope

# Raise it when the protocol changes what a cell computes.
VERSION = 1
EVERYWHERE, ELSEWHERE = "everywhere", "in-other-blocks"
# Endings of the names of the two tables of the survey.
TABLES = ("sites", "survey")


class Options(Strict):
    """Options of the protocol."""

    species: list[str] = Field(min_length=1, description="classes of the records, and columns of the survey")
    background: str = Field(description="the class of the background")
    coordinates: list[str] = Field(min_length=2, max_length=2, description="features that give the place of a row")
    block_width: float = Field(gt=0, description="width of a square block, in the unit of the coordinates")
    folds: int = Field(default=5, ge=2, description="folds of the setting in-other-blocks")
    tested: list[Literal["everywhere", "in-other-blocks"]] = Field(
        default=["everywhere", "in-other-blocks"], description="settings: which sites a model is tested on"
    )


class Rows(NamedTuple):
    """Rows of a species: records and background, their blocks, the sites, and the rows and sites of each fold."""

    X: Floats
    s: Ints
    blocks: Ints
    X_test: Floats
    y_test: Ints
    folds: list[tuple[Ints, Ints]]


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, species, setting, method."""
    options = read_options(Options, experiment, scope.profile.options)
    if experiment.split.label_frequencies or scope.repeats > 1:
        raise UsageError(
            f"{experiment.name}: the protocol presence_only has no label frequencies and one repeat: the records are "
            "the labelled rows."
        )
    for column in scope.methods:
        if experiment.methods[column].grid:
            raise UsageError(f"{experiment.name}: methods.{column}.grid: the protocol presence_only does not tune.")
    planner = Planner(experiment, "presence_only", VERSION)
    columns = {column: declared_method(experiment, column) for column in scope.methods}
    place = {
        "standardise": experiment.data.standardise,
        "background": options.background,
        "coordinates": options.coordinates,
        "block_width": options.block_width,
    }
    planned = [
        planner.cell(
            dataset,
            column,
            0,
            method,
            setting={"species": species, "tested": tested},
            data={**place, "species": species, **{part: data_sha256(f"{dataset}-{part}") for part in TABLES}},
            split={"tested": tested, "folds": options.folds if tested == ELSEWHERE else 1},
            metrics=experiment.metrics,
        )
        for dataset in scope.datasets
        for species in options.species
        for tested in options.tested
        for column, method in columns.items()
    ]
    return [dataclasses.replace(cell, n_fits=cell.declared["split"]["folds"]) for cell in planned]


def run_cell(cell: Cell, context: Context) -> CellResult:
    """Fit the method to the rows of each fold, and score its predictions for the sites of all folds."""
    rows = context.shared(cell, prepare)
    method = cell.declared["method"]
    params = seeded(method["name"], method["params"], seed_of(cell, "fit"))
    result = CellResult(params=params, seconds={"tune": 0.0})
    scores, signs = np.empty(len(rows.y_test)), np.empty(len(rows.y_test), dtype=np.int64)
    for train, test in rows.folds:
        X, X_test = standardised(cell.declared["data"]["standardise"], rows.X[train], rows.X_test[test])
        with watched() as seen, timed(result.seconds, "fit"):
            model = make(method, params)
            grouped = "groups" in inspect.signature(model.fit).parameters
            model.fit(X, rows.s[train], **({"groups": rows.blocks[train]} if grouped else {}))
        with timed(result.seconds, "predict"):
            scores[test] = model.decision_function(X_test)
            signs[test] = np.where(np.asarray(model.predict(X_test)) == model.classes_[1], 1, -1)
        result.notes += [text for text in seen["texts"] if text not in result.notes]
        result.certificate = certificate(model)
        if seen["not converged"] or result.certificate.get("converged") is False:
            result.flags = ["not converged"]
    result.predictions = signs
    # the survey is read only here
    result.metrics = classification_scores(rows.y_test, signs, scores, positive=1, also=cell.declared["metrics"])
    return result


def prepare(cell: Cell, context: Context) -> Rows:
    """Return the rows of a species, divided into folds by their blocks."""
    from pucli.tuning.folds import pu_folds

    data, split = cell.declared["data"], cell.declared["split"]
    names = [cell.dataset, *(f"{cell.dataset}-{part}" for part in TABLES)]
    records, sites, survey = (read_dataset(name, context, multiclass=True) for name in names)
    if not np.array_equal(sites.y, survey.y) or sites.feature_names != records.feature_names:
        raise UsageError(
            f"{cell.dataset}-sites needs the rows of {cell.dataset}-survey and the features of {cell.dataset}."
        )
    chosen = np.concatenate([_of_class(records, data["species"]), _of_class(records, data["background"])])
    s = (records.y[chosen] == data["species"]).astype(np.int64)
    y_test = np.where(survey.X[:, _place(survey, data["species"])] == 1, 1, -1)
    where = [_place(records, name) for name in data["coordinates"]]
    blocks = square_blocks(np.vstack([records.X[chosen], sites.X])[:, where], data["block_width"])
    features = np.setdiff1d(np.arange(records.X.shape[1]), where)
    X, X_test = records.X[np.ix_(chosen, features)], sites.X[:, features]
    blocks, of_sites = blocks[: len(s)], blocks[len(s) :]
    folds = [(np.arange(len(s)), np.arange(len(y_test)))]
    if split["tested"] == ELSEWHERE:
        folds = []
        for train, held in pu_folds(s, split["folds"], seed_of(cell, "folds"), groups=blocks)[0]:
            folds.append((train, np.flatnonzero(np.isin(of_sites, blocks[held]))))
        empty = np.flatnonzero(~np.isin(of_sites, blocks))  # blocks without a training row, unseen by any model
        folds[0] = (folds[0][0], np.sort(np.concatenate([folds[0][1], empty])))
    return Rows(X, s, blocks, X_test, y_test, folds)


def square_blocks(places: Floats, width: float) -> Ints:
    """Return the number of the square block (n,), from 0, of each place in the plane (n, 2).

    Corners of blocks are multiples of their width.

    Examples
    --------
    >>> square_blocks(np.array([[1.0, 1.0], [9.0, 2.0], [11.0, 2.0], [-1.0, 2.0]]), 10.0)
    array([1, 1, 2, 0])
    """
    return np.unique(np.floor(places / width), axis=0, return_inverse=True)[1].ravel()


def _of_class(dataset: Dataset, name: str) -> Ints:
    rows = np.flatnonzero(dataset.y == name)
    if not len(rows):
        raise UsageError(f"{dataset.name}: no row has the class {name!r}.")
    return rows


def _place(dataset: Dataset, feature: str) -> int:
    names: Any = dataset.feature_names
    if feature not in names:
        raise UsageError(f"{dataset.name}: {unknown('feature', feature, names)}")
    return int(names.index(feature))
