"""Coordinates for few rows of many features: a ridge keeps the coefficients in the span of the rows.

This is the representer theorem (Kimeldorf and Wahba 1971). With X' = QR, the rows are X = R'Q', and coefficients w = Qa
have the norm of a. A method whose objective depends on w through the scores Xw and |w| alone therefore has the same
solution in the n coordinates R' as in the m features.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from pucli.core.arrays import Floats

# Rows of more features than this, and of more features than rows, are moved to their coordinates.
WIDE = 5000


def is_wide(X: Floats) -> bool:
    """Return whether rows X (n, m) have too many features for m x m matrices."""
    return bool(X.shape[1] > max(WIDE, X.shape[0]))


def coordinates_of_rows(X: Floats) -> tuple[Floats, Floats]:
    """Return the coordinates (n, n) of rows X (n, m) and the orthonormal basis (m, n) of the space that they span."""
    basis, triangle = qr(X.T, mode="economic", check_finite=False)
    return np.ascontiguousarray(triangle.T), basis
