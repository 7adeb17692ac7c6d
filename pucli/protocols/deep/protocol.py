"""Deep protocol: density estimators trained on few rows; log-likelihood, modes and speed (Sansone 2018, 4.4).

`rows` training and `test_rows` test rows are drawn from a generator with known centres, or made by stacking three
images of digits. Metrics of a cell:

    log_likelihood : mean over test rows of a kernel density on `generated` rows; bandwidth chosen on training rows
    iterations_per_second : of training without its first tenth, per second of processor time in one thread, which
        other processes of the machine hardly affect; on a GPU, per second of wall-clock time
    modes : number of components, or stacked classes, with at least a fifth of their share of the generated rows
    near : share of generated rows within four standard deviations (per dimension, root mean square) of a centre

With `looks`, the model is also evaluated after these numbers of iterations, for the figure of the likelihood. A cell
that was interrupted goes on from its last block of iterations (`training.py`), with the same bits.
Generated rows are assigned to the component with the nearest centre, which is the best classifier for equal isotropic
Gaussians (the thesis trains a network), or to the stacked class with the nearest training image in each channel.
Profiles reduce `iterations` (two million in the thesis) and `hidden`. The options of the experiment are those of
`Options`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import UsageError
from pucli.core.seeding import seed_words, stream
from pucli.metrics.density import mean_log_likelihood, modes_found, nearest_centres, share_near
from pucli.protocols.common import Planner, check_unscaled, declared_method, read_rows, timed
from pucli.protocols.deep.training import Training, place_of
from pucli.protocols.options import read_options
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import Experiment, Strict
from pucli.runner.profiles import Scope

# Raise it when the protocol changes what a cell computes.
VERSION = 1
_OF_A_RUN = ("block", "checkpoint", "report", "device", "precision")  # parameters that are set for each fit
_SHOWN = 1000  # generated rows in two dimensions kept for the figure
_SHOWN_IMAGES = 8
_NOISE = 0.1  # standard deviation of the codes' perturbation in Figure 4.5


class Options(Strict):
    """Options of the protocol."""

    iterations: int = Field(default=2_000_000, ge=1)
    rows: int = Field(default=500, ge=2)
    test_rows: int = Field(default=10_000, ge=1)
    generated: int = Field(default=100_000, ge=1)
    stack: bool = Field(default=False, description="make rows of three images of a set of digits")
    hidden: list[int] | None = Field(default=None, description="hidden layers in place of those of the methods")
    likelihood: bool = Field(default=True, description="false omits the log-likelihood")
    generate: bool = Field(default=True, description="false only trains the models, without generated rows")
    looks: list[int] = Field(default=[], description="iterations after which the likelihood is also measured")


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, repeat, method."""
    from pucli.data import dataset_entry

    check_unscaled(experiment)
    options = read_options(Options, experiment, scope.profile.options)
    if options.looks and not (options.generate and options.likelihood):
        raise UsageError(f"{experiment.name}: options.looks measures the likelihood; it needs generate and likelihood.")
    for dataset in scope.datasets:
        if bool(dataset_entry(dataset).generator) == options.stack:
            wanted = "a set of images (options.stack)" if options.stack else "a generated set"
            raise UsageError(f"{experiment.name}: data.names: {dataset} is not {wanted}.")
    planner = Planner(experiment, "deep", VERSION)
    changes: dict[str, Any] = {"n_iterations": options.iterations}
    if options.hidden is not None:
        changes["hidden"] = options.hidden
    columns = {
        column: declared_method(experiment, column, changes=changes, given=_OF_A_RUN) for column in scope.methods
    }
    return [
        planner.cell(
            dataset,
            column,
            repeat,
            method,
            split={},
            options=options.model_dump(exclude=None if options.looks else {"looks"}),
            shares=("data", "split", "options"),
        )
        for dataset in scope.datasets
        for repeat in range(scope.repeats)
        for column, method in columns.items()
    ]


def run_cell(cell: Cell, context: Context) -> CellResult:
    """Train a model on a draw and evaluate the rows it generates."""
    drawn = context.shared(cell, _prepare)
    method, options = cell.declared["method"], cell.declared["options"]
    result = CellResult(params=dict(method["params"]))
    seed = fit_seed(cell)

    def look(model: Any) -> dict[str, float]:
        generated = model.sample(options["generated"], random_state=seed)
        return {"log_likelihood": _likelihood(generated, drawn)[0]}

    with place_of(cell, context) as folder:
        training = Training.of(folder)
        model = training.run(method, drawn.X, seed, options["iterations"], options.get("looks", []), look)
        result.metrics["iterations_per_second"] = training.iterations_per_second
        result.seconds = {"tune": 0.0, **training.seconds}
        if model.precision_ != "float32":  # on a GPU
            result.params["precision"] = model.precision_
        result.certificate = {"objective": model.objective_, "residual": model.residual_, "converged": model.converged_}
        if options["generate"]:
            with timed(result.seconds, "predict"):
                _judge(model, drawn, options, seed, result, shown=cell.repeat == 0)
    if training.curve:
        last = {"iterations": options["iterations"], "log_likelihood": result.metrics["log_likelihood"]}
        result.details["curve"] = [*training.curve, last]
    return result


def fit_seed(cell: Cell) -> int:
    """Return the seed of the model of a cell."""
    return seed_words(cell.declared["split"]["seed"], "fit", cell.dataset, cell.repeat)[0] % 2**31


@dataclass(frozen=True)
class Drawn:
    """Rows of a repeat: training rows X (rows, d), test rows X_test, and the references for generated rows.

    These are the centres (n, d) of the components and their standard deviation `sd`, or the training images (m, p) that
    were stacked, with their `digits` (m,).
    """

    X: Floats
    X_test: Floats
    centres: Floats | None = None
    sd: float = 0.0
    images: Floats | None = None
    digits: Ints | None = None


def warm_up(cell: Cell) -> None:
    """Import torch and limit it to one thread."""
    from pucli.solvers.deep import require_torch

    require_torch().set_num_threads(1)


def _judge(model: Any, drawn: Drawn, options: Mapping[str, Any], seed: int, result: CellResult, *, shown: bool) -> None:
    """Generate rows and add their metrics to `result`."""
    generated = model.sample(options["generated"], random_state=seed)
    if options["likelihood"]:
        result.metrics["log_likelihood"], result.details["bandwidth"] = _likelihood(generated, drawn)
    if drawn.centres is not None:
        nearest, _ = nearest_centres(generated, drawn.centres)
        counts = np.bincount(nearest, minlength=len(drawn.centres))
        result.metrics["near"] = share_near(generated, drawn.centres, drawn.sd)
        result.details["counts"] = counts.astype(int).tolist()
    else:
        counts = _stacked_counts(generated, drawn)
    result.metrics["modes"] = modes_found(counts)
    if shown:
        result.details |= _shown(model, drawn, generated, seed)


def _likelihood(generated: Floats, drawn: Drawn) -> tuple[float, float]:
    from pucli.solvers.deep.likelihood import kernel_log_likelihood

    scores, bandwidth = kernel_log_likelihood(generated, drawn.X, drawn.X_test)
    return mean_log_likelihood(scores), bandwidth


def _stacked_counts(generated: Floats, drawn: Drawn) -> Ints:
    """Return generated rows per stacked class: each channel has the digit of the nearest training image."""
    from sklearn.neighbors import KNeighborsClassifier

    assert drawn.images is not None  # rows without centres are stacked images
    p = drawn.images.shape[1]
    nearest = KNeighborsClassifier(1).fit(drawn.images, drawn.digits)
    classes = np.zeros(len(generated), dtype=np.int64)
    for channel, place in enumerate((100, 10, 1)):
        classes += place * nearest.predict(generated[:, channel * p : (channel + 1) * p])
    return np.bincount(classes, minlength=1000)


def _shown(model: Any, drawn: Drawn, generated: Floats, seed: int) -> dict[str, Any]:
    """Return the data of the figures: rows in two dimensions, or images and their neighbours in the latent space."""
    if drawn.images is None:
        if drawn.X.shape[1] != 2:
            return {}
        return {"true": np.round(drawn.X, 3).tolist(), "generated": np.round(generated[:_SHOWN], 3).tolist()}
    images = {"images": [drawn.X[:_SHOWN_IMAGES], *generated[: 4 * _SHOWN_IMAGES].reshape(4, _SHOWN_IMAGES, -1)]}
    if hasattr(model, "transform"):
        rng = np.random.default_rng(seed)
        true = drawn.X_test[:_SHOWN_IMAGES]
        codes = model.transform(true)
        near = [model.inverse_transform(codes + _NOISE * rng.standard_normal(codes.shape)) for _ in range(5)]
        images["neighbours"] = [true, *near]
    return {name: np.round(np.array(rows), 2).tolist() for name, rows in images.items()}


def _prepare(cell: Cell, context: Context) -> Drawn:
    from pucli.data import dataset_entry, load_dataset
    from pucli.data.catalogue.mixtures import embedding, grid_centres, stacked

    name, seed, options = cell.dataset, cell.declared["split"]["seed"], cell.declared["options"]
    streams = [stream(seed, purpose, name, cell.repeat) for purpose in ("train", "test")]
    if options["stack"]:
        X, y = read_rows(name, context, multiclass=True)
        pixels, digits = X / X.max(), y.astype(int)
        # a third of the images is for testing
        order = stream(seed, "images", name).permutation(len(pixels))
        held = len(order) // 3
        test, train = order[:held], order[held:]
        X = stacked(pixels[train], digits[train], streams[0], options["rows"])[0]
        X_test = stacked(pixels[test], digits[test], streams[1], options["test_rows"])[0]
        return Drawn(X, X_test, images=pixels[train], digits=digits[train])
    entry = dataset_entry(name)
    X, X_test = (
        load_dataset(name, rng=rng, parameters={"rows": rows}).X
        for rng, rows in zip(streams, (options["rows"], options["test_rows"]), strict=True)
    )
    if entry.generator == "gaussian-grid":
        centres = grid_centres(entry.parameters["spacing"])
    elif entry.generator == "embedded-gaussians":
        means, basis = embedding(entry.parameters["spread"])
        centres = means @ basis
    else:
        raise UsageError(f"{name}: the protocol deep knows the centres of gaussian-grid and embedded-gaussians only.")
    return Drawn(X, X_test, centres=centres, sd=float(entry.parameters["sd"]))
