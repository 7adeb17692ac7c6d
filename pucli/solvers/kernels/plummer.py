"""The unbiased squared maximum mean discrepancy with the Plummer kernel, and its gradient, in one pass over the pairs.

k(z, z') = (|z - z'|^2 + eps)^(-1/2), and the sums of Sansone 2018, eq. 4.2, leave out i = j. Batches are small, so the
number of passes over the data determines the speed: a buffer holds one row of the kernel, and sums are accumulated in
lanes, so that the compiler can use vector instructions without changing the order of the additions.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pucli.core.arrays import Floats


# no checks for division by zero, which would rule out vector instructions: eps is positive
@njit(cache=True, error_model="numpy")
def _row(z: Floats, columns: Floats, eps: float, k: Floats) -> None:
    """Fill k (n,) with the kernel between z (h,) and the points `columns` (h, n)."""
    n = len(k)
    for j in range(n):
        k[j] = eps
    for c in range(len(z)):
        for j in range(n):
            difference = z[c] - columns[c, j]
            k[j] += difference * difference
    one = k.dtype.type(1.0)
    for j in range(n):
        k[j] = one / np.sqrt(k[j])


@njit(cache=True)
def _total(values: Floats) -> float:
    """Return the sum of `values`, added up in four lanes."""
    a = b = c = d = values.dtype.type(0.0)
    whole = len(values) // 4 * 4
    for j in range(0, whole, 4):
        a += values[j]
        b += values[j + 1]
        c += values[j + 2]
        d += values[j + 3]
    for j in range(whole, len(values)):
        a += values[j]
    return (a + b) + (c + d)


@njit(cache=True)
def discrepancy_and_gradient(codes: Floats, prior: Floats, eps: float) -> tuple[float, Floats]:
    """Return the unbiased estimate of the discrepancy of two samples, and its derivative (n, h) by the codes."""
    n, h = codes.shape
    eps = codes.dtype.type(eps)
    zero = codes.dtype.type(0.0)
    code_columns, prior_columns = np.ascontiguousarray(codes.T), np.ascontiguousarray(prior.T)
    gradient = np.empty_like(codes)
    k, pull = np.empty(n, codes.dtype), np.empty(n, codes.dtype)
    value = 0.0
    scale = 2.0 / (n * (n - 1.0))
    for i in range(n):
        for c in range(h):
            gradient[i, c] = zero
        # d k(z, z') / dz = -k^3 (z - z'); both orders of a pair are in the sums: codes push, the prior pulls
        for side, columns in ((1.0, code_columns), (-1.0, prior_columns)):
            _row(codes[i], columns, eps, k)
            k[i] = zero
            value += (1.0 if side > 0 else -2.0) * _total(k)
            for j in range(n):
                k[j] = k[j] * k[j] * k[j]
            for c in range(h):
                for j in range(n):
                    pull[j] = k[j] * (columns[c, j] - codes[i, c])
                gradient[i, c] += side * scale * _total(pull)
        _row(prior[i], prior_columns, eps, k)
        k[i] = zero
        value += _total(k)
    return 0.5 * scale * value, gradient
