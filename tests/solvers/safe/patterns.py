"""Gaussian rows with missing entries in a monotone pattern of several blocks."""

from __future__ import annotations

import numpy as np
from scipy.stats import multivariate_normal


def rows_with_gaps(seed, n_blocks=None, D=None, complete=None, incomplete=None):
    """Complete X, and X with a monotone pattern, rows and columns in random order."""
    rng = np.random.default_rng([17, seed])
    n_blocks = n_blocks or int(rng.integers(3, 7))
    D = D or int(rng.integers(n_blocks, 13))
    complete = complete or D + int(rng.integers(2, 30))
    n = complete + (incomplete or int(rng.integers(3 * n_blocks, 120)))
    X = rng.normal(size=(n, D)) @ rng.normal(size=(D, D)) + 10 * rng.normal(size=D)
    partial = X.copy()
    cuts = np.sort(rng.choice(np.arange(1, D), n_blocks - 1, replace=False))[::-1]
    starts = np.append(complete, np.sort(rng.choice(np.arange(complete + 1, n), n_blocks - 2, replace=False)))
    for start, cut in zip(starts, cuts, strict=True):
        partial[start:, cut:] = np.nan
    rows, columns = rng.permutation(n), rng.permutation(D)
    return X[rows][:, columns], partial[rows][:, columns]


def gain(fit, X):
    """The log-likelihood of complete rows X under a fit, above that of the complete rows alone, and its rounding."""
    ours, theirs = (
        multivariate_normal(*law).logpdf(X).sum()
        for law in ((fit.mean_, fit.covariance_), (fit.complete_mean_, fit.complete_covariance_))
    )
    return ours - theirs, 1e-9 * (abs(ours) + abs(theirs))
