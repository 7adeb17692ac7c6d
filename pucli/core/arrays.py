"""Type aliases for arrays, and their columns as z-scores."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
# any dtype: labels, columns of a table
AnyArray: TypeAlias = NDArray[Any]


def z_scores(X: Floats) -> Floats:
    """Return the columns of X (n, m) with mean 0 and standard deviation 1; a constant column is only centered."""
    spread = X.std(axis=0)
    scores: Floats = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scores
