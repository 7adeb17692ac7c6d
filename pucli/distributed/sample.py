"""A sample of the rows of blocks, and checks of the columns on it: label leakage, identifiers, ranges.

Training on one file checks all rows of a column (`pucli.data.rows.user_file`); here, a sample must do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pucli.core.arrays import AnyArray, Bools, Floats
from pucli.core.errors import shell_word
from pucli.data.columns.encoder import TableEncoder
from pucli.data.columns.encoders import Number
from pucli.data.columns.kinds import column_kinds
from pucli.data.rows.row_hashes import MOST_HASHES, row_fingerprints, row_hashes
from pucli.distributed.blocks import Block, ColumnNames, Moments, read_rows
from pucli.solvers.ensemble.rows import mixed

# Expected number of rows of each kind in the sample.
SAMPLE_LABELED, SAMPLE_UNLABELED = 4000, 20_000
_MASK = np.uint64(0x9E3779B97F4A7C15)


class RowSample(NamedTuple):
    """Rows X (n, m), which of them are labeled (n,), and the least hashes of all rows, sorted."""

    X: Floats
    labeled: Bools
    hashes: AnyArray

    def plus(self, other: RowSample) -> RowSample:
        """Return both."""
        hashes = np.concatenate([self.hashes, other.hashes])
        return RowSample(
            np.concatenate([self.X, other.X]), np.concatenate([self.labeled, other.labeled]), _least(hashes)
        )


class Shares(NamedTuple):
    """Shares of the labeled and of the unlabeled rows in a sample, and of the row hashes considered for it."""

    labeled: float
    unlabeled: float
    hashes: float


def sample_shares(n_p: int, n_u: int) -> Shares:
    """Return the shares for these numbers of labeled and unlabeled rows."""
    return Shares(
        min(1.0, SAMPLE_LABELED / n_p), min(1.0, SAMPLE_UNLABELED / n_u), min(1.0, 2.0 * MOST_HASHES / (n_p + n_u))
    )


def sample(block: Block, columns: ColumnNames, shares: Shares, seed: int) -> RowSample:
    """Return a random sample of the rows of one block."""
    X, labeled = read_rows(block, columns)
    kept = uniform(block, seed) < np.where(labeled, shares.labeled, shares.unlabeled)
    hashes = row_hashes(X, labeled)
    return RowSample(X[kept], labeled[kept], _least(hashes[hashes <= shares.hashes * 2.0**32]))


def uniform(block: Block, seed: int) -> Floats:
    """Return a number from [0, 1) for each row of a block (n,), from its number and the seed alone."""
    z = (np.arange(block.first, block.first + block.rows, dtype=np.uint64) + np.uint64(seed + 1)) * _MASK
    found: Floats = (mixed(z) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found


def _least(hashes: AnyArray) -> AnyArray:
    return np.sort(hashes)[:MOST_HASHES]


@dataclass(frozen=True)
class Checked:
    """Findings about the columns of all rows."""

    warnings: tuple[str, ...]  # warnings for the user, each about one column
    leaks: tuple[str, ...]  # those of the warnings that name a column which probably leaks the label
    # hashes that recognize training rows, see `pucli.data.rows.row_hashes.row_fingerprints`
    marks: dict[str, Any] = field(repr=False)
    # (m,), ends of the columns
    low: Floats
    high: Floats
    n: int  # number of rows
    some: RowSample = field(repr=False)

    def encoder(self, names: Sequence[str]) -> TableEncoder:
        """Return the encoder of these numeric columns, which knows their ranges."""
        found = TableEncoder.of_numbers(names)
        ends = zip(names, self.low.tolist(), self.high.tolist(), strict=True)
        found.encoders_ = [Number(name, "number", float("nan"), False, low, high, self.n) for name, low, high in ends]
        found.remember(self.some.X, ~self.some.labeled)
        return found


def checked(some: RowSample, known: Moments, columns: ColumnNames) -> Checked:
    """Return the findings about the columns from the sample and the moments."""
    from pucli.data.columns.leakage import leak_warnings

    frame = pd.DataFrame(some.X, columns=list(columns.features))
    kinds = column_kinds(frame)
    identifiers = [
        f"column {one.name!r} looks like an identifier but is used as a feature; to leave it out, add "
        f"--drop {shell_word(one.name)}"
        for one in kinds
        if one.kind == "identifier"
    ]
    others = [f"column {one.name!r} {one.warning}" for one in kinds if one.warning and one.kind != "identifier"]
    used = [replace(one, kind="number") if one.kind == "identifier" else one for one in kinds]
    telling = leak_warnings(frame, some.labeled, used, hidden=True)
    marks = row_fingerprints(some.hashes, complete=known.n <= MOST_HASHES)
    return Checked((*identifiers, *others, *telling), telling, marks, known.low, known.high, known.n, some)
