"""Splits of (X, y) into labelled positives, unlabeled rows and a test set.

Labels are selected completely at random (SCAR). Two scenarios (Elkan & Noto 2008; Wang 2024, 3.4.2 and 3.6.2):

* case-control: the labelled positives are one sample and the unlabeled rows another; the test set is drawn from the
  unlabeled rows.
* single training set: all rows are one sample, and some positives of its training part are labelled.

In both, the label frequency is the share of the training positives that are labelled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pucli.arrays import AnyArray, Ints
from pucli.data.atomic import replacing
from pucli.errors import UsageError, unknown
from pucli.seeding import stream


@dataclass(frozen=True)
class Split:
    """A split of n rows.

    Attributes
    ----------
    train : ndarray of int
        Row numbers of the training set, from 0, in random order.
    test : ndarray of int
        Row numbers of the test set, in random order.
    s : ndarray of int8
        1 for each row of `train` that is a labelled positive, 0 for an unlabeled row.
    """

    train: Ints
    test: Ints
    s: NDArray[np.int8]


def case_control(
    y: AnyArray, label_frequency: float, *, unlabeled_train: float = 0.7, rng: np.random.Generator
) -> Split:
    """Split in the case-control scenario.

    With the label frequency g and the share t of unlabeled rows in the training set, a share
    gamma' = t g / (1 - (1 - t) g) of the positives is labelled, so that a share g of the training positives is labelled
    (Wang 2024, 3.6.2: 7/17 for g = 0.5 and 7/37 for g = 0.25). The other unlabeled rows are the test set.

    Parameters
    ----------
    y : array of shape (n,)
        Two labels, of which the larger is positive.
    label_frequency : float
        g, between 0 and 1, both excluded.
    unlabeled_train : float
        t, between 0 and 1, both excluded.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Split

    Raises
    ------
    UsageError
        y does not have two labels, a share is out of range, or no row would be labelled, unlabeled, or in the test set.
    """
    positive = _positives(y)
    _check_share("label_frequency", label_frequency)
    _check_share("unlabeled_train", unlabeled_train)
    share = unlabeled_train * label_frequency / (1.0 - (1.0 - unlabeled_train) * label_frequency)
    order = rng.permutation(positive)
    count = _nearest(share * len(positive))
    unlabeled = rng.permutation(np.setdiff1d(np.arange(len(y)), order[:count]))
    kept = _nearest(unlabeled_train * len(unlabeled))
    return _split(order[:count], unlabeled[:kept], unlabeled[kept:], len(positive), label_frequency, rng)


def single_training_set(y: AnyArray, label_frequency: float, *, train: float = 0.7, rng: np.random.Generator) -> Split:
    """Split in the single-training-set scenario.

    The training set is a random share `train` of all rows; a share g of its positives is labelled.

    Parameters
    ----------
    y : array of shape (n,)
        Two labels, of which the larger is positive.
    label_frequency : float
        g, above 0 and at most 1.
    train : float
        Share of the rows in the training set, between 0 and 1, both excluded.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Split

    Raises
    ------
    UsageError
        y does not have two labels, a share is out of range, or no row would be labelled, unlabeled, or in the test set.
    """
    positive = _positives(y)
    _check_share("label_frequency", label_frequency, top=True)
    _check_share("train", train)
    order = rng.permutation(len(y))
    kept = _nearest(train * len(y))
    is_positive = np.zeros(len(y), dtype=bool)
    is_positive[positive] = True
    candidates = order[:kept][is_positive[order[:kept]]]
    count = _nearest(label_frequency * len(candidates))
    labelled = rng.permutation(candidates)[:count]
    rest = order[:kept][~np.isin(order[:kept], labelled)]
    return _split(labelled, rest, order[kept:], len(candidates), label_frequency, rng)


SCENARIOS: dict[str, Callable[..., Split]] = {"case-control": case_control, "single-training-set": single_training_set}


def make_split(
    scenario: str, y: AnyArray, label_frequency: float, *, rng: np.random.Generator, **options: float
) -> Split:
    """Split in the scenario "case-control" or "single-training-set"; the parameters are those of its function.

    Examples
    --------
    >>> made = make_split("case-control", np.repeat([1, -1], 50), 0.5, rng=np.random.default_rng(0))
    >>> len(made.train), len(made.test), int(made.s.sum())
    (76, 24, 21)
    """
    if scenario not in SCENARIOS:
        raise unknown("scenario", scenario, SCENARIOS)
    return SCENARIOS[scenario](y, label_frequency, rng=rng, **options)


def repeated_splits(
    scenario: str, y: AnyArray, label_frequency: float, *, repeats: int, seed: int, name: str = "", **options: float
) -> list[Split]:
    """Return `repeats` splits; each depends only on (seed, name, scenario, label frequency, repeat).

    `name` is the name of the data set. A split does not depend on the number of splits.
    """
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1, not {repeats}")
    return [
        make_split(
            scenario, y, label_frequency, rng=split_stream(seed, name, scenario, label_frequency, repeat), **options
        )
        for repeat in range(repeats)
    ]


def split_stream(seed: int, name: str, scenario: str, label_frequency: float, repeat: int) -> np.random.Generator:
    """Return the random number generator of a split."""
    return stream(seed, "split", name, scenario, float(label_frequency), int(repeat))


@dataclass(frozen=True)
class SavedSplits:
    """Splits of a data set, as stored in a file.

    Attributes
    ----------
    splits : list of Split
        The splits, in order.
    dataset : str
        Name of the data set or file that was split.
    content_sha256 : str
        Hash of its (X, y).
    rows : int
        Number of its rows.
    settings : dict
        Scenario, label frequency and seed given to `save_splits`.
    """

    splits: list[Split]
    dataset: str
    content_sha256: str
    rows: int
    settings: dict[str, Any] = field(default_factory=dict)


_FORMAT = "pucli-splits"
_VERSION = 1


def save_splits(
    path: str | Path, splits: Sequence[Split], *, dataset: str, content_sha256: str, rows: int, **settings: Any
) -> None:
    """Write splits to a JSON file atomically, with row numbers from 0.

    Parameters
    ----------
    path : str or Path
        The file; an existing one is replaced.
    splits : sequence of Split
        The splits.
    dataset : str
        Name of the data set or file.
    content_sha256 : str
        Hash of its (X, y); `load_splits` refuses other data.
    rows : int
        Number of its rows.
    **settings
        JSON values to store as well, such as scenario, label_frequency and seed.

    Raises
    ------
    UsageError, RunError
        The file cannot be written; the disk is full.
    """
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "dataset": dataset,
        "content_sha256": content_sha256,
        "rows": rows,
        "settings": settings,
        "splits": [
            {"train": s.train.tolist(), "labelled": s.train[s.s == 1].tolist(), "test": s.test.tolist()} for s in splits
        ],
    }
    with replacing(path) as partial:
        partial.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


def load_splits(path: str | Path, *, content_sha256: str | None = None, rows: int | None = None) -> SavedSplits:
    """Read splits from a file written by `save_splits`.

    Parameters
    ----------
    path : str or Path
        The file.
    content_sha256 : str, optional
        Hash of the data to be split; splits of other data are refused.
    rows : int, optional
        Number of rows of these data.

    Returns
    -------
    SavedSplits

    Raises
    ------
    UsageError
        The file is missing, damaged, not a splits file, or made for other data.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the splits file {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(
            f"{path}: not a splits file, or damaged ({error}); make it again with `pucli split`"
        ) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise UsageError(f"{path} is not a splits file; `pucli split` writes one")
    if content.get("version") != _VERSION:
        raise UsageError(
            f"{path}: splits file of version {content.get('version')!r}, but this pucli reads version {_VERSION}"
        )
    try:
        saved = SavedSplits(
            [_restored(item, int(content["rows"])) for item in content["splits"]],
            str(content["dataset"]),
            str(content["content_sha256"]),
            int(content["rows"]),
            dict(content["settings"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: damaged splits file ({error}); make it again with `pucli split`") from error
    if (content_sha256 is not None and content_sha256 != saved.content_sha256) or (
        rows is not None and rows != saved.rows
    ):
        raise UsageError(
            f"{path} holds splits of {saved.dataset!r} with {saved.rows} rows, not of the given data; "
            "use the data they were made from, or make new splits with `pucli split`"
        )
    return saved


def _restored(item: dict[str, list[int]], rows: int) -> Split:
    train = np.array(item["train"], dtype=np.int64)
    test = np.array(item["test"], dtype=np.int64)
    labelled = np.array(item["labelled"], dtype=np.int64)
    together = np.concatenate([train, test])
    if train.ndim != 1 or test.ndim != 1 or len(np.unique(together)) != len(together):
        raise ValueError("a row is in a split twice")
    if len(together) and (together.min() < 0 or together.max() >= rows):
        raise ValueError(f"a row number is outside 0..{rows - 1}")
    if not np.isin(labelled, train).all():
        raise ValueError("a labelled row is not in the training set")
    return Split(train, test, np.isin(train, labelled).astype(np.int8))


def _split(
    labelled: Ints,
    unlabeled: Ints,
    test: Ints,
    n_positive: int,
    label_frequency: float,
    rng: np.random.Generator,
) -> Split:
    if not len(labelled):
        raise UsageError(
            f"no labelled row: label frequency {label_frequency:g} of {n_positive} positives rounds to none; "
            "increase the label frequency or use more rows"
        )
    for rows, what in ((unlabeled, "no unlabeled row in the training set"), (test, "no row in the test set")):
        if not len(rows):
            raise UsageError(f"{what}: use more rows or another share for training")
    s = np.repeat(np.array([1, 0], dtype=np.int8), [len(labelled), len(unlabeled)])
    order = rng.permutation(len(s))
    return Split(np.concatenate([labelled, unlabeled])[order].astype(np.int64), test.astype(np.int64), s[order])


def _positives(y: AnyArray) -> Ints:
    """Return the numbers of the rows with the larger of two labels."""
    labels = np.unique(y)
    if len(labels) != 2:
        shown = ", ".join(map(str, labels[:5])) + (", ..." if len(labels) > 5 else "")
        raise UsageError(
            f"a split needs two classes, found: {shown or 'none'}; name the positive class (--positive) or its data set"
        )
    return np.flatnonzero(np.asarray(y) == labels[1])


def _check_share(name: str, value: float, *, top: bool = False) -> None:
    if not (0 < value < 1 or (top and value == 1)):
        raise UsageError(f"{name} must be above 0 and {'at most' if top else 'below'} 1, not {value}")


def _nearest(value: float) -> int:
    """Return the nearest integer; halves, up to rounding errors, are rounded up."""
    return int(np.floor(value + 0.5 + 1e-9))


def held_out_rows(n: int, seed: int, repeat: int, *, train: float = 0.7) -> tuple[Ints, Ints]:
    """Return the numbers of a random share `train` of n rows and those of the other rows, both sorted."""
    order = np.random.default_rng([seed, repeat]).permutation(n)
    held = order[round(train * n) :]
    return np.sort(order[: n - len(held)]), np.sort(held)


def hidden_classes(
    classes: Ints, label_frequency: float, *, seed: int, repeat: int, unlabeled: int, train: float = 0.7
) -> tuple[Ints, Ints, Ints]:
    """Split rows of several classes and hide the class of most training rows; both draws are stratified.

    Parameters
    ----------
    classes : array of shape (n,)
        Class of each row.
    label_frequency : float
        Share of the training rows whose class is kept, between 0 and 1, both excluded.
    seed, repeat : int
        Seeds of the draws.
    unlabeled : int
        Class number of rows whose class is hidden.
    train : float
        Share of the rows in the training set.

    Returns
    -------
    train, test : arrays of row numbers
    y : array
        Classes of the training rows, with `unlabeled` for hidden ones.

    Raises
    ------
    UsageError
        The share is out of range, or a class is too small for it.
    """
    from sklearn.model_selection import train_test_split

    if not 0 < label_frequency < 1:
        raise UsageError(f"--label-frequency must be above 0 and below 1, not {label_frequency}.")
    random = np.random.RandomState(np.random.MT19937(np.random.SeedSequence([seed, repeat])))
    try:
        kept, test = train_test_split(np.arange(len(classes)), train_size=train, stratify=classes, random_state=random)
        labelled, _ = train_test_split(
            np.arange(len(kept)), train_size=label_frequency, stratify=classes[kept], random_state=random
        )
    except ValueError as error:
        raise UsageError(f"--label-frequency {label_frequency}: {error}") from error
    y = np.full(len(kept), unlabeled)
    y[labelled] = classes[kept][labelled]
    return kept, test, y
