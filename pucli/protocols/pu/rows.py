"""Rows of a cell: loaded, split and standardized."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.seeding import stream
from pucli.data.splits.labeling import labeling_tilt
from pucli.data.splits.scenarios import Split
from pucli.protocols.common import check_two_classes, read_groups, read_rows
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.steps import SplitRows
from pucli.runner.cells import Cell, Context, canonical_json

# The share of rows that each scenario needs.
SCENARIOS = {"case-control": "unlabeled_train", "single-training-set": "train"}


@dataclass(frozen=True, kw_only=True)
class PURows(SplitRows):
    """Labeled and unlabeled training rows, and test rows.

    relevant : number of features before those that are known to be irrelevant.
    prior : share of positives among the unlabeled rows, for methods declared to use it.
    prior_with_copies : the same where the labeled rows count as unlabeled rows as well.
    hidden_train : true labels of the training rows, for figures.
    """

    relevant: int
    prior: float
    prior_with_copies: float = math.nan
    hidden_train: HiddenLabels | None = None


def divided(cell: Cell, context: Context) -> PURows:
    """Load and split the rows. Each step has its own random stream."""
    from pucli.data.features import is_constant

    X, y, relevant = _load(cell, context)
    groups = read_groups(cell.dataset, context)
    chosen = split_of(cell, X, y, groups)
    constant = int(np.count_nonzero(is_constant(X[chosen.train])))
    s = np.asarray(chosen.s)
    unlabeled = chosen.train[s == 0]
    if "labeled" not in cell.declared["split"]:  # there the test rows have another share of positives
        unlabeled = np.concatenate([unlabeled, chosen.test])
    prior, with_copies = (
        float(np.mean(y[rows] == 1)) for rows in (unlabeled, np.concatenate([unlabeled, chosen.train[s == 1]]))
    )
    return PURows(
        X[chosen.train],
        s,
        X[chosen.test],
        HiddenLabels(y[chosen.test]),
        relevant=relevant,
        prior=prior,
        prior_with_copies=with_copies,
        hidden_train=HiddenLabels(y[chosen.train]),
        notes=[f"{constant} of {X.shape[1]} features are constant in the training rows"] if constant else [],
        groups=None if groups is None else groups[chosen.train],
    )


def split_of(cell: Cell, X: Floats, y: AnyArray, groups: Ints | None = None) -> Split:
    """Return the split of a cell."""
    from pucli.data.splits.scenarios import make_split, split_stream

    split = cell.declared["split"]
    scenario, frequency, fraction = split["scenario"], split["label_frequency"], split["fraction"]
    rng = split_stream(split["seed"], _set_name(cell), scenario, frequency, cell.repeat)
    options: dict[str, Any] = {} if fraction is None else {SCENARIOS[scenario]: fraction}
    if "labeled" in split:
        options["labeled"] = split["labeled"]
    how = stream(split["seed"], "labelling", _set_name(cell), cell.repeat)
    tilt = labeling_tilt(split.get("labeling", "scar"), X, y, how)
    return make_split(scenario, y, frequency, rng=rng, tilt=tilt, groups=groups, **options)


def _set_name(cell: Cell) -> str:
    """Return the name of the data set in random streams; declared data sets have the splits of `pucli split`."""
    parameters = cell.declared["data"]["parameters"]
    return f"{cell.dataset} {canonical_json(parameters)}" if parameters else cell.dataset


def _load(cell: Cell, context: Context) -> tuple[Floats, AnyArray, int]:
    """Return X, y in {-1, +1}, and the number of relevant features; generated sets are drawn for this repeat."""
    from pucli.data import add_irrelevant_features, dataset_entry, load_dataset

    data, split = cell.declared["data"], cell.declared["split"]
    added = data.get("irrelevant_per_feature", 0)
    if dataset_entry(cell.dataset).generator:
        parameters = dict(data["parameters"])
        rng = stream(split["seed"], "data", cell.dataset, parameters, cell.repeat)
        drawn = load_dataset(cell.dataset, rng=rng, parameters=parameters)
        X, y = drawn.X, drawn.y
        relevant = X.shape[1] // (1 + int(parameters.get("irrelevant", 0)))
    else:
        X, y = read_rows(cell.dataset, context)
        relevant = X.shape[1]
        if added:
            rng = stream(split["seed"], "irrelevant", cell.dataset, split["label_frequency"], cell.repeat)
            scaled = add_irrelevant_features(X, rng, per_feature=added)
            X = scaled if data.get("scaled", True) else np.hstack([X, scaled[:, relevant:]])
    check_two_classes(cell.dataset, y)
    return X, y, relevant
