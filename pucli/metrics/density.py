"""Metrics of densities and of generated rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Floats, Ints

# Share of its fair part of the generated rows from which on a mode counts as found.
FAIR_SHARE = 0.2
# A generated row is near a center within this many standard deviations per dimension, root mean square.
NEAR = 4.0


def mean_log_likelihood(log_density: ArrayLike) -> float:
    """Return the mean over rows of their log-density, in nats."""
    return float(np.mean(np.asarray(log_density, dtype=float)))


def modes_found(mode_counts: ArrayLike) -> float:
    """Return the number of modes with at least a fifth of their share of the generated rows, and at least one."""
    counts = np.asarray(mode_counts)
    return float(np.sum(counts >= max(1.0, FAIR_SHARE * counts.sum() / len(counts))))


def share_near(generated: ArrayLike, centers: ArrayLike, sd: float) -> float:
    """Return the share of generated rows that lie near a center; see `nearest_centers`."""
    _, distance = nearest_centers(generated, centers)
    dimensions = np.linalg.matrix_rank(np.asarray(centers))
    return float(np.mean(distance <= NEAR * sd * np.sqrt(dimensions)))


def nearest_centers(generated: ArrayLike, centers: ArrayLike) -> tuple[Ints, Floats]:
    """Return the nearest center of each generated row, and its distance; both of shape (n,)."""
    from sklearn.metrics import pairwise_distances_argmin_min

    nearest, distance = pairwise_distances_argmin_min(np.asarray(generated), np.asarray(centers))
    return np.asarray(nearest, dtype=np.int64), np.asarray(distance, dtype=np.float64)
