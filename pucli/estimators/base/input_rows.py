"""Input rows that a method cannot take as they are: empty cells, sparse rows, and rows of singular systems."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pucli.core.arrays import Floats
from pucli.core.memory import check_memory

# A fit makes about so many copies of its rows.
COPIES = 3
# Ratio of the standard deviations of two features of which the smaller one is lost in distances.
UNEQUAL = 1e5
LARGEST = float(np.sqrt(np.finfo(np.float64).max))


@contextmanager
def told_of_empty_cells(estimator: Any) -> Iterator[None]:
    """Replace scikit-learn's message about NaN in X."""
    try:
        yield
    except ValueError as error:
        if "does not accept missing values" not in str(error):
            raise
        name = type(estimator).__name__
        raise ValueError(
            f"Input X contains NaN: {name} takes no empty cells. pucli.data.TableEncoder fills and marks them: "
            f"make_pipeline(TableEncoder(), Standardiser(), {name}())."
        ) from None


@contextmanager
def told_of_singular_system(estimator: Any) -> Iterator[None]:
    """Replace the messages about a matrix that is singular or not positive definite, and about numbers out of range."""
    try:
        yield
    except (ZeroDivisionError, OverflowError) as error:
        raise ValueError(
            f"{type(estimator).__name__} cannot be fitted with these parameters: one is so small or so large that its "
            "square leaves double precision. Choose a width, a sigma or a weight nearer to 1."
        ) from error
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"{type(estimator).__name__} cannot be fitted to these rows: its linear system is singular in double "
            "precision, because features are very large, very small or of very different size. Scale the features "
            "(for example to unit variance), or change the weights of the objective."
        ) from error


def warn_of_sizes(estimator: Any, X: Floats) -> None:
    """Warn if a feature of rows X (n, m) varies `UNEQUAL` times less than another: distances then hardly see it."""
    spread = X.std(axis=0)
    spread = spread[spread > 0.0]
    if spread.size and spread.max() > UNEQUAL * spread.min():
        warnings.warn(
            f"{type(estimator).__name__} compares rows by their distances, and one feature varies "
            f"{spread.max() / spread.min():.1g} times as much as another, which then has no weight; scale the features "
            "(for example to unit variance).",
            stacklevel=4,
        )


def refuse_large(X: Any) -> None:
    """Raise ValueError if the square of a number in rows X (n, m), sparse or not, overflows."""
    values = X.data if issparse(X) else X
    if values.size and max(-np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)) > LARGEST:
        row, column = (int(found[0]) for found in (abs(X) > LARGEST).nonzero())
        raise ValueError(
            f"Input X has a number in row {row} and feature {column} whose square overflows in double precision; "
            "correct it or change the unit of the feature."
        )


def dense_rows(estimator: Any, X: Any) -> Floats:
    """Return rows X (n, m), sparse or not, as an array; refuse them before they fill the memory.

    Raises
    ------
    ValueError
        The array needs more memory than there is, or the square of a number overflows.
    """
    refuse_large(X)
    if not issparse(X):
        rows: Floats = X
        return rows
    n, m = X.shape
    check_memory(
        8.0 * COPIES * n * m,
        f"{type(estimator).__name__} on {n} x {m} sparse rows in dense form",
        "take fewer rows or features, or a method that keeps rows sparse: BLSSVM, UPU(loss='double-hinge'), "
        "USMO(kernel='linear') or NaiveSVC(kernel='linear')",
    )
    made: Floats = X.toarray()
    return made
