"""Labeling of positives: at random (SCAR), or depending on their features (SAR).

The log of a positive's chance of being labeled next grows by `SLOPE` for each standard deviation, among the positives,
of a linear function of the standardized features: of random features ("sar-feature"), or of the direction in which the
means of the classes differ, so that clear positives are labeled first ("sar-score").

The other three are the mechanisms S2 to S4 of PU-Bench (repository XiXiphus/PU-Bench; S1 is "scar"). The chance depends
on the probability p of a positive by a logistic regression on true labels: it is a tenth at random and otherwise in
proportion to p^10 ("sar-lbe-a", clear positives), in proportion to (2.5 - p)^10 ("sar-lbe-b", doubtful positives;
both Gong et al. 2021), or a positive is accepted with a chance in proportion to p, and accepted ones are labeled at
random ("sar-pusb", Kato et al. 2019).
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints, z_scores
from pucli.core.errors import unknown

PU_BENCH = ("sar-lbe-a", "sar-lbe-b", "sar-pusb")
LABELINGS = ("scar", "sar-feature", "sar-score", *PU_BENCH)
SLOPE = 2.0
POWER, AT_RANDOM, TOP = 10, 0.1, 2.5
# Tilt of positives that "sar-pusb" rejects: they are labeled only if the accepted ones do not suffice.
REJECTED = -1e3


def labeling_tilt(labeling: str, X: Floats, y: AnyArray, rng: np.random.Generator) -> Floats | None:
    """Return the `tilt` of `pucli.data.splits.scenarios.make_split` for a labeling mechanism; None for "scar".

    Examples
    --------
    >>> X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    >>> tilt = labeling_tilt("sar-score", X, y, np.random.default_rng(0))
    >>> bool(np.all(np.diff(tilt) > 0)), float(np.round(tilt[4:].std(), 6))
    (True, 2.0)
    """
    if labeling not in LABELINGS:
        raise unknown("labeling", labeling, LABELINGS)
    if labeling == "scar":
        return None
    positive = np.asarray(y) == np.max(y)
    Z = z_scores(X)
    if labeling in PU_BENCH:
        return _tilt_by_class(labeling, class_probabilities(Z, positive), positive, rng)
    if labeling == "sar-feature":
        direction = rng.standard_normal(Z.shape[1])
    else:
        direction = Z[positive].mean(axis=0) - Z[~positive].mean(axis=0)
    value = Z @ direction
    tilt: Floats = SLOPE * (value - value[positive].mean()) / max(float(value[positive].std()), 1e-12)
    return tilt


def _tilt_by_class(labeling: str, p: Floats, positive: Bools, rng: np.random.Generator) -> Floats:
    tilt = np.zeros(len(p))
    if labeling == "sar-pusb":
        tilt[positive] = np.where(accepted(p[positive], rng), 0.0, REJECTED)
    else:
        tilt[positive] = np.log(np.maximum(chances(labeling, p[positive]), 1e-300))
    return tilt


def class_probabilities(X: Floats, positive: Bools) -> Floats:
    """Return the probability of a positive (n,) by a logistic regression fitted to the same rows X (n, m)."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # PU-Bench stops after 100 iterations
        model = LogisticRegression(max_iter=100).fit(X, positive)
    found: Floats = model.predict_proba(X)[:, 1]
    return found


def chances(labeling: str, p: Floats) -> Floats:
    """Return the chance of each positive to be labeled next by "sar-lbe-a" or "sar-lbe-b", with the sum one.

    Examples
    --------
    >>> chances("sar-lbe-a", np.array([0.5, 1.0])).round(3)
    array([0.051, 0.949])
    """
    equal = np.full(len(p), 1.0 / len(p))
    weights = p**POWER if labeling == "sar-lbe-a" else (TOP - p) ** POWER
    total = float(weights.sum())
    chance: Floats = weights / total if total > 0.0 else equal
    return (1.0 - AT_RANDOM) * chance + AT_RANDOM * equal if labeling == "sar-lbe-a" else chance


def accepted(p: Floats, rng: np.random.Generator) -> Bools:
    """Return which positives "sar-pusb" accepts, from their probabilities p (p,)."""
    found: Bools = p / max(float(p.max()), 1e-300) > rng.random(len(p))
    return found


def drawn(labeling: str, positive: Ints, p: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Return the positives that PU-Bench labels; "sar-pusb" labels fewer if it does not accept enough."""
    if labeling == "sar-pusb":
        found: Ints = rng.permutation(positive[accepted(p, rng)])[:count]
        return found
    return rng.choice(positive, count, replace=False, p=None if labeling == "scar" else chances(labeling, p))
