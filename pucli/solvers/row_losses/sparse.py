"""Newton steps of `row_losses.linear` on sparse rows, by conjugate gradients (Dembo and Steihaug 1983).

Memory is proportional to the non-zeros.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse

from pucli.core.arrays import AnyArray, Bools, Floats

# Conjugate gradients stop at this share of the gradient, or after this many steps.
FORCING, MOST_STEPS = 1e-3, 500


def mean_of_columns(X: AnyArray) -> Floats:
    """Return the mean (m,) of the columns of rows X (n, m), sparse or not."""
    return np.asarray(X.mean(axis=0)).ravel()


def largest_of_columns(X: AnyArray) -> Floats:
    """Return the largest modulus (m,) in each column of rows X (n, m), sparse or not."""
    if issparse(X):
        largest: Floats = abs(X).max(axis=0).toarray().ravel()
        return largest
    both: Floats = np.maximum(np.abs(X.max(axis=0)), np.abs(X.min(axis=0)))
    return both


def sparse_newton_step(
    X: csr_array, center: Floats, on_kink: Bools, mu: float, gradient_w: Floats, gradient_b: float
) -> tuple[Floats, float]:
    """Solve (I + mu Z'Z) step = -gradient, nearly, with Z the centered rows on a kink and a column of ones.

    Any number of conjugate gradient steps from zero gives a direction of descent.
    """
    Z = X[np.flatnonzero(on_kink)]
    transposed, k = Z.T.tocsr(), Z.shape[0]

    def times(v: Floats) -> Floats:
        f = Z @ v[:-1] + (v[-1] - center @ v[:-1])
        total = float(f.sum())
        return np.append(v[:-1] + mu * (transposed @ f - total * center), mu * total)

    sums, squares = transposed @ np.ones(k), transposed.multiply(transposed) @ np.ones(k)
    diagonal = 1.0 + mu * np.maximum(squares - 2.0 * center * sums + k * center**2, 0.0)
    scale = 1.0 / np.append(diagonal, mu * max(k, 1))
    residual = -np.append(gradient_w, gradient_b)
    step, scaled = np.zeros_like(residual), scale * residual
    direction, product = scaled.copy(), float(residual @ scaled)
    least = FORCING**2 * product
    for _ in range(MOST_STEPS):
        if product <= least:
            break
        image = times(direction)
        length = product / float(direction @ image)
        step += length * direction
        residual -= length * image
        scaled = scale * residual
        before, product = product, float(residual @ scaled)
        direction = scaled + (product / before) * direction
    return step[:-1], float(step[-1])
