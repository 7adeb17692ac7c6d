"""PU benchmarks: the samplings of PU-Bench and of PUICL; tuning, fit and metrics are those of the protocol pu.

pu-bench (repository PU-Bench, case-control, "naive mode")
    A fifth of the rows, stratified, is the test set. A hundredth of the others is set aside; PU-Bench selects models on
    it by true labels, and this protocol does not use it. Of the remaining positives, a share `label_frequency` is
    labelled. The unlabeled rows are all remaining rows, so that labelled rows occur twice.
puicl (repository puicl, evaluate_pretrained_model.py)
    The positive class is drawn at random. Of at most 600 of its rows, `label_frequency` are labelled. The unlabeled
    rows are the others and as many rows of the other class as make a fifth of them negative. They are the test rows.
    The draw of a data set depends on its place in `sets`; each repeat continues the random stream of the previous one.

For the seed 42, with the sets in the order of the publication and the rows in the order of its files, puicl has the
published tasks. For the same seed, pu-bench has the published test sets, but not the same labelled rows.
"""

from __future__ import annotations

import dataclasses
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Ints
from pucli.core.errors import UsageError
from pucli.protocols.common import check_two_classes, read_rows, standardised
from pucli.protocols.options import read_options
from pucli.protocols.pu import protocol as pu
from pucli.runner.cells import Cell, CellResult, Context
from pucli.runner.experiment import Experiment, Strict
from pucli.runner.profiles import Scope

# Raise it when the protocol changes what a cell computes.
VERSION = 1
TEST, VALIDATION = 0.2, 0.01
MOST_POSITIVES, OUTLIERS = 600, 0.2
warm_up = pu.warm_up


class Options(Strict):
    """Options of the protocol."""

    sampling: Literal["pu-bench", "puicl"] = Field(description="pu-bench or puicl")
    sets: list[str] = Field(default=[], description="puicl: the data sets in the order in which they get their seeds")


class Sampled(NamedTuple):
    """Rows of a task: training rows with their labels, test rows, and the label of the positive class."""

    train: Ints
    labelled: AnyArray
    test: Ints
    positive: int = 1


def cells(experiment: Experiment, scope: Scope) -> list[Cell]:
    """Return the cells in the order data set, setting, method, repeat."""
    options = read_options(Options, experiment, scope.profile.options)
    sampling = options.sampling
    if experiment.data.generate or experiment.split.unlabeled_train or experiment.split.train:
        raise UsageError(f"{experiment.name}: the protocol pu_benchmarks takes declared data sets and its own shares.")
    bare = dataclasses.replace(scope, profile=scope.profile.model_copy(update={"options": {}}))
    planned = []
    for cell in pu.cells(experiment.model_copy(update={"options": {}}), bare):
        division = {**cell.declared["split"], "sampling": sampling}
        if sampling == "puicl":
            if cell.dataset not in options.sets:
                raise UsageError(
                    f"{experiment.name}: options.sets lacks {cell.dataset}; add it. Its place determines its seed."
                )
            division["place"] = options.sets.index(cell.dataset)
        declared = {**cell.declared, "split": division, "protocol": ["pu_benchmarks", VERSION, pu.VERSION]}
        planned.append(dataclasses.replace(cell, declared=declared, group=f"{sampling} {cell.group}"))
    return planned


def run_cell(cell: Cell, context: Context) -> CellResult:
    """Tune, fit and score a method on a sampled task."""
    return pu.run_cell(cell, context, _prepare)


def _prepare(cell: Cell, context: Context) -> pu.Prepared:
    X, y = read_rows(cell.dataset, context)
    check_two_classes(cell.dataset, y)
    split = cell.declared["split"]
    if split["sampling"] == "pu-bench":
        rows = pu_bench(y, split["label_frequency"], split["seed"] + cell.repeat)
    else:
        rng = puicl_stream(split["seed"], split["place"])
        rows = [puicl(y, split["label_frequency"], rng) for _ in range(cell.repeat + 1)][-1]
    truth = np.where(y == rows.positive, 1, -1)
    X_train, X_test = standardised(cell.declared["data"]["standardise"], X[rows.train], X[rows.test])
    prior = float(np.mean(truth[rows.train][rows.labelled == 0] == 1))
    return pu.Prepared(X_train, rows.labelled, X_test, truth[rows.test], X.shape[1], prior, [], {})


def pu_bench(y: AnyArray, label_frequency: float, seed: int) -> Sampled:
    """Return the rows of PU-Bench's case-control sampling.

    Parameters
    ----------
    y : array of shape (n,)
        True classes, -1 or +1.
    label_frequency : float
        Share of the training positives that is labelled.
    seed : int
        Seed of the test set, the validation set and the labelled rows.
    """
    from sklearn.model_selection import train_test_split

    rest, test = train_test_split(np.arange(len(y)), test_size=TEST, stratify=y, random_state=seed)
    train, _ = train_test_split(rest, test_size=VALIDATION, stratify=y[rest], random_state=seed)
    positive = train[y[train] == 1]
    chosen = np.random.default_rng(seed).permutation(positive)[: int(label_frequency * len(positive))]
    s = np.repeat(np.array([1, 0], np.int8), [len(chosen), len(train)])
    return Sampled(train=np.concatenate([chosen, train]), labelled=s, test=test)


def puicl_stream(seed: int, place: int) -> np.random.Generator:
    """Return the generator of the data set at a place, from 0, of the list of PUICL."""
    seeds = np.random.default_rng(seed)
    return np.random.default_rng([int(seeds.integers(0, 2**31 - 1)) for _ in range(place + 1)][-1])


def puicl(y: AnyArray, label_frequency: float, rng: np.random.Generator) -> Sampled:
    """Return the rows of the next task of PUICL.

    Parameters
    ----------
    y : array of shape (n,)
        True classes, -1 or +1.
    label_frequency : float
        Share of the drawn positives that is labelled.
    rng : numpy.random.Generator
        Source of randomness; each call draws another task.
    """
    label = int(rng.choice(np.unique(y)))
    positive, negative = np.flatnonzero(y == label), np.flatnonzero(y != label)
    positive = rng.choice(positive, min(MOST_POSITIVES, len(positive)), replace=False)
    hidden = round((1.0 - label_frequency) * len(positive))
    labelled = rng.choice(positive, len(positive) - hidden, replace=False)
    outliers = max(1, min(len(negative), round(hidden * OUTLIERS / (1.0 - OUTLIERS))))
    drawn = rng.choice(negative, outliers, replace=False)
    unlabeled = rng.permutation(np.concatenate([np.setdiff1d(positive, labelled), drawn]))
    labelled = rng.permutation(labelled)
    s = np.repeat(np.array([1, 0], np.int8), [len(labelled), len(unlabeled)])
    return Sampled(train=np.concatenate([labelled, unlabeled]), labelled=s, test=unlabeled, positive=label)
