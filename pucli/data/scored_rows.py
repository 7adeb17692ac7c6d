"""Labelled rows of a file on which a saved model is scored, with labels numbered as in the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.arrays import Bools, Floats, Ints
from pucli.data.fingerprints import fingerprints
from pucli.data.label_column import LabelColumn, labelled_positives
from pucli.data.labels import NOT_LABELLED
from pucli.data.own_file import apply_file
from pucli.data.training_rows import UNLABELED, partly_labelled
from pucli.errors import UsageError

if TYPE_CHECKING:
    from pucli.data.encoding import TableEncoder

# What is said of scores that need no true labels, on the rows that the model was trained on.
MEMORISED = (
    "these are the rows that the model was trained on: it has seen who was labelled, so that recall_labelled and puf "
    "may be far too high. Score other rows, or see `held out` of `pucli train`."
)


class ScoredRows(NamedTuple):
    """Labelled rows of a file.

    X : array of shape (n, m)
    y : array of shape (n,)
        1 for positives and 0 for the rest, or the class numbers of the model.
    left_out : int
        Number of rows without a label.
    why : str
        Description of such labels.
    warnings : sequence of str
        Cells not seen in training, one line per column, and labels that may not be the true classes.
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
    """Return the labelled rows of a file.

    Parameters
    ----------
    path, column : Path, str
        The file and its label column.
    encoder : TableEncoder
        The encoder of the model.
    about : mapping
        Metadata of the model: `kind`, `words`, `label_column`.
    positive : str or None
        The class that counts as positive; by default that of the model if it was trained on a file.
    empty_is_unlabeled : bool
        Whether rows with an empty label cell are unlabeled rows, kept with label 0, instead of rows of unknown class.

    Raises
    ------
    UsageError
        No row has a label, or no row has a class of the model.
    """
    X, labels, _, _, warnings = apply_file(path, encoder, column)
    assert labels is not None
    if about.get("kind") != "pu":
        return _classes(path, column, X, labels, about)._replace(warnings=warnings)
    if positive is None and about.get("label_column"):
        positive = about.get("words", {}).get("1")
    y, words = labelled_positives(labels, positive)
    if empty_is_unlabeled:
        seen = [MEMORISED] if _same_rows(X, y, about)[0] else []
        return ScoredRows(X, y, warnings=[*warnings, *seen])
    rows = _known(path, column, X, y, ~labels.empty, "empty")
    return rows._replace(warnings=[*warnings, *_doubts(labels, words["1"], rows.y, _same_rows(X, y, about))])


def _same_rows(X: Floats, y: Ints, about: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether rows X (n, m) are those that the model was trained on, and whether their labels y (n,) are."""
    trained, here = about.get("data", {}), fingerprints(X, y)
    rows = trained.get("rows_sha256") == here["rows_sha256"]
    return rows, rows and trained.get("labels_sha256") == here["labels_sha256"]


def _doubts(labels: LabelColumn, marked: str, y: Ints, same: tuple[bool, bool]) -> list[str]:
    """Return reasons why labels that are taken for the true classes may not be."""
    doubts = []
    same_rows, same_labels = same
    unlabeled = [word for word in labels.present if word != marked and word.casefold() in NOT_LABELLED]
    if same_labels:
        doubts.append(
            "these are the rows and the labels that the model was trained on, where a row that is not "
            f"{marked!r} is unlabeled, not negative: only --labels pu suits them, and its scores would be too high."
        )
    elif same_rows:
        doubts.append("these are the rows that the model was trained on; scores of new rows may be lower.")
    if unlabeled and not same_labels:
        doubts.append(
            f"{labels.where} has the class {unlabeled[0]!r}, which is counted as negative here; if it means that the "
            "class is not known, use --labels pu, or leave these cells empty."
        )
    if len(np.unique(y)) == 1:
        doubts.append(
            f"every row with a label is {marked!r}: without negative rows, recall is the only score that tells "
            "anything. If empty cells are unlabeled rows, use --labels pu."
        )
    return doubts


def _classes(path: Path, column: str, X: Floats, labels: LabelColumn, about: Mapping[str, Any]) -> ScoredRows:
    """Return the rows with a class; classes not seen in training get new numbers."""
    y, words = partly_labelled(labels)
    rows = _known(path, column, X, y, y != UNLABELED, f"empty or {UNLABELED}")
    numbers = {word: int(number) for number, word in about.get("words", {}).items()}
    seen = [words.get(str(value), str(value)) for value in rows.y.tolist()]
    if not set(seen) & set(numbers):
        raise UsageError(
            f"{path}: the classes of label column {column!r} ({', '.join(sorted(set(seen))[:5])}) are not those of the "
            f"model ({', '.join(sorted(numbers)[:5])}); name the column that has them with --label."
        )
    unseen = max(numbers.values()) + 1
    return rows._replace(y=np.array([numbers.get(word, unseen) for word in seen], dtype=np.int64))


def _known(path: Path, column: str, X: Floats, y: Ints, known: Bools, why: str) -> ScoredRows:
    if not known.any():
        raise UsageError(f"{path}: label column {column!r} is empty in every row; scores need the classes.")
    return ScoredRows(X[known], y[known], int((~known).sum()), why)
