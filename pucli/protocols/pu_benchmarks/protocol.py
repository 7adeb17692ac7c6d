"""PU benchmarks: the samplings of PU-Bench and of PUICL; tuning, fit and metrics are those of the protocol pu.

pu-bench (repository XiXiphus/PU-Bench, case-control, "nnPU full U")
    A fifth of the rows, stratified, is the test set, and a hundredth of the others the validation set. Of the remaining
    positives, a share `label_frequency` is labeled by one of `labelings` (`pucli.data.splits.labeling`). The
    unlabeled rows are all remaining rows, so that labeled rows occur twice. The validation rows are labeled in the
    same way. Of the points of a column's grid, that with the largest proxy accuracy on them is taken, which needs the
    class prior, and no true labels otherwise. The repeats have the `seeds` of the repository.
puicl (repository puicl, evaluate_pretrained_model.py)
    The positive class is drawn at random. Of at most 600 of its rows, `label_frequency` are labeled. The unlabeled
    rows are the others and as many rows of the other class as make a fifth of them negative. They are the test rows.
    The draw of a data set depends on its place in `sets`; each repeat continues the random stream of the previous one.

For the seed 42, with the sets in the order of the publication and the rows in the order of its files, puicl has the
published tasks. With rows in the order of its files, pu-bench has the repository's test sets and labeled rows.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from pucli.core.arrays import AnyArray, Floats, Ints, z_scores
from pucli.core.errors import UsageError, unknown
from pucli.data.splits.labeling import PU_BENCH, class_probabilities, drawn
from pucli.metrics import pu_counts, top
from pucli.metrics.pu import proxy_accuracy
from pucli.models.certificates import watched
from pucli.models.fitting import seeded
from pucli.protocols.common import Planner, check_two_classes, read_rows, seed_of
from pucli.protocols.hidden_labels import HiddenLabels
from pucli.protocols.pu import protocol as pu
from pucli.protocols.pu.rows import PURows
from pucli.protocols.steps import RunningCell
from pucli.runner.cells import Cell, Context
from pucli.runner.experiment import Strict
from pucli.tuning.grids import expand

# Raise it when the protocol changes what a cell of the sampling computes.
VERSION = {"pu-bench": 2, "puicl": 2}
TEST, VALIDATION = 0.2, 0.01
MOST_POSITIVES, OUTLIERS = 600, 0.2
# Selection by the proxy accuracy of the validation rows, in the key of a cell.
PROXY = "proxy-accuracy"


class PuBenchmarksOptions(Strict):
    """Options of the protocol."""

    sampling: Literal["pu-bench", "puicl"] = Field(description="pu-bench or puicl")
    sets: list[str] = Field(default=[], description="puicl: the data sets in the order in which they get their seeds")
    seeds: list[int] = Field(default=[], description="pu-bench: seeds of the repeats; by default split.seed + repeat")
    labelings: dict[str, list[float]] = Field(
        default={},
        description="pu-bench: scar (S1), sar-lbe-a (S2), sar-lbe-b (S3), sar-pusb (S4) -> those of "
        "split.label_frequencies that it has; by default scar with all",
    )
    repeats_of: dict[str, int] = Field(
        default={}, description="pu-bench: labeling or data set -> its number of repeats, where it has fewer"
    )


class Sampled(NamedTuple):
    """Rows of a task: training rows with their labels, test rows, and the label of the positive class.

    validation, validation_labeled : rows, as those for training, on which pu-bench selects.
    """

    train: Ints
    labeled: AnyArray
    test: Ints
    positive: int = 1
    validation: Ints | None = None
    validation_labeled: AnyArray | None = None


class PUBenchmarks(pu.PU):
    """The protocol pu with other samplings, and another selection for pu-bench."""

    name = "pu_benchmarks"
    options = PuBenchmarksOptions

    def plan(self, planner: Planner) -> Iterator[Cell]:
        """Plan the cells in the order labeling, data set, setting, method, repeat."""
        options, experiment = planner.options, planner.experiment
        sampling = options.sampling
        if experiment.data.generate or experiment.split.unlabeled_train or experiment.split.train:
            raise UsageError(
                f"{experiment.name}: the protocol pu_benchmarks takes declared data sets and its own shares."
            )
        if sampling == "pu-bench":
            _check_pu_bench(planner)
        labelings = options.labelings or {"scar": experiment.split.label_frequencies}
        for labeling, frequencies in labelings.items():
            labeled = experiment.model_copy(
                update={"split": experiment.split.model_copy(update={"labeling": labeling})}
            )
            for cell in super().plan(dataclasses.replace(planner, experiment=labeled)):
                last = min(options.repeats_of.get(of, planner.scope.repeats) for of in (labeling, cell.dataset))
                if cell.setting["label_frequency"] not in frequencies or cell.repeat >= last:
                    continue
                division = {**cell.declared["split"], "sampling": sampling}
                setting, method, n_fits = dict(cell.setting), dict(cell.declared["method"]), cell.n_fits
                if sampling == "puicl":
                    if cell.dataset not in options.sets:
                        raise UsageError(
                            f"{experiment.name}: options.sets lacks {cell.dataset}; add it. Its place determines its "
                            "seed."
                        )
                    division["place"] = options.sets.index(cell.dataset)
                else:
                    division["seed"] = options.seeds[cell.repeat] if options.seeds else division["seed"] + cell.repeat
                    n_fits = 1
                    if method["tuning"]:
                        method |= {"tuning": {"score": PROXY}}
                        n_fits += len(expand(method["grid"]))
                    if len(labelings) > 1:
                        setting["labeling"] = labeling
                identity = [self.name, VERSION[sampling], pu.VERSION]
                declared = {**cell.declared, "method": method, "split": division, "protocol": identity}
                new: dict[str, Any] = {"declared": declared, "setting": setting, "group": f"{sampling} {cell.group}"}
                yield dataclasses.replace(cell, **new, n_fits=n_fits, open_ended=False)

    def rows(self, cell: Cell, context: Context) -> PURows:
        """Return the rows of a sampled task."""
        X, y = read_rows(cell.dataset, context)
        check_two_classes(cell.dataset, y)
        split = cell.declared["split"]
        if split["sampling"] == "pu-bench":
            rows = pu_bench(X, y, split["label_frequency"], split["seed"], split.get("labeling", "scar"))
        else:
            rng = puicl_stream(split["seed"], split["place"])
            rows = [puicl(y, split["label_frequency"], rng) for _ in range(cell.repeat + 1)][-1]
        truth = np.where(y == rows.positive, 1, -1)
        return PURows(
            X[rows.train],
            rows.labeled,
            X[rows.test],
            HiddenLabels(truth[rows.test]),
            relevant=X.shape[1],
            prior=float(np.mean(truth[rows.train][rows.labeled == 0] == 1)),
            more=() if rows.validation is None else (X[rows.validation],),
            shared={"validation": rows.validation_labeled},
        )

    def parameters(self, run: RunningCell) -> dict[str, Any]:
        """Tune as the protocol pu does, but for pu-bench, which selects on its validation rows."""
        if run.cell.declared["split"]["sampling"] != "pu-bench" or not run.method["tuning"]:
            return super().parameters(run)
        run.result.n_fits = run.cell.n_fits
        params = {**run.method["params"], **pu.true_prior(run.method["params"], run.rows)}
        return _selected(run, seeded(run.method["name"], params, seed_of(run.cell, "fit")))

    def score(self, run: RunningCell, model: Any, predictions: Ints) -> dict[str, float]:
        """Add what PUICL prints, which takes the rows of the other class, the outliers, for the positive ones."""
        found = super().score(run, model, predictions)
        if run.cell.declared["split"]["sampling"] == "puicl":
            decision = model.decision_function(run.rows.X_test)
            found |= {name: run.rows.hidden.score(of, predictions, decision) for name, of in _OF_OUTLIERS.items()}
        return found

    def warm_up(self, cell: Cell) -> None:
        """Compile the method of a cell, or load it from the cache."""
        if cell.declared["split"]["sampling"] == "pu-bench":
            plain = {**cell.declared["method"], "tuning": None}
            cell = dataclasses.replace(cell, declared={**cell.declared, "method": plain})
        super().warm_up(cell)


PROTOCOL = PUBenchmarks()


def _balanced_accuracy(y: AnyArray, predictions: Ints, decision: Floats) -> float:
    return float(np.mean([np.mean(predictions[y == one] == one) for one in (1, -1)]))


def _outlier_average_precision(y: AnyArray, predictions: Ints, decision: Floats) -> float:
    return top.average_precision(y != 1, -decision, True)


def _outlier_fpr(share: float, y: AnyArray, predictions: Ints, decision: Floats) -> float:
    """Return the share of positives that score as low as the given share of the outliers."""
    least = np.sort(decision[y != 1])[math.ceil(share * np.sum(y != 1)) - 1]
    return float(np.mean(decision[y == 1] <= least))


_OF_OUTLIERS: Mapping[str, Callable[..., float]] = {
    "balanced_accuracy": _balanced_accuracy,
    "outlier_average_precision": _outlier_average_precision,
    **{f"outlier_fpr_{percent}": partial(_outlier_fpr, percent / 100) for percent in (80, 90, 95)},
}


def _check_pu_bench(planner: Planner) -> None:
    options, experiment, scope = planner.options, planner.experiment, planner.scope
    if options.seeds and scope.repeats > len(options.seeds):
        raise UsageError(
            f"{experiment.name}: {scope.repeats} repeats, and options.seeds has {len(options.seeds)}; add seeds."
        )
    for labeling, frequencies in options.labelings.items():
        if labeling not in ("scar", *PU_BENCH):
            raise unknown("labeling of options.labelings", labeling, ("scar", *PU_BENCH))
        if missing := set(frequencies) - set(experiment.split.label_frequencies):
            raise UsageError(
                f"{experiment.name}: options.labelings.{labeling} has {min(missing):g}, which "
                "split.label_frequencies lacks; add it there."
            )


def _selected(run: RunningCell, params: dict[str, Any]) -> dict[str, Any]:
    """Return `params` with the point of the grid with the largest proxy accuracy on the validation rows.

    It is the first of equal ones.
    """
    rows, points = run.rows, expand(run.method["grid"])
    best, chosen = -np.inf, points[0]
    for point in points:
        with watched():
            model = run.make({**params, **point}).fit(rows.X_train, rows.y_train)
        counts = pu_counts(rows.shared["validation"] == 1, pu.predicted_classes(model, rows.more[0]), 1)
        found = float(proxy_accuracy(counts, "unlabeled", rows.prior))
        if found > best:  # not if no validation row is labeled
            best, chosen = found, point
    return {**params, **chosen}


def pu_bench(X: Floats, y: AnyArray, label_frequency: float, seed: int, labeling: str = "scar") -> Sampled:
    """Return the rows of PU-Bench's case-control sampling."""
    from sklearn.model_selection import train_test_split

    rest, test = train_test_split(np.arange(len(y)), test_size=TEST, stratify=y, random_state=seed)
    rows = max(round(VALIDATION * len(rest)), 2)  # one of each class
    train, validation = train_test_split(rest, test_size=rows, stratify=y[rest], random_state=seed)
    rng = np.random.default_rng(seed)
    labeled = [_labeled(X, y, part, label_frequency, labeling, rng) for part in (train, validation)]
    (train, s), (validation, s_validation) = labeled
    return Sampled(train, s, test, validation=validation, validation_labeled=s_validation)


def _labeled(
    X: Floats, y: AnyArray, rows: Ints, frequency: float, labeling: str, rng: np.random.Generator
) -> tuple[Ints, AnyArray]:
    """Return rows that are labeled and then all `rows` as unlabeled ones, and which are labeled."""
    positive = np.flatnonzero(y[rows] == 1)
    count = int(len(positive) * frequency)
    p = np.ones(len(positive))
    if labeling != "scar":
        of = X[rows] if np.isin(X, (0.0, 1.0)).all() else z_scores(X[rows])  # one-hot columns stay as they are
        p = class_probabilities(of, y[rows] == 1)[positive]
    chosen = rows[drawn(labeling, positive, p, count, rng)]
    # PU-Bench mixes labeled and unlabeled rows, and so draws random numbers before it labels the validation rows
    rng.permutation(len(chosen) + len(rows))
    return np.concatenate([chosen, rows]), np.repeat(np.array([1, 0], np.int8), [len(chosen), len(rows)])


def puicl_stream(seed: int, place: int) -> np.random.Generator:
    """Return the generator of the data set at a place, from 0, of the list of PUICL."""
    seeds = np.random.default_rng(seed)
    return np.random.default_rng([int(seeds.integers(0, 2**31 - 1)) for _ in range(place + 1)][-1])


def puicl(y: AnyArray, label_frequency: float, rng: np.random.Generator) -> Sampled:
    """Return the rows of the next task of PUICL."""
    label = int(rng.choice(np.unique(y)))
    positive, negative = np.flatnonzero(y == label), np.flatnonzero(y != label)
    positive = rng.choice(positive, min(MOST_POSITIVES, len(positive)), replace=False)
    hidden = round((1.0 - label_frequency) * len(positive))
    labeled = rng.choice(positive, len(positive) - hidden, replace=False)
    outliers = max(1, min(len(negative), round(hidden * OUTLIERS / (1.0 - OUTLIERS))))
    drawn = rng.choice(negative, outliers, replace=False)
    unlabeled = rng.permutation(np.concatenate([np.setdiff1d(positive, labeled), drawn]))
    labeled = rng.permutation(labeled)
    s = np.repeat(np.array([1, 0], np.int8), [len(labeled), len(unlabeled)])
    return Sampled(train=np.concatenate([labeled, unlabeled]), labeled=s, test=unlabeled, positive=label)
