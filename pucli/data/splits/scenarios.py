"""Splits of (X, y) into labeled positives, unlabeled rows and a test set.

Labels are selected completely at random (SCAR), or positives with a larger `tilt` are selected more often (SAR,
`pucli.data.splits.labeling`). Two scenarios (Elkan & Noto 2008; Wang 2024, 3.4.2 and 3.6.2):

* case-control: the labeled positives are one sample and the unlabeled rows another; the test set is drawn from the
  unlabeled rows.
* single training set: all rows are one sample, and some positives of its training part are labeled.

In both, the label frequency is the share of the training positives that are labeled. A single training set may also be
drawn after the labels (``labeled="all"``): then it is the share of the positives of all rows, and test rows may be
positives that had a label. So it is in the scripts that the author of the thesis published for its chapter 4 (GitHub,
tkks22123/GKF-PUAL).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError, unknown
from pucli.core.seeding import stream
from pucli.data.splits.groups import held_out_groups
from pucli.data.splits.labeling import labeling_tilt

# Share of the rows, or of the unlabeled rows, in the training set.
TRAIN = 0.7
# Of whose positives a share is labeled in a single training set.
LABELED = ("training", "all")


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
        1 for each row of `train` that is a labeled positive, 0 for an unlabeled row.
    """

    train: Ints
    test: Ints
    s: NDArray[np.int8]


def case_control(
    y: AnyArray,
    label_frequency: float,
    *,
    unlabeled_train: float = TRAIN,
    rng: np.random.Generator,
    tilt: Floats | None = None,
    held: Bools | None = None,
) -> Split:
    """Split in the case-control scenario.

    With the label frequency g and the share t of unlabeled rows in the training set, a share
    gamma' = t g / (1 - (1 - t) g) of the positives is labeled, so that a share g of the training positives is labeled
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
    tilt : array of shape (n,), optional
        Log of the relative chance of each row to be the next one labeled; None for equal chances.
    held : array of bool of shape (n,), optional
        Rows of the test set, in place of a share 1 - t drawn at random. A share g of all positives is labeled, and the
        labeled ones among these rows are left out.

    Raises
    ------
    UsageError
        y does not have two labels, a share is out of range, or no row would be labeled, unlabeled, or in the test set.
    """
    positive = _positives(y)
    _check_share("label_frequency", label_frequency)
    _check_share("unlabeled_train", unlabeled_train)
    if held is not None:
        labeled = np.zeros(len(y), dtype=bool)
        labeled[_drawn(positive, tilt, rng)[: _nearest(label_frequency * len(positive))]] = True
        marked, rest, test = (np.flatnonzero(kind) for kind in (labeled & ~held, ~labeled & ~held, ~labeled & held))
        return _split(marked, rest, test, len(positive), label_frequency, rng)
    share = unlabeled_train * label_frequency / (1.0 - (1.0 - unlabeled_train) * label_frequency)
    order = _drawn(positive, tilt, rng)
    count = _nearest(share * len(positive))
    unlabeled = rng.permutation(np.setdiff1d(np.arange(len(y)), order[:count]))
    kept = _nearest(unlabeled_train * len(unlabeled))
    return _split(order[:count], unlabeled[:kept], unlabeled[kept:], len(positive), label_frequency, rng)


def single_training_set(
    y: AnyArray,
    label_frequency: float,
    *,
    train: float = TRAIN,
    labeled: str = "training",
    rng: np.random.Generator,
    tilt: Floats | None = None,
    held: Bools | None = None,
) -> Split:
    """Split in the single-training-set scenario.

    The training set is a random share `train` of all rows; a share g of its positives is labeled. With
    ``labeled="all"`` a share g of the positives of all rows is labeled before the training set is drawn, so that the
    number of labeled training rows varies, and test rows lose the labels that they had.

    Parameters
    ----------
    y : array of shape (n,)
        Two labels, of which the larger is positive.
    label_frequency : float
        g, above 0 and at most 1.
    train : float
        Share of the rows in the training set, between 0 and 1, both excluded.
    labeled : {"training", "all"}, default="training"
        Of whose positives a share g is labeled.
    rng : numpy.random.Generator
        Source of randomness.
    tilt : array of shape (n,), optional
        Log of the relative chance of each row to be the next one labeled; None for equal chances.
    held : array of bool of shape (n,), optional
        Rows of the test set, in place of a share drawn at random.

    Raises
    ------
    UsageError
        y does not have two labels, a share is out of range, or no row would be labeled, unlabeled, or in the test set.
    """
    positive = _positives(y)
    _check_share("label_frequency", label_frequency, top=True)
    _check_share("train", train)
    if labeled not in LABELED:
        raise unknown("kind of labeled positives", labeled, LABELED)
    order = rng.permutation(len(y))
    kept = _nearest(train * len(y))
    if held is not None:
        order, kept = np.concatenate([order[~held[order]], order[held[order]]]), int(np.count_nonzero(~held))
    is_positive = np.zeros(len(y), dtype=bool)
    is_positive[positive] = True
    candidates = order[:kept][is_positive[order[:kept]]] if labeled == "training" else positive
    count = _nearest(label_frequency * len(candidates))
    marked = _drawn(candidates, tilt, rng)[:count]
    marked = marked[np.isin(marked, order[:kept])]
    rest = order[:kept][~np.isin(order[:kept], marked)]
    return _split(marked, rest, order[kept:], len(candidates), label_frequency, rng)


SCENARIOS: dict[str, Callable[..., Split]] = {"case-control": case_control, "single-training-set": single_training_set}


def make_split(
    scenario: str,
    y: AnyArray,
    label_frequency: float,
    *,
    rng: np.random.Generator,
    tilt: Floats | None = None,
    groups: Ints | None = None,
    held: Bools | None = None,
    **options: Any,
) -> Split:
    """Split (X, y) in a scenario.

    Parameters
    ----------
    scenario : {"case-control", "single-training-set"}
        The scenario.
    y : array of shape (n,)
        Two labels, of which the larger is positive.
    label_frequency : float
        Share of the positives that is labeled, see the function of the scenario.
    rng : numpy.random.Generator
        Source of randomness.
    tilt : array of shape (n,), optional
        Log of the relative chance of each row to be the next one labeled; None for equal chances.
    groups : array of int of shape (n,), optional
        Group of each row, from 0; rows of one group are never both training and test rows.
    held : array of bool of shape (n,), optional
        Rows of the test set, in place of rows or groups drawn at random.
    **options : object
        `unlabeled_train`, or `train` and `labeled`, see the function of the scenario.

    Examples
    --------
    >>> made = make_split("case-control", np.repeat([1, -1], 50), 0.5, rng=np.random.default_rng(0))
    >>> len(made.train), len(made.test), int(made.s.sum())
    (76, 24, 21)
    """
    if scenario not in SCENARIOS:
        raise unknown("scenario", scenario, SCENARIOS)
    if groups is not None and held is None:
        share = options.get("train", options.get("unlabeled_train", TRAIN))
        held = held_out_groups(groups, 1.0 - share, rng)
    return SCENARIOS[scenario](y, label_frequency, rng=rng, tilt=tilt, held=held, **options)


def repeated_splits(
    scenario: str,
    y: AnyArray,
    label_frequency: float,
    *,
    repeats: int,
    seed: int,
    name: str = "",
    labeling: str = "scar",
    X: Floats | None = None,
    **options: Any,
) -> list[Split]:
    """Return repeated splits; each depends only on (seed, name, scenario, label frequency, repeat) and the labeling.

    Parameters
    ----------
    scenario : {"case-control", "single-training-set"}
        The scenario.
    y : array of shape (n,)
        Two labels, of which the larger is positive.
    label_frequency : float
        Share of the positives that is labeled.
    repeats : int
        Number of splits, on which no split depends.
    seed : int
        Seed of all splits.
    name : str, default=""
        Name of the data set.
    labeling : str, default="scar"
        How positives are labeled, see `pucli.data.splits.labeling`.
    X : array of shape (n, m), optional
        Rows, which a labeling other than "scar" needs.
    **options : object
        See `make_split`, such as `groups`.
    """
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1, not {repeats}")
    return [
        make_split(
            scenario,
            y,
            label_frequency,
            rng=split_stream(seed, name, scenario, label_frequency, repeat),
            tilt=None if X is None else labeling_tilt(labeling, X, y, stream(seed, "labelling", name, repeat)),
            **options,
        )
        for repeat in range(repeats)
    ]


def split_stream(seed: int, name: str, scenario: str, label_frequency: float, repeat: int) -> np.random.Generator:
    """Return the random number generator of a split."""
    return stream(seed, "split", name, scenario, float(label_frequency), int(repeat))


def _split(
    labeled: Ints,
    unlabeled: Ints,
    test: Ints,
    n_positive: int,
    label_frequency: float,
    rng: np.random.Generator,
) -> Split:
    if not len(labeled):
        raise UsageError(
            f"no labeled row: label frequency {label_frequency:g} of {n_positive} positives rounds to none; "
            "increase the label frequency or use more rows"
        )
    for rows, what in ((unlabeled, "no unlabeled row in the training set"), (test, "no row in the test set")):
        if not len(rows):
            raise UsageError(f"{what}: use more rows or another share for training")
    s = np.repeat(np.array([1, 0], dtype=np.int8), [len(labeled), len(unlabeled)])
    order = rng.permutation(len(s))
    return Split(np.concatenate([labeled, unlabeled])[order].astype(np.int64), test.astype(np.int64), s[order])


def _drawn(rows: Ints, tilt: Floats | None, rng: np.random.Generator) -> Ints:
    """Return rows in the order in which they are drawn without replacement, with chances in proportion to exp(tilt)."""
    if tilt is None:
        return rng.permutation(rows)
    # the order of Gumbel variables with these locations has this distribution
    return rows[np.argsort(-(tilt[rows] + rng.gumbel(size=len(rows))), kind="stable")]


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
