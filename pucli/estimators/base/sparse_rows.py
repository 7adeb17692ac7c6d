"""Sparse rows for the methods that compute with dense ones."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse

from pucli.core.arrays import Floats
from pucli.core.memory import check_memory

# A fit makes about so many copies of its rows.
COPIES = 3


def dense_rows(estimator: Any, X: Any) -> Floats:
    """Return rows X (n, m), sparse or not, as an array; refuse them before they fill the memory.

    Raises
    ------
    ValueError
        The array needs more memory than there is.
    """
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
