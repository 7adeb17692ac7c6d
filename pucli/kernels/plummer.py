"""The unbiased squared maximum mean discrepancy with the Plummer kernel, and its gradient, in one pass over the pairs.

k(z, z') = (|z - z'|^2 + eps)^(-1/2); the sums of Sansone 2018, eq. 4.2, leave out i = j. A batch is small, so that what
counts is the number of passes: a row of the kernel lives in one buffer, and sums go by lanes, so that the compiler can
use vector instructions without changing the order of additions.
"""

from __future__ import annotations

import numpy as np
from numba import njit


# a check for division by zero would keep it from vector instructions; eps is positive
@njit(cache=True, error_model="numpy")
def _row(z, columns, eps, k):
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
def _total(values):
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
def discrepancy_and_gradient(codes, prior, eps):
    """Return the discrepancy of `codes` and `prior`, both (n, h), n >= 2, and its gradient in the codes, (n, h)."""
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
