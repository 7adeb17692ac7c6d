"""The class prior from a random sample of known negatives, beside labeled positives and the population.

If the population is a share pi of positives and the rest negatives, its mean score is pi times that of the positives
plus (1 - pi) times that of the negatives, whatever the scores. Neither separated classes nor pure top rows are needed,
as without negatives. Scores are taken as ranks in the population, so that no far score decides.
"""

from __future__ import annotations

import numpy as np

# With fewer random negatives the class prior stays that of labeled and unlabeled rows.
FEWEST = 10
# Standard deviation of the errors that more rows do not reduce: of this estimate, and of one without negatives.
OWN_ERROR, OTHER_ERROR = 0.02, 0.1
# Means of ranks that are closer carry no information.
LEAST_DISTANCE = 0.05


def _share_of_means(positive: np.ndarray, population: np.ndarray, negative: np.ndarray) -> tuple[float, float]:
    """Return the share of positives in the population, and its standard error, by scores as in `with_negatives`."""
    ordered = np.sort(population)
    p, u, q = (
        0.5 * (np.searchsorted(ordered, s, "left") + np.searchsorted(ordered, s, "right")) / len(ordered)
        for s in (positive, population, negative)
    )
    distance = float(p.mean() - q.mean())
    if distance < LEAST_DISTANCE:
        return 0.5, 1.0
    share = float(np.clip((u.mean() - q.mean()) / distance, 0.0, 1.0))
    parts = (share**2 * p.var() / len(p), (1.0 - share) ** 2 * q.var() / len(q), u.var() / len(u))
    return share, float(np.sqrt(sum(parts)) / distance)


def with_negatives(
    value: float, deviation: float, positive: np.ndarray, population: np.ndarray, negative: np.ndarray
) -> tuple[float, float]:
    """Return an estimate of the class prior joined with that of random negatives, and its standard error.

    Each is weighted by its precision.
    """
    share, error = _share_of_means(positive, population, negative)
    own = 1.0 / (error**2 + OWN_ERROR**2)
    other = 1.0 / (deviation**2 + OTHER_ERROR**2)
    return (own * share + other * value) / (own + other), float((own + other) ** -0.5)
