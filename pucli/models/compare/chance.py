"""Tests of methods against chance, since tests find differences between useless methods, too.

On noise, a method's PUF is the share of rows that it calls positive: whichever method calls more wins, and every test
confirms it. So a method must first rank held-out positives above the other rows, and score better than calling every
row positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pucli.core.arrays import AnyArray, Floats
from pucli.metrics import compute, pu_counts
from pucli.metrics.ranking import noise_limit

# Metrics by which calling every row positive is a fair rival; it has the best recall of all, for example.
RIVALLED = ("f1", "puf")


class Ranked(NamedTuple):
    """The held-out rows of one split, as a method ranks them: AUC (NaN without scores), and rows of each kind."""

    area: float
    positive: int
    other: int

    @classmethod
    def of(cls, positive: AnyArray, decision: Floats | None) -> Ranked:
        """Return the ranking of rows by `decision` (n,); `positive` (n,) is 1 or 0."""
        from sklearn.metrics import roc_auc_score

        found = int(np.count_nonzero(positive))
        both = decision is not None and 0 < found < len(positive)
        return cls(float(roc_auc_score(positive, decision)) if both else np.nan, found, len(positive) - found)


def all_positive(metric: str, truth: AnyArray, known: bool, denominator: str = "unlabeled") -> float:
    """Return the metric of calling every row positive, or NaN for a metric without this rival."""
    if metric not in RIVALLED:
        return np.nan
    calls = np.ones(len(truth), dtype=int)
    if known:
        return compute({"truth": truth, "predictions": calls, "positive": 1}).get(metric, np.nan)
    return compute({"counts": pu_counts(truth, calls, 1), "denominator": denominator})[metric]


def chance(ranked: Sequence[Ranked], test_share: float) -> float:
    """Return the mean AUC over overlapping splits that pure noise exceeds in about one of twenty cases.

    The variance of the mean is that of one split times (1 / splits + test_share), as in the corrected resampled t-test.
    """
    return noise_limit(ranked[0].positive, ranked[0].other, inflation=1 / len(ranked) + test_share)


def why_useless(values: Floats, ranked: Sequence[Ranked], rival: Floats, metric: str, test_share: float) -> str:
    """Describe why a method may be useless on a table, or return ""."""
    there = [one for one in ranked if np.isfinite(one.area)]
    faults = []
    if there:
        area, limit = float(np.mean([one.area for one in there])), chance(there, test_share)
        if area <= limit:
            faults.append(
                f"held-out positives hardly rank above the other rows (AUC {area:.2f}; up to {limit:.2f} may be chance)"
            )
    paired = np.isfinite(values) & np.isfinite(rival)
    if paired.any() and values[paired].mean() <= rival[paired].mean():
        faults.append(
            f"its {metric.upper()} of {values[paired].mean():.2f} is not above {rival[paired].mean():.2f}, "
            "that of calling every row positive"
        )
    return "; ".join(faults)
