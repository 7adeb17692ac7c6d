"""Deep protocol: train a density estimator on few rows; log-likelihood, modes and speed (Sansone 2018, 4.4).

`rows` training and `test_rows` test rows are drawn from a generator with known centres, or made by stacking three
images of a set of digits. Metrics of a cell:

    log_likelihood : mean over test rows, of a kernel density on `generated` rows; bandwidth chosen on training rows
    iterations_per_second : of training; comparable only when cells run one at a time
    modes : components, or stacked classes, that get at least a fifth of their share of the generated rows
    near : share of generated rows within four standard deviations (per dimension, root mean square) of a centre

Components are told by the nearest centre, which for equal isotropic Gaussians is the best classifier (the thesis
trains a network for it); stacked classes by the nearest training image of each channel. `iterations` is what a
profile reduces: the thesis has two million. The experiment's `options` are those of `Options`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field, ValidationError

from pucli.errors import UsageError
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.experiment import Strict
from pucli.runner.profiles import Scope
from pucli.seeding import seed_words, stream

if TYPE_CHECKING:
    from pucli.runner.experiment import Experiment

# Raise it when the protocol changes what a cell computes.
VERSION = 1
_SHOWN = 1000  # generated rows of the plane that are kept for the figure
_SHOWN_IMAGES = 8
_NOISE = 0.1  # standard deviation of the codes' perturbation in Figure 4.5


class Options(Strict):
    """What the protocol takes beyond the common keys."""

    iterations: int = Field(default=2_000_000, ge=1)
    rows: int = Field(default=500, ge=2)
    test_rows: int = Field(default=10_000, ge=1)
    generated: int = Field(default=100_000, ge=1)
    stack: bool = Field(default=False, description="make rows of three images of a set of digits")
    likelihood: bool = Field(default=True, description="false leaves the log-likelihood out")


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, repeat, method."""
    from pucli.data import data_sha256, dataset_entry
    from pucli.methods import get_method

    try:
        options = Options(**{**experiment.options, **scope.profile.options})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{experiment.name}: options.{where}: {first['msg']}") from None
    planned = []
    for dataset in scope.datasets:
        identity = data_sha256(dataset)
        if bool(dataset_entry(dataset).generator) == options.stack:
            wanted = "a set of images (options.stack)" if options.stack else "a generated set"
            raise UsageError(f"{experiment.name}: data.names: {dataset} is not {wanted}.")
        for repeat in range(scope.repeats):
            for label in scope.methods:
                entry = experiment.methods[label]
                method = get_method(entry.method)
                settings = {
                    "protocol": ["deep", VERSION],
                    "data": {"name": dataset, "sha256": identity},
                    "split": {"seed": experiment.split.seed, "repeat": repeat},
                    "options": options.model_dump(),
                    "method": {
                        "name": method.name,
                        "version": method.version,
                        "params": {**method.params, **entry.params, "n_iterations": options.iterations},
                    },
                }
                group = canonical_json([settings["data"], settings["split"], settings["options"]])
                planned.append(Cell(dataset, {}, repeat, label, settings, group))
    return planned


def run_cell(cell: Cell, experiment: Experiment, context: Context) -> CellResult:
    """Train one model on one draw and measure what it generates."""
    from pucli.deep.likelihood import kernel_log_likelihood
    from pucli.methods import make_estimator

    if cell.group not in context.cache:
        context.cache.clear()
        context.cache[cell.group] = _prepare(cell, context)
    X, y, X_test, centres = context.cache[cell.group]
    declared, options = cell.settings["method"], cell.settings["options"]
    result = CellResult(params=dict(declared["params"]))
    seed = seed_words(cell.settings["split"]["seed"], "fit", cell.dataset, cell.repeat)[0] % 2**31
    started = time.perf_counter()
    model = make_estimator(declared["name"], random_state=seed, **declared["params"]).fit(X)
    result.seconds = {"tune": 0.0, "fit": time.perf_counter() - started}
    started = time.perf_counter()
    generated = model.sample(options["generated"], random_state=seed)
    metrics = {"iterations_per_second": model.n_iter_ / result.seconds["fit"]}
    if options["likelihood"]:
        scored = kernel_log_likelihood(generated, X, X_test)
        metrics["log_likelihood"] = float(scored.log_likelihood.mean())
        result.details["bandwidth"] = scored.bandwidth
    counts, near = _stacked_counts(generated, X, y) if centres is None else _counts(generated, *centres)
    # a fifth of an equal share, and at least one row
    metrics["modes"] = float(np.sum(counts >= max(1.0, 0.2 * len(generated) / len(counts))))
    if near is not None:
        metrics["near"] = near
        result.details["counts"] = counts.astype(int).tolist()
    result.seconds["predict"] = time.perf_counter() - started
    result.metrics = metrics
    result.certificate = {"objective": model.objective_, "residual": model.residual_, "converged": model.converged_}
    if cell.repeat == 0:
        result.details |= _shown(model, X, X_test, generated, stacked=centres is None, seed=seed)
    return result


def report_extras(
    experiment: Experiment, cells: Sequence[Cell], stored: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, str, Any]]:
    """Return (file name, title, figure): generated rows, counts of modes, or images."""
    from pucli.report.generated import extras

    return extras(cells, stored)


def _counts(generated: np.ndarray, centres: np.ndarray, sd: float) -> tuple[np.ndarray, float]:
    """Return generated rows per nearest centre, and the share that is within four standard deviations of it."""
    from sklearn.metrics import pairwise_distances_argmin_min

    nearest, distance = pairwise_distances_argmin_min(generated, centres)
    dimensions = np.linalg.matrix_rank(centres)  # those that the components spread in
    near = float(np.mean(distance <= 4.0 * sd * np.sqrt(dimensions)))
    return np.bincount(nearest, minlength=len(centres)), near


def _stacked_counts(generated: np.ndarray, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, None]:
    """Return generated rows per stacked class, told channel by channel by the nearest training image."""
    from sklearn.neighbors import KNeighborsClassifier

    p = X.shape[1] // 3
    said = np.zeros(len(generated), dtype=int)
    for channel, place in enumerate((100, 10, 1)):
        part = slice(channel * p, (channel + 1) * p)
        nearest = KNeighborsClassifier(1).fit(X[:, part], y // place % 10)
        said += place * nearest.predict(generated[:, part])
    return np.bincount(said, minlength=1000), None


def _shown(model: Any, X: np.ndarray, X_test: np.ndarray, generated: np.ndarray, *, stacked: bool, seed: int) -> dict:
    """Return what the figures show: rows of the plane, or images and their neighbours in the latent space."""
    if not stacked:
        if X.shape[1] != 2:
            return {}
        return {"true": np.round(X, 3).tolist(), "generated": np.round(generated[:_SHOWN], 3).tolist()}
    images = {"images": [X[:_SHOWN_IMAGES], generated[:_SHOWN_IMAGES]]}
    if hasattr(model, "transform"):
        rng = np.random.default_rng(seed)
        codes = model.transform(X_test[:_SHOWN_IMAGES])
        near = [model.inverse_transform(codes + _NOISE * rng.standard_normal(codes.shape)) for _ in range(5)]
        images["neighbours"] = [X_test[:_SHOWN_IMAGES], *near]
    return {name: np.round(np.array(rows), 2).tolist() for name, rows in images.items()}


def _prepare(cell: Cell, context: Context):
    """Return training rows, their components, test rows, and (centres, standard deviation), None for stacked images."""
    from pucli.data import dataset_entry, load_dataset
    from pucli.data.mixtures import embedding, grid_centres, stacked

    name, seed, options = cell.dataset, cell.settings["split"]["seed"], cell.settings["options"]
    streams = [stream(seed, purpose, name, cell.repeat) for purpose in ("train", "test")]
    if options["stack"]:
        images = load_dataset(name, multiclass=True, mirror=context.mirror, offline=context.offline)
        pixels = images.X / images.X.max()
        digits = images.y.astype(int)
        # a third of the images is for testing
        order = stream(seed, "images", name).permutation(len(pixels))
        held = len(order) // 3
        (X, y), (X_test, _) = (
            stacked(pixels[part], digits[part], rng, rows)
            for part, rng, rows in zip(
                (order[held:], order[:held]), streams, (options["rows"], options["test_rows"]), strict=True
            )
        )
        return X, y, X_test, None
    entry = dataset_entry(name)
    drawn = [
        load_dataset(name, rng=rng, parameters={"rows": rows})
        for rng, rows in zip(streams, (options["rows"], options["test_rows"]), strict=True)
    ]
    parameters = dict(entry.parameters or {})
    if entry.generator == "gaussian-grid":
        centres = grid_centres(parameters["spacing"])
    elif entry.generator == "embedded-gaussians":
        means, basis = embedding(parameters["spread"])
        centres = means @ basis
    else:
        raise UsageError(f"{name}: the protocol deep knows the centres of gaussian-grid and embedded-gaussians only.")
    return drawn[0].X, drawn[0].y, drawn[1].X, (centres, float(parameters["sd"]))
