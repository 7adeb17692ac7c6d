"""Generated data sets of Sansone 2018: G50C, CAKE and TOES (section 2.4), the grid and the embedding (section 4.4).

The thesis does not state all parameters. A parameter without a source is marked as a guess, with its reason.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats, Ints

# Half the distance of two standard normals with a Bayes error of 5 %: the 95 % quantile of the normal distribution.
_HALF_DISTANCE = 1.6448536269514722
# The publication does not state the centers of TOES. Guess: two for the first class and three for the second.
_TOES = np.array([[0.0, 0.0], [4.0, 4.0], [4.0, 0.0], [0.0, 4.0], [2.0, 2.0]])


def g50c(rng: np.random.Generator, *, rows: int = 550) -> tuple[Floats, Ints]:
    """Draw from two standard normals in 50 dimensions with a Bayes error of 5 %."""
    rows = int(rows)
    y = np.where(np.arange(rows) % 2 == 0, 1, -1)
    return rng.standard_normal((rows, 50)) + (y * _HALF_DISTANCE / np.sqrt(50.0))[:, None], y.astype(np.int64)


def cake(rng: np.random.Generator, *, rows: int = 1000) -> tuple[Floats, Ints]:
    """Draw rows uniformly from a disc of radius 3 around (2, 1); opposite quarters have the same class."""
    rows = int(rows)
    radius, angle = 3.0 * np.sqrt(rng.random(rows)), 2.0 * np.pi * rng.random(rows)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    y = np.where(X[:, 0] * X[:, 1] < 0.0, 1, -1)
    return X + np.array([2.0, 1.0]), y.astype(np.int64)


def toes(rng: np.random.Generator, *, rows: int = 1000, sd: float = 0.5) -> tuple[Floats, Ints]:
    """Draw from five Gaussians in the plane, two of the first class and three of the second; classes have equal size.

    The centers and `sd` are guesses: the thesis shows them only in a figure.
    """
    rows = int(rows)
    y = np.where(np.arange(rows) % 2 == 0, 1, -1)
    component = np.where(y == 1, rng.integers(0, 2, rows), rng.integers(2, 5, rows))
    return _TOES[component] + sd * rng.standard_normal((rows, 2)), y.astype(np.int64)


def gaussian_grid(
    rng: np.random.Generator, *, rows: int = 500, spacing: float = 10.5, sd: float = 0.316
) -> tuple[Floats, Ints]:
    """Draw from 25 isotropic Gaussians on a 5 x 5 grid around the origin.

    `spacing` and `sd` are guesses that agree with the published log-likelihoods: with sd 0.316, the true density has
    -3.76, just above the -4.1 of the best method; rows spread evenly over the grid have about -7.9, like the worst
    autoencoders.
    """
    y = rng.integers(0, 25, int(rows))
    return grid_centers(spacing)[y] + sd * rng.standard_normal((len(y), 2)), y.astype(np.int64)


def grid_centers(spacing: float) -> Floats:
    """Return the centers of `gaussian_grid`, (25, 2)."""
    side = spacing * np.arange(-2.0, 3.0)
    return np.array([[a, b] for a in side for b in side])


def embedded_gaussians(
    rng: np.random.Generator, *, rows: int = 500, spread: float = 5.0, sd: float = 1.0
) -> tuple[Floats, Ints]:
    """Draw from ten isotropic Gaussians in 10 dimensions, embedded in 1000 dimensions by an isometry.

    The centers have standard deviation `spread` and are the same in every draw, so that the density is fixed. The
    thesis states neither the centers nor the scale nor the embedding; unit variance and an isometry agree with its
    log-likelihoods (near 1224: kernel bandwidth 0.1 and nearest generated rows at a distance of 1.8).
    """
    centers, basis = embedding(spread)
    y = rng.integers(0, 10, int(rows))
    return (centers[y] + sd * rng.standard_normal((len(y), 10))) @ basis, y.astype(np.int64)


def embedding(spread: float) -> tuple[Floats, Ints]:
    """Return the centers (10, 10) and the isometry (10, 1000) of `embedded_gaussians`."""
    fixed = np.random.default_rng(20180410)
    centers = spread * fixed.standard_normal((10, 10))
    basis = np.linalg.qr(fixed.standard_normal((1000, 10)))[0].T
    return centers, basis


def stacked(images: Floats, digits: Ints, rng: np.random.Generator, rows: int) -> tuple[Floats, Ints]:
    """Return rows of three random images side by side, (rows, 3 p), and their classes, 0 to 999."""
    chosen = rng.integers(0, len(images), (rows, 3))
    return images[chosen].reshape(rows, -1), (digits[chosen] @ np.array([100, 10, 1])).astype(np.int64)


# Generators by the names used in `datasets.yaml`.
MIXTURES = {
    "g50c": g50c,
    "cake": cake,
    "toes": toes,
    "gaussian-grid": gaussian_grid,
    "embedded-gaussians": embedded_gaussians,
}
