"""Labeled rows of a file on which a saved model is scored, with labels numbered as in the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.errors import UsageError
from pucli.data.files.tables import files_of, title_of
from pucli.data.labels import says_not_labeled
from pucli.data.reading import Reading
from pucli.data.rows.label_column import UNLABELED, LabelColumn, labeled_positives, partly_labeled
from pucli.data.rows.row_hashes import KnownRows, fingerprints, known_rows, row_hashes
from pucli.data.rows.user_file import apply_file

if TYPE_CHECKING:
    from pucli.data.columns.encoder import TableEncoder

# Warning about scores without true labels, on rows that the model was trained on.
MEMORISED = (
    "that the model was trained on: it has seen who was labeled, so that recall_labeled and puf may be far too high. "
    "Score other rows, or see `held out` of `pucli train`."
)
# If at least this many known rows all have their labels of training, this is no accident.
SAME_LABELS = 30


class ScoredRows(NamedTuple):
    """Labeled rows of a file.

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
    path: Path | Sequence[Path],
    column: str,
    encoder: TableEncoder,
    about: Mapping[str, Any],
    *,
    positive: Sequence[str] | str | None = None,
    empty_is_unlabeled: bool = False,
    how: Reading | None = None,
) -> ScoredRows:
    """Return the labeled rows of a file."""
    files = files_of(path)
    how = Reading.of_record(about.get("reading", {})) if how is None else how
    file = apply_file(files, encoder, column, how)
    X, labels, warnings = file.X, file.labels, file.warnings
    path = Path(title_of(files))
    assert labels is not None
    trained = about.get("data", {})
    if about.get("kind") != "pu":
        rows = _classes(path, column, X, labels, about)
        y, _ = partly_labeled(labels)
        seen = _trained_on(X, y, y != UNLABELED, trained)
        return rows._replace(warnings=[*warnings, *([_lower(seen)] if seen else [])])
    if positive is None and about.get("label_column"):
        positive = positives_of(about)
    y, words, classes, _ = labeled_positives(labels, positive)
    if empty_is_unlabeled:
        seen = _trained_on(X, y, np.ones(len(y), dtype=bool), trained)
        return ScoredRows(X, y, warnings=[*warnings, *([f"{seen} {MEMORISED}"] if seen else [])])
    kept = ~labels.empty
    rows = _known(path, column, X, y, kept, "empty")
    seen = _trained_on(X, y, kept, trained)
    return rows._replace(warnings=[*warnings, *_label_warnings(labels, words["1"], classes, rows.y, seen)])


def _trained_on(X: Floats, y: Ints, kept: Bools, trained: Mapping[str, Any]) -> KnownRows | None:
    """Return which of the `kept` rows of X (n, m) with labels y (n,) the model was trained on, None if none."""
    whole = fingerprints(X, y)
    n = int(kept.sum())
    if trained.get("rows_sha256") == whole["rows_sha256"] and "rows_drawn" not in trained:
        return KnownRows(n, n, exact=True, same_labels=trained.get("labels_sha256") == whole["labels_sha256"])
    found = known_rows(row_hashes(X[kept], y[kept] == 1), trained)
    return found._replace(same_labels=False) if found and found.known < SAME_LABELS else found


def _lower(seen: KnownRows) -> str:
    rest = "" if seen.all else "; score the other rows alone"
    return f"{seen} that the model was trained on; scores of new rows may be lower{rest}."


def positives_of(about: Mapping[str, Any]) -> list[str]:
    """Return the classes or rules that marked positives in training, by the description of a model."""
    known = about.get("data", {}).get("positive") or about.get("words", {}).get("1", "1")
    return list(map(str, known)) if isinstance(known, list) else [str(known)]


def _label_warnings(
    labels: LabelColumn, marked: str, classes: Sequence[str], y: Ints, seen: KnownRows | None
) -> list[str]:
    """Return reasons why labels that are taken for the true classes may not be."""
    doubts = []
    unlabeled = [word for word in labels.present if word not in classes and says_not_labeled(word)]
    same_labels = seen is not None and seen.same_labels
    if seen is not None and same_labels:
        which = "these are the rows and the labels" if seen.all else f"{seen} and labels"
        doubts.append(
            f"{which} that the model was trained on, where a row that is not {marked!r} is unlabeled, not negative: "
            "only --labels pu suits them, and its scores would be too high."
        )
    elif seen is not None:
        doubts.append(_lower(seen))
    if unlabeled and not same_labels:
        doubts.append(
            f"{labels.where} has the class {unlabeled[0]!r}, which is counted as negative here; if it means that the "
            "class is not known, use --labels pu, or leave these cells empty."
        )
    meant = {word.casefold() for word in classes}
    others = [word for word in labels.present if word.casefold() not in meant and word not in unlabeled]
    if classes and len({word.casefold() for word in others}) > 1 and not same_labels:
        doubts.append(
            f"{labels.where}: rows of {len(others)} other classes ({', '.join(map(repr, others[:3]))}"
            f"{', ...' if len(others) > 3 else ''}) count as negative; leave cells empty whose class is not known."
        )
    if len(np.unique(y)) == 1:
        doubts.append(
            f"every row with a label is {marked!r}: without negative rows, recall is the only score that tells "
            "anything. If empty cells are unlabeled rows, use --labels pu."
        )
    return doubts


def _classes(path: Path, column: str, X: Floats, labels: LabelColumn, about: Mapping[str, Any]) -> ScoredRows:
    """Return the rows with a class; classes not seen in training get new numbers."""
    y, words = partly_labeled(labels)
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
