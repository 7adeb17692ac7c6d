"""Linear systems in compiled functions, by LAPACK's dgesv.

Numba's own `np.linalg.solve` calls the same routine, but a function that uses it takes seconds more to compile, nearly
all of it for the texts of errors that cannot occur here.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding  # type: ignore[import-untyped]
import numba
import numpy as np
from numba import njit
from numba.extending import get_cython_function_address

from pucli.core.arrays import Floats

# Compiled code that was cached finds the routine by this name.
_NAME = "pucli_dgesv"
llvmlite.binding.add_symbol(_NAME, get_cython_function_address("scipy.linalg.cython_lapack", "dgesv"))
_types: Any = numba.types
_integers, _numbers = _types.CPointer(_types.int32), _types.CPointer(_types.float64)
_dgesv: Any = _types.ExternalFunction(
    _NAME,
    _types.void(_integers, _integers, _numbers, _integers, _integers, _numbers, _integers, _integers),
)


@njit(cache=True)
def solved(A: Floats, b: Floats) -> Floats:
    """Return the solution x (n,) of A x = b, A (n, n), to the last bit that of `np.linalg.solve`.

    LinAlgError is raised if A is singular or an entry is not finite.
    """
    n = b.shape[0]
    if n == 0:
        return np.empty(0)
    columns = np.empty((n, n))  # Fortran's order
    x = np.empty(n)
    for i in range(n):
        x[i] = b[i]
        if not np.isfinite(b[i]):
            raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
        for j in range(n):
            columns[j, i] = A[i, j]
            if not np.isfinite(A[i, j]):
                raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
    pivots = np.empty(n, np.int32)
    sizes = np.empty(3, np.int32)  # of the system, number of right-hand sides, and whether it failed
    sizes[0] = n
    sizes[1] = 1
    sizes[2] = 0
    size, one, failed = sizes[0:1], sizes[1:2], sizes[2:3]
    _dgesv(size.ctypes, one.ctypes, columns.ctypes, size.ctypes, pivots.ctypes, x.ctypes, size.ctypes, failed.ctypes)
    if failed[0] != 0:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")
    return x
