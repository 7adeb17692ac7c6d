"""Kernel functions: linear, polynomial and Gaussian (Schoelkopf and Smola 2002, chapter 2).

`Kernel` holds the function and its parameters and computes matrices by one matrix product. Squared distances come from
inner products of centered rows, so that a common offset of the data costs no digits, and from differences where the
inner products cancel. `Kernel.rounding` bounds the error that remains.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import issparse

from pucli.core.arrays import Floats

KERNELS = ("linear", "rbf", "polynomial")
# Kernel entries that `combination` computes at once: 16 MB.
_CHUNK_ENTRIES = 2_000_000
# Squared distances below this share of the two squared norms are computed from differences.
CLOSE = 1e-3
# The center is the median of about this many rows.
_CENTER_ROWS = 1000


class Kernel(NamedTuple):
    """A kernel function.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli.solvers.kernels.functions import Kernel
    >>> Kernel("polynomial", degree=2).matrix(np.array([[1.0], [2.0]]), np.array([[3.0]])).ravel().tolist()
    [16.0, 49.0]
    """

    # "linear": x.y, "rbf": exp(-|x - y|^2 / (2 width^2)), or "polynomial": (x.y + coef0)^degree
    name: str = "rbf"
    width: float = 1.0  # length scale of "rbf", in the units of the features
    degree: int = 3  # degree of "polynomial"
    coef0: float = 1.0  # constant term of "polynomial"

    def check(self) -> Kernel:
        """Return self, or raise ValueError for an unknown name or parameters that give no Mercer kernel."""
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

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        """Return k(x_i, y_j), shape (n, p), for X (n, m) and Y (p, m)."""
        if self.name == "rbf":
            return rbf(X, Y, self.width)
        G: Floats = X @ Y.T
        return G if self.name == "linear" else (G + self.coef0) ** self.degree

    def diagonal(self, X: Any) -> Floats:
        """Return k(x_i, x_i), shape (n,); with the linear kernel X may be sparse."""
        if self.name == "rbf":
            return np.ones(len(X))
        if issparse(X):
            squares: Floats = X.multiply(X).sum(axis=1)
            return squares
        G: Floats = np.einsum("ij,ij->i", X, X)
        return G if self.name == "linear" else (G + self.coef0) ** self.degree

    def rounding(self, X: Floats, weights: Floats) -> float:
        """Return a bound on the rounding error of sum_ij weights_i weights_j k(x_i, x_j), for X (n, m), weights (n,).

        By Cauchy and Schwarz, the inner products and powers of "linear" and "polynomial" are off by at most
        degree eps sqrt(k(x, x) k(y, y)), hence the form by degree eps (sum_i |weights_i| sqrt(k(x_i, x_i)))^2. For
        "rbf", with h = |x|^2 / 2 of the centered rows in widths and u = |x - y|^2 / 2, the exponent u is off by eps
        (h_x + h_y), at most u eps / CLOSE, and by eps sqrt(4 u (h_x + h_y)) from centering; times exp(-u), this is
        below eps (min(h, 1 / 2 CLOSE) + 2 sqrt(h)), summed over the two rows.
        """
        size, eps = np.abs(weights), np.finfo(float).eps
        if self.name == "rbf":
            center, rows = middle(X), max(1, _CHUNK_ENTRIES // X.shape[1])
            chunks = (X[start : start + rows] - center for start in range(0, len(X), rows))
            half = np.concatenate([half_norms(chunk / self.width) for chunk in chunks])
            each = 1.0 + np.minimum(half, 0.5 / CLOSE) + 2.0 * np.sqrt(half)
            return 2.0 * eps * float(size.sum()) * float(size @ each)
        degree = 1 if self.name == "linear" else self.degree
        return degree * eps * float(size @ np.sqrt(np.maximum(self.diagonal(X), 0.0))) ** 2

    def rounding_of_scores(self, X: Floats, weights: Floats, slopes: Floats) -> float:
        """Return a bound on the rounding of sum_i slopes_i |sum_j weights_j k(x_i, x_j)|.

        It holds for "linear" and "polynomial". Rows of any length contribute by their slope, also rows without a
        weight, which `rounding` does not see.
        """
        degree = 1 if self.name == "linear" else self.degree
        length = np.sqrt(np.maximum(self.diagonal(X), 0.0))
        return 4.0 * (degree + 1) * np.finfo(float).eps * float(slopes @ length) * float(np.abs(weights) @ length)

    def combination(self, X: Floats, Y: Floats, weights: Floats) -> Floats:
        """Return sum_j weights_j k(x_i, y_j), shape (n,), from one chunk of the matrix at a time."""
        if self.name == "linear":
            return X @ (weights @ Y)
        step = max(1, _CHUNK_ENTRIES // max(len(Y), 1))
        parts = [self.matrix(X[i : i + step], Y) @ weights for i in range(0, len(X), step)]
        return np.concatenate(parts) if parts else np.zeros(0)


def middle(X: Floats) -> Floats:
    """Return the median of some of the rows of X (n, m), shape (m,), a center that a few wrong values do not move."""
    return np.median(X[:: max(1, len(X) // _CENTER_ROWS)], axis=0)


def half_norms(X: Floats) -> Floats:
    """Return |x_i|^2 / 2, shape (n,)."""
    norms: Floats = 0.5 * np.einsum("ij,ij->i", X, X)
    return norms


def rbf(X: Floats, Y: Floats, width: float) -> Floats:
    """Return exp(-|x_i - y_j|^2 / (2 width^2)), shape (n, p)."""
    center = middle(Y)
    X, Y = (X - center) / width, (Y - center) / width
    return rbf_of_centered(X, Y, half_norms(X), half_norms(Y))


def rbf_of_centered(X: Floats, Y: Floats, half_x: Floats, half_y: Floats) -> Floats:
    """Return exp(-|x_i - y_j|^2 / 2), shape (n, p), for centered rows."""
    K: Floats = X @ Y.T
    _to_exponents(K, X, Y, half_x, half_y)
    np.exp(K, out=K)
    return K


@njit(cache=True)
def _to_exponents(K: Floats, X: Floats, Y: Floats, half_x: Floats, half_y: Floats) -> None:
    """Turn the inner products K (n, p) into -|x_i - y_j|^2 / 2; where they leave too few digits, from differences."""
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
