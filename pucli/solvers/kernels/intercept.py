"""The intercept as an additional column, and columns that are far from the origin.

If the mean of a column is a million times its spread, products of columns such as Z'Z keep only four digits. With an
intercept that is not penalized, subtracting the mean only changes the intercept, so solvers do it if necessary.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats

# A column is far from the origin if the modulus of its mean is above this, and above this times its standard deviation.
FAR = 1e3


def with_intercept(X: Floats) -> Floats:
    """Return the rows (x_i, 1), shape (n, m + 1), of X (n, m)."""
    Z = np.ones((X.shape[0], X.shape[1] + 1))
    Z[:, :-1] = X
    return Z


def without_offset(Z: Floats) -> tuple[Floats, Floats]:
    """Subtract the mean from columns of Z (n, m + 1) that are far from the origin; the last column is one.

    Returns the rows, Z itself if no column is far from the origin, and the vector (m + 1,) that was subtracted.
    """
    rough = np.full(len(Z), 1.0 / len(Z)) @ Z  # a fraction of the time of Z.mean
    if not (np.abs(rough[:-1]) > FAR).any():
        return Z, np.zeros(Z.shape[1])
    mean = Z.mean(axis=0)
    mean[-1] = 0.0
    for j in np.flatnonzero(np.abs(mean) > FAR):
        spread = float(Z[:, j].std())
        if abs(mean[j]) <= FAR * spread:
            mean[j] = 0.0
    center: Floats = np.where(np.abs(mean) > FAR, mean, 0.0)
    return (Z - center if center.any() else Z), center


def with_offset(w: Floats, center: Floats) -> Floats:
    """Return the coefficients for the original rows, given those (m + 1,) for the rows minus `center`."""
    w = w.copy()
    w[-1] -= center @ w
    return w


def at_offset(w: Floats, center: Floats) -> Floats:
    """Return the coefficients for the rows minus `center` (m + 1,), given those for the original rows."""
    w = w.copy()
    if center.any():
        w[-1] = float(np.longdouble(w[-1]) + center.astype(np.longdouble) @ w.astype(np.longdouble))
    return w


def offset_rounding(w: Floats, center: Floats) -> float:
    """Return the rounding error of the intercept of `with_offset`, which shifts all scores; zero without an offset.

    At 1e8 from the origin an intercept has eight digits less than the scores. Even so small a shift gives scores other
    than those the solver certified.
    """
    if not center.any():
        return 0.0
    exact = np.longdouble(w[-1]) - center.astype(np.longdouble) @ w.astype(np.longdouble)
    return float(np.longdouble(with_offset(w, center)[-1]) - exact)


def rise_of_squares(margins: Floats, shift: float, weight: float | Floats) -> float:
    """Return the rise of a weighted sum of squared margins when every margin is raised by the same amount."""
    if isinstance(weight, np.ndarray):
        return float(shift * (2.0 * (weight @ margins) + weight.sum() * shift))
    return float(weight * shift * (2.0 * margins.sum() + len(margins) * shift))
