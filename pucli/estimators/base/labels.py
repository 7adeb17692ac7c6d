"""Which of two labels marks the labelled positives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pucli.core.arrays import AnyArray
from pucli.data.labels import YES


def positive_label(labels: AnyArray, pos_label: Any = None) -> Any:
    """Return the label that marks labelled positives.

    Parameters
    ----------
    labels : ndarray of shape (2,)
        The two labels, sorted.
    pos_label : one of the labels, or None
        If given, it is returned. None takes the greater of two numbers or booleans, and of two words the one that
        means yes (positive, pos, p, yes, y, true, t, labelled, labeled, 1; in upper or lower case). If neither or both
        of the words mean yes, the alphabetically later one is taken, with a warning that names it.

    Raises
    ------
    ValueError
        If `pos_label` is neither of the two.
    """
    if pos_label is not None:
        for label in labels:
            if _same(label, pos_label):
                return label
        raise ValueError(
            f"pos_label={pos_label!r} is not a label of y, whose labels are {_shown(labels[0])} and "
            f"{_shown(labels[1])}; give one of the two."
        )
    if not any(isinstance(label, str) for label in labels.tolist()):
        return labels[1]
    yes = [label for label in labels if str(label).strip().lower() in YES]
    numbers = [label for label in labels if _is_number(label)]
    if len(yes) == 1 and (len(numbers) < 2 or float(numbers[0]) <= 0.0):
        return yes[0]
    chosen = max(numbers, key=float) if len(numbers) == 2 else labels[1]
    warnings.warn(
        f"the labels are {_shown(labels[0])} and {_shown(labels[1])}, and their names do not show which of them marks "
        f"the labelled positives: {_shown(chosen)} is taken. Set pos_label to choose.",
        UserWarning,
        stacklevel=5,
    )
    return chosen


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


def refuse_missing_labels(y: Any) -> None:
    """Raise ValueError if a label is missing: None, NaN or an empty cell of pandas."""
    if y is None:  # scikit-learn says that y is needed
        return
    missing = [row for row, label in enumerate(np.asarray(y, dtype=object).ravel().tolist()) if _is_missing(label)]
    if missing:
        raise ValueError(
            f"Input y contains NaN: {len(missing)} labels are missing, the first in row {missing[0]}. Give unlabeled "
            'rows a label of their own, in pandas for example y.fillna("unlabeled").'
        )


def _is_missing(label: Any) -> bool:
    return (
        label is None or (isinstance(label, float) and label != label) or type(label).__name__ in ("NAType", "NaTType")
    )
