"""Parquet files as blocks of rows, and computations on single blocks: moments, sums, counts, histograms.

Each function takes the name of a block and returns a small result, so it can run wherever the file can be read.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError, shell_word
from pucli.data.files.binary.parquet_files import parquet_file
from pucli.data.files.writers import open_writer
from pucli.data.rows.user_file import FLAGGED
from pucli.solvers.glpual.sums import RowSums
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.low_rank import rbf_features

# Bins of scores between these ends; scores beyond them fall into the outer bins.
SCORE_BINS, LOWEST_SCORE, HIGHEST_SCORE = 8000, -4.0, 4.0
BIN_WIDTH = (HIGHEST_SCORE - LOWEST_SCORE) / SCORE_BINS


class Block(NamedTuple):
    """A row group of a Parquet file, and the number of its first row among all rows."""

    path: str
    group: int
    first: int
    rows: int


class ColumnNames(NamedTuple):
    """The columns of features, the label column, and the label of positives as text; "" takes the greater number."""

    features: tuple[str, ...]
    label: str
    positive: str


def find_blocks(pattern: str) -> list[Block]:
    """Return the row groups of the files that match, in order; raise UsageError where there are none."""
    paths = sorted(glob.glob(pattern))  # noqa: PTH207 - the pattern may be absolute
    if not paths or any(Path(path).suffix != ".parquet" for path in paths):
        found = "no file matches" if not paths else "only Parquet files are read in blocks"
        raise UsageError(f"--data {pattern}: {found}; give a pattern such as 'folder/*.parquet', in quotes.")
    blocks: list[Block] = []
    first = 0
    for path in paths:
        try:
            about = parquet_file(Path(path)).metadata
        except ValueError as error:  # of pyarrow, which does not name the file
            raise UsageError(
                f"--data {path} is damaged or not Parquet; save it again, or correct its extension."
            ) from error
        for group in range(about.num_row_groups):
            rows = about.row_group(group).num_rows
            if rows:
                blocks.append(Block(path, group, first, rows))
                first += rows
    if not blocks:
        raise UsageError(f"--data {pattern}: there are no rows.")
    return blocks


def numeric_columns(block: Block, label: str, drop: Sequence[str], only: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the feature columns, all of which hold numbers, in the order of `only` or of the file."""
    schema = parquet_file(Path(block.path)).schema_arrow
    for name in (label, *drop, *only):
        if name not in schema.names:
            raise UsageError(f"{block.path} has no column {name!r}; it has {', '.join(schema.names[:8])}.")
    names = [name for name in (only or schema.names) if name != label and name not in drop]
    for name in names:
        kind = schema.field(name).type
        if not _is_numeric(kind):
            raise UsageError(
                f"{block.path}: column {name!r} holds {kind}, not numbers; leave it out with --drop {shell_word(name)}."
            )
    if not names:
        raise UsageError(f"{block.path} has no feature column beside the label {label!r}.")
    return tuple(names)


def _is_numeric(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind))


def read_rows(block: Block, columns: ColumnNames) -> tuple[Floats, Bools]:
    """Return features (n, m) and the labeling indicator (n,) of a block."""
    X, labels = read_with_labels(block, columns)
    return X, labels == columns.positive


def read_with_labels(block: Block, columns: ColumnNames) -> tuple[Floats, AnyArray]:
    """Return features (n, m) and labels (n,) as text; raise UsageError if the file is no longer what was found."""
    table = _table(block, [*columns.features, columns.label])
    X = np.empty((table.num_rows, len(columns.features)))
    for k, name in enumerate(columns.features):
        column = table.column(name)
        if not _is_numeric(column.type):
            raise UsageError(f"{block.path}: column {name!r} holds {column.type}, not numbers; run the command again.")
        X[:, k] = column.to_numpy().astype(np.float64)
    bad = ~np.isfinite(X).all(axis=0)
    if bad.any():
        name = columns.features[int(np.argmax(bad))]
        raise UsageError(
            f"{block.path}: column {name!r} has empty or infinite cells; fill them, or leave it out with "
            f"--drop {shell_word(name)}."
        )
    values = table.column(columns.label).to_pandas().astype(object)
    return X, np.array(["" if value is None else _word(value) for value in values.tolist()], dtype=object)


def _table(block: Block, names: list[str]) -> Any:
    table: Any = None
    try:
        table = parquet_file(Path(block.path)).read_row_group(block.group, columns=names)
    except FileNotFoundError:
        raise UsageError(f"{block.path}: no such file on this worker; every worker must see the data files.") from None
    except (OSError, ValueError, IndexError) as error:  # of pyarrow, which does not name the file
        reason = str(error).partition("\n")[0] or type(error).__name__
    if table is None or table.num_rows != block.rows or table.column_names != names:
        why = f" ({reason})" if table is None else ""
        raise UsageError(f"{block.path} is damaged, or was changed during the training{why}; run the command again.")
    return table


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float | bool) and float(value).is_integer() else str(value)


class Moments(NamedTuple):
    """Number, means, sums of squared deviations, ranges and label counts of some rows."""

    n: int
    mean: Floats
    squares: Floats
    low: Floats
    high: Floats
    labels: dict[str, int]

    def plus(self, other: Moments) -> Moments:
        """Return the moments of both (Chan, Golub and LeVeque 1979)."""
        n = self.n + other.n
        step = other.mean - self.mean
        labels = dict(self.labels)
        for label, count in other.labels.items():
            labels[label] = labels.get(label, 0) + count
        return Moments(
            n,
            self.mean + step * (other.n / n),
            self.squares + other.squares + step**2 * (self.n * other.n / n),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            labels,
        )


def moments(block: Block, columns: ColumnNames) -> Moments:
    """Return the moments of a block."""
    X, labels = read_with_labels(block, columns)
    words, counts = np.unique(labels.astype(str), return_counts=True)
    mean = X.mean(axis=0)
    squares = ((X - mean) ** 2).sum(axis=0)
    return Moments(
        len(X), mean, squares, X.min(axis=0), X.max(axis=0), dict(zip(words.tolist(), counts.tolist(), strict=True))
    )


class RowMap(NamedTuple):
    """Map from raw features to columns of a linear model: standardized or kernel features, and a last column of one."""

    mean: Floats
    scale: Floats
    constant: Bools
    landmarks: Floats | None = None
    factor: Floats | None = None
    width: float = 1.0

    def standardized(self, X: Floats) -> Floats:
        """Return rows (n, m) as `pucli.data.features.Standardizer` does."""
        scaled: Floats = (X - self.mean) / self.scale
        scaled[:, self.constant] = 0.0
        return scaled

    def __call__(self, X: Floats) -> Floats:
        """Return the columns (n, r) of the model, the last of them one."""
        rows = self.standardized(X)
        if self.landmarks is not None and self.factor is not None:
            rows = rbf_features(rows, self.landmarks, self.factor, self.width)
        return with_intercept(rows)


class BlockRows(NamedTuple):
    """Some rows, with their numbers among all rows."""

    numbers: Ints
    X: Floats

    def plus(self, other: BlockRows) -> BlockRows:
        """Return both."""
        return BlockRows(np.concatenate([self.numbers, other.numbers]), np.concatenate([self.X, other.X]))


def rows_at(block: Block, columns: ColumnNames, numbers: Ints) -> BlockRows:
    """Return the rows of a block that are among given row numbers."""
    here = numbers[(numbers >= block.first) & (numbers < block.first + block.rows)]
    if not len(here):
        return BlockRows(here, np.empty((0, len(columns.features))))
    return BlockRows(here, read_rows(block, columns)[0][here - block.first])


def row_sums(block: Block, columns: ColumnNames, features: RowMap) -> RowSums:
    """Return the sums of one block from which the model is fitted."""
    X, labeled = read_rows(block, columns)
    return RowSums.of(features(X), labeled)


class Total(NamedTuple):
    """An array that adds up over blocks."""

    values: AnyArray

    def plus(self, other: Total) -> Total:
        """Return the total of both."""
        return Total(self.values + other.values)


def score_histogram(block: Block, columns: ColumnNames, features: RowMap, coef: Floats) -> Total:
    """Return the histograms of the scores of one block."""
    X, labeled = read_rows(block, columns)
    bins = np.clip((features(X) @ coef.T - LOWEST_SCORE) // BIN_WIDTH, 0, SCORE_BINS - 1).astype(np.int64)
    counts = [
        [np.bincount(one, minlength=SCORE_BINS) for one in np.atleast_2d(bins[kind].T)] for kind in (labeled, ~labeled)
    ]
    return Total(np.reshape(counts, (2, *coef.shape[:-1], SCORE_BINS)))


class OfRows(Protocol):
    """A trained model."""

    def of_rows(self, X: Floats) -> dict[str, Floats]:
        """Return the "score" of each row, above zero for predicted positives, and further columns by name."""
        ...


def write_predictions(
    item: tuple[str, list[Block]], model: OfRows, columns: ColumnNames, folder: str, words: list[str]
) -> str:
    """Write the predictions for one data file to a Parquet file of the same name; return its path."""
    import pandas as pd

    path, blocks = item
    out = Path(folder) / Path(path).name
    partial = out.with_name(f".{np.random.default_rng().integers(2**48):x}{out.suffix}")
    try:
        start = 1
        with open_writer(partial) as writer:
            for block in blocks:
                found = model.of_rows(read_rows(block, columns)[0])
                flagged = found["score"] > 0
                named = {"prediction": np.array(words, dtype=object)[flagged.astype(int)]}
                named |= {} if words[0] else {FLAGGED: flagged}
                numbers = np.arange(start, start + block.rows)
                writer.write(pd.DataFrame({"row": numbers, **named, **found}))
                start += block.rows
        if blocks:
            partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return str(out)
