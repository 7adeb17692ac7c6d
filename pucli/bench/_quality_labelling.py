"""How rows of the quality tasks come to be labelled: at random, or depending on what they look like."""

from __future__ import annotations

import numpy as np

from pucli.data.splits import SCENARIOS, Split, make_split

# One sample each; a positive's chance of being labelled grows with a feature, or with how clearly it is positive.
NOT_RANDOM = ("sar-feature", "sar-score")
LABELLINGS = (*SCENARIOS, *NOT_RANDOM)
# Log-odds of being labelled per standard deviation of what the label depends on.
SLOPE = 2.0


def labelled_split(labelling: str, X: np.ndarray, y: np.ndarray, frequency: float, rng: np.random.Generator) -> Split:
    """Return a split with `frequency` of the positives of its training rows labelled.

    Parameters
    ----------
    labelling : one of `LABELLINGS`. X, y : rows (n, m) and labels (n,). frequency : share of labelled positives.
    rng : draws the split.
    """
    if labelling in SCENARIOS:
        return make_split(labelling, y, frequency, rng=rng)
    plain = make_split("single-training-set", y, frequency, rng=rng)
    X_train, positive = X[plain.train], np.flatnonzero(y[plain.train] == 1)
    spread = X_train.std(axis=0)
    Z = (X_train - X_train.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    direction = rng.standard_normal(Z.shape[1]) if labelling == "sar-feature" else _between(Z, y[plain.train] == 1)
    value = Z[positive] @ direction
    value = (value - value.mean()) / max(float(value.std()), 1e-12)
    # the largest keys with Gumbel noise are a sample without replacement, in proportion to exp(SLOPE value)
    keys = SLOPE * value + rng.gumbel(size=len(positive))
    s = np.zeros(len(plain.train), np.int8)
    s[positive[np.argsort(-keys)[: int(plain.s.sum())]]] = 1
    return Split(plain.train, plain.test, s)


def labelling_told(labelling: str) -> str:
    """Return what `AutoPU` is told about a labelling: not whether it is random."""
    return "single-training-set" if labelling in NOT_RANDOM else labelling


def _between(Z: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return the direction (m,) in which the positives' mean differs from the others'."""
    difference: np.ndarray = Z[positive].mean(axis=0) - Z[~positive].mean(axis=0)
    return difference
