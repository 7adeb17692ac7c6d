"""The 32 public binary tasks of `pucli bench quality`, made from files in a folder.

A task is a file, its label column, and the positive labels. At most `MOST_ROWS` rows are drawn, once per task. Text
columns are one-hot encoded, and missing numbers are replaced by the median. The tasks are in two halves: those of
`DESIGN` may be used while the automatic classifier is developed, the others are used once, when it is finished.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pucli.errors import UsageError
from pucli.seeding import stream

MOST_ROWS = 800
# Text columns with more values than this are left out, since they hold names rather than categories.
MOST_VALUES = 50
COMMA: dict[str, Any] = {"sep": ",", "header": None, "skipinitialspace": True}
BLANK: dict[str, Any] = {"sep": r"\s+", "header": None}
HEADED: dict[str, Any] = {"sep": ","}
MATLAB: dict[str, Any] = {}
IMAGES, COMPONENTS = 2500, 25


@dataclass(frozen=True)
class Task:
    """One task.

    Parameters
    ----------
    name : its name in the table.
    file : path relative to the data folder.
    read : arguments of `pandas.read_csv`; empty for a MATLAB file or images.
    label : position of the label column.
    positive, negative : labels of the two classes; rows with other labels are left out. An empty `negative` means all
        other labels.
    drop : positions of columns that are not features.
    quantile : the positives are the rows above this quantile of the label column.
    """

    name: str
    file: str
    read: dict[str, Any] = field(default_factory=dict)
    label: int = 0
    positive: tuple[Any, ...] = ()
    negative: tuple[Any, ...] = ()
    drop: tuple[int, ...] = ()
    quantile: float | None = None


class Rows(NamedTuple):
    """Features X (n, m) and y (n,), 1 for positives and 0 for negatives."""

    X: np.ndarray
    y: np.ndarray


_AVILA = "uci/avila/avila-tr.txt"
_SEPSIS = "uci/ssmcr/s41598-020-73558-3_sepsis_survival_study_cohort.csv"
_GLASS = "uci/glass/glass.data"
_SHUTTLE = "uci/shuttle/shuttle.trn"
_BREAST = "uci/breast-cancer-wisconsin/breast-cancer-wisconsin.data"
_MNIST = "mnist/t10k-images-idx3-ubyte.gz"

TASKS = (
    Task("ecoli-cp", "uci/ecoli/ecoli.data", BLANK, 8, ("cp",), drop=(0,)),
    Task("ecoli-im", "uci/ecoli/ecoli.data", BLANK, 8, ("im", "imU", "om"), drop=(0,)),
    Task("acc", "uci/acc/accelerometer.csv", HEADED, 0, (1,), (3,)),
    Task("enb-cool", "uci/enb/ENB2012_data.csv", HEADED, 9, drop=(8,), quantile=0.65),
    Task("od", "uci/od/datatraining.txt", HEADED, 6, (1,), drop=(0,)),
    Task("ld", "uci/ld/bupa.data", COMMA, 6, (1,)),
    Task("rd", "uci/rd/Raisin_Dataset.csv", HEADED, 7, ("Besni",)),
    Task("avila-ea", _AVILA, COMMA, 10, ("E",), ("A",)),
    Task("avila-multi", _AVILA, COMMA, 10, ("F", "I", "X"), ("A", "E", "H")),
    Task("ssmcr", _SEPSIS, HEADED, 3, (0,)),
    Task("hd", "uci/hd/heart.dat", BLANK, 13, (2,)),
    Task("glass", _GLASS, COMMA, 10, (1, 3), drop=(0,)),
    Task("glass2", _GLASS, COMMA, 10, (2,), drop=(0,)),
    Task("wine2", "uci/wine/wine.data", COMMA, 0, (2,)),
    Task("bcw", _BREAST, {**COMMA, "na_values": "?"}, 10, (4,), drop=(0,)),
    Task("diabetes", "uci/diabetes/pima-indians-diabetes.data", COMMA, 8, (1,)),
    Task("german", "uci/german/german.data", BLANK, 20, (2,)),
    Task("adult", "uci/adult/adult.data", COMMA, 14, (">50K",)),
    Task("bank", "uci/bank-marketing/bank-additional-full.csv", {"sep": ";"}, 20, ("yes",)),
    Task("mushroom", "uci/mushroom/agaricus-lepiota.data", COMMA, 0, ("p",)),
    Task("shuttle", _SHUTTLE, BLANK, 9, (4, 5)),
    Task("shuttle5", _SHUTTLE, BLANK, 9, (5,)),
    Task("skin", "uci/skin/Skin_NonSkin.txt", {"sep": "\t", "header": None}, 3, (1,)),
    Task("umd", "uci/umd/User_Knowledge_Modeling_Training_Data.csv", HEADED, 5, ("High", "Middle")),
    Task("australian", "usmo/australian.mat", positive=(1,)),
    Task("krvskp", "usmo/krvskp.mat", positive=(1,)),
    Task("spectf", "usmo/spectf.mat", positive=(0,)),
    Task("clean1", "usmo/clean1.mat", positive=(1,)),
    Task("isolet", "usmo/isolet.mat", positive=(1,)),
    Task("mnist-odd", _MNIST, positive=(1, 3, 5, 7, 9)),
    Task("mnist-38", _MNIST, positive=(3, 8)),
    Task("chainlink", "classtering/Chainlink.mat", positive=(1,)),
)
# Tasks from one file are in the same half.
DESIGN = frozenset(
    (
        *("ecoli-cp", "ecoli-im", "enb-cool", "ld", "avila-ea", "avila-multi", "hd", "wine2"),
        *("diabetes", "adult", "mushroom", "skin", "umd", "australian", "spectf", "chainlink"),
    )
)


def tasks(half: str = "all") -> list[Task]:
    """Return the tasks of a half: "design", "look-once" or "all"."""
    halves = {"all": TASKS, "design": [t for t in TASKS if t.name in DESIGN]}
    halves["look-once"] = [t for t in TASKS if t.name not in DESIGN]
    if half not in halves:
        raise UsageError(f"no half {half!r} of the tasks; there are {', '.join(halves)}.")
    return list(halves[half])


def at_hand(half: str, folder: Path | None) -> tuple[Path, list[Task]]:
    """Return the folder of the files, by default the one that PUCLI_QUALITY_DATA names, and the tasks with a file.

    Raises
    ------
    UsageError
        The folder has none of the files.
    """
    folder = folder or Path(os.environ.get("PUCLI_QUALITY_DATA", "../shared/data"))
    found = [task for task in tasks(half) if (folder / task.file).is_file()]
    if not found:
        raise UsageError(f"{folder}: none of the files of the tasks is there; set PUCLI_QUALITY_DATA to their folder.")
    return folder, found


def load(task: Task, folder: Path, most: int = MOST_ROWS) -> Rows:
    """Return at most `most` rows of a task; `folder` holds the files.

    Raises
    ------
    UsageError
        If the file is missing or its rows have one class only.
    """
    path = folder / task.file
    if not path.is_file():
        raise UsageError(f"{path}: the file of the task {task.name!r} is missing; copy it there or leave the task out.")
    X, labels = _arrays(task, path)
    if task.quantile is not None:
        positive = labels > np.quantile(labels, task.quantile)
    else:
        positive = np.isin(labels, np.asarray(task.positive))
    kept = positive | np.isin(labels, np.asarray(task.negative)) if task.negative else np.ones(len(X), bool)
    if positive.all() or not positive.any():
        raise UsageError(f"{path}: the rows of the task {task.name!r} have one class only.")
    rows = np.flatnonzero(kept)
    if len(rows) > most:
        rows = np.sort(stream(0, "quality", task.name).permutation(rows)[:most])
    return Rows(X[rows], positive[rows].astype(int))


def present(half: str, folder: Path) -> Iterator[tuple[Task, Rows | None]]:
    """Yield the tasks of a half with their rows, None where the file is missing."""
    for task in tasks(half):
        yield task, load(task, folder) if (folder / task.file).is_file() else None


def _arrays(task: Task, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the features and the labels of all rows of a file."""
    if path.suffix == ".mat":
        return _matlab(path)
    if path.suffix == ".gz":
        return _images(path)
    import pandas as pd

    table = pd.read_csv(path, **task.read)
    if task.name == "od":  # its header has one name fewer than its rows have cells
        table = table.reset_index(drop=True)
    labels = table.iloc[:, task.label].to_numpy()
    table = table.drop(columns=table.columns[[task.label, *task.drop]])
    numbers = table.select_dtypes("number")
    words = table.drop(columns=numbers.columns)
    words = words.loc[:, words.nunique() <= MOST_VALUES]
    numbers = numbers.fillna(numbers.median())
    parts = [numbers, pd.get_dummies(words)] if words.shape[1] else [numbers]
    return pd.concat(parts, axis=1).to_numpy(dtype=np.float64), labels


def _matlab(path: Path) -> tuple[np.ndarray, np.ndarray]:
    from scipy.io import loadmat

    content = {key: value for key, value in loadmat(path).items() if not key.startswith("_")}
    if "chainlink" in content:
        return content["chainlink"].astype(float), (content["chainlink_labels"][:, 0] > 0).astype(int)
    X = content["X"].toarray() if hasattr(content["X"], "toarray") else content["X"]
    return np.asarray(X, dtype=np.float64), np.ravel(content["labels"]).astype(int)


def _images(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading principal components of the first images, and their digits."""
    import gzip

    pixels = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=16).reshape(-1, 784)[:IMAGES]
    digits = path.with_name("t10k-labels-idx1-ubyte.gz")
    labels = np.frombuffer(gzip.decompress(digits.read_bytes()), np.uint8, offset=8)[:IMAGES]
    centred = pixels / 255.0 - (pixels / 255.0).mean(axis=0)
    left, scale, _ = np.linalg.svd(centred, full_matrices=False)
    return left[:, :COMPONENTS] * scale[:COMPONENTS], labels.astype(int)
