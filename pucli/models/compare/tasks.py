"""Tasks of a comparison: rows, and the splits of each repeat, which are the same for every method.

If the classes are known, labels are hidden as `pucli split` hides them, and the test rows are scored by their classes.
A table with only some known positives is divided in two, labelled and unlabeled rows alike, and the held-out part is
scored by metrics that need no classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats
from pucli.core.errors import UsageError, unknown
from pucli.core.seeding import stream
from pucli.data.reading import Reading
from pucli.data.rows.user_file import ColumnChoice
from pucli.data.splits.scenarios import SCENARIOS, make_split, split_stream

HELD_OUT = 0.3


@dataclass(frozen=True)
class Division:
    """The rows of one repeat.

    Parameters
    ----------
    X_train : array of shape (n, m)
    s : array of shape (n,)
        1 for labelled positives, 0 for unlabeled rows.
    X_test : array of shape (k, m)
    truth : array of shape (k,)
        1 and 0: the classes of the test rows, or, where these are not known, whether a row is a known positive.
    """

    X_train: Floats
    s: AnyArray
    X_test: Floats
    truth: AnyArray


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
        "case-control", or "single-training-set": labelled and unlabeled rows are one sample.
    """

    name: str
    X: Floats
    positive: Bools
    known: bool
    notes: tuple[str, ...] = ()
    scenario: str = "case-control"

    def __post_init__(self) -> None:
        if self.scenario not in SCENARIOS:
            raise unknown("scenario", self.scenario, SCENARIOS)

    @property
    def denominator(self) -> str:
        """The rows in which metrics without classes count the share predicted positive: "all" or "unlabeled"."""
        return "all" if self.scenario == "single-training-set" else "unlabeled"

    def division(self, repeat: int, *, seed: int, label_frequency: float) -> Division:
        """Return the training and test rows of a repeat.

        They depend on the arguments and the task's name alone, so every method gets the same rows.

        Parameters
        ----------
        repeat : int
            Number of the repeat.
        seed : int
            Seed of all repeats.
        label_frequency : float
            Share of the positives that stay labelled; used only if the classes are known.
        """
        if self.known:
            y = np.where(self.positive, 1, -1)
            rng = split_stream(seed, self.name, self.scenario, label_frequency, repeat)
            split = make_split(self.scenario, y, label_frequency, rng=rng)
            return Division(
                self.X[split.train], split.s.astype(np.int64), self.X[split.test], self.positive[split.test].astype(int)
            )
        rng = stream(seed, "compare", self.name, repeat)
        kinds = [rng.permutation(np.flatnonzero(kind)) for kind in (self.positive, ~self.positive)]
        cuts = [round(len(rows) * HELD_OUT) for rows in kinds]
        test = np.sort(np.concatenate([rows[:cut] for rows, cut in zip(kinds, cuts, strict=True)]))
        train = np.sort(np.concatenate([rows[cut:] for rows, cut in zip(kinds, cuts, strict=True)]))
        return Division(self.X[train], self.positive[train].astype(int), self.X[test], self.positive[test].astype(int))

    def test_share(self, label_frequency: float) -> float:
        """Return the number of test rows over that of training rows."""
        division = self.division(0, seed=0, label_frequency=label_frequency)
        return len(division.X_test) / len(division.X_train)


def declared_task(
    name: str, *, scenario: str = "case-control", mirror: str | None = None, offline: bool | None = None
) -> Task:
    """Return the task of a declared data set with two classes.

    Parameters
    ----------
    name : str
        Name of the data set.
    scenario : str, default="case-control"
        How labels are hidden: "case-control" or "single-training-set".
    mirror : str, optional
        Folder or address that has the files; by default `PUCLI_MIRROR`, otherwise the declared addresses.
    offline : bool, optional
        Whether nothing is downloaded; by default as `PUCLI_OFFLINE` says.

    Raises
    ------
    UsageError
        If the data set has other classes than a positive and a negative one.
    """
    from pucli.data import load_dataset

    data = load_dataset(name, mirror=mirror, offline=offline)
    if set(np.unique(data.y)) != {-1, 1}:
        raise UsageError(f"{data.name} has no positive and negative class, which a comparison needs.")
    return Task(data.name, data.X, np.asarray(data.y == 1), True, data.notes, scenario)


def own_task(
    path: Path | Sequence[Path],
    label: str,
    positive: str | None,
    *,
    known: bool,
    choice: ColumnChoice | None = None,
    scenario: str = "case-control",
    reading: Reading | None = None,
) -> Task:
    """Return the task of a file, whose columns are encoded once, from all rows and without their labels.

    Parameters
    ----------
    path : Path or sequence of Path
        The file, or several with the same columns.
    label : str
        Its label column.
    positive : str or None
        Value that marks positives; None if the column determines it.
    known : bool
        Whether rows that are not marked are negative; otherwise they are unlabeled.
    choice : ColumnChoice, optional
        The user's choice of columns.
    scenario : str
        As in `Task`.
    reading : Reading, optional
        The user's options for reading.
    """
    from pucli.data.files.several_files import files_of, title_of
    from pucli.data.rows.training_rows import RowSource, training_rows

    first, *more = files_of(path)
    source = RowSource(
        data=first,
        label=label,
        positive=positive,
        choice=choice or ColumnChoice(),
        more=more,
        reading=reading or Reading(),
    )
    path = Path(title_of([first, *more]))
    rows = training_rows("pu", source)
    if not isinstance(rows.X, np.ndarray):
        raise UsageError(f"{path} is sparse and wide, which a comparison does not take.")
    least = 5
    for kind, count in (("labelled", rows.n_labelled), ("other", len(rows.X) - rows.n_labelled)):
        if count < least:
            raise UsageError(f"{path}: {count} {kind} rows; a comparison divides them and needs at least {least}.")
    return Task(path.name, rows.X, rows.labelled, known, (*rows.notes, *rows.warnings), scenario)
