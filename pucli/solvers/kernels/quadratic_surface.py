"""The quadratic surface f(x) = x'Ax/2 + x'beta + beta_0, A symmetric, as a linear model (Wang 2024, section 4.4).

The m* = (m^2 + 3m)/2 coefficients are stacked as alpha = (a_11, a_12, ..., a_1m, a_22, ..., a_mm, beta_1, ...,
beta_m), with features x_j^2 / 2 for a_jj, x_j x_k for a_jk and x_j for beta_j. Group j holds the m + 1 coefficients of
feature j, its row of A and its beta, so a_jk is in two groups.
"""

from __future__ import annotations

import functools

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.core.memory import available_bytes, total_bytes

# Memory of a fit, or of a fold of a path, at most: square matrices of m* + 1 rows, and matrices of all rows by m* + 1.
MATRICES = 12
ROW_MATRICES = 4
# Share of the memory that a fit may take, of the machine's or of the container's.
MEMORY_SHARE = 0.5


def n_surface_features(n_features: int) -> int:
    """Return m*, the number of coefficients without the intercept."""
    return (n_features * n_features + 3 * n_features) // 2


def n_features_of(n_coefficients: int) -> int:
    """Return m, the number of features of a surface of m* coefficients without the intercept."""
    return round((float(np.sqrt(9 + 8 * n_coefficients)) - 3) / 2)


def surface_features(X: Floats) -> Floats:
    """Return the features (n, m*) of the rows X (n, m), in the order of alpha."""
    n, m = X.shape
    j, k = np.triu_indices(m)
    S = np.empty((n, n_surface_features(m)))
    np.multiply(X[:, j], X[:, k], out=S[:, : len(j)])
    S[:, : len(j)][:, j == k] *= 0.5
    S[:, len(j) :] = X
    return S


@functools.lru_cache(maxsize=256)
def surface_groups(n_features: int) -> Ints:
    """Return the positions in alpha of each feature's group, shape (m, m + 1): a_j1, ..., a_jm, beta_j; read-only."""
    m = n_features
    place = np.zeros((m, m), dtype=np.int64)
    j, k = np.triu_indices(m)
    place[j, k] = place[k, j] = np.arange(len(j))
    groups = np.column_stack([place, len(j) + np.arange(m)])
    groups.flags.writeable = False
    return groups


def surface_ridge(X: Floats) -> Floats:
    """Return G (m*, m*) with alpha'G alpha = sum_i |A x_i + beta|^2, the squared gradients of f at the rows (4.23).

    The term of feature j is a quadratic in its group alone, with the same matrix for all features.
    """
    n, m = X.shape
    rows = np.ones((n, m + 1))
    rows[:, :m] = X
    block = rows.T @ rows
    G = np.zeros((n_surface_features(m),) * 2)
    for group in surface_groups(m):
        G[np.ix_(group, group)] += block
    return G


def surface_coordinates(features: Ints, n_features: int) -> Ints:
    """Return the positions in alpha of the coefficients of the surface on some `features`, in their order."""
    groups = surface_groups(n_features)
    j, k = np.triu_indices(len(features))
    return np.concatenate([groups[features[j], features[k]], groups[features, -1]])


def surface_matrix(alpha: Floats, n_features: int) -> tuple[Floats, Floats]:
    """Return A (m, m) and beta (m,) from alpha."""
    groups = surface_groups(n_features)
    return alpha[groups[:, :-1]], alpha[groups[:, -1]]


def surface_score(X: Floats, A: Floats, beta: Floats, intercept: float) -> Floats:
    """Return f at rows, shape (n,), without computing their features."""
    f: Floats = 0.5 * np.einsum("ij,ij->i", X @ A, X) + X @ beta + intercept
    return f


def check_memory(n_rows: int, n_features: int, limit: float | None = None) -> None:
    """Raise ValueError, which names smaller alternatives, if a fit might need too much memory."""
    size = n_surface_features(n_features) + 1
    needed = 8.0 * (MATRICES * size * size + ROW_MATRICES * n_rows * size)
    if limit is None:
        there, total = available_bytes(), total_bytes()
        limit = min(np.inf if total is None else MEMORY_SHARE * total, np.inf if there is None else there)
    if needed > limit:
        raise ValueError(
            f"a quadratic surface of {n_features} features has {size - 1:,} coefficients; fitting it to {n_rows:,} "
            f"rows takes up to {needed:,.0f} bytes, and {limit:,.0f} may be used. Select features first (the "
            "coefficients of e-glpual that are zero, or leading principal components), or use glpual with kernel='rbf'."
        )
