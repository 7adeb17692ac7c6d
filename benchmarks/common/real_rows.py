"""The twelve public tables of benchmark `real_tables` as their sources have them: all rows, raw cells."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from pucli.core.arrays import Bools
from pucli.core.seeding import stream

IMAGES, LABELS = "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"
COMPONENTS = 50


@dataclass(frozen=True)
class RealTable:
    """A table below the data folder."""

    name: str
    files: tuple[str, ...]  # whose rows are put together
    separator: str
    header: bool  # whether the first line names the columns
    label: int  # its column
    positive: frozenset[str]  # labels of the positives
    design: bool  # whether defaults may be decided on it; the others are looked at once
    most: int = 1_000_000  # rows, drawn at random

    def present(self, folder: Path) -> bool:
        """Return whether all files are there."""
        return all((folder / file).is_file() for file in self.files)

    def read(self, folder: Path) -> tuple[pd.DataFrame, Bools]:
        """Return the features, cells as text, and which rows are positive."""
        if self.name == "mnist":
            return _images(folder)
        # blanks around a separator are no part of a cell
        separator = {" ": r"\s+", ",": r"\s*,\s*"}.get(self.separator, self.separator)
        parts = [
            pd.read_csv(
                folder / file,
                sep=separator,
                header=0 if self.header else None,
                dtype=str,
                keep_default_na=False,
                engine="c" if separator == self.separator else "python",
            )
            for file in self.files
        ]
        frame = pd.concat(parts, ignore_index=True)
        if len(frame) > self.most:
            kept = np.sort(stream(0, "real tables", self.name).permutation(len(frame))[: self.most])
            frame = frame.iloc[kept].reset_index(drop=True)
        label = frame.columns[self.label]
        positive = frame[label].str.strip().isin(self.positive).to_numpy()
        features = frame.drop(columns=label)
        if not self.header:
            features.columns = [f"x{k + 1}" for k in range(features.shape[1])]
        return features, positive


def _images(folder: Path) -> tuple[pd.DataFrame, Bools]:
    """Return the leading principal components of MNIST's test images, and which show an odd digit."""
    with gzip.open(folder / IMAGES) as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255.0
    with gzip.open(folder / LABELS) as file:
        digits = np.frombuffer(file.read(), np.uint8, offset=8)
    X = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(X.T @ X)
    leading = vectors[:, np.argsort(values)[::-1][:COMPONENTS]]
    frame = pd.DataFrame((X @ leading).round(4), columns=[f"c{k + 1}" for k in range(COMPONENTS)])
    return frame.astype(str), digits % 2 == 1


def _table(
    name: str, files: str, separator: str, label: int, positive: str, design: bool, header: bool = False
) -> RealTable:
    places = tuple(f"uci/{file}" for file in files.split())
    most = 60_000 if name == "acc" else 1_000_000
    return RealTable(name, places, separator, header, label, frozenset(positive.split()), design, most)


TABLES = (
    _table("adult", "adult/adult.data", ",", -1, ">50K", True),
    _table("avila", "avila/avila-tr.txt avila/avila-ts.txt", ",", -1, "E F I X", True),
    _table("pen", "pen/pendigits.tra pen/pendigits.tes", ",", -1, "1 3 5 7 9", True),
    _table("shuttle", "shuttle/shuttle.trn shuttle/shuttle.tst", " ", -1, "2 3 4 5 6 7", True),
    _table("mushroom", "mushroom/agaricus-lepiota.data", ",", 0, "p", True),
    _table("german", "german/german.data", " ", -1, "2", True),
    _table("poker", "poker/poker-hand-training-true.data", ",", -1, "1 2 3 4 5 6 7 8 9", False),
    _table("bank-marketing", "bank-marketing/bank-additional-full.csv", ";", -1, "yes", False, header=True),
    _table("acc", "acc/accelerometer.csv", ",", 0, "1", False, header=True),
    RealTable("mnist", (IMAGES, LABELS), "", False, 0, frozenset(), False),
    _table("skin", "skin/Skin_NonSkin.txt", "\t", -1, "1", False),
    _table("ssmcr", "ssmcr/s41598-020-73558-3_sepsis_survival_study_cohort.csv", ",", -1, "0", False, header=True),
)
