"""Metrics of the rows that rank first: average precision, precision, recall and lift there, BEDROC, and Boyce's index.

Rows with the same score have no order. Each metric is its mean over all orders of such rows, so that it does not depend
on the order of a file. A place is written as ``100`` (rows) or ``1%`` (share of the rows, rounded up as in virtual
screening).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pucli.core.arrays import Bools, Floats
from pucli.metrics import inputs
from pucli.metrics.metric import is_position

WINDOWS = 101
# Width of a window of Boyce's index, as a share of the range of the scores (Hirzel et al. 2006).
WINDOW = 0.1
SMALLEST = 1e-290  # of the first weight, before it underflows
ROUNDING = 1e-9  # 1 % of 300 is 3 rows, not 4


def rows_at(place: str, n: int) -> float:
    """Return the number of rows that a place means among `n` rows; NaN if there are fewer.

    Examples
    --------
    >>> rows_at("100", 2500), rows_at("1%", 2500), rows_at("0.1%", 250), rows_at("100", 50)
    (100, 25, 1, nan)
    """
    place = str(place)
    if not is_position(place):
        raise ValueError(f"a place is a number of rows such as '100', or a share of them such as '1%'; got {place!r}.")
    if place.endswith("%"):
        return max(1, math.ceil(float(place[:-1]) / 100.0 * n - ROUNDING))
    return int(place) if int(place) <= n else math.nan


def average_precision(truth: ArrayLike, decision: ArrayLike, positive: object) -> float:
    """Return the mean precision at the scores of the positives, the area under the steps of precision by recall."""
    marked, scores = _checked(truth, decision, positive)
    if not _rankable(marked, scores):
        return math.nan
    found, above = _steps(marked, scores)
    gained = np.diff(found, prepend=0.0)
    return float(np.sum(gained * found / above) / found[-1])


def precision_at(truth: ArrayLike, decision: ArrayLike, positive: object, place: str) -> float:
    """Return the share of positives among the first rows."""
    marked, scores = _checked(truth, decision, positive)
    count = rows_at(place, len(scores))
    return _found(marked, scores, count) / count


def recall_at(truth: ArrayLike, decision: ArrayLike, positive: object, place: str) -> float:
    """Return the share of the positives that are among the first rows."""
    marked, scores = _checked(truth, decision, positive)
    if not marked.any():
        return math.nan
    return _found(marked, scores, rows_at(place, len(scores))) / float(marked.sum())


def lift_at(truth: ArrayLike, decision: ArrayLike, positive: object, place: str) -> float:
    """Return the share of positives among the first rows over that among all: the enrichment factor of screening."""
    marked, _ = _checked(truth, decision, positive)
    if not marked.any():
        return math.nan
    return precision_at(truth, decision, positive, place) / float(marked.mean())


def bedroc(truth: ArrayLike, decision: ArrayLike, positive: object, alpha: str = "20") -> float:
    """Return the Boltzmann-enhanced discrimination of ROC: early recognition, between 0 and 1.

    Notes
    -----
    With r_i the rank of positive i of m among n rows, R = m / n and s = sum_i exp(-alpha r_i / n), it is (s - s_min) /
    (s_max - s_min), with the ends at which all positives rank last or first. This equals eq. 36 of Truchon and Bayly
    (2007), Journal of Chemical Information and Modeling 47, 488-508. Rows with the same score share the mean of their
    weights.
    """
    marked, scores = _checked(truth, decision, positive)
    if not (isinstance(alpha, str | int | float) and 0.0 < float(alpha) < math.inf):
        raise ValueError(f"alpha takes a number above 0, such as 20; got {alpha!r}.")
    if not _rankable(marked, scores) or marked.all():
        return math.nan
    n, m = len(scores), int(marked.sum())
    weights = np.exp(-float(alpha) * np.arange(1, n + 1) / n)
    if weights[0] < SMALLEST:  # a common factor changes nothing
        weights = np.exp(-float(alpha) * np.arange(n) / n)
    found, above = _steps(marked, scores)
    ends = np.concatenate([[0.0], np.cumsum(weights)])[above.astype(int)]
    means = np.diff(ends, prepend=0.0) / np.diff(above, prepend=0.0)
    s = float(np.sum(np.diff(found, prepend=0.0) * means))
    least, most = float(weights[n - m :].sum()), float(weights[:m].sum())
    return min(1.0, max(0.0, (s - least) / (most - least))) if most > least else math.nan


def boyce(truth: ArrayLike, decision: ArrayLike, positive: object) -> float:
    """Return the continuous Boyce index: Spearman's correlation of score and ratio of positives to all rows."""
    marked, scores = _checked(truth, decision, positive)
    return _boyce(scores[marked], scores)


def boyce_labeled(labeled: ArrayLike, decision: ArrayLike, denominator: str) -> float:
    """Return the continuous Boyce index of labeled rows against the population, as for presences and background.

    Assumes that labeled rows are a random sample of the positives.
    """
    marked, scores = inputs.marked_scores(labeled, decision)
    inputs.refuse_denominator(denominator)
    return _boyce(scores[marked], scores if denominator == "all" else scores[~marked])


def _boyce(presences: Floats, background: Floats) -> float:
    """Return the continuous Boyce index (Hirzel et al. 2006) of scores of positives (p,) and of the population (n,).

    It is NaN if a sample is empty, a score is not finite, or all scores or all ratios are equal.

    `WINDOWS` closed windows, each a tenth of the range wide, run from the least to the largest score. The ratio of a
    window is the share of presences in it over the share of the background. Windows without background have none;
    all others count, also neighbors with the same ratio, whose ranks are averaged. Common implementations in R drop
    such neighbors, and with them the windows of the highest scores (issue 177 of ENMeval, issue 99 of ecospat).
    """
    both = np.concatenate([presences, background])
    if not len(presences) or not len(background) or not np.isfinite(both).all() or np.ptp(both) == 0.0:
        return math.nan
    low, span = float(both.min()), float(np.ptp(both))
    starts = low + (1.0 - WINDOW) * span * np.linspace(0.0, 1.0, WINDOWS)
    ends = starts + WINDOW * span
    ends[-1] = both.max()
    shares = []
    for values in (np.sort(presences), np.sort(background)):
        inside = np.searchsorted(values, ends, side="right") - np.searchsorted(values, starts, side="left")
        shares.append(inside / len(values))
    there = shares[1] > 0.0
    ratio = shares[0][there] / shares[1][there]
    if there.sum() < 2 or np.ptp(ratio) == 0.0:
        return math.nan
    from scipy.stats import rankdata

    return float(np.corrcoef(np.arange(there.sum()), rankdata(ratio))[0, 1])


def _found(marked: Bools, scores: Floats, count: float) -> float:
    """Return the mean number of positives among the first `count` rows over all orders of rows with the same score."""
    if not math.isfinite(count) or not np.isfinite(scores).all():
        return math.nan
    found, above = _steps(marked, scores)
    return float(np.interp(count, np.concatenate([[0.0], above]), np.concatenate([[0.0], found])))


def _steps(marked: Bools, scores: Floats) -> tuple[Floats, Floats]:
    """Return, for each distinct score in descending order, the positives and the rows with at least this score."""
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0.0, True))
    return np.cumsum(marked[order])[last].astype(float), (last + 1).astype(float)


def _checked(truth: ArrayLike, decision: ArrayLike, positive: object) -> tuple[Bools, Floats]:
    return inputs.positive_and_numbers(truth, decision, positive, "decision")


def _rankable(marked: Bools, scores: Floats) -> bool:
    return bool(marked.any()) and bool(np.isfinite(scores).all())
