"""Rows with labels that a saved model is scored on: the labels of a file in the numbers of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.arrays import Bools, Floats, Ints
from pucli.data.label_column import LabelColumn
from pucli.data.own_file import apply_file
from pucli.data.training_rows import UNLABELED, labelled_positives, partly_labelled
from pucli.errors import UsageError

if TYPE_CHECKING:
    from pucli.data.encoding import TableEncoder


class ScoredRows(NamedTuple):
    """Rows and their labels.

    X : array of shape (n, m)
    y : array of shape (n,)
        1 for positives and 0 for the rest, or the classes as the model numbers them.
    left_out : int
        Rows of the file without a label.
    why : str
        What such a label looks like.
    warnings : sequence of str
        Cells that are unlike anything in training, a line for each column.
    """

    X: Floats
    y: Ints
    left_out: int = 0
    why: str = ""
    warnings: Sequence[str] = ()


def scored_rows(
    path: Path,
    column: str,
    encoder: TableEncoder,
    about: Mapping[str, Any],
    *,
    positive: str | None = None,
    empty_is_unlabeled: bool = False,
) -> ScoredRows:
    """Return the rows of a file that have a label.

    Parameters
    ----------
    path, column : Path, str
        The file and its label column.
    encoder : TableEncoder
        Makes the model's features of the columns.
    about : mapping
        Metadata of the model: `kind`, `words`, `label_column`.
    positive : str or None
        The class that counts as positive; default that of the model, if it was trained on a file.
    empty_is_unlabeled : bool
        Whether an empty label cell marks an unlabeled row, which is kept with label 0, rather than an unknown class.

    Raises
    ------
    UsageError
        No row has a label, or none a class that the model knows.
    """
    X, labels, _, _, warnings = apply_file(path, encoder, column)
    assert labels is not None
    if about.get("kind") != "pu":
        return _classes(path, column, X, labels, about)._replace(warnings=warnings)
    if positive is None and about.get("label_column"):
        positive = about.get("words", {}).get("1")
    y, _ = labelled_positives(labels, positive)
    known = np.ones(len(y), dtype=bool) if empty_is_unlabeled else ~labels.empty
    return _known(path, column, X, y, known, "empty")._replace(warnings=warnings)


def _classes(path: Path, column: str, X: Floats, labels: LabelColumn, about: Mapping[str, Any]) -> ScoredRows:
    """Return the rows with a class; a class that the model never saw gets a number of its own."""
    y, words = partly_labelled(labels)
    rows = _known(path, column, X, y, y != UNLABELED, f"empty or {UNLABELED}")
    numbers = {word: int(number) for number, word in about.get("words", {}).items()}
    seen = [words.get(str(value), str(value)) for value in rows.y.tolist()]
    if not set(seen) & set(numbers):
        raise UsageError(
            f"{path}: the classes of label column {column!r} ({', '.join(sorted(set(seen))[:5])}) are none of the "
            f"model's ({', '.join(sorted(numbers)[:5])}); give the column that has them with --label."
        )
    unseen = max(numbers.values()) + 1
    return rows._replace(y=np.array([numbers.get(word, unseen) for word in seen], dtype=np.int64))


def _known(path: Path, column: str, X: Floats, y: Ints, known: Bools, why: str) -> ScoredRows:
    if not known.any():
        raise UsageError(f"{path}: label column {column!r} has no class in any row; scores need the classes.")
    return ScoredRows(X[known], y[known], int((~known).sum()), why)
