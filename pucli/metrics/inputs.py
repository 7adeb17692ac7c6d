"""Checks of the arguments of metrics. An error says in one line what was given and what is taken."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import AnyArray, Bools, Floats

DENOMINATORS = ("unlabeled", "all")
# Rounding may bring a probability this far out of its range.
ROUNDING = 1e-9
# So many labels are named in a message.
FEW = 4


def vector(values: ArrayLike, name: str) -> AnyArray:
    """Return one value for each row, (n,); a column (n, 1) is taken as well."""
    array = np.asarray(values)
    if array.ndim == 0:
        given = "nothing" if values is None else f"one {type(values).__name__}"
        raise ValueError(f"{name} takes one value for each row, of shape (n,); got {given}.")
    if array.ndim > 1 and array.shape != (len(array), 1):
        way_out = " Of predict_proba, give the column of the positive class." if array.shape[1:] == (2,) else ""
        raise ValueError(f"{name} takes one value for each row, of shape (n,); got shape {array.shape}.{way_out}")
    return array.ravel()


def numbers(values: ArrayLike, name: str) -> Floats:
    """Return numbers, one for each row, (n,); missing ones are NaN. Raise ValueError for words, dates and the like."""
    vector(values, name)
    return as_floats(values, name).ravel()


def as_floats(values: ArrayLike, name: str) -> Floats:
    """Return an array of any shape as numbers; raise ValueError that names the first value that is none."""
    array = np.asarray(values)
    try:
        if array.dtype.kind in "MmcV" or (array.ndim == 0 and array.dtype.kind == "O"):
            raise TypeError
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        wrong = next((value for value in array.ravel().tolist() if not _is_number(value)), values)
        raise ValueError(f"{name} takes numbers, and {_shown(wrong)} is none.") from error


def weights(values: ArrayLike) -> Floats:
    """Return the weights of the rows, (n,); raise ValueError if one is missing, negative or infinite."""
    found = numbers(values, "sample_weight")
    wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 0.0)))
    if len(wrong):
        raise ValueError(f"sample_weight takes finite numbers from zero on; row {wrong[0]} has {found[wrong[0]]:g}.")
    return found


def probabilities(values: Floats, name: str = "probability") -> Floats:
    """Return probabilities (n,), NaN where they are missing; raise ValueError for a number below 0 or above 1."""
    wrong = np.flatnonzero((values < -ROUNDING) | (values > 1.0 + ROUNDING))
    if len(wrong):
        raise ValueError(f"{name} takes numbers between 0 and 1; row {wrong[0]} has {values[wrong[0]]:g}.")
    return values


def refuse_prior(prior: float) -> None:
    """Raise ValueError if a class prior is below 0 or above 1."""
    probabilities(np.array([prior], dtype=np.float64), "prior")


def labels(values: ArrayLike, name: str) -> AnyArray:
    """Return the labels of the rows, (n,); raise ValueError if one is missing or a fraction, or some are words."""
    array = vector(values, name)
    missing = np.flatnonzero(_missing(array))
    if len(missing):
        raise ValueError(f"{name} lacks the label of row {missing[0]}: leave out rows without a label.")
    if array.dtype.kind == "f" and len(fractions := array[array != np.round(array)]):
        raise ValueError(f"{name} takes labels, and {fractions[0]:g} is a score or a probability.")
    of_words = [isinstance(label, str) for label in array.tolist()] if array.dtype.kind == "O" else []
    if any(of_words) and not all(of_words):
        word, other = array[of_words.index(True)], array[of_words.index(False)]
        raise ValueError(f"{name} has both words and numbers as labels, such as {_shown(word)} and {_shown(other)}.")
    return array


def labeled_mask(labeled: ArrayLike) -> Bools:
    """Return which rows are labeled positives, (n,), given as True and False or 1 and 0; else raise ValueError."""
    array = labels(labeled, "labeled")
    if array.dtype.kind != "b":
        wrong = [label for label in distinct(array) if isinstance(label, str) or label not in (0, 1)]
        if wrong:
            raise ValueError(
                "labeled takes True for labeled positives and False for unlabeled rows, or 1 and 0; got "
                f"{_shown(wrong[0])}. Compare the labels with the positive one: y == {_shown(distinct(array)[-1])}."
            )
    return array.astype(bool)


def marked_scores(labeled: ArrayLike, decision: ArrayLike) -> tuple[Bools, Floats]:
    """Return which rows are labeled positives, and their scores, (n,) each; raise ValueError if the lengths differ."""
    marked, scores = labeled_mask(labeled), numbers(decision, "decision")
    same_length(marked, scores, ("labeled", "decision"), least=0)
    return marked, scores


def positive_and_numbers(truth: ArrayLike, values: ArrayLike, positive: object, name: str) -> tuple[Bools, Floats]:
    """Return which rows are positive, and their scores or probabilities, (n,) each."""
    y, found = labels(truth, "truth"), numbers(values, name)
    same_length(y, found, ("truth", name))
    refuse_other_kind(positive, y)
    return y == positive, found


def classes(truth: ArrayLike, predictions: ArrayLike, names: tuple[str, str]) -> tuple[AnyArray, AnyArray]:
    """Return true and predicted classes, (n,) each; raise ValueError unless they have one length and kind."""
    y, y_hat = labels(truth, names[0]), labels(predictions, names[1])
    same_length(y, y_hat, names)
    if _texts(y) != _texts(y_hat):
        raise ValueError(f"{names[0]} has labels such as {_shown(y[0])}, but {names[1]} such as {_shown(y_hat[0])}.")
    return y, y_hat


def refuse_other_kind(positive: object, y: AnyArray) -> None:
    """Raise ValueError if the positive class is a word and the labels (n,) are none, or the other way round."""
    if np.ndim(np.asarray(positive)) or positive is None or positive != positive:  # NaN differs from itself
        raise ValueError(f"positive takes one label; got {_shown(positive)}.")
    if isinstance(positive, str) != _texts(y):
        found = ", ".join(_shown(label) for label in distinct(y)[:FEW])
        raise ValueError(f"positive is {_shown(positive)}, which is no label: the labels are {found}.")


def same_length(first: AnyArray, second: AnyArray, names: tuple[str, str], *, least: int = 1) -> None:
    """Raise ValueError unless both arrays have the same length, at least `least`."""
    if len(first) != len(second) or len(first) < least:
        above = " above zero" if least else ""
        raise ValueError(f"{names[0]} and {names[1]} need the same length{above}, got {len(first)} and {len(second)}.")


def refuse_denominator(denominator: object) -> None:
    """Raise ValueError unless it says whether PUF divides by the unlabeled or by all rows."""
    if not isinstance(denominator, str) or denominator not in DENOMINATORS:
        given = _shown(denominator) if isinstance(denominator, str) else f"one {type(denominator).__name__}"
        raise ValueError(f'denominator takes "unlabeled" or "all"; got {given}.')


def distinct(values: AnyArray) -> list[Any]:
    """Return the labels that occur, sorted; words last."""
    return sorted(set(values.tolist()), key=lambda label: (isinstance(label, str), label))


def _texts(values: AnyArray) -> bool:
    return values.dtype.kind in "UT" or (values.dtype.kind == "O" and isinstance(values[0], str))


def _missing(values: AnyArray) -> AnyArray:
    if values.dtype.kind in "OT":
        import pandas as pd  # takes long to import

        return np.asarray(pd.isna(values))
    return np.isnan(values) if values.dtype.kind in "fMmc" else np.zeros(len(values), dtype=bool)


def _is_number(value: Any) -> bool:
    try:
        return value is None or float(value) is not None
    except (TypeError, ValueError):
        return False


def _shown(value: Any) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else f"one {type(value).__name__}"
