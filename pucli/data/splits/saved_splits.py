"""Files of splits, written by `pucli split`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.atomic_files import replacing
from pucli.core.errors import UsageError
from pucli.data.splits.scenarios import Split


@dataclass(frozen=True)
class SavedSplits:
    """Splits of a data set, as stored in a file.

    Attributes
    ----------
    splits : list of Split
        The splits, in order.
    dataset : str
        Name of the data set or file that was split.
    content_sha256 : str
        Hash of its (X, y).
    rows : int
        Number of its rows.
    settings : dict
        Scenario, label frequency and seed given to `save_splits`.
    """

    splits: list[Split]
    dataset: str
    content_sha256: str
    rows: int
    settings: dict[str, Any] = field(default_factory=dict)


_FORMAT = "pucli-splits"
_VERSION = 1


def save_splits(
    path: str | Path, splits: Sequence[Split], *, dataset: str, content_sha256: str, rows: int, **settings: Any
) -> None:
    """Write splits to a JSON file atomically, with row numbers from 0.

    Parameters
    ----------
    path : str or Path
        The file; an existing one is replaced.
    splits : sequence of Split
        The splits.
    dataset : str
        Name of the data set or file.
    content_sha256 : str
        Hash of its (X, y); `load_splits` refuses other data.
    rows : int
        Number of its rows.
    **settings : object
        JSON values to store as well, such as scenario, label_frequency and seed.

    Raises
    ------
    UsageError, RunError
        The file cannot be written; the disk is full.
    """
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "dataset": dataset,
        "content_sha256": content_sha256,
        "rows": rows,
        "settings": settings,
        "splits": [
            {"train": s.train.tolist(), "labeled": s.train[s.s == 1].tolist(), "test": s.test.tolist()} for s in splits
        ],
    }
    with replacing(path) as partial:
        partial.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


def load_splits(path: str | Path, *, content_sha256: str | None = None, rows: int | None = None) -> SavedSplits:
    """Read splits from a file written by `save_splits`.

    Parameters
    ----------
    path : str or Path
        The file.
    content_sha256 : str, optional
        Hash of the data to be split; splits of other data are refused.
    rows : int, optional
        Number of rows of these data.

    Raises
    ------
    UsageError
        The file is missing, damaged, not a splits file, or made for other data.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the splits file {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(
            f"{path}: not a splits file, or damaged ({error}); make it again with `pucli split`"
        ) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise UsageError(f"{path} is not a splits file; `pucli split` writes one")
    if content.get("version") != _VERSION:
        raise UsageError(
            f"{path}: splits file of version {content.get('version')!r}, but this pucli reads version {_VERSION}"
        )
    try:
        saved = SavedSplits(
            [_restored(item, int(content["rows"])) for item in content["splits"]],
            str(content["dataset"]),
            str(content["content_sha256"]),
            int(content["rows"]),
            dict(content["settings"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: damaged splits file ({error}); make it again with `pucli split`") from error
    if (content_sha256 is not None and content_sha256 != saved.content_sha256) or (
        rows is not None and rows != saved.rows
    ):
        raise UsageError(
            f"{path} holds splits of {saved.dataset!r} with {saved.rows} rows, not of the given data; "
            "use the data they were made from, or make new splits with `pucli split`"
        )
    return saved


def _restored(item: dict[str, list[int]], rows: int) -> Split:
    train = np.array(item["train"], dtype=np.int64)
    test = np.array(item["test"], dtype=np.int64)
    labeled = np.array(item["labeled"], dtype=np.int64)
    together = np.concatenate([train, test])
    if train.ndim != 1 or test.ndim != 1 or len(np.unique(together)) != len(together):
        raise ValueError("a row is in a split twice")
    if len(together) and (together.min() < 0 or together.max() >= rows):
        raise ValueError(f"a row number is outside 0..{rows - 1}")
    if not np.isin(labeled, train).all():
        raise ValueError("a labeled row is not in the training set")
    return Split(train, test, np.isin(train, labeled).astype(np.int8))
