"""Are two methods different? Over repeats, the Wilcoxon signed-rank test; over data sets, Friedman and Nemenyi.

The procedure is that of Demsar (JMLR 7, 2006): average ranks over data sets, the Friedman test of "all are equal",
and the critical difference of Nemenyi for pairs of average ranks. Distributions come from `scipy.stats`.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class PairedTest(NamedTuple):
    """Result of `wilcoxon_paired`; differences are a - b."""

    n: int
    mean_difference: float
    median_difference: float
    wins: int
    ties: int
    losses: int
    statistic: float
    p: float


class FriedmanNemenyi(NamedTuple):
    """Result of `friedman_nemenyi`; rank 1 is the best."""

    ranks: np.ndarray
    statistic: float
    p: float
    critical_difference: float
    pairwise_p: np.ndarray
    n: int
    alpha: float


def wilcoxon_paired(a: ArrayLike, b: ArrayLike) -> PairedTest:
    """Return the two-sided Wilcoxon signed-rank test of the paired samples `a` and `b`, shape (n,).

    Pairs with a NaN are left out; zero differences are split evenly between the signs (`zero_method="zsplit"`, as in
    Demsar 2006), so that equal samples have p = 1. Without any pair, p is NaN.
    """
    a, b = np.asarray(a, dtype=float).ravel(), np.asarray(b, dtype=float).ravel()
    if a.shape != b.shape:
        raise ValueError(f"paired samples need the same length, got {len(a)} and {len(b)}.")
    d = (a - b)[np.isfinite(a) & np.isfinite(b)]
    # fractions that are equal up to rounding are ties
    d = np.where(np.abs(d) < 1e-12, 0.0, d)
    if len(d) == 0:
        return PairedTest(0, math.nan, math.nan, 0, 0, 0, math.nan, math.nan)
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    statistic, p = 0.0, 1.0
    if wins or losses:
        from scipy.stats import wilcoxon

        with warnings.catch_warnings():  # small samples with ties: scipy says that p is approximate
            warnings.simplefilter("ignore")
            result = wilcoxon(d, zero_method="zsplit")
        statistic, p = float(result.statistic), float(result.pvalue)
    return PairedTest(
        len(d), float(d.mean()), float(np.median(d)), wins, len(d) - wins - losses, losses, statistic, min(p, 1.0)
    )


def adjust_p_values(p: ArrayLike) -> np.ndarray:
    """Return `p`, shape (n,), adjusted for the number of tests (Benjamini-Hochberg); NaN entries stay NaN."""
    from scipy.stats import false_discovery_control

    p = np.asarray(p, dtype=float).ravel()
    adjusted = np.full(p.shape, math.nan)
    known = np.isfinite(p)
    if known.any():
        adjusted[known] = false_discovery_control(p[known])
    return adjusted


def friedman_nemenyi(matrix: ArrayLike, *, higher_is_better: bool = True, alpha: float = 0.05) -> FriedmanNemenyi:
    """Return average ranks, the Friedman test and the Nemenyi critical difference.

    Parameters
    ----------
    matrix : scores, shape (data sets, methods); rows with a NaN are left out.
    higher_is_better : whether rank 1 goes to the greatest score of a row; ties share the mean rank.
    alpha : level of the critical difference: two methods whose average ranks differ by more are different.

    Returns
    -------
    FriedmanNemenyi
        With fewer than two complete rows or two methods everything but the ranks is NaN. With two methods the Friedman
        statistic is NaN (use the Wilcoxon test), the critical difference is still given.

    Notes
    -----
    Critical difference q sqrt(k (k + 1) / (6 n)), q from the studentized range with infinitely many degrees of
    freedom, divided by sqrt(2).
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    values = np.asarray(matrix, dtype=float)
    if values.ndim != 2:
        raise ValueError(f"matrix needs the shape (data sets, methods), got {values.ndim} dimension(s).")
    values = values[np.isfinite(values).all(axis=1)]
    n, k = values.shape
    if n == 0:
        return FriedmanNemenyi(np.full(k, np.nan), math.nan, math.nan, math.nan, np.full((k, k), np.nan), 0, alpha)
    rounded = np.round(values, 12)
    row_ranks = rankdata(-rounded if higher_is_better else rounded, axis=1)
    ranks = row_ranks.mean(axis=0)
    if n < 2 or k < 2:
        return FriedmanNemenyi(ranks, math.nan, math.nan, math.nan, np.full((k, k), np.nan), n, alpha)
    statistic = p = math.nan
    if k > 2:
        if np.ptp(row_ranks, axis=1).max() == 0:  # every row is one tie: no evidence at all
            statistic, p = 0.0, 1.0
        else:
            result = friedmanchisquare(*row_ranks.T)
            statistic, p = float(result.statistic), float(result.pvalue)
    unit = math.sqrt(k * (k + 1) / (12 * n))  # studentized-range scale of a difference of average ranks
    critical = float(studentized_range.ppf(1 - alpha, k, np.inf)) * unit
    pairwise = np.asarray(studentized_range.sf(np.abs(ranks[:, None] - ranks[None, :]) / unit, k, np.inf))
    np.fill_diagonal(pairwise, 1.0)
    return FriedmanNemenyi(ranks, statistic, p, critical, np.clip(pairwise, 0.0, 1.0), n, alpha)
