"""Deep protocol: density estimators trained on few rows; log-likelihood, modes and speed (Sansone 2018, 4.4).

`rows` training and `test_rows` test rows are drawn from a generator with known centers, or made by stacking three
images of digits. Metrics of a cell:

    log_likelihood : mean over test rows of a kernel density on `generated` rows; bandwidth chosen on training rows
    iterations_per_second : of training without its first tenth, per second of processor time in one thread, which
        other processes of the machine hardly affect; on a GPU, per second of wall-clock time
    modes : number of components, or stacked classes, with at least a fifth of their share of the generated rows
    near : share of generated rows within four standard deviations (per dimension, root mean square) of a center

With `looks`, the model is also evaluated after these numbers of iterations, for the figure of the likelihood. A cell
that was interrupted goes on from its last block of iterations (`training.py`), with the same bits.
Generated rows are assigned to the component with the nearest center, which is the best classifier for equal isotropic
Gaussians (the thesis trains a network), or to the stacked class with the nearest training image in each channel.
Profiles reduce `iterations` (two million in the thesis) and `hidden`. The options of the experiment are those of
`DeepOptions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import UsageError
from pucli.core.seeding import seed_sequence, stream
from pucli.data import dataset_entry, load_dataset
from pucli.metrics.density import mean_log_likelihood, modes_found, nearest_centers, share_near
from pucli.protocols.common import Planner, declared_method, read_rows
from pucli.protocols.deep.training import TrainingState, position_of
from pucli.protocols.steps import ProtocolSteps, RunningCell, SplitRows
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import Strict

_OF_A_RUN = ("block", "checkpoint", "report", "device", "precision")  # parameters that are set for each fit
_SHOWN = 1000  # generated rows in two dimensions kept for the figure
_SHOWN_IMAGES = 8
_NOISE = 0.1  # standard deviation of the codes' perturbation in Figure 4.5


class DeepOptions(Strict):
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


@dataclass(frozen=True, kw_only=True)
class DrawnRows(SplitRows):
    """Rows of a repeat, without labels, and the references for generated rows.

    These are the centers (n, d) of the components and their standard deviation `sd`, or the training images (m, p) that
    were stacked, with their `digits` (m,).
    """

    centers: Floats | None = None
    sd: float = 0.0
    images: Floats | None = None
    digits: Ints | None = None


class Deep(ProtocolSteps):
    """The protocol."""

    name = "deep"
    version = 1
    options = DeepOptions
    scales = seeds = False
    by_repeat = True

    def check(self, planner: Planner) -> None:
        """Raise UsageError for looks without a likelihood and for other data than those of the task."""
        experiment, options = planner.experiment, planner.options
        if options.looks and not (options.generate and options.likelihood):
            raise UsageError(
                f"{experiment.name}: options.looks measures the likelihood; it needs generate and likelihood."
            )
        for dataset in planner.scope.datasets:
            if bool(dataset_entry(dataset).generator) == options.stack:
                wanted = "a set of images (options.stack)" if options.stack else "a generated set"
                raise UsageError(f"{experiment.name}: data.names: {dataset} is not {wanted}.")

    def method(self, planner: Planner, column: str, dataset: str) -> dict[str, Any]:
        """Return the declared method with the number of iterations."""
        changes = {"n_iterations": planner.options.iterations}
        if planner.options.hidden is not None:
            changes["hidden"] = planner.options.hidden
        return declared_method(planner.experiment, column, changes=changes, given=_OF_A_RUN)

    def conditions(self, planner: Planner, dataset: str) -> list[dict[str, Any]]:
        """Return the one condition of a data set."""
        options = planner.options.model_dump(exclude=None if planner.options.looks else {"looks"})
        return [{"split": {}, "options": options, "shares": ("data", "split", "options")}]

    def rows(self, cell: Cell, context: Context) -> DrawnRows:
        """Draw training and test rows, or stack images of digits."""
        from pucli.data.catalogue.mixtures import embedding, grid_centers, stacked

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
            return DrawnRows(X, X_test=X_test, images=pixels[train], digits=digits[train])
        entry = dataset_entry(name)
        X, X_test = (
            load_dataset(name, rng=rng, parameters={"rows": rows}).X
            for rng, rows in zip(streams, (options["rows"], options["test_rows"]), strict=True)
        )
        if entry.generator == "gaussian-grid":
            centers = grid_centers(entry.parameters["spacing"])
        elif entry.generator == "embedded-gaussians":
            means, basis = embedding(entry.parameters["spread"])
            centers = means @ basis
        else:
            raise UsageError(
                f"{name}: the protocol deep knows the centers of gaussian-grid and embedded-gaussians only."
            )
        return DrawnRows(X, X_test=X_test, centers=centers, sd=float(entry.parameters["sd"]))

    def fit(self, run: RunningCell) -> Any:
        """Train the model, measuring it at the looks, and judge the rows that it generates."""
        rows, options, result = run.rows, run.cell.declared["options"], run.result
        seed = fit_seed(run.cell)

        def look(model: Any) -> dict[str, float]:
            generated = model.sample(options["generated"], random_state=seed)
            return {"log_likelihood": _likelihood(generated, rows)[0]}

        with position_of(run.cell, run.context) as folder:
            training = TrainingState.of(folder)
            iterations = options["iterations"]
            model = training.run(run.method, rows.X_train, seed, iterations, options.get("looks", []), look)
            result.metrics["iterations_per_second"] = training.iterations_per_second
            result.seconds |= training.seconds
            if options["generate"]:
                with run.timed("predict"):
                    _judge(model, rows, options, seed, result, shown=run.cell.repeat == 0)
        if training.curve:
            last = {"iterations": iterations, "log_likelihood": result.metrics["log_likelihood"]}
            result.details["curve"] = [*training.curve, last]
        return model

    def predict(self, run: RunningCell, model: Any) -> None:
        """Predict no row."""

    def conclude(self, run: RunningCell, model: Any, seen: Mapping[str, Any]) -> None:
        """Keep what the training says of itself."""
        if model.precision_ != "float32":  # on a GPU
            run.result.params["precision"] = model.precision_
        names = ("objective", "residual", "converged")
        run.result.certificate = {name: getattr(model, f"{name}_") for name in names}

    def warm_up(self, cell: Cell) -> None:
        """Import torch and limit it to one thread."""
        from pucli.solvers.deep import require_torch

        require_torch().set_num_threads(1)


PROTOCOL = Deep()


def fit_seed(cell: Cell) -> int:
    """Return the seed of the model of a cell."""
    return seed_sequence(cell.declared["split"]["seed"], "fit", cell.dataset, cell.repeat)[0] % 2**31


def _judge(
    model: Any, rows: DrawnRows, options: Mapping[str, Any], seed: int, result: CellResult, *, shown: bool
) -> None:
    """Generate rows and add their metrics to `result`."""
    generated = model.sample(options["generated"], random_state=seed)
    if options["likelihood"]:
        result.metrics["log_likelihood"], result.details["bandwidth"] = _likelihood(generated, rows)
    if rows.centers is not None:
        nearest, _ = nearest_centers(generated, rows.centers)
        counts = np.bincount(nearest, minlength=len(rows.centers))
        result.metrics["near"] = share_near(generated, rows.centers, rows.sd)
        result.details["counts"] = counts.astype(int).tolist()
    else:
        counts = _stacked_counts(generated, rows)
    result.metrics["modes"] = modes_found(counts)
    if shown:
        result.details |= _shown(model, rows, generated, seed)


def _likelihood(generated: Floats, rows: DrawnRows) -> tuple[float, float]:
    from pucli.solvers.deep.likelihood import kernel_log_likelihood

    scores, bandwidth = kernel_log_likelihood(generated, rows.X_train, rows.X_test)
    return mean_log_likelihood(scores), bandwidth


def _stacked_counts(generated: Floats, rows: DrawnRows) -> Ints:
    """Return generated rows per stacked class: each channel has the digit of the nearest training image."""
    from sklearn.neighbors import KNeighborsClassifier

    assert rows.images is not None  # rows without centers are stacked images
    p = rows.images.shape[1]
    nearest = KNeighborsClassifier(1).fit(rows.images, rows.digits)
    classes = np.zeros(len(generated), dtype=np.int64)
    for channel, place in enumerate((100, 10, 1)):
        classes += place * nearest.predict(generated[:, channel * p : (channel + 1) * p])
    return np.bincount(classes, minlength=1000)


def _shown(model: Any, rows: DrawnRows, generated: Floats, seed: int) -> dict[str, Any]:
    """Return the data of the figures: rows in two dimensions, or images and their neighbors in the latent space."""
    if rows.images is None:
        if rows.X_train.shape[1] != 2:
            return {}
        return {"true": np.round(rows.X_train, 3).tolist(), "generated": np.round(generated[:_SHOWN], 3).tolist()}
    images = {"images": [rows.X_train[:_SHOWN_IMAGES], *generated[: 4 * _SHOWN_IMAGES].reshape(4, _SHOWN_IMAGES, -1)]}
    if hasattr(model, "transform"):
        rng = np.random.default_rng(seed)
        true = rows.X_test[:_SHOWN_IMAGES]
        codes = model.transform(true)
        near = [model.inverse_transform(codes + _NOISE * rng.standard_normal(codes.shape)) for _ in range(5)]
        images["neighbors"] = [true, *near]
    return {name: np.round(np.array(rows), 2).tolist() for name, rows in images.items()}
