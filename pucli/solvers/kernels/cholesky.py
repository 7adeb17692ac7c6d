"""Positive definite systems by Cholesky factors: refined once (Higham 2002, chapter 12), or with a scaled diagonal."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import scipy.linalg.lapack
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pucli.core.arrays import Floats

# The result of `cho_factor`: the factor, and whether it is lower triangular.
Cholesky: TypeAlias = tuple[Floats, bool]
# Shares of the diagonal that are added to a matrix that rounding has made indefinite, times its size.
LARGER_DIAGONALS = (1e-15, 1e-14, 1e-13, 1e-12)


def solve_refined(A: Floats, b: Floats) -> tuple[Floats, Floats, float, Cholesky]:
    """Return x of A x = b after a step of refinement, A x - b, half its square in the metric of A^-1, and the factor.

    The half square is the distance of x'Ax/2 - b'x to its minimum: what rounding leaves. If rounding has taken the
    definiteness of A, as of columns that are nearly equal and large, it is infinite, and the factor that of A with a
    larger diagonal.
    """
    factor, exact = nearest_factor(A)
    x = cho_solve(factor, b, check_finite=False)
    x = x - cho_solve(factor, A @ x - b, check_finite=False)
    gradient = A @ x - b
    gap = max(0.5 * float(gradient @ cho_solve(factor, gradient, check_finite=False)), 0.0)
    return x, gradient, gap if exact else math.inf, factor


def nearest_factor(A: Floats) -> tuple[Cholesky, bool]:
    """Return the Cholesky factor of A and True, or if rounding made A indefinite that of a larger one and False."""
    for share in (0.0, *LARGER_DIAGONALS):
        try:
            larger = A + np.diag(share * len(A) * np.diagonal(A)) if share else A
            return cho_factor(larger, lower=True, check_finite=False), not share
        except LinAlgError:
            if share == LARGER_DIAGONALS[-1]:
                raise
    raise AssertionError


def inverse_of(H: Floats) -> Floats:
    """Return the inverse (r, r) of a positive definite H, which is overwritten."""
    d, (factor, lower) = scaled_cholesky(H, overwrite=True)
    triangle, _ = scipy.linalg.lapack.dpotri(factor, lower=lower, overwrite_c=True)
    inverse = np.tril(triangle).T
    inverse += np.triu(inverse, 1).T
    inverse *= d[:, None]
    inverse *= d
    return np.ascontiguousarray(inverse)


def scaled_cholesky(H: Floats, overwrite: bool = False) -> tuple[Floats, Cholesky]:
    """Return d and the Cholesky factor of D H D plus a small ridge, D = diag(d), with a diagonal of about one."""
    d = 1.0 / np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    scaled = H if overwrite else H.copy()
    scaled *= d[:, None]
    scaled *= d
    scaled[np.diag_indices(len(d))] += 1e-13 * len(d)
    return d, cho_factor(scaled.T, lower=True, overwrite_a=True, check_finite=False)
