"""Share of positives among rows of which some were reviewed, chosen with certainty or at random.

Rows drawn with certainty count as they are; those drawn at random stand for all others, each with the inverse of its
probability of being drawn (Hajek 1971), and with Wilson's interval (1927) at Kish's effective number of answers. Shares
of parts of the rows give that of all, the distances to the ends of their intervals added in squares (Zou, Donner 2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.solvers.prior.binormal import NORMAL_90


@dataclass(frozen=True)
class Share:
    """A share of positives with its 90 % interval."""

    value: float
    low: float
    high: float


def wilson(share: float, answers: float) -> Share:
    """Return a share of positives among `answers` answers with Wilson's 90 % interval; of none, it is from 0 to 1."""
    if answers <= 0.0:
        return Share(share, 0.0, 1.0)
    if math.isinf(answers):
        return Share(share, share, share)
    z = NORMAL_90**2 / answers
    middle = (share + z / 2.0) / (1.0 + z)
    half = math.sqrt(z * (share * (1.0 - share) + z / 4.0)) / (1.0 + z)
    return Share(share, max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share)))


def share_of(positive: Bools, drawn: Floats, rows: int) -> Share:
    """Return the share of positives among `rows` rows from those that were reviewed.

    Parameters
    ----------
    positive : ndarray of bool, shape (k,)
        The answers.
    drawn : ndarray of shape (k,)
        The probability with which each row was drawn.
    rows : int
        Number of rows from which they were drawn.

    Returns
    -------
    Share
        The share and its interval.

    Examples
    --------
    >>> import numpy as np
    >>> answers = np.arange(50) < 35
    >>> found = share_of(answers, np.full(50, 0.1), 500)
    >>> round(found.low, 2), round(found.high, 2)
    (0.59, 0.79)
    """
    if not ((drawn > 0.0) & (drawn <= 1.0)).all() or len(positive) > rows:
        raise ValueError(f"drawn must be above 0 and at most 1, and there are at most rows = {rows} answers.")
    certain = drawn >= 1.0
    sure, known = int(certain.sum()), int(positive[certain].sum())
    left = rows - sure
    if left <= 0:
        return Share(known / sure, known / sure, known / sure)
    weights, answers = 1.0 / drawn[~certain], int((~certain).sum())
    if answers == 0:
        return Share(known / rows, known / rows, (known + left) / rows)
    effective = float(weights.sum() ** 2 / np.sum(weights**2))
    effective *= (left - 1.0) / (left - answers) if answers < left else math.inf  # of a finite number of rows
    rest = wilson(float(np.average(positive[~certain], weights=weights)), effective)
    return Share(*((known + left * end) / rows for end in (rest.value, rest.low, rest.high)))


def share_of_parts(parts: Sequence[tuple[Share, int]]) -> Share:
    """Return the share of positives among all rows from those of their parts, which were drawn one by one.

    Examples
    --------
    >>> found = share_of_parts([(Share(0.8, 0.7, 0.9), 100), (Share(0.1, 0.05, 0.2), 300)])
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.275, 0.23, 0.354)
    """
    whole = sum(rows for _, rows in parts)
    weighted = [(share, rows / whole) for share, rows in parts]
    value = sum(weight * share.value for share, weight in weighted)
    below, above = (
        math.hypot(*(weight * (end - share.value) for (share, weight), end in zip(weighted, ends, strict=True)))
        for ends in zip(*((share.low, share.high) for share, _ in parts), strict=True)
    )
    return Share(value, max(value - below, 0.0), min(value + above, 1.0))


def answers_needed(found: Share, answers: int, wanted: float, rows: int | None = None) -> int | None:
    """Return roughly how many answers in all decide on which side of `wanted` the share lies.

    It is `answers` if the interval excludes `wanted` already, and None if no number is enough.
    """
    if not found.low <= wanted <= found.high:
        return answers
    if found.value == wanted:
        return rows
    middle = min(max(found.value, 1.0 / (answers + 2)), 1.0 - 1.0 / (answers + 2))
    needed = NORMAL_90**2 * middle * (1.0 - middle) / (found.value - wanted) ** 2
    if rows is not None:
        needed /= 1.0 + (needed - 1.0) / rows  # of a finite number of rows
    return max(answers + 1, math.ceil(needed))
