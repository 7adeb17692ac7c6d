"""Protocol of Wang 2024, Figures 3.1, 3.4, 3.7 and 3.8: cells of the protocol pu with data for figures.

A cell tunes, fits and scores as in the protocol pu, on the same rows, and then stores the data of a figure. For two
features, these are the signs of f on a grid in each window (Figure 3.4). Otherwise, they are a t-SNE map of all rows of
the split, with their classes and the misclassified test rows (Figures 3.1, 3.7, 3.8), and measures of what the thesis
judges by eye: whether the positives form two parts with negatives between, and whether the classes are separate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import Ints
from pucli.core.errors import UsageError
from pucli.core.seeding import seed_sequence
from pucli.protocols.common import Planner
from pucli.protocols.options import read_options
from pucli.protocols.pu import protocol as pu
from pucli.protocols.pu.rows import PURows
from pucli.protocols.steps import RunningCell
from pucli.runner.cells import Cell
from pucli.runner.experiment import Experiment, Strict

NEIGHBORS = 10  # number of neighbors on the map for the share of the same class


class MapPanel(Strict):
    """One map."""

    data: str
    label_frequency: float
    perplexity: float = Field(gt=0)


class MapFigure(Strict):
    """Maps side by side."""

    title: str
    panels: list[MapPanel] = Field(min_length=1)
    labeled: bool = Field(default=True, description="draw labeled rows as triangles")


class FieldFigure(Strict):
    """Decision fields, with one row per setting and one column per method of the variant."""

    title: str
    variant: str = Field(description="part of the column names after the slash")
    window: list[float] | None = Field(
        default=None, min_length=2, max_length=2, description="limits of both axes; by default those of the test rows"
    )


class PuFiguresOptions(pu.PuOptions):
    """Options of the protocol, in addition to those of pu."""

    maps: dict[str, MapFigure] = Field(default={}, description="file name without ending -> maps")
    fields: dict[str, FieldFigure] = Field(default={}, description="file name without ending -> decision fields")
    grid: int = Field(default=161, ge=2, description="points of a decision field along each axis")


def options_of(experiment: Experiment, changes: Mapping[str, Any] | None = None) -> PuFiguresOptions:
    """Return the options of the experiment with those of a profile; errors name a wrong key."""
    options = read_options(PuFiguresOptions, experiment, changes)
    if bool(options.maps) == bool(options.fields):
        raise UsageError(f"{experiment.name}: options: give either maps (any data) or fields (two features).")
    if options.fields and experiment.data.standardize != "none":
        raise UsageError(f"{experiment.name}: data.standardize: decision fields are drawn in raw units; say none.")
    perplexities: dict[tuple[str, float], float] = {}
    for name, figure in options.maps.items():
        for panel in figure.panels:
            where = f"{experiment.name}: options.maps.{name}: {panel.data} at {panel.label_frequency:g}"
            if panel.data not in experiment.dataset_names:
                raise UsageError(f"{where}: the data sets are {', '.join(experiment.dataset_names)}.")
            if panel.label_frequency not in experiment.split.label_frequencies:
                raise UsageError(f"{where}: that label frequency is not in split.label_frequencies.")
            if perplexities.setdefault((panel.data, panel.label_frequency), panel.perplexity) != panel.perplexity:
                raise UsageError(f"{where}: all maps of the same rows need one perplexity.")
    return options


class PUFigures(pu.PU):
    """The protocol pu with the data of a figure."""

    name = "pu_figures"
    version = 1
    options = PuFiguresOptions

    def conditions(self, planner: Planner, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield the conditions of the protocol pu that a figure needs, each with the data to store."""
        options = options_of(planner.experiment, planner.scope.profile.options)
        windows = sorted({tuple(figure.window) for figure in options.fields.values() if figure.window})
        picture: dict[str, Any] = {"windows": windows, "grid": options.grid}
        for condition in super().conditions(planner, dataset):
            if options.maps:
                rows = (dataset, condition["setting"]["label_frequency"])
                panels = [panel for figure in options.maps.values() for panel in figure.panels]
                found = [panel.perplexity for panel in panels if (panel.data, panel.label_frequency) == rows]
                if not found:
                    continue
                picture = {"perplexity": found[-1]}
            yield {**condition, "picture": picture, "shares": ("data", "split", "picture")}

    def score(self, run: RunningCell, model: Any, predictions: Ints) -> dict[str, float]:
        """Return the metrics of the protocol pu, and store the data of the figure."""
        metrics, rows, cache = super().score(run, model, predictions), run.rows, run.context.cache
        if "windows" in run.cell.declared["picture"]:
            run.result.details, metrics["crossing"] = _fields(run.cell, model, rows)
            return metrics
        key = "map", run.cell.group
        if key not in cache:
            cache[key] = _map(run.cell, rows)
        wrong = predictions != rows.hidden.drawn()
        run.result.details = {**cache[key], "wrong": wrong.astype(int).tolist()}
        return metrics


PROTOCOL = PUFigures()


def _fields(cell: Cell, model: Any, rows: PURows) -> tuple[dict[str, Any], float]:
    """Return the test rows with the negative region in each window, and the crossing of boundary and diagonal.

    The crossing is the first t >= 0 with f(t, t) > 0, up to the farthest test row. The negatives lie around (0, 0) and
    the nearest positives around (15, 15), so that the ideal value is about 7.5. It is NaN if f is negative on the whole
    range.
    """
    if rows.X_test.shape[1] != 2:
        raise UsageError(f"{cell.dataset} has {rows.X_test.shape[1]} features; decision fields need two.")
    picture = cell.declared["picture"]
    low, high = float(rows.X_test.min()), float(rows.X_test.max())
    margin = 0.05 * (high - low)
    fields = []
    for left, right in [(low - margin, high + margin), *picture["windows"]]:
        axis = np.linspace(left, right, picture["grid"])
        points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        negative = (model.decision_function(points) <= 0).reshape(len(axis), len(axis))
        fields.append({"window": [left, right], "negative": negative.astype(int).tolist()})
    along = np.linspace(0.0, high, 4001)
    above = np.flatnonzero(model.decision_function(np.column_stack([along, along])) > 0)
    crossing = float(along[above[0]]) if len(above) else float("nan")
    details = {"test": rows.X_test.round(4).tolist(), "classes": rows.hidden.drawn().tolist(), "fields": fields}
    return details, crossing


def _map(cell: Cell, rows: PURows) -> dict[str, Any]:
    """Return the map of training and test rows, in this order, with its measures."""
    from sklearn.manifold import TSNE
    from sklearn.neighbors import NearestNeighbors

    from pucli.models.advice import advise, two_parts

    X = np.vstack([rows.X_train, rows.X_test])
    assert rows.hidden_train is not None  # in the splits of the protocol pu
    y = np.concatenate([rows.hidden_train.drawn(), rows.hidden.drawn()])
    seed = seed_sequence(cell.declared["split"]["seed"], "t-sne", cell.dataset)[0] % 2**32
    perplexity = min(float(cell.declared["picture"]["perplexity"]), 0.99 * (len(X) - 1))
    tsne = TSNE(perplexity=perplexity, init="pca", random_state=seed)
    points = tsne.fit_transform(X).astype(np.float64)
    near = NearestNeighbors(n_neighbors=min(NEIGHBORS, len(X) - 1)).fit(points).kneighbors(return_distance=False)
    silhouette, between = two_parts(points[y == 1], points[y == -1], seed)
    advised = advise(rows.X_train, rows.y_train == 1, random_state=0)
    return {
        "points": points.round(3).tolist(),
        "classes": y.tolist(),
        "labeled": np.flatnonzero(rows.y_train == 1).tolist(),
        "perplexity": perplexity,
        "kl_divergence": float(tsne.kl_divergence_),
        "same_class_neighbors": float(np.mean(y[near] == y[:, None])),
        "silhouette": silhouette,
        "between": between,
        "advised": {"trifurcated": advised.trifurcated, "silhouette": advised.silhouette, "between": advised.between},
    }
