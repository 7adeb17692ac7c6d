"""Kernel functions: linear, polynomial and Gaussian (Schoelkopf and Smola 2002, chapter 2).

`Kernel` holds the function and its parameters and gives matrices by one matrix product; `kernel_row` is its compiled
counterpart for one row. Squared distances are made from inner products of rows that are centred first, so that a
common offset of the data costs no digits, and from differences where the inner products cancel. `Kernel.rounding`
bounds what is lost all the same.
"""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np
from numba import njit

KERNELS = ("linear", "rbf", "polynomial")
# Kernel entries made at once in `combination`: 16 MB.
_CHUNK_ENTRIES = 2_000_000
# Squared distances below this share of the two squared norms are made from differences.
CLOSE = 1e-3
# The centre is the median of about this many rows.
_CENTRE_ROWS = 1000


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
        if self.name == "rbf" and not (isinstance(self.width, Real) and 0 < self.width < np.inf):
            raise ValueError(f"width must be positive and finite; got {self.width!r}.")
        if self.name == "polynomial" and not (
            isinstance(self.degree, Real)
            and isinstance(self.coef0, Real)
            and 1 <= self.degree < np.inf
            and int(self.degree) == self.degree
            and 0 <= self.coef0 < np.inf
        ):
            raise ValueError(
                "the polynomial kernel needs an integer degree >= 1 and a finite coef0 >= 0; "
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

    def rounding(self, X: np.ndarray, weights: np.ndarray) -> float:
        """Return what rounding may move sum_ij weights_i weights_j k(x_i, x_j) by, for X (n, m) and weights (n,).

        With Cauchy and Schwarz, the inner products and powers of "linear" and "polynomial" are off by at most
        degree eps sqrt(k(x, x) k(y, y)), hence the form by degree eps (sum_i |weights_i| sqrt(k(x_i, x_i)))^2. For
        "rbf", with h = |x|^2 / 2 of the centred rows in widths and u = |x - y|^2 / 2, the exponent u is off by eps
        (h_x + h_y), at most u eps / CLOSE, and by eps sqrt(4 u (h_x + h_y)) from centring; times exp(-u), this is
        below eps (min(h, 1 / 2 CLOSE) + 2 sqrt(h)), summed over the two rows.
        """
        size, eps = np.abs(weights), np.finfo(float).eps
        if self.name == "rbf":
            centre, rows = middle(X), max(1, _CHUNK_ENTRIES // X.shape[1])
            chunks = (X[start : start + rows] - centre for start in range(0, len(X), rows))
            half = np.concatenate([half_norms(chunk / self.width) for chunk in chunks])
            each = 1.0 + np.minimum(half, 0.5 / CLOSE) + 2.0 * np.sqrt(half)
            return 2.0 * eps * float(size.sum()) * float(size @ each)
        degree = 1 if self.name == "linear" else self.degree
        return degree * eps * float(size @ np.sqrt(np.maximum(self.diagonal(X), 0.0))) ** 2

    def combination(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_j weights_j k(x_i, y_j), shape (n,), a chunk of the matrix at a time."""
        if self.name == "linear":
            return X @ (weights @ Y)
        step = max(1, _CHUNK_ENTRIES // max(len(Y), 1))
        parts = [self.matrix(X[i : i + step], Y) @ weights for i in range(0, len(X), step)]
        return np.concatenate(parts) if parts else np.zeros(0)


def middle(X: np.ndarray) -> np.ndarray:
    """Return the median of some of the rows of X (n, m), shape (m,): a centre that a few wrong values do not move."""
    return np.median(X[:: max(1, len(X) // _CENTRE_ROWS)], axis=0)


def half_norms(X: np.ndarray) -> np.ndarray:
    """Return |x_i|^2 / 2, shape (n,)."""
    return 0.5 * np.einsum("ij,ij->i", X, X)


def rbf(X: np.ndarray, Y: np.ndarray, width: float) -> np.ndarray:
    """Return exp(-|x_i - y_j|^2 / (2 width^2)), shape (n, p), for X (n, m) and Y (p, m)."""
    centre = middle(Y)
    X, Y = (X - centre) / width, (Y - centre) / width
    return rbf_of_centred(X, Y, half_norms(X), half_norms(Y))


def rbf_of_centred(X: np.ndarray, Y: np.ndarray, half_x: np.ndarray, half_y: np.ndarray) -> np.ndarray:
    """Return exp(-|x_i - y_j|^2 / 2), shape (n, p), for centred rows and half their squared norms."""
    K = X @ Y.T
    _to_exponents(K, X, Y, half_x, half_y)
    return np.exp(K, out=K)


@njit(cache=True)
def _to_exponents(K, X, Y, half_x, half_y):
    """Turn inner products K (n, p) into -|x_i - y_j|^2 / 2, from differences where they leave too few digits."""
    for i in range(K.shape[0]):
        close = 0
        for j in range(K.shape[1]):
            halves = half_x[i] + half_y[j]
            K[i, j] -= halves
            close += K[i, j] >= -CLOSE * halves
        if close == 0:
            continue
        for j in range(K.shape[1]):
            if K[i, j] >= -CLOSE * (half_x[i] + half_y[j]):
                total = 0.0
                for k in range(X.shape[1]):
                    difference = X[i, k] - Y[j, k]
                    total += difference * difference
                K[i, j] = -0.5 * total


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
