"""Tasks of a comparison: rows, and the splits of each repeat, which are the same for every method.

If the classes are known, labels are hidden as `pucli split` hides them, and the test rows are scored by their classes.
A table with only some known positives is divided in two, labeled and unlabeled rows alike, and the held-out part is
scored by metrics that need no classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError, unknown
from pucli.core.seeding import stream
from pucli.data.reading import Reading
from pucli.data.rows.user_file import ColumnChoice
from pucli.data.splits.groups import held_out_groups
from pucli.data.splits.scenarios import SCENARIOS, make_split, split_stream
from pucli.tuning.folds import copies_together

HELD_OUT = 0.3
# Share of the rows, the oldest, that are never test rows of a split by time.
OLDEST = 0.5
# Fewest rows of each kind to divide.
LEAST = 5


@dataclass(frozen=True)
class Division:
    """The rows of one repeat."""

    X_train: Floats  # (n, m)
    s: AnyArray  # (n,), 1 for labeled positives, 0 for unlabeled rows
    X_test: Floats  # (k, m)
    # (k,), 1 and 0: the classes of the test rows, or, where these are not known, whether a row is a known positive
    truth: AnyArray
    groups: Ints | None = None  # (n,), groups of the training rows


@dataclass(frozen=True)
class Task:
    """Rows to compare on.

    Parameters
    ----------
    name : str
        Name of the data set or of the file.
    X : array of shape (n, m)
        Rows.
    positive : array of bool, shape (n,)
        True for positive rows, or for known positives if classes are not known.
    known : bool
        Whether the classes of all rows are known.
    notes : tuple of str
        Remarks of the reader of the rows.
    scenario : str
        "case-control", or "single-training-set": labeled and unlabeled rows are one sample.
    groups : array of int of shape (n,) or None
        Group of each row, from 0; no group is in both the training and the test rows.
    times : array of shape (n,) or None
        Time of each row; with it, test rows are newer than training rows.
    """

    name: str
    X: Floats
    positive: Bools
    known: bool
    notes: tuple[str, ...] = ()
    scenario: str = "case-control"
    groups: Ints | None = None
    times: Floats | None = None

    def __post_init__(self) -> None:
        if self.scenario not in SCENARIOS:
            raise unknown("scenario", self.scenario, SCENARIOS)

    @property
    def denominator(self) -> str:
        """The rows in which metrics without classes count the share predicted positive: "all" or "unlabeled"."""
        return "all" if self.scenario == "single-training-set" else "unlabeled"

    def division(self, repeat: int, *, seed: int, label_frequency: float, repeats: int = 10) -> Division:
        """Return the training and test rows of a repeat.

        They depend on the arguments and the task's name alone, so every method gets the same rows.

        Parameters
        ----------
        repeat : int
            Number of the repeat.
        seed : int
            Seed of all repeats.
        label_frequency : float
            Share of the positives that stay labeled; used only if the classes are known.
        repeats : int, default=10
            Number of repeats; used only for splits by time.

        Raises
        ------
        UsageError
            A split by time leaves too few rows of a kind.
        """
        if self.times is not None:
            return self._by_time(repeat, repeats, seed, label_frequency)
        if self.known:
            y = np.where(self.positive, 1, -1)
            rng = split_stream(seed, self.name, self.scenario, label_frequency, repeat)
            split = make_split(self.scenario, y, label_frequency, rng=rng, groups=self.groups)
            return self._divided(split.train, split.s.astype(np.int64), split.test)
        rng = stream(seed, "compare", self.name, repeat)
        kinds = (self.positive, ~self.positive)
        if self.groups is not None:
            held = held_out_groups(self.groups, HELD_OUT, rng, kinds)
        else:
            held = np.zeros(len(self.X), dtype=bool)
            for kind in kinds:
                rows = rng.permutation(np.flatnonzero(kind))
                held[rows[: round(len(rows) * HELD_OUT)]] = True
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        return self._divided(train, self.positive[train].astype(int), test)

    def _by_time(self, repeat: int, repeats: int, seed: int, label_frequency: float) -> Division:
        """Return a block of the newer half of the rows as test rows, and all rows older than it for training."""
        assert self.times is not None
        older = np.searchsorted(np.sort(self.times), self.times) / len(self.times)
        block = np.floor((older - OLDEST) / (1.0 - OLDEST) * repeats)  # rows of one time are in one block
        held, train = block == repeat, block < repeat
        if self.groups is not None:
            train &= ~np.isin(self.groups, self.groups[held])
        for rows, what in ((held, "test"), (train, "training")):
            for kind, of in ((self.positive, "positive"), (~self.positive, "other")):
                if np.count_nonzero(kind & rows) < (1 if what == "test" else LEAST):
                    raise UsageError(
                        f"--time: the {what} rows of split {repeat + 1} of {repeats} have too few {of} rows; use fewer "
                        "--repeats"
                    )
        if not self.known:
            train_rows = np.flatnonzero(train)
            return self._divided(train_rows, self.positive[train_rows].astype(int), np.flatnonzero(held))
        used = np.flatnonzero(held | train)
        y = np.where(self.positive[used], 1, -1)
        rng = split_stream(seed, self.name, self.scenario, label_frequency, repeat)
        split = make_split(self.scenario, y, label_frequency, rng=rng, held=held[used])
        return self._divided(used[split.train], split.s.astype(np.int64), used[split.test])

    def _divided(self, train: Ints, s: AnyArray, test: Ints) -> Division:
        groups = None if self.groups is None else self.groups[train]
        return Division(self.X[train], s, self.X[test], self.positive[test].astype(int), groups)

    def test_share(self, label_frequency: float, repeats: int = 10) -> float:
        """Return the number of test rows over that of training rows, for a split by time the mean over the repeats."""
        number = range(1 if self.times is None else repeats)
        made = [self.division(k, seed=0, label_frequency=label_frequency, repeats=repeats) for k in number]
        return float(np.mean([len(one.X_test) / len(one.X_train) for one in made]))


def declared_task(name: str, *, scenario: str = "case-control") -> Task:
    """Return the task of a declared data set with two classes.

    Parameters
    ----------
    name : str
        Name of the data set.
    scenario : str, default="case-control"
        How labels are hidden: "case-control" or "single-training-set".

    Raises
    ------
    UsageError
        If the data set has other classes than a positive and a negative one.
    """
    from pucli.data import load_dataset

    data = load_dataset(name)
    if set(np.unique(data.y)) != {-1, 1}:
        raise UsageError(f"{data.name} has no positive and negative class, which a comparison needs.")
    return Task(data.name, data.X, np.asarray(data.y == 1), True, data.notes, scenario, data.groups)


def own_task(
    path: Path | Sequence[Path],
    label: str | None,
    positive: Sequence[str] | str | None,
    *,
    known: bool,
    positives_from: Path | None = None,
    choice: ColumnChoice | None = None,
    scenario: str = "case-control",
    reading: Reading | None = None,
) -> Task:
    """Return the task of a file, whose columns are encoded once, from all rows and without their labels.

    Parameters
    ----------
    path : Path or sequence of Path
        The file, or several with the same columns.
    label : str or None
        Its label column, or None if `positives_from` has the labels.
    positive : str, sequence of str or None
        Values or rules that mark positives; None if the column determines it.
    known : bool
        Whether rows that are not marked are negative; otherwise they are unlabeled.
    positives_from : Path, optional
        File of the positive rows or their identifiers, in place of `label`.
    choice : ColumnChoice, optional
        The user's choice of columns.
    scenario : str
        As in `Task`.
    reading : Reading, optional
        The user's options for reading.
    """
    from pucli.data.files.tables import files_of, title_of
    from pucli.data.rows.training_rows import RowSource, training_rows

    first, *more = files_of(path)
    source = RowSource(
        data=first,
        label=label,
        positive=positive,
        positives_from=positives_from,
        choice=choice or ColumnChoice(),
        more=more,
        reading=reading or Reading(),
    )
    path = Path(title_of([first, *more]))
    rows = training_rows("pu", source)
    if not isinstance(rows.X, np.ndarray):
        raise UsageError(f"{path} is sparse and wide, which a comparison does not take.")
    for kind, count in (("labeled", rows.n_labeled), ("other", len(rows.X) - rows.n_labeled)):
        if count < LEAST:
            raise UsageError(f"{path}: {count} {kind} rows; a comparison divides them and needs at least {LEAST}.")
    groups, copies = (rows.groups, []) if rows.groups is not None else copies_together(rows.X, rows.labeled, LEAST)
    whole = []
    if not known and (other := rows.other):
        whole.append(
            f"every row is {rows.words['1']!r} or {other!r}, and {other!r} counts as unlabeled; if the classes are "
            "known, add --labels true, which compares by them"
        )
    if (positives_from is not None or positive) and rows.positive != f"{label} = {''.join(positive or ())}":
        whole.append(f"labeled positives: {rows.n_labeled:,} rows ({rows.positive})")
    notes = (*rows.notes, *whole, *rows.warnings, *copies)
    return Task(path.name, rows.X, rows.labeled, known, notes, scenario, groups, rows.times)
