"""Where to cut the scores: for the largest F1, a wanted recall or precision, a share, or a number of rows.

All of it is read off held-out scores, so that the cut moves without training again. The F1 of the share q with recall
r is 2 prior r / (q + prior), where r is the expected recall under the calibrated probabilities: their curve is smooth
where shares of labelled rows are ragged, and a cut chosen on it is less of an accident. It is flat near its top; the
middle of the shares within `FLAT` of the top is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pucli.errors import UsageError, unknown

GOALS = ("f1", "recall", "precision", "share", "top")
SHARES = np.concatenate([np.geomspace(1e-4, 0.005, 20, endpoint=False), np.linspace(0.005, 1.0, 200)])
FLAT = 0.01
# Confidence with which a wanted recall is kept.
CONFIDENCE = 0.9


@dataclass
class Cut:
    """A cut. value : rows with a score above it are called positive. goal, wanted : what it was made for."""

    value: float
    share: float
    goal: str
    wanted: float | None = None


def recall_curve(probabilities: np.ndarray) -> np.ndarray:
    """Return the expected recall at each of `SHARES` of a population with these probabilities of a positive (n,)."""
    ordered = np.sort(probabilities)[::-1]
    found = np.concatenate([[0.0], np.cumsum(ordered)])
    shares = np.arange(len(ordered) + 1) / len(ordered)
    result: np.ndarray = np.interp(SHARES, shares, found / found[-1] if found[-1] > 0 else shares)
    return result


def make_cut(
    goal: str,
    wanted: float | None,
    positive: np.ndarray,
    population: np.ndarray,
    prior: float,
    curve: np.ndarray,
    even: float,
) -> Cut:
    """Return the cut for a goal.

    Parameters
    ----------
    goal : one of `GOALS`. wanted : the recall, precision or share, between 0 and 1, or the number of rows ("top").
    positive, population : held-out scores. prior : share of positives in the population.
    curve : recall at each of `SHARES`, see `recall_curve`. even : the score at which a positive is as probable as not;
    it is the cut for F1 where no more than one row of the population would be called positive.

    Raises
    ------
    UsageError
        An unknown goal, or a value that is missing, out of range, or cannot be reached.
    """
    if goal not in GOALS:
        raise unknown("goal of the cut", goal, GOALS)
    if goal == "f1":
        cut = _at_share(best_share(curve, prior), population, goal, None)
        few = round(cut.share * len(population)) <= 1
        return Cut(even, float(np.mean(population > even)), goal) if few else cut
    wanted = _checked(goal, wanted, len(population))
    if goal == "top":
        return _at_share(wanted / len(population), population, goal, wanted)
    if goal == "share":
        return _at_share(wanted, population, goal, wanted)
    if goal == "recall":
        value = recall_cut(positive, wanted)
        return Cut(value, float(np.mean(population > value)), goal, wanted)
    precision = np.minimum.accumulate(np.minimum(1.0, prior * curve / SHARES))
    enough = np.flatnonzero(precision >= wanted)
    if len(enough) == 0:
        raise UsageError(
            f"no share of the rows has an estimated precision of {wanted:g}; the highest is {precision[0]:.2f}."
        )
    return _at_share(float(SHARES[enough[-1]]), population, goal, wanted)


def best_share(curve: np.ndarray, prior: float) -> float:
    """Return the share with the largest F1 at that prior: the middle of those within `FLAT` of the top."""
    f1 = 2.0 * prior * curve / (SHARES + prior)
    near = SHARES[f1 >= f1.max() - FLAT]
    return float(0.5 * (near[0] + near[-1]))


def recall_cut(positive: np.ndarray, wanted: float, confidence: float = CONFIDENCE) -> float:
    """Return the largest cut whose recall is at least `wanted` with that confidence.

    Of p held-out positives the k-th smallest score is below a share of all positives that is distributed as
    Beta(k, p + 1 - k): whatever the distribution of the scores (Wilks 1941). Below every score where p is too small.
    """
    from scipy.special import betainc

    p = len(positive)
    k = np.arange(1, p + 1)
    kept = np.flatnonzero(betainc(k, p + 1.0 - k, 1.0 - wanted) >= confidence)
    if len(kept) == 0:
        return -np.inf
    return float(np.nextafter(np.sort(positive)[kept[-1]], -np.inf))


def _at_share(share: float, population: np.ndarray, goal: str, wanted: float | None) -> Cut:
    """Return the cut between the scores of the population that leaves `share` of them above."""
    ordered = np.sort(population)[::-1]
    k = int(np.clip(round(share * len(ordered)), 0, len(ordered)))
    if k == 0:
        value = float(ordered[0])
    elif k == len(ordered):
        value = float(np.nextafter(ordered[-1], -np.inf))
    else:
        value = 0.5 * float(ordered[k - 1] + ordered[k])
    return Cut(value, k / len(ordered), goal, wanted)


def _checked(goal: str, wanted: float | None, n: int) -> float:
    if wanted is None:
        raise UsageError(f"the goal {goal!r} needs a value: the wanted {'number of rows' if goal == 'top' else goal}.")
    low, high = (1, n) if goal == "top" else (0.0, 1.0)
    if not (low <= wanted <= high) or (goal != "top" and wanted == 0):
        raise UsageError(f"the wanted {goal} must lie between {low} and {high}, not {wanted!r}.")
    return float(wanted)
