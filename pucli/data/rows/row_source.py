"""Sources of rows: a declared data set or files of the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pucli.core.errors import UsageError
from pucli.data.files.several_files import title_of
from pucli.data.files.spool import spooled_size
from pucli.data.reading import Reading
from pucli.data.rows.user_file import ColumnChoice


@dataclass(frozen=True)
class RowSource:
    """Source of rows: a declared data set whose labels are hidden, or a file with a label column."""

    dataset: str | None = None  # name of a declared data set. Either this or `data` is given
    data: Path | None = None  # a file
    label: str | None = None  # label column of `data`
    positive: str | None = None  # class in that column that marks labelled positives; None to infer it from the column
    # classes in that column of rows that nobody has labelled, and of rows that are known to be negative
    unlabeled: str | None = None
    negative: str | None = None
    # "case-control" or "single-training-set". For a file, it only sets the denominator of PUF
    scenario: str = "case-control"
    # share of the training positives (or of the training rows of each class) that are labelled
    label_frequency: float = 0.5
    seed: int = 0  # seed of the split
    split: Path | None = None  # file of splits that replaces `scenario`, `label_frequency` and `seed`
    repeat: int = 0  # number of the split in `split`, from 0
    rows: int | None = None  # maximum number of training rows, drawn at random; None for all
    choice: ColumnChoice = field(default_factory=ColumnChoice)  # the user's choice of columns of `data`
    more: Sequence[Path] = ()  # further files with the columns of `data`, read as one table with it
    reading: Reading = field(default_factory=Reading)  # the user's options for reading `data`

    @property
    def files(self) -> list[Path]:
        """Return the files."""
        return [] if self.data is None else [Path(self.data), *self.more]


def check_one_source(declared: bool, own: bool, ways: str) -> None:
    """Check that the rows are either of a declared data set or the user's own.

    Parameters
    ----------
    declared : bool
        Whether --dataset is given.
    own : bool
        Whether --data is given.
    ways : str
        The options by which a command takes rows, for the message.

    Raises
    ------
    UsageError
        Both or neither are given.
    """
    if declared == own:
        which = "--dataset and --data both name rows" if own else "no rows given"
        raise UsageError(f"{which}; use either {ways}.")


def check_source(source: RowSource, file_options: str) -> None:
    """Check that a source has either a declared data set or a file; `file_options` name the file, for the message."""
    ways = f"--dataset NAME (`pucli list datasets`) or {file_options}"
    check_one_source(source.dataset is not None, source.data is not None, ways)


def check_no_choice(source: RowSource, why: str) -> None:
    """Raise UsageError, which says `why`, for options that choose columns, or how a declared data set is read."""
    if source.choice != ColumnChoice():
        raise UsageError(f"--as, --drop, --only, --id and --groups {why}.")
    if source.data is None and source.reading != Reading():
        raise UsageError(f"{source.reading.words} needs --data; a declared data set has its own reader.")


def named_files(source: RowSource) -> dict[str, Any]:
    """Return the names of the files as JSON values."""
    found: dict[str, Any] = {"file": str(source.data)}
    return found | ({"files": [str(path) for path in source.files]} if source.more else {})


def spool_notes(source: RowSource) -> tuple[str, ...]:
    """Return which files were streams that had to be copied."""
    sizes = {title_of([file]): spooled_size(file) for file in source.files}
    return tuple(
        f"{name} is read only once: {size:,} bytes were copied to a temporary file"
        for name, size in sizes.items()
        if size is not None
    )
