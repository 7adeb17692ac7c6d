"""Problems for semi-supervised generative classifiers."""

from __future__ import annotations

import numpy as np


def problem(name, seed, K=None, M=None, D=None):
    """X, y with -1, and complete labels: K classes, M unlabeled rows that need not look like the labeled ones."""
    rng = np.random.default_rng(seed)
    K, M, D = K or int(rng.integers(2, 5)), M or int(rng.integers(1, 60)), D or int(rng.integers(1, 4))
    N = K * (D + 3) + int(rng.integers(0, 20))
    y = np.concatenate([np.arange(N) % K, rng.integers(0, K, M)])
    centers = rng.uniform(0, 3) * rng.normal(size=(K, D))
    X = centers[y] + rng.normal(size=(len(y), D))
    X[N:] = X[N:] * rng.uniform(0.5, 3) + rng.normal(size=D)
    if name == "bernoulli":
        X = (X > 0).astype(float)
    if name == "poisson":
        X = rng.poisson(np.exp(np.clip(X / 2, -3, 3))).astype(float)
    partial = y.copy()
    partial[N:] = -1
    return X, partial, y
