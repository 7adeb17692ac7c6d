"""The intercept as one more column."""

from __future__ import annotations

import numpy as np

from pucli.arrays import Floats


def with_intercept(X: Floats) -> Floats:
    """Append a column of ones.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Rows.

    Returns
    -------
    ndarray of shape (n, m + 1)
        The rows (x_i, 1).
    """
    Z = np.ones((X.shape[0], X.shape[1] + 1))
    Z[:, :-1] = X
    return Z
