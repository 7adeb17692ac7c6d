"""BBE: the class prior by best bin estimation (Garg, Wu, Smola, Balakrishnan and Lipton 2021).

The classifier is a kernel ridge regression of labeled against unlabeled rows. If shares q_p of the positives and q_u
of the unlabeled rows score above a threshold, then prior q_p <= q_u. So the prior is at most q_u / q_p, and the
estimate is such a bound, at the threshold where it is smallest with a confidence term (their eq. 4). q_p is estimated
by the labeled rows. Scores are held out: a row's score comes from a model that was fitted without it.

The estimator "bbe" takes the published term. `AutoPU`, which combines best bins with other estimates, takes half of it,
and the median over bootstrap samples of the scores: lower on separated classes, less high on overlapping ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.metrics.ranking import auc
from pucli.solvers.folds import FOLDS, number_of_folds, stratified_folds
from pucli.solvers.kernels.graph import squared_distances
from pucli.solvers.prior.labeling_odds import with_odds

# Error probability of the bounds, and the published constant of the confidence term.
DELTA, GAMMA = 0.1, 0.01
# Factors on the confidence term: of `AutoPU`, and as published.
HALF, PUBLISHED = 0.5, 1.0
# Number of bootstrap samples of the scores, and the most scores in each.
BOOTSTRAPS, MOST_SCORES = 40, 20_000
# RBF widths, as multiples of the median distance, and ridges. The pair is used whose held-out scores best rank labeled
# rows above unlabeled ones.
WIDTHS = (0.3, 0.7)
RIDGES = (0.1, 1.0)
# Added to the diagonal of a linear system whose matrix may be singular.
JITTER = 1e-10


def best_bin(positive: Floats, population: Floats, odds: float = 1.0, factor: float = HALF) -> float:
    """Return the best bin estimate of the prior, between 0 and 1; the factor is that on the confidence term."""
    q_p, q_u = shares_above(positive, population)
    if odds != 1.0:
        q_p = with_odds(q_p, odds)
    return smallest_bound(q_p, q_u, (len(positive), len(population)), factor)


def smallest_bound(q_p: Floats, q_u: Floats, rows: tuple[int, int], factor: float = HALF) -> float:
    """Return the bound q_u / q_p at the threshold where it is smallest, confidence term included, at most 1 (eq. 4)."""
    log_term = 0.5 * np.log(4.0 / DELTA)
    width = np.sqrt(log_term / rows[0]) + np.sqrt(log_term / rows[1])
    q = np.maximum(q_p, 0.5 / rows[0])
    best = int(np.argmin((q_u + factor * (1.0 + GAMMA) * width) / q))
    return float(min(1.0, q_u[best] / q[best]))


def prior_factors(positive: Floats, population: Floats, ratio: float) -> tuple[float, float]:
    """Return the factors, low <= 1 <= high, by which the class prior may be smaller and larger, by best bins.

    The prior is the least of q_u / q_p over thresholds, above which shares q_p of the positives and q_u of the
    population lie. If the odds of q_p are off by at most the ratio, the least with every q_p as large as it may be is
    reached by the weights of its threshold; the least with every q_p as small is an upper bound.
    """
    plain, low, high = (best_bin(positive, population, odds=one) for one in (1.0, ratio, 1.0 / ratio))
    return min(1.0, low / max(plain, 1e-12)), max(1.0, high / max(plain, 1e-12))


def bootstrapped_best_bins(positive: Floats, population: Floats, rng: np.random.Generator) -> Floats:
    """Return best bin estimates of resampled scores, shape (40,); their median is the estimate."""
    return np.array([best_bin(p, u) for p, u in resampled(positive, population, rng)])


def resampled(
    positive: Floats, population: Floats, rng: np.random.Generator, count: int = BOOTSTRAPS
) -> Iterator[tuple[Floats, Floats]]:
    """Yield bootstrap samples of both kinds of scores."""
    sizes = [min(len(sample), MOST_SCORES) for sample in (positive, population)]
    for _ in range(count):
        yield (
            positive[rng.integers(0, len(positive), sizes[0])],
            population[rng.integers(0, len(population), sizes[1])],
        )


def shares_above(positive: Floats, population: Floats) -> tuple[Floats, Floats]:
    """Return the shares (q_p, q_u) of both samples at or above each of their values, largest value first."""
    thresholds = np.unique(np.concatenate([positive, population]))[::-1]
    q_p = 1.0 - np.searchsorted(np.sort(positive), thresholds, side="left") / len(positive)
    q_u = 1.0 - np.searchsorted(np.sort(population), thresholds, side="left") / len(population)
    return q_p, q_u


def held_out_scores(X: Floats, labeled: Bools, rng: np.random.Generator, groups: Ints | None = None) -> Floats:
    """Return held-out scores (n,) of kernel ridge regression with both classes at equal weight.

    They are those of the width and ridge with the largest AUC of labeled against unlabeled rows. The scores of a fold
    follow from the fit to all rows: with the hat matrix H and residuals r, those of the rows b are
    y_b - (I - H_bb)^-1 r_b. Time and memory: one (n, n) system per width and ridge.
    """
    n, p = len(X), int(np.count_nonzero(labeled))
    y = np.where(labeled, 1.0, -1.0)
    ridge = np.where(labeled, p, n - p) * (2.0 / n)
    home = _folds(labeled, rng, groups)
    folds = [np.flatnonzero(home == k) for k in np.unique(home)]
    D = squared_distances(np.ascontiguousarray(X))
    median = float(np.median(D[D > 0.0])) if np.any(D > 0.0) else 1.0
    best, best_auc = np.zeros(n), -np.inf
    for width in WIDTHS:
        K = np.exp(D * (-0.5 / (median * width**2)))
        for lam in RIDGES:
            # H = K (K + R)^-1 = I - R (K + R)^-1, R the diagonal of ridges
            R = lam * ridge
            M = K.copy()
            M[np.diag_indices(n)] += R
            inverse = cho_solve(cho_factor(M, lower=True, check_finite=False), np.eye(n), check_finite=False)
            residual = R * (inverse @ y)
            scores = np.empty(n)
            for rows in folds:
                block = R[rows][:, None] * inverse[np.ix_(rows, rows)]
                block[np.diag_indices(len(rows))] += JITTER
                scores[rows] = y[rows] - np.linalg.solve(block, residual[rows])
            found = auc(scores[labeled], scores[~labeled])
            if found > best_auc:
                best, best_auc = scores, found
    return best


def _folds(labeled: Bools, rng: np.random.Generator, groups: Ints | None) -> AnyArray:
    """Return the fold of each row (n,), with the same share of labeled and of unlabeled rows."""
    if groups is not None and (count := number_of_folds(labeled, groups)) > 1:
        return stratified_folds(labeled, count, rng, groups)
    fold = np.empty(len(labeled), dtype=np.int64)
    for kind in (labeled, ~labeled):
        rows = np.flatnonzero(kind)
        fold[rng.permutation(rows)] = np.arange(len(rows)) % FOLDS
    return fold
