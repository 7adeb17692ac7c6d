"""Kernel functions: linear, polynomial and Gaussian (Schoelkopf and Smola 2002, chapter 2).

`Kernel` holds the function and its parameters and gives matrices by one matrix product; `kernel_row` is its compiled
counterpart for one row. Squared distances are made from inner products of rows that are centred first, so that a
common offset of the data costs no digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

KERNELS = ("linear", "rbf", "polynomial")
# Kernel entries made at once in `combination`: 16 MB.
_CHUNK_ENTRIES = 2_000_000


class Kernel(NamedTuple):
    """A kernel function.

    name : "linear" x.y; "rbf" exp(-|x - y|^2 / (2 width^2)); "polynomial" (x.y + coef0)^degree.
    width : length scale of "rbf", in the units of the features. degree, coef0 : of "polynomial".
    """

    name: str = "rbf"
    width: float = 1.0
    degree: int = 3
    coef0: float = 1.0

    def check(self) -> Kernel:
        """Return self; raise ValueError for an unknown name or a parameter that makes no Mercer kernel."""
        if self.name not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(KERNELS)}; got {self.name!r}.")
        if self.name == "rbf" and not self.width > 0:
            raise ValueError(f"width must be positive; got {self.width!r}.")
        if self.name == "polynomial" and (self.degree < 1 or int(self.degree) != self.degree or self.coef0 < 0):
            raise ValueError(
                "the polynomial kernel needs an integer degree >= 1 and coef0 >= 0; "
                f"got degree={self.degree!r}, coef0={self.coef0!r}."
            )
        return self

    def matrix(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Return k(x_i, y_j), shape (n, p), for X (n, m) and Y (p, m)."""
        if self.name == "rbf":
            return rbf(X, Y, self.width)
        G = X @ Y.T
        return G if self.name == "linear" else (G + self.coef0) ** self.degree

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return k(x_i, x_i), shape (n,)."""
        if self.name == "rbf":
            return np.ones(len(X))
        G = np.einsum("ij,ij->i", X, X)
        return G if self.name == "linear" else (G + self.coef0) ** self.degree

    def combination(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_j weights_j k(x_i, y_j), shape (n,), a chunk of the matrix at a time."""
        if self.name == "linear":
            return X @ (weights @ Y)
        step = max(1, _CHUNK_ENTRIES // max(len(Y), 1))
        parts = [self.matrix(X[i : i + step], Y) @ weights for i in range(0, len(X), step)]
        return np.concatenate(parts) if parts else np.zeros(0)


def rbf(X: np.ndarray, Y: np.ndarray, width: float) -> np.ndarray:
    """Return exp(-|x_i - y_j|^2 / (2 width^2)), shape (n, p), for X (n, m) and Y (p, m)."""
    centre = Y.mean(axis=0)
    X, Y = (X - centre) / width, (Y - centre) / width
    K = X @ Y.T
    K -= 0.5 * np.einsum("ij,ij->i", X, X)[:, None]
    K -= 0.5 * np.einsum("ij,ij->i", Y, Y)
    np.minimum(K, 0.0, out=K)
    return np.exp(K, out=K)


@njit(cache=True)
def kernel_row(x, Y, kind, width, degree, coef0):
    """Return k(x, y_j) for all rows of Y (p, m), shape (p,); kind: position in `KERNELS`."""
    out = np.empty(Y.shape[0])
    for j in range(Y.shape[0]):
        total = 0.0
        if kind == 1:
            for k in range(Y.shape[1]):
                difference = x[k] - Y[j, k]
                total += difference * difference
            out[j] = np.exp(-0.5 * total / (width * width))
        else:
            for k in range(Y.shape[1]):
                total += x[k] * Y[j, k]
            out[j] = total if kind == 0 else (total + coef0) ** degree
    return out
