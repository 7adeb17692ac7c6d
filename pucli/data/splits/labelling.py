"""Labelling of positives: at random (SCAR), or depending on their features (SAR).

The log of a positive's chance of being labelled next grows by `SLOPE` for each standard deviation, among the positives,
of a linear function of the standardised features: of random features ("sar-feature"), or of the direction in which the
means of the classes differ, so that clear positives are labelled first ("sar-score").
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import AnyArray, Floats, z_scores
from pucli.core.errors import unknown

LABELLINGS = ("scar", "sar-feature", "sar-score")
SLOPE = 2.0


def labelling_tilt(labelling: str, X: Floats, y: AnyArray, rng: np.random.Generator) -> Floats | None:
    """Return the `tilt` of `pucli.data.splits.scenarios.make_split` for a labelling mechanism; None for "scar".

    Parameters
    ----------
    labelling : {"scar", "sar-feature", "sar-score"}
        The mechanism.
    X : ndarray of shape (n, m)
        Rows.
    y : array of shape (n,)
        Two labels, of which the larger is positive.
    rng : numpy.random.Generator
        Draws the direction of "sar-feature".

    Examples
    --------
    >>> X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    >>> tilt = labelling_tilt("sar-score", X, y, np.random.default_rng(0))
    >>> bool(np.all(np.diff(tilt) > 0)), float(np.round(tilt[4:].std(), 6))
    (True, 2.0)
    """
    if labelling not in LABELLINGS:
        raise unknown("labelling", labelling, LABELLINGS)
    if labelling == "scar":
        return None
    positive = np.asarray(y) == np.max(y)
    Z = z_scores(X)
    if labelling == "sar-feature":
        direction = rng.standard_normal(Z.shape[1])
    else:
        direction = Z[positive].mean(axis=0) - Z[~positive].mean(axis=0)
    value = Z @ direction
    tilt: Floats = SLOPE * (value - value[positive].mean()) / max(float(value[positive].std()), 1e-12)
    return tilt
