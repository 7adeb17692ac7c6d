"""The rows a model is trained on: from a declared data set and a split, or from the user's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pucli.cli.options import choice
from pucli.errors import UsageError
from pucli.methods import Method

# With fewer labelled rows than this a fit or an estimate says little.
FEW_LABELLED = 10
UNLABELED = -1  # label of an unlabeled row for semi-supervised methods, as in scikit-learn


@dataclass(frozen=True)
class DataOptions:
    """Where the rows come from, as said on the command line."""

    dataset: str | None = None
    data: Path | None = None
    label: str | None = None
    positive: str | None = None
    scenario: str = "case-control"
    label_frequency: float = 0.5
    seed: int = 0
    split: Path | None = None
    repeat: int = 0
    mirror: str | None = None
    offline: bool = False


@dataclass(frozen=True)
class TrainingRows:
    """Rows to train on, and held-out rows with true labels where there are any.

    Parameters
    ----------
    X : (n, m); y : (n,) what `fit` takes: 1 labelled positive and 0 unlabeled, or classes and -1 unlabeled.
    feature_names : m names.
    X_test, y_test : held-out rows and their true labels (PU: 1 and 0); None where there are none.
    denominator : of PUF, "unlabeled" (case-control, and files) or "all" (single training set).
    about : JSON values that say where the rows come from.
    title : the same in words.
    label_column : of the file, "" for a declared data set.
    words : label -> what the user calls it.
    notes : what the reader of the data had to remark.
    unlabeled : the label in `y` of an unlabeled row.
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: list[str]
    X_test: np.ndarray | None
    y_test: np.ndarray | None
    denominator: str
    about: dict[str, Any]
    title: str
    label_column: str = ""
    words: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unlabeled: int = 0

    @property
    def n_labelled(self) -> int:
        """Number of labelled rows: labelled positives, or rows with a class."""
        return int(np.count_nonzero(self.y != self.unlabeled))


def training_rows(method: Method, options: DataOptions) -> TrainingRows:
    """Return the rows that `method` is to be trained on.

    Raises UsageError where the options do not say which rows, or where the rows cannot be used.
    """
    answers = {"density": "models a density and learns from no labels", "clustering": "answers clusters, not labels"}
    if method.kind in answers:
        raise UsageError(
            f"{method.name} {answers[method.kind]}; use {method.estimator.partition(':')[2]} from Python. "
            "`pucli list methods` shows the kind of each method."
        )
    if (options.dataset is None) == (options.data is None):
        raise UsageError("say which rows: either --dataset NAME (`pucli list datasets`) or --data FILE --label COLUMN.")
    if options.dataset is not None:
        if options.label is not None or options.positive is not None:
            raise UsageError("--label and --positive belong to --data; a declared data set has its own labels.")
        return _declared(method, options)
    if options.split is not None:
        raise UsageError("--split belongs to --dataset; a file of your own says itself which rows are labelled.")
    if options.label is None:
        raise UsageError(f"--data {options.data} needs --label COLUMN, the column that says which rows are labelled.")
    return _own_file(method, options)


def _declared(method: Method, options: DataOptions) -> TrainingRows:
    """Hide labels of a declared data set as the split says; the held-out rows keep their true labels."""
    from pucli.data import load_dataset

    kind = {"multiclass": True} if method.kind != "pu" else {}
    dataset = load_dataset(str(options.dataset), mirror=options.mirror, offline=options.offline or None, **kind)
    if method.kind == "pu":
        train, test, y, about = _pu_labels(dataset, options)
        truth = (dataset.y == np.unique(dataset.y)[-1]).astype(int)
        words = {"1": "positive", "0": "negative"}
    else:
        classes, truth = np.unique(dataset.y, return_inverse=True)
        words = {str(code): str(name) for code, name in enumerate(classes.tolist())}
        train, test, y, about = _hidden_classes(truth, options)
    settings = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in about.items())
    return TrainingRows(
        X=dataset.X[train],
        y=y,
        feature_names=list(dataset.feature_names),
        X_test=dataset.X[test],
        y_test=truth[test],
        denominator="all" if about.get("scenario") == "single-training-set" else "unlabeled",
        about={"dataset": dataset.name, "content_sha256": dataset.content_sha256, **about},
        title=f"{dataset.name} ({settings})",
        words=words,
        notes=tuple(dataset.notes),
        unlabeled=0 if method.kind == "pu" else UNLABELED,
    )


def _pu_labels(dataset: Any, options: DataOptions) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    """Return train and test row numbers, s (1 labelled, 0 unlabeled), and what the split was."""
    from pucli.data import SCENARIOS, load_splits, make_split
    from pucli.data.splits import split_stream

    if options.split is not None:
        saved = load_splits(options.split, content_sha256=dataset.content_sha256, rows=len(dataset.y))
        if not 0 <= options.repeat < len(saved.splits):
            raise UsageError(
                f"--repeat {options.repeat}: {options.split} has the repeats 0 to {len(saved.splits) - 1}."
            )
        split = saved.splits[options.repeat]
        about = {**saved.settings, "repeat": options.repeat, "split_file": str(options.split)}
    else:
        scenario = choice("scenario", options.scenario, SCENARIOS)
        about = {
            "scenario": scenario,
            "label_frequency": options.label_frequency,
            "seed": options.seed,
            "repeat": options.repeat,
        }
        rng = split_stream(options.seed, dataset.name, scenario, options.label_frequency, options.repeat)
        split = make_split(scenario, dataset.y, options.label_frequency, rng=rng)
    return split.train, split.test, split.s.astype(int), about


def _hidden_classes(
    classes: np.ndarray, options: DataOptions
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    """Return train (70 %) and test row numbers, classes with all but the labelled share hidden, and what was done."""
    from sklearn.model_selection import train_test_split

    if options.split is not None:
        raise UsageError("--split holds labelled positives; this method learns from classes, use --seed and --repeat.")
    if not 0 < options.label_frequency < 1:
        raise UsageError(f"--label-frequency must be above 0 and below 1, not {options.label_frequency}.")
    seed = [options.seed, options.repeat]
    random = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(seed)))
    rows = np.arange(len(classes))
    try:
        train, test = train_test_split(rows, train_size=0.7, stratify=classes, random_state=random)
        labelled, _ = train_test_split(
            np.arange(len(train)), train_size=options.label_frequency, stratify=classes[train], random_state=random
        )
    except ValueError as error:
        raise UsageError(f"--label-frequency {options.label_frequency}: {error}") from error
    y = np.full(len(train), UNLABELED)
    y[labelled] = classes[train][labelled]
    return train, test, y, {"label_frequency": options.label_frequency, "seed": options.seed, "repeat": options.repeat}


def _own_file(method: Method, options: DataOptions) -> TrainingRows:
    """Read the user's file; its label column says which rows are labelled."""
    path, label = options.data, str(options.label)
    if method.kind == "pu":
        X, y, names, words = labelled_positives(path, label, options.positive)
    else:
        if options.positive is not None:
            raise UsageError("--positive marks labelled positives; this method learns from classes, leave it out.")
        X, y, names, words = partly_labelled(path, label)
    return TrainingRows(
        X=X,
        y=y,
        feature_names=names,
        X_test=None,
        y_test=None,
        denominator="all" if options.scenario == "single-training-set" else "unlabeled",
        about={"file": str(path), "label": label, "positive": words.get("1") if method.kind == "pu" else None},
        title=f"{path}, label column {label!r}",
        label_column=label,
        words=words,
        unlabeled=0 if method.kind == "pu" else UNLABELED,
    )


def labelled_positives(
    path: Any, label: str, positive: str | None, features: list[str] | None = None
) -> tuple[np.ndarray, np.ndarray, list[str], dict[str, str]]:
    """Return X, 1 for positives and 0 for the rest, feature names, and what the file calls the two.

    Without `positive` the column must hold two values, of which the greater one is positive.
    """
    from pucli.data import read_table

    try:
        X, classes, names = read_table(path, label=label, multiclass=True, features=features)
        values = _in_order({str(value) for value in classes.tolist()})
    except UsageError:
        values = []  # some labels are empty, or there is more to say: below
    if len(values) == 2 and (positive is None or positive in values):
        marked = values[1] if positive is None else positive
        other = values[0] if marked == values[1] else values[1]
        return X, np.array([int(str(value) == marked) for value in classes.tolist()]), names, {"1": marked, "0": other}
    X, y, names = read_table(path, label=label, positive=positive, features=features)
    return X, (y == 1).astype(int), names, {"1": str(positive), "0": f"not {positive}"}


def partly_labelled(
    path: Any, label: str, features: list[str] | None = None
) -> tuple[np.ndarray, np.ndarray, list[str], dict[str, str]]:
    """Return X, integer classes with -1 for unlabeled rows, feature names, and what the file calls each class.

    An empty label cell and a label -1 both say that the row is unlabeled.
    """
    from pucli.data import read_table

    X, classes, names = read_table(path, label=label, multiclass=True, features=features, unlabeled=UNLABELED)
    present = _in_order({str(value) for value in classes.tolist()} - {str(UNLABELED)})
    numbers = {value: int(value) if classes.dtype.kind in "iu" else code for code, value in enumerate(present)}
    numbers[str(UNLABELED)] = UNLABELED
    y = np.array([numbers[str(value)] for value in classes.tolist()])
    return X, y, names, {str(numbers[value]): value for value in present}


def _in_order(values: set[str]) -> list[str]:
    """Return class names by number where all are numbers, else as text."""
    try:
        return sorted(values, key=float)
    except ValueError:
        return sorted(values)


def shape_remarks(X: np.ndarray, feature_names: list[str]) -> Mapping[str, Any]:
    """Return the constant features and the number of rows that repeat an earlier one; both are allowed."""
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)  # of what is there, where cells are missing
    constant = [name for name, least, most in zip(feature_names, low, high, strict=True) if least == most]
    return {"constant_features": constant, "duplicate_rows": len(X) - len(np.unique(X, axis=0))}
