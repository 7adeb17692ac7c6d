"""The twelve public tables of benchmark `real_tables` as their sources have them: all rows, raw cells."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from pucli.core.arrays import Bools
from pucli.core.plug_ins import own_entries
from pucli.core.seeding import stream

COMPONENTS = 50


@dataclass(frozen=True)
class RealTable:
    """A table below the data folder."""

    name: str
    files: Sequence[str]  # whose rows are put together
    separator: str = ","
    header: bool = False  # whether the first line names the columns
    label: int = -1  # its column
    positive: Sequence[str] = ()  # labels of the positives
    design: bool = False  # whether defaults may be decided on it; the others are looked at once
    most: int = 1_000_000  # rows, drawn at random

    def present(self, folder: Path) -> bool:
        """Return whether all files are there."""
        return all((folder / file).is_file() for file in self.files)

    def read(self, folder: Path) -> tuple[pd.DataFrame, Bools]:
        """Return the features, cells as text, and which rows are positive."""
        if self.name == "mnist":
            return _images(*(folder / file for file in self.files))
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


def _images(images: Path, labels: Path) -> tuple[pd.DataFrame, Bools]:
    """Return the leading principal components of MNIST's test images, and which show an odd digit."""
    with gzip.open(images) as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255.0
    with gzip.open(labels) as file:
        digits = np.frombuffer(file.read(), np.uint8, offset=8)
    X = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(X.T @ X)
    leading = vectors[:, np.argsort(values)[::-1][:COMPONENTS]]
    frame = pd.DataFrame((X @ leading).round(4), columns=[f"c{k + 1}" for k in range(COMPONENTS)])
    return frame.astype(str), digits % 2 == 1


TABLES = [RealTable(name, **table) for name, table in own_entries(Path(__file__).with_suffix(".yaml")).items()]
