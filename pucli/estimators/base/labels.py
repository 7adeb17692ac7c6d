"""Detection of the label that marks the labeled positives."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from pucli.core.arrays import AnyArray
from pucli.core.errors import warn_user
from pucli.data.labels import positive_of_two

# what a message about unclear labels advises

POSSIBLE_LABELS = (
    'Give y as 1 for labeled positives and 0 for unlabeled rows, in pandas for example (y == "fraud").astype(int).'
)


def positive_label(labels: AnyArray, pos_label: Any = None) -> Any:
    """Return the label that marks labeled positives."""
    if pos_label is not None:
        for label in labels:
            if _same(label, pos_label):
                return label
        raise ValueError(
            f"pos_label={pos_label!r} is not a label of y, whose labels are {_shown(labels[0])} and "
            f"{_shown(labels[1])}; give one of the two."
        )
    if labels.dtype.kind in "Mm":
        raise ValueError(
            f"the labels are {_shown(labels[0])} and {_shown(labels[1])}, which do not show which of them marks the "
            "labeled positives: set pos_label, or give y as 1 and 0."
        )
    if not any(isinstance(label, str) for label in labels.tolist()):
        return labels[1]
    if all(_is_number(label) for label in labels):
        return max(labels, key=float)
    first, second = (str(label) for label in labels)
    found = positive_of_two(first, second)
    if found is None:
        raise ValueError(
            f"the labels are {_shown(labels[0])} and {_shown(labels[1])}, and the words do not show which of them "
            f"marks the labeled positives: set pos_label, or give y as 1 and 0."
        )
    return labels[0] if found == first else labels[1]


def plain_labels(y: Any) -> Any:
    """Return labels as scikit-learn takes them: booleans, whole numbers or words, whatever type holds them.

    Booleans and numbers among Python objects, as pandas has them after a join, nullable types, masked arrays and
    NumPy's strings of any length are unknown to scikit-learn. Missing labels and all other types are left as they are.

    Examples
    --------
    >>> plain_labels(np.array([True, False], dtype=object))
    array([ True, False])
    """
    if isinstance(y, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(y), np.array(None), y.data.astype(object)) if np.ma.is_masked(y) else y.data
    values = y
    if type(y).__module__.startswith("pandas") and hasattr(y, "to_numpy"):
        values = y.to_numpy()
        if not isinstance(getattr(y, "dtype", values.dtype), np.dtype) and values.dtype.kind in "biu":
            return values
    if not isinstance(values, np.ndarray) or values.ndim > 2:
        return y
    if values.dtype.kind == "T":
        return values.astype(object)
    kinds = {type(label) for label in values.ravel().tolist()} if values.dtype.kind == "O" else set()
    if kinds == {bool} or (kinds and all(issubclass(kind, int) and kind is not bool for kind in kinds)):
        try:
            return values.astype(bool if kinds == {bool} else np.int64)
        except OverflowError as error:
            raise ValueError(f"y has whole numbers of too many digits as labels. {POSSIBLE_LABELS}") from error
    return values.astype(np.float64) if kinds == {Decimal} else y


def with_unlabeled(y: Any, neg_label: Any = None) -> Any:
    """Return labels in which missing ones are the label of unlabeled rows: "" among words, False, or 0.

    It is -1 where `neg_label` is False or 0.

    Examples
    --------
    >>> with_unlabeled(["yes", None, None]), with_unlabeled([True, float("nan")])
    (array(['yes', '', ''], dtype='<U3'), array([ True, False]))
    """
    labels = np.asarray(plain_labels(y), dtype=object)
    missing = np.array([_is_missing(label) for label in labels.ravel().tolist()], dtype=bool)
    if labels.ndim != 1 or not missing.any() or missing.all():
        return y
    there = labels[~missing].tolist()
    beside = [label for label in dict.fromkeys(there) if neg_label is None or not _same(label, neg_label)]
    if len(beside) > 1:
        shown = " or ".join(map(_shown, beside[:2]))
        refuse_missing_labels(y, f"Set neg_label if {shown} marks known negatives, or give unlabeled rows one label.")
    unlabeled = type(there[0])()
    if neg_label is not None and _same(unlabeled, neg_label):
        unlabeled = -1
    return np.array([unlabeled if lacks else label for label, lacks in zip(labels.tolist(), missing, strict=True)])


def without_negatives(y: Any, neg_label: Any, pos_label: Any = None) -> tuple[AnyArray, Any]:
    """Return labels with known negatives as unlabeled rows, and the mask (n,) of the known negatives.

    Examples
    --------
    >>> without_negatives([1, 0, -1], neg_label=-1)
    (array([1, 0, 0]), array([False, False,  True]))
    """
    y = plain_labels(y)
    refuse_missing_labels(y)
    refuse_mixed_labels(y)
    labels = np.array(y)
    negative = np.array([_same(label, neg_label) for label in labels.tolist()], dtype=bool)
    if not negative.any():
        return labels, None
    rest = np.unique(labels[~negative])
    if pos_label is not None and _same(neg_label, pos_label):
        raise ValueError(f"neg_label and pos_label are both {_shown(neg_label)}; they mark different rows.")
    if len(rest) < 2:
        raise ValueError(
            f"besides the known negatives, {_shown(neg_label)}, y has {len(rest)} label"
            f"{'s' * (len(rest) != 1)}; there must be labeled positives and unlabeled rows."
        )
    if len(rest) == 2:
        positive = positive_label(rest, pos_label)
        labels[negative] = rest[0] if positive == rest[1] else rest[1]
    return labels, negative


def check_order(labels: AnyArray, positive: Any, pos_label: Any) -> None:
    """Raise ValueError if the positive of two words is not the last one; warn instead if `pos_label` names it.

    scikit-learn's scorers, calibrators and meta-estimators take the last label in sorted order for the positive one.
    With "P" and "U", `scoring="roc_auc"` would be one minus the area.
    """
    if positive == labels[1]:
        return
    why = (
        f"{_shown(positive)} marks the labeled positives, but scikit-learn takes the last label in sorted order, "
        f"{_shown(labels[1])}, for the positive class"
    )
    if pos_label is None:
        raise ValueError(
            f"{why}: give y as 1 and 0, (y == {_shown(positive)}).astype(int), or set pos_label={_shown(positive)} "
            "and score with pucli.metrics.pu_auc_scorer."
        )
    warn_user(
        f"{why}: scoring='roc_auc' and other tools of scikit-learn see the classes reversed. Give y as 1 and 0 for "
        "them, or score with pucli.metrics.pu_auc_scorer.",
        UserWarning,
    )


def _same(label: Any, wanted: Any) -> bool:
    """Return whether two labels are equal; a word never equals a number."""
    return isinstance(label, str) == isinstance(wanted, str) and bool(label == wanted)


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _is_number(label: Any) -> bool:
    try:
        return bool(np.isfinite(float(label)))
    except ValueError:
        return False


def refuse_missing_labels(y: Any, way_out: str = POSSIBLE_LABELS) -> None:
    """Raise ValueError if a label is missing: None, NaN or an empty cell of pandas."""
    if y is None:  # scikit-learn says that y is needed
        return
    labels = np.asarray(y, dtype=object).ravel().tolist()
    missing = [row for row, label in enumerate(labels) if _is_missing(label)]
    if missing:
        count = f"{len(missing)} labels are" if len(missing) > 1 else "one label is"
        raise ValueError(f"Input y contains NaN: {count} missing, the first in row {missing[0]}. {way_out}")


def refuse_mixed_labels(y: Any, way_out: str = POSSIBLE_LABELS, *, unlabeled: int | None = None) -> None:
    """Raise ValueError if some labels are words and others are not: they have no order."""
    labels = y.ravel().tolist() if isinstance(y, np.ndarray) and y.dtype.kind == "O" else []
    labels = [label for label in labels if isinstance(label, str) or unlabeled is None or label != unlabeled]
    words = [isinstance(label, str) for label in labels]
    if any(words) and not all(words):
        word, other = labels[words.index(True)], labels[words.index(False)]
        raise ValueError(f"y has both words and numbers as labels, such as {word!r} and {other!r}. {way_out}")


def _is_missing(label: Any) -> bool:
    return (
        label is None or (isinstance(label, float) and label != label) or type(label).__name__ in ("NAType", "NaTType")
    )
