"""The class prior if both classes are normal: expectation-maximization with labeled positives.

If the classes overlap, the scores of a classifier have a single mode and do not determine the class prior. If the rows
themselves follow two normal distributions, one of which the labeled rows show, the likelihood determines it. The
estimate is used only if no test contradicts this form: the coordinates of labeled and unlabeled rows must be
distributed as in the fitted model.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtr

from pucli.core.arrays import Bools, Floats

# Least number of labeled rows, least number of rows per feature, and largest number of features of a model.
LEAST_LABELED, ROWS_PER_FEATURE, MOST_FEATURES = 50, 20, 20
# Largest number of rows of each kind, evenly spaced; steps; the largest Kolmogorov statistic, times the root of the
# number of rows, that counts as chance; the least distance of the means, in deviations, that determines the prior.
MOST_ROWS, STEPS, MISFIT, APART = 4000, 500, 1.5, 1.3
# Standard deviation of the error of the share, as measured on samples of 200 labeled and 1500 unlabeled rows.
GAUSSIAN_ERROR = 0.03
# Starting values of the share of positives.
STARTS = (0.1, 0.5)


def gaussian_share(X: Floats, labeled: Bools) -> float | None:
    """Return the share of positives among unlabeled rows under two normal distributions, None if these do not fit."""
    P, U = _some(X[labeled]), _some(X[~labeled])
    m = X.shape[1]
    if m > MOST_FEATURES or len(P) < max(LEAST_LABELED, ROWS_PER_FEATURE * m) or len(U) < ROWS_PER_FEATURE * m:
        return None
    if _repeats(P) or _repeats(U):
        return None
    if np.linalg.matrix_rank(P - P.mean(axis=0)) < m or np.linalg.matrix_rank(U - U.mean(axis=0)) < m:
        return None
    center, scale = U.mean(axis=0), U.std(axis=0)
    P, U = (P - center) / scale, (U - center) / scale
    found = [_fitted(P, U, start) for start in STARTS]
    likelihood, share, positive, negative = max(found, key=lambda one: one[0])
    if not np.isfinite(likelihood) or not 0.0 < share < 1.0 or not _fits(P, U, share, positive, negative):
        return None
    return share


def _some(X: Floats) -> Floats:
    rows: Floats = X[np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(int)]
    return rows


def _repeats(X: Floats) -> bool:
    """Return whether a value is so frequent that no continuous law fits: each misses half of its share."""
    most = max(int(np.unique(column, return_counts=True)[1].max()) for column in X.T)
    return most > 2.0 * MISFIT * float(np.sqrt(len(X)))


Normal = tuple[Floats, Floats]  # mean (m,) and covariance (m, m)


def _moments(X: Floats, weights: Floats) -> Normal:
    mean = weights @ X / weights.sum()
    D = X - mean
    return mean, (D.T * weights) @ D / weights.sum() + 1e-9 * np.eye(X.shape[1])


def _log_density(X: Floats, normal: Normal) -> Floats:
    factor = np.linalg.cholesky(normal[1])
    z = np.linalg.solve(factor, (X - normal[0]).T)
    found: Floats = -0.5 * (z**2).sum(axis=0) - np.log(np.diag(factor)).sum() - 0.5 * X.shape[1] * np.log(2.0 * np.pi)
    return found


def _fitted(P: Floats, U: Floats, start: float) -> tuple[float, float, Normal, Normal]:
    """Return log-likelihood, share and both normal distributions, from rows P (p, m) and U (n, m)."""
    positive, share, before = _moments(P, np.ones(len(P))), start, -np.inf
    both, known = np.vstack([P, U]), np.ones(len(P))
    own = _log_density(U, positive)
    r = np.where(own >= np.quantile(own, 1.0 - start), 0.9, 0.1)  # a start: the most typical rows are positive
    try:
        for _ in range(STEPS):
            positive, negative, share = _moments(both, np.append(known, r)), _moments(U, 1.0 - r), float(r.mean())
            a, b = np.log(share) + _log_density(U, positive), np.log1p(-share) + _log_density(U, negative)
            value = float(np.logaddexp(a, b).sum() + _log_density(P, positive).sum())
            if value - before <= 1e-7 * len(U):
                break
            before, r = value, expit(a - b)
    except (np.linalg.LinAlgError, FloatingPointError):
        return -np.inf, share, positive, positive
    return value, share, positive, negative


def _fits(P: Floats, U: Floats, share: float, positive: Normal, negative: Normal) -> bool:
    """Return whether every coordinate, and that between the classes, is distributed as the model says."""
    m, D = P.shape[1], positive[0] - negative[0]
    between = np.linalg.solve(positive[1] + negative[1], D)
    if 2.0 * float(D @ between) < APART**2:
        return False
    for direction in [*np.eye(m), between]:
        (a, s), (b, t) = ((d @ direction, np.sqrt(direction @ S @ direction)) for d, S in (positive, negative))
        p, u = np.sort(P @ direction), np.sort(U @ direction)
        of_mixture = share * ndtr((u - a) / s) + (1.0 - share) * ndtr((u - b) / t)
        if max(_kolmogorov(ndtr((p - a) / s)), _kolmogorov(of_mixture)) > MISFIT:
            return False
    return True


def _kolmogorov(probabilities: Floats) -> float:
    """Return the Kolmogorov statistic of ascending probabilities, times the root of their number."""
    n = len(probabilities)
    steps = np.arange(n + 1) / n
    return float(np.sqrt(n) * max(np.max(probabilities - steps[:-1]), np.max(steps[1:] - probabilities)))
