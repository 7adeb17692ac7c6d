"""USMO protocol: transductive F on the unlabeled rows, scored in three ways (Sansone et al. 2019, Tables III and IV).

A fifth of the positives, floor(frequency n prior), is labelled at random; the other rows are unlabeled, are fitted on,
and are scored. The tables come from a released script that does two things a reader does not expect: it takes the F of
the class that has more unlabeled rows, and it sets the predictions for all rows, in the order of the file, against the
labels of the unlabeled rows, so that beyond the first labelled row the two are shifted. Metrics:

    f_published : F in per cent, scored as that script does it
    f_majority  : F in per cent of the same class, each prediction against its own label
    f1          : F of the positive class, each prediction against its own label
    objective_difference_ppm : |objective - that of the option `reference`| in millionths of the larger modulus
"""

from __future__ import annotations

import functools
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.errors import UsageError
from pucli.metrics import compute
from pucli.metrics.classification import f_of_class
from pucli.runner.cells import Cell, CellResult, Context, canonical_json
from pucli.runner.profiles import Scope
from pucli.seeding import stream

if TYPE_CHECKING:
    from pucli.runner.experiment import Experiment

# Raise it when the protocol changes what a cell computes.
VERSION = 1
OPTIONS = {"reference"}


class Rows(NamedTuple):
    """One labelling: X (n, m) and y (n,) in {-1, +1} in the order of the file, labelled (n,) bool."""

    X: np.ndarray
    y: np.ndarray
    labelled: np.ndarray


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, label frequency, repeat, method: one group shares its reference fits."""
    from pucli.data import data_sha256, dataset_entry
    from pucli.methods import get_method

    options = {**experiment.options, **scope.profile.options}
    wrong = sorted(set(options) - OPTIONS)
    if wrong:
        raise UsageError(f"{experiment.name}: options.{wrong[0]}: the protocol usmo takes only {', '.join(OPTIONS)}.")
    if not scope.label_frequencies:
        raise UsageError(f"{experiment.name}: the protocol usmo needs split.label_frequencies; give at least one.")
    planned = []
    for dataset in scope.datasets:
        prior = dataset_entry(dataset).prior
        if prior is None:
            raise UsageError(
                f"{experiment.name}: the protocol usmo needs a prior; give {dataset} one in datasets.yaml."
            )
        identity = data_sha256(dataset)
        for frequency in scope.label_frequencies:
            for repeat in range(scope.repeats):
                for label in scope.methods:
                    entry = experiment.methods[label]
                    method = get_method(entry.method)
                    params = {**method.params, **entry.params, "prior": prior}
                    settings = {
                        "protocol": ["usmo", VERSION],
                        "data": {"name": dataset, "sha256": identity},
                        "split": {"label_frequency": frequency, "seed": experiment.split.seed, "repeat": repeat},
                        "method": {"name": method.name, "version": method.version, "params": params},
                        "reference": options.get("reference") if _compared(method.name, params) else None,
                    }
                    planned.append(
                        Cell(
                            dataset=dataset,
                            setting={"label_frequency": frequency},
                            repeat=repeat,
                            method=label,
                            settings=settings,
                            group=canonical_json([settings["data"], settings["split"]]),
                        )
                    )
    return planned


def _compared(name: str, params: dict[str, Any]) -> bool:
    """Whether the cell's objective should equal the reference's: USMO itself, run to its end."""
    return name == "usmo" and params.get("solver", "usmo") == "usmo" and params.get("max_iter") != 0


def run_cell(cell: Cell, experiment: Experiment, context: Context) -> CellResult:
    """Fit on all rows, predict them all, and score the unlabeled ones in three ways."""
    if "rows" not in context.cache:
        context.cache["rows"] = _rows(cell, context)
    rows: Rows = context.cache["rows"]
    declared = cell.settings["method"]
    model, seconds = _fit(declared["name"], declared["params"], rows, context)
    started = time.perf_counter()
    decision = model.decision_function(rows.X)
    result = CellResult(params=declared["params"])
    result.seconds = {"tune": 0.0, "fit": seconds, "predict": time.perf_counter() - started}
    certificate = {name: getattr(model, f"{name}_", None) for name in ("objective", "dual_gap", "residual", "n_iter")}
    result.certificate = {name: float(value) for name, value in certificate.items() if value is not None}
    result.certificate["converged"] = model.converged_
    if not model.converged_ and declared["params"].get("max_iter") != 0:
        result.flags.append("not converged")

    signs, truth = np.sign(decision), rows.y[~rows.labelled]
    unlabeled_signs = signs[~rows.labelled]
    result.metrics = {
        **compute({"unlabeled_truth": truth, "signs": signs, "unlabeled_signs": unlabeled_signs}),
        "f1": f_of_class(truth, unlabeled_signs, 1),
        "objective": model.objective_,
    }
    if cell.settings["reference"]:
        other, _ = _fit(declared["name"], {**declared["params"], "solver": cell.settings["reference"]}, rows, context)
        scale = max(abs(model.objective_), abs(other.objective_))
        result.metrics["objective_difference_ppm"] = 1e6 * abs(model.objective_ - other.objective_) / scale
    return result


def warm_up(cell: Cell) -> None:
    """Compile, or load from the cache, what the cell's method needs."""
    declared = cell.settings["method"]
    _warm_up(declared["name"], declared["params"].get("kernel", "rbf"), declared["params"].get("solver", "usmo"))


@functools.cache
def _warm_up(name: str, kernel: str, solver: str) -> None:
    from pucli.methods import make_estimator

    X = np.random.default_rng(0).normal(size=(40, 3))
    more = {"solver": solver} if name == "usmo" else {}
    make_estimator(name, kernel=kernel, **more).fit(X, np.arange(40) < 10)


def label_positives(y: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return a mask (n,) of `count` random positives."""
    labelled = np.zeros(len(y), bool)
    labelled[rng.choice(np.flatnonzero(y == 1), count, replace=False)] = True
    return labelled


def _rows(cell: Cell, context: Context) -> Rows:
    split = cell.settings["split"]
    X, y = _read(cell.dataset, context.mirror, context.offline)
    frequency = split["label_frequency"]
    count = int(np.floor(frequency * len(y) * cell.settings["method"]["params"]["prior"]))
    rng = stream(split["seed"], "usmo labels", cell.dataset, frequency, split["repeat"])
    return Rows(X, y, label_positives(y, count, rng))


@functools.lru_cache(maxsize=4)
def _read(name: str, mirror: str | None, offline: bool | None) -> tuple[np.ndarray, np.ndarray]:
    from pucli.data import load_dataset

    dataset = load_dataset(name, mirror=mirror, offline=offline)
    return dataset.X, dataset.y


def _fit(name: str, params: dict[str, Any], rows: Rows, context: Context) -> tuple[Any, float]:
    """Return (fitted model, seconds), once for each method and parameters of a group."""
    from pucli.methods import make_estimator

    key = canonical_json([name, params])
    if key not in context.cache:
        fixed = {"random_state": 0, **params} if name == "usmo" else params
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make_estimator(name, **fixed).fit(rows.X, rows.labelled)
        context.cache[key] = model, time.perf_counter() - started
    return context.cache[key]
