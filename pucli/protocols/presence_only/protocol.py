"""Presence-only ecology: models of presences and background, tested by a survey of presences and absences.

This is the setting of Elith et al. (2006, 2020) and of Valavi et al. (2022, 2023). A data set NAME is three entries of
the catalogue: NAME has the records of all species and the background, with the species as the class; NAME-sites has the
same features of the surveyed sites, and NAME-survey a 0/1 column per species, both with the site as the class. Each has
one row per record or site.

A cell is a species. The labeled rows are its records, the unlabeled ones the background. Blocks are the squares of
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
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.errors import UsageError, unknown
from pucli.data import data_sha256
from pucli.data.catalogue.datasets import Dataset
from pucli.data.splits.groups import square_blocks
from pucli.protocols.common import Planner, read_dataset, scaling, seed_of
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.pu.protocol import predicted_classes
from pucli.protocols.steps import NOT_CONVERGED, ProtocolSteps, RunningCell, SplitRows, fitted
from pucli.runner.cells import Cell, Context
from pucli.runner.experiment import Strict

EVERYWHERE, ELSEWHERE = "everywhere", "in-other-blocks"
# Endings of the names of the two tables of the survey.
TABLES = ("sites", "survey")


class PresenceOnlyOptions(Strict):
    """Options of the protocol."""

    species: list[str] = Field(min_length=1, description="classes of the records, and columns of the survey")
    background: str = Field(description="the class of the background")
    coordinates: list[str] = Field(min_length=2, max_length=2, description="features that give the place of a row")
    block_width: float = Field(gt=0, description="width of a square block, in the unit of the coordinates")
    folds: int = Field(default=5, ge=2, description="folds of the setting in-other-blocks")
    tested: list[Literal["everywhere", "in-other-blocks"]] = Field(
        default=["everywhere", "in-other-blocks"], description="settings: which sites a model is tested on"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class SurveyRows(SplitRows):
    """Records and background with their blocks, the sites, and the rows and sites of each fold."""

    folds: list[tuple[Ints, Ints]]


class PresenceOnly(ProtocolSteps):
    """The protocol."""

    name = "presence_only"
    version = 1
    options = PresenceOnlyOptions
    tunes = False

    def check(self, planner: Planner) -> None:
        """Raise UsageError for label frequencies or repeats."""
        if planner.experiment.split.label_frequencies or planner.scope.repeats > 1:
            raise UsageError(
                f"{planner.experiment.name}: the protocol presence_only has no label frequencies and one repeat: the "
                "records are the labeled rows."
            )

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield a condition for each species and use of the survey."""
        options = planner.options
        place = options.model_dump(include={"background", "coordinates", "block_width"})
        place |= {part: data_sha256(f"{dataset}-{part}") for part in TABLES}
        for species in options.species:
            for tested in options.tested:
                folds = options.folds if tested == ELSEWHERE else 1
                yield {
                    "setting": {"species": species, "tested": tested},
                    "data": {**place, "species": species},
                    "split": {"tested": tested, "folds": folds},
                    "metrics": planner.experiment.metrics,
                    "n_fits": folds,
                }

    def rows(self, cell: Cell, context: Context) -> SurveyRows:
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
        present = np.where(survey.X[:, _position(survey, data["species"])] == 1, 1, -1)
        where = [_position(records, name) for name in data["coordinates"]]
        blocks = square_blocks(np.vstack([records.X[chosen], sites.X])[:, where], data["block_width"])
        features = np.setdiff1d(np.arange(records.X.shape[1]), where)
        X, X_test = records.X[np.ix_(chosen, features)], sites.X[:, features]
        blocks, of_sites = blocks[: len(s)], blocks[len(s) :]
        folds = [(np.arange(len(s)), np.arange(len(X_test)))]
        if split["tested"] == ELSEWHERE:
            folds = []
            for train, held in pu_folds(s, split["folds"], seed_of(cell, "folds"), groups=blocks)[0]:
                folds.append((train, np.flatnonzero(np.isin(of_sites, blocks[held]))))
            empty = np.flatnonzero(~np.isin(of_sites, blocks))  # blocks without a training row, unseen by any model
            folds[0] = (folds[0][0], np.sort(np.concatenate([folds[0][1], empty])))
        return SurveyRows(X, s, X_test, HiddenLabels(present), folds=folds, groups=blocks)

    def prepare(self, cell: Cell, context: Context) -> SurveyRows:
        """Return the rows as they are; each fold is standardized by its own training rows."""
        return self.rows(cell, context)

    def fit(self, run: RunningCell) -> list[tuple[Any, Floats]]:
        """Return the model of each fold with its sites, standardized by the rows of the fold."""
        rows, how, models = run.rows, run.cell.declared["data"]["standardize"], []
        for train, test in rows.folds:
            scaled = scaling(how, rows.X_train[train])
            X = scaled(rows.X_train[train])
            with run.timed("fit"):
                model = fitted(run.make(), X, rows.y_train[train], rows.groups[train])
            models.append((model, scaled(rows.X_test[test])))
        return models

    def predict(self, run: RunningCell, model: list[tuple[Any, Floats]]) -> Ints:
        """Return the classes of all sites."""
        return _of_all_sites(run.rows, [predicted_classes(one, X) for one, X in model])

    def score(self, run: RunningCell, model: list[tuple[Any, Floats]], predictions: Ints) -> dict[str, float]:
        """Compare classes and scores with the survey."""
        scores = _of_all_sites(run.rows, [one.decision_function(X) for one, X in model])
        hidden: HiddenLabels = run.rows.hidden
        return hidden.classification(predictions, scores, also=run.cell.declared["metrics"])

    def conclude(self, run: RunningCell, model: list[tuple[Any, Floats]], seen: Mapping[str, Any]) -> None:
        """Keep the certificate of the last fold, and flag a cell with a fold that did not converge."""
        super().conclude(run, model[-1][0], seen)
        if any(getattr(one, "converged_", None) is False for one, _ in model):
            run.result.flags = [NOT_CONVERGED]


PROTOCOL = PresenceOnly()


def _of_all_sites(rows: SurveyRows, values: list[AnyArray]) -> AnyArray:
    """Return the values of each fold at the places of its sites."""
    found = np.empty(len(rows.X_test), dtype=values[0].dtype)
    for (_, test), of_fold in zip(rows.folds, values, strict=True):
        found[test] = of_fold
    return found


def _of_class(dataset: Dataset, name: str) -> Ints:
    rows = np.flatnonzero(dataset.y == name)
    if not len(rows):
        raise UsageError(f"{dataset.name}: no row has the class {name!r}.")
    return rows


def _position(dataset: Dataset, feature: str) -> int:
    names: Any = dataset.feature_names
    if feature not in names:
        raise UsageError(f"{dataset.name}: {unknown('feature', feature, names)}")
    return int(names.index(feature))
