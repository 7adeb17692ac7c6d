"""Data with known prior and ranking for the tests of the automatic classifier."""

from __future__ import annotations

import numpy as np


def two_clouds(
    n: int = 300, *, prior: float = 0.35, labeled: int = 60, apart: float = 2.5, features: int = 4, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, the labeling indicator and the true classes: `labeled` positives and n rows with that prior."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.ones(labeled, bool), rng.random(n) < prior])
    X = rng.normal(size=(len(truth), features))
    X[truth, 0] += apart
    s = np.arange(len(truth)) < labeled
    order = rng.permutation(len(truth))
    return X[order], s[order], truth[order]
