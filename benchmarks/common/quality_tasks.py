"""The 32 public binary tasks of benchmark `quality`: the data sets of the catalogue whose names begin with "task-".

At most `MOST_ROWS` rows are drawn, once per task; of images the leading principal components are taken. The tasks are
in two halves: those of `DESIGN` may be used while the automatic classifier is developed, the others are used once, when
it is finished.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import f1_score

from benchmarks.common.timing import Progress
from pucli.core.errors import RunError, UsageError
from pucli.core.seeding import stream
from pucli.data import load_dataset
from pucli.data.catalogue.entries import dataset_names, load_catalogue
from pucli.data.features import Standardizer
from pucli.data.splits.scenarios import make_split, split_stream

PREFIX = "task-"
MOST_ROWS = 800
# Number of principal components of the tasks that are images.
COMPONENTS = {"mnist-odd": 25, "mnist-38": 25}
GREY_LEVELS = 255.0
# Tasks from one file are in the same half.
DESIGN = frozenset(
    (
        *("ecoli-cp", "ecoli-im", "enb-cool", "ld", "avila-ea", "avila-multi", "hd", "wine2"),
        *("diabetes", "adult", "mushroom", "skin", "umd", "australian", "spectf", "chainlink"),
    )
)


class Rows(NamedTuple):
    """Features X (n, m) and y (n,), 1 for positives and 0 for negatives."""

    X: np.ndarray
    y: np.ndarray


def tasks(half: str = "all") -> list[str]:
    """Return the names of the tasks of a half: "design", "look-once" or "all"."""
    every = [name.removeprefix(PREFIX) for name in dataset_names() if name.startswith(PREFIX)]
    halves = {"all": every, "design": [name for name in every if name in DESIGN]}
    halves["look-once"] = [name for name in every if name not in DESIGN]
    if half not in halves:
        raise UsageError(f"no half {half!r} of the tasks; there are {', '.join(halves)}.")
    return halves[half]


def at_hand(half: str, folder: Path | None) -> list[str]:
    """Return the tasks of a half whose rows can be had: see `load`.

    Raise UsageError, which says why not the first, if none of them can or, without a folder, no more than those that
    come with scikit-learn.
    """
    found, missing = [], []
    for task in tasks(half):
        try:
            all_rows(PREFIX + task, folder)
        except RunError as error:
            missing.append(str(error))
        else:
            found.append(task)
    downloaded = [task for task in found if load_catalogue()[PREFIX + task].files]
    if missing and not (downloaded if folder is None else found):
        raise UsageError(f"no file of the tasks can be had; set PUCLI_MIRROR to their folder. The first: {missing[0]}")
    return found


def load(task: str, folder: Path | None = None, most: int = MOST_ROWS) -> Rows:
    """Return at most `most` rows of a task; raise RunError if its file cannot be had, or is another one.

    `folder` is a mirror of the files, and nothing is then downloaded; by default they come as those of `pucli fetch`.
    """
    rows = all_rows(PREFIX + task, folder)
    if task in COMPONENTS:
        rows = Rows(_components(rows.X / GREY_LEVELS, COMPONENTS[task]), rows.y)
    if len(rows.y) <= most:
        return rows
    drawn = np.sort(stream(0, "quality", task).permutation(len(rows.y))[:most])
    return Rows(rows.X[drawn], rows.y[drawn])


def each_task(
    half: str, folder: Path | None, progress: Progress, most: int = MOST_ROWS, left_out: Collection[str] = ()
) -> Iterator[tuple[str, Rows]]:
    """Yield the name and the rows of each task of a half but those `left_out`, and report progress after it."""
    present = [task for task in at_hand(half, folder) if task not in left_out]
    for done, task in enumerate(present, start=1):
        yield task, load(task, folder, most)
        progress(done, len(present))


def half_of(task: str) -> str:
    """Return "design" or "look-once"."""
    return "design" if task in DESIGN else "look-once"


class CaseControl(NamedTuple):
    """Training rows X (n, m), their classes y and which are labeled s (n,), 1 or 0; test rows and their classes."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def standardized(self) -> CaseControl:
        """Return the same rows with features of mean 0 and deviation 1 on the training rows."""
        scaler = Standardizer().fit(self.X)
        return self._replace(X=scaler.transform(self.X), X_test=scaler.transform(self.X_test))


def case_control(task: str, rows: Rows, frequency: float, repeat: int, seed: int = 7) -> CaseControl:
    """Return a case-control split of the rows of a task, `frequency` of whose positives for training are labeled."""
    split = make_split(
        "case-control", rows.y, frequency, rng=split_stream(seed, task, "case-control", frequency, repeat)
    )
    return CaseControl(rows.X[split.train], rows.y[split.train], split.s, rows.X[split.test], rows.y[split.test])


def of_tasks(cells: Sequence[Mapping[str, Any]], half: str) -> str:
    """Return the words of a title on the tasks of some cells."""
    return f"{len({cell['task'] for cell in cells})} tasks ({half})"


def times(repeats: int) -> str:
    """Return "1 repeat", "2 repeats"."""
    return f"{repeats} repeat{'s' * (repeats > 1)}"


def f1(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the F1 of predictions (n,), 0 where no row is predicted positive."""
    return float(f1_score(y, predicted, zero_division=0))


def all_rows(data: str, folder: Path | None = None) -> Rows:
    """Return all rows of a data set of the catalogue; `folder` as for `load`."""
    found = load_dataset(data, mirror=folder, offline=None if folder is None else True)
    return Rows(found.X, (found.y == 1).astype(int))


def _components(X: np.ndarray, number: int) -> np.ndarray:
    """Return the leading principal components of the rows of X."""
    left, scale, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    scores: np.ndarray = left[:, :number] * scale[:number]
    return scores
