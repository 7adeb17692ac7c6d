"""Tests for differences between methods: Wilcoxon over repeats, Friedman and Nemenyi over data sets.

The procedure is that of Demsar (JMLR 7, 2006): average ranks over data sets, the Friedman test of "all are equal",
and the critical difference of Nemenyi for pairs of average ranks. Distributions come from `scipy.stats`.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Floats
from pucli.core.json_values import OrNaN
from pucli.metrics import inputs
from pucli.metrics.registry import get_metric

# Largest number of pairs for which the null distribution with ties is enumerated: 2^13 signs.
ENUMERATED = 13


@dataclass(frozen=True)
class MethodRanking:
    """Friedman test and Nemenyi ranks of mean values over blocks (data sets, or settings of one data set).

    For two methods, `p` is that of the Wilcoxon test.
    """

    blocks: str
    setting: str
    metric: str
    n: int
    columns: list[str]
    means: list[OrNaN]
    ranks: list[OrNaN]
    statistic: OrNaN
    p: OrNaN
    test: str
    critical_difference: OrNaN
    alpha: float
    pairwise_p: list[list[OrNaN]]

    @classmethod
    def of(cls, matrix: Floats, columns: list[str], metric: str, *, blocks: str, setting: str = "") -> MethodRanking:
        """Return the ranking of methods by Friedman's test and Nemenyi's critical difference.

        Parameters
        ----------
        matrix : ndarray of shape (n, methods)
            Values of the metric; rows with a NaN are left out.
        columns : list of str
            Names of the methods.
        metric : str
            Name of a registered metric.
        blocks : str
            What the rows are: "data sets" or "settings".
        setting : str, default=""
            The setting of all rows.
        """
        found = friedman_nemenyi(matrix, higher_is_better=get_metric(metric).better == "higher")
        complete = matrix[np.isfinite(matrix).all(axis=1)]
        means = complete.mean(axis=0).tolist() if len(complete) else [math.nan] * len(columns)
        return cls(
            blocks, setting, metric, found.n, columns, means, found.ranks.tolist(), found.statistic, found.p,
            "Friedman", found.critical_difference, found.alpha, found.pairwise_p.tolist(),
        )  # fmt: skip

    @property
    def best_first(self) -> list[tuple[str, float, float]]:
        """Column, average rank and mean of each method, the best rank first."""
        return sorted(zip(self.columns, self.ranks, self.means, strict=True), key=lambda method: method[1])


@dataclass(frozen=True)
class PairedTest:
    """Result of `wilcoxon_paired`; differences are a - b."""

    n: int
    mean_difference: OrNaN
    median_difference: OrNaN
    wins: int
    ties: int
    losses: int
    statistic: OrNaN
    p: OrNaN


class FriedmanNemenyi(NamedTuple):
    """Result of `friedman_nemenyi`; rank 1 is the best."""

    ranks: Floats
    statistic: float
    p: float
    critical_difference: float
    pairwise_p: Floats
    n: int
    alpha: float


def wilcoxon_paired(a: ArrayLike, b: ArrayLike) -> PairedTest:
    """Return the two-sided Wilcoxon signed-rank test of paired samples.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Values of the two methods on the same repeats. Pairs with a NaN are left out.

    Returns
    -------
    PairedTest
        Without any pair, p is NaN.

    Raises
    ------
    ValueError
        If the samples differ in length.

    Notes
    -----
    Zero differences are split evenly between the signs (``zero_method="zsplit"``, as in Demsar 2006), so that equal
    samples have p = 1. The null distribution is exact for up to 13 pairs; beyond that, where no differences are tied.

    Examples
    --------
    >>> wilcoxon_paired([3.0, 4.0, 5.0, 6.0], [1.0, 1.0, 1.0, 1.0]).p
    0.125
    """
    first, second = inputs.numbers(a, "a"), inputs.numbers(b, "b")
    inputs.same_length(first, second, ("paired samples a", "b"), least=0)
    d = (first - second)[np.isfinite(first) & np.isfinite(second)]
    # fractions that are equal up to rounding are ties
    d = np.where(np.abs(d) < 1e-12, 0.0, d)
    if len(d) == 0:
        return PairedTest(0, math.nan, math.nan, 0, 0, 0, math.nan, math.nan)
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    statistic, p = _signed_rank_test(d) if wins or losses else (0.0, 1.0)
    return PairedTest(
        len(d), float(d.mean()), float(np.median(d)), wins, len(d) - wins - losses, losses, statistic, min(p, 1.0)
    )


def _signed_rank_test(d: Floats) -> tuple[float, float]:
    """Return the smaller rank sum, and p, of differences (n,) that are not all zero."""
    from scipy.stats import rankdata, wilcoxon

    tied = (d == 0).any() or len(np.unique(np.abs(d))) < len(d)
    if not tied or len(d) > ENUMERATED:
        with warnings.catch_warnings(action="ignore"):  # of scipy: p of larger samples with ties is approximate
            result = wilcoxon(d, zero_method="zsplit")
        return float(result.statistic), float(result.pvalue)
    # all 2^n signs at once; the ranks are halves of integers, so that the sums are exact
    ranks = rankdata(np.abs(d))
    of_zeros = ranks[d == 0].sum() / 2
    moving = ranks[d != 0]
    plus, minus = ranks[d > 0].sum() + of_zeros, ranks[d < 0].sum() + of_zeros
    signs = (np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving))) & 1
    null = signs @ moving + of_zeros
    p = 2 * min(np.count_nonzero(null <= plus), np.count_nonzero(null >= plus)) / len(null)
    return float(min(plus, minus)), float(p)


def adjust_p_values(p: ArrayLike) -> Floats:
    """Return p-values adjusted for the number of tests (Benjamini-Hochberg).

    Parameters
    ----------
    p : array-like of shape (n,)
        p-values; NaN entries stay NaN and do not count.

    Returns
    -------
    ndarray of float, shape (n,)
        Adjusted p-values, in the order of the given ones.
    """
    from scipy.stats import false_discovery_control

    values = _p_values(p)
    adjusted = np.full(values.shape, math.nan)
    known = np.isfinite(values)
    if known.any():
        adjusted[known] = false_discovery_control(values[known])
    return adjusted


def friedman_nemenyi(matrix: ArrayLike, *, higher_is_better: bool = True, alpha: float = 0.05) -> FriedmanNemenyi:
    """Return average ranks, the Friedman test and the Nemenyi critical difference.

    Parameters
    ----------
    matrix : array-like of shape (data sets, methods)
        Scores; rows with a NaN are left out.
    higher_is_better : bool
        Whether rank 1 goes to the greatest score of a row; ties share the mean rank.
    alpha : float
        Level of the critical difference: two methods whose average ranks differ by more are different.

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

    values = inputs.as_floats(matrix, "matrix")
    if values.ndim != 2:
        raise ValueError(f"matrix needs the shape (data sets, methods), got {values.ndim} dimension(s).")
    values = values[np.isfinite(values).all(axis=1)]
    n, k = values.shape
    rounded = np.round(values, 12)
    row_ranks = rankdata(-rounded if higher_is_better else rounded, axis=1)
    ranks = row_ranks.mean(axis=0) if n else np.full(k, np.nan)
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


def corrected_resampled_t(differences: ArrayLike, test_share: float) -> float:
    """Return the two-sided p of the corrected resampled t-test (Nadeau and Bengio 2003).

    Repeated splits of one table overlap, so that the plain t-test finds differences where there are none. Here the
    variance of the mean is (1 / r + test_share) times that of the differences.

    Parameters
    ----------
    differences : array-like of shape (r,)
        Values of one method minus those of the other, on the same splits; NaN entries are left out.
    test_share : float
        Number of test rows divided by the number of training rows.

    Returns
    -------
    float
        1 if all differences are zero; NaN if there are fewer than two, or if all have the same non-zero value.

    Raises
    ------
    ValueError
        If a difference is no number, or `test_share` is negative or none.

    Examples
    --------
    >>> round(corrected_resampled_t([2.0, 1.0, 3.0, 2.0, 1.0], 0.0), 4)
    0.0086
    >>> round(corrected_resampled_t([2.0, 1.0, 3.0, 2.0, 1.0], 0.5), 4)
    0.0619
    """
    from scipy.stats import t

    d = inputs.numbers(differences, "differences")
    if not (isinstance(test_share, (int, float, np.number)) and 0 <= test_share < math.inf):
        given = repr(test_share) if np.isscalar(test_share) else f"one {type(test_share).__name__}"
        raise ValueError(
            f"test_share takes the number of test rows divided by that of training rows, such as 0.25; got {given}. Of "
            "two samples, give the differences."
        )
    d = d[np.isfinite(d)]
    if len(d) < 2:
        return math.nan
    if not d.any():
        return 1.0
    variance = (1 / len(d) + test_share) * d.var(ddof=1)
    if variance == 0:
        return math.nan
    return float(2 * t.sf(abs(d.mean()) / math.sqrt(variance), len(d) - 1))


def holm_adjusted(p: ArrayLike) -> Floats:
    """Return p-values adjusted for the number of tests by Holm's method; NaN entries stay NaN and do not count.

    Examples
    --------
    >>> holm_adjusted([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = _p_values(p)
    adjusted = np.full(values.shape, math.nan)
    order = [i for i in np.argsort(values) if np.isfinite(values[i])]
    largest = 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * values[i]))
        adjusted[i] = largest
    return adjusted


def _p_values(p: ArrayLike) -> Floats:
    """Return p-values (n,), of which NaN entries are unknown."""
    values = inputs.numbers(p, "p")
    wrong = values[(values < 0.0) | (values > 1.0)]
    if len(wrong):
        raise ValueError(f"p takes p-values, between 0 and 1; got {wrong[0]:g}.")
    return values
