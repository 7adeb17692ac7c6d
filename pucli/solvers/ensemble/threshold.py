"""The threshold of the scores: for the largest F1, a wanted recall or precision, a share, or a number of rows.

The threshold is computed from held-out scores, so that it can be moved without training again. If a share q of the
population is above the threshold and the recall is r, then F1 is 2 prior r / (q + prior). Here r is the expected recall
under calibrated probabilities: unlike the share of labeled rows above the threshold, it is a smooth function of q. As
the prior is uncertain, F1 is averaged over bootstrap samples of the scores, each with its own draw of the prior. The
mean is flat near its maximum, so the middle of the shares within `FLAT` of the maximum is taken. The threshold is at
the geometric mean of this share and the prior: the final models rank better than the held-out scores tell, and the
better the ranking, the nearer is the best share to the prior. Where labeled rows hardly rank above the others, either
the classes overlap or most rows are positive, and the prior is unknown. In both cases F1 is largest at a large share
(`share_for_f1`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.core.errors import UsageError, unknown
from pucli.core.saved_state import PORTION, Scalar, State, TextValue
from pucli.solvers.ensemble.calibration import factor_for
from pucli.solvers.ensemble.hidden_share import isotonic_ratio
from pucli.solvers.prior.best_bin import MOST_SCORES, resampled

GOALS = ("f1", "recall", "precision", "share", "top")
SHARES = np.concatenate([np.geomspace(1e-4, 0.005, 20, endpoint=False), np.linspace(0.005, 1.0, 200)])
FLAT = 0.02
# AUC from which on that share and the prior have the same weight in the threshold, and up to which the share alone
# counts.
APART, OVERLAPPING = 0.8, 0.7
# Largest prior that is drawn: at one every row would be positive.
LARGEST_PRIOR = 0.98
# Spreads of the scores below the least at which the threshold lies that takes every row.
FAR_BELOW = 1e3
# Confidence with which a wanted recall is kept.
CONFIDENCE = 0.9
# Labeled rows above the threshold at which their share counts as much as the expected recall (`recall_above`).
SAME_WEIGHT = 20


@dataclass
class Threshold:
    """A threshold of the scores."""

    value: float  # rows with a larger score are predicted positive
    share: float  # share of the population above the threshold; equal scores can keep it from the wanted share
    # as given to `threshold_for`
    goal: str
    wanted: float | None = None
    saved_state: ClassVar[State] = {
        "value": Scalar(),
        "share": PORTION,
        "goal": TextValue(*GOALS),
        "wanted": Scalar(0.0, none=True),
    }


def recall_curve(probabilities: np.ndarray) -> np.ndarray:
    """Return the expected recall at each of `SHARES`, from the probabilities of a positive (n,) in the population."""
    ordered = np.sort(probabilities)[::-1]
    found = np.concatenate([[0.0], np.cumsum(ordered)])
    shares = np.arange(len(ordered) + 1) / len(ordered)
    result: np.ndarray = np.interp(SHARES, shares, found / found[-1] if found[-1] > 0 else shares)
    return result


def recall_above(positive: np.ndarray, share: float, threshold: float, curve: np.ndarray) -> float:
    """Return the recall at a threshold, from labeled rows and from the expected recall."""
    return float(recall_of(int(np.count_nonzero(positive > threshold)), len(positive), share, curve))


def recall_of(above: Ints | int, labeled: int, share: Floats | float, curve: Floats | None) -> Floats:
    """Return the recall of a share of the rows that holds `above` of the labeled rows.

    It is their share if they are many. The share of few varies much by chance: the fewer labeled rows are above the
    threshold, the more weight has the expected recall, if there is one.
    """
    found: Floats = np.asarray(above) / labeled
    if curve is None:
        return found
    weight = above / (above + SAME_WEIGHT)
    expected = np.interp(share, np.append(0.0, SHARES), np.append(0.0, curve))
    result: Floats = weight * found + (1.0 - weight) * expected
    return result


def expected_f1(
    positive: np.ndarray, population: np.ndarray, priors: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return F1 at each of `SHARES`, averaged over draws of the prior, each with a bootstrap sample of the scores."""
    few = population
    if len(few) > MOST_SCORES:
        few = np.sort(few)[np.linspace(0, len(few) - 1, MOST_SCORES).astype(int)]
    total = np.zeros(len(SHARES))
    for (p, u), prior in zip(
        resampled(positive, few, rng, len(priors)), np.minimum(priors, LARGEST_PRIOR), strict=True
    ):
        scores = np.sort(np.concatenate([p, u]))
        ratio = np.interp(few, scores, isotonic_ratio(p, u, scores))
        curve = recall_curve(np.minimum(1.0, factor_for(ratio, prior) * ratio))
        total += 2.0 * prior * curve / (SHARES + prior)
    return total / len(priors)


def threshold_for(  # noqa: PLR0913
    goal: str,
    wanted: float | None,
    positive: np.ndarray,
    population: np.ndarray,
    prior: float,
    curve: np.ndarray,
    f1: np.ndarray,
    ranking: float,
    even: float,
) -> Threshold:
    """Return the threshold for a goal."""
    wanted = check_wanted(goal, wanted, len(population))
    if goal == "f1":
        few = round(best_share(2.0 * prior * curve / (SHARES + prior)) * len(population)) <= 1
        if few:
            return Threshold(even, float(np.mean(population > even)), goal)
        return _at_share(share_for_f1(f1, prior, ranking), population, goal, None)
    if goal == "top":
        return _at_share(wanted / len(population), population, goal, wanted)
    if goal == "share":
        return _at_share(wanted, population, goal, wanted)
    if goal == "recall":
        value = threshold_for_recall(positive, wanted)
        if value == -np.inf:
            value = _below_all(np.concatenate([positive, population]))
        return Threshold(value, float(np.mean(population > value)), goal, wanted)
    return _at_precision(wanted, positive, population, prior, curve)


def _at_precision(
    wanted: float, positive: np.ndarray, population: np.ndarray, prior: float, curve: np.ndarray
) -> Threshold:
    """Return the threshold with the largest share at which both estimates of the precision are at least `wanted`.

    One comes from the smooth curve of the recall; the other, which is printed, from `recall_above`.
    """
    smooth = np.minimum.accumulate(np.minimum(1.0, prior * curve / SHARES))
    best = 0.0
    for share in SHARES[smooth >= wanted][::-1]:
        threshold = _at_share(float(share), population, "precision", wanted)
        above = float(np.mean(population > threshold.value))
        recall = recall_above(positive, above, threshold.value, curve)
        printed = min(1.0, prior * recall / above) if above > 0 else 0.0
        if printed >= wanted:
            return threshold
        best = max(best, printed)
    highest = best if best > 0 else float(smooth[0])
    below = np.floor(1000.0 * highest) / 1000.0  # rounded, it could be the wanted one
    raise UsageError(
        f"no share of the rows has an estimated precision of {wanted:g}; the highest is {below:g}. "
        "Ask for no more than that, or for a share or a number of rows."
    )


def share_for_f1(f1: np.ndarray, prior: float, ranking: float) -> float:
    """Return the share of rows to predict positive for the largest F1.

    It is the geometric mean of the prior and the share with the largest expected F1. It moves to that share alone as
    the classes overlap more, and from there to 1, which is best if the ranking is no better than chance.
    """
    weight = 0.5 + 0.5 * float(np.clip((APART - ranking) / (APART - OVERLAPPING), 0.0, 1.0))
    share = best_share(f1) ** weight * prior ** (1.0 - weight)
    return float(share ** np.clip((ranking - 0.5) / (OVERLAPPING - 0.5), 0.0, 1.0))


def best_share(f1: np.ndarray) -> float:
    """Return the share with the largest F1, the middle of those within `FLAT` of it; f1 is for each of `SHARES`."""
    near = SHARES[f1 >= f1.max() - FLAT]
    return float(0.5 * (near[0] + near[-1]))


def threshold_for_recall(positive: np.ndarray, wanted: float) -> float:
    """Return the largest threshold with at least the wanted recall, with the confidence `CONFIDENCE`.

    The share of all positives below the k-th smallest of p held-out scores is distributed as Beta(k, p + 1 - k),
    whatever the distribution of the scores (Wilks 1941).
    """
    from scipy.special import betainc

    p = len(positive)
    k = np.arange(1, p + 1)
    kept = np.flatnonzero(betainc(k, p + 1.0 - k, 1.0 - wanted) >= CONFIDENCE)
    if len(kept) == 0:
        return -np.inf
    return float(np.nextafter(np.sort(positive)[kept[-1]], -np.inf))


def _below_all(scores: np.ndarray) -> float:
    """Return a finite threshold far below all scores, since scores minus an infinite one have no order.

    Scores minus this threshold still differ: their rounding is 1e-13 of the spread of the scores.
    """
    return float(scores.min() - FAR_BELOW * max(float(np.ptp(scores)), 1.0))


def _at_share(share: float, population: np.ndarray, goal: str, wanted: float | None) -> Threshold:
    """Return the threshold with a share `share` of the population's scores above it."""
    ordered = np.sort(population)[::-1]
    k = int(np.clip(round(share * len(ordered)), 0, len(ordered)))
    if k == 0:
        value = float(ordered[0])
    elif k == len(ordered):
        value = float(np.nextafter(ordered[-1], -np.inf))
    else:
        value = 0.5 * float(ordered[k - 1] + ordered[k])
    return Threshold(value, float(np.mean(population > value)), goal, wanted)


def threshold_for_rare(share: float, population: np.ndarray, even: float) -> Threshold:
    """Return the threshold for F1 with a share of the population above it, or at `even`, as `threshold_for`."""
    if round(share * len(population)) <= 1:
        return Threshold(even, float(np.mean(population > even)), "f1")
    return _at_share(share, population, "f1", None)


def check_wanted(goal: str, wanted: float | None, n: int) -> float:
    """Return the value of a goal as a number, zero for "f1"."""
    if goal not in GOALS:
        raise unknown("goal of the threshold", goal, GOALS)
    if goal == "f1":
        return 0.0
    if wanted is None:
        raise UsageError(f"the goal {goal!r} needs a value: the wanted {'number of rows' if goal == 'top' else goal}.")
    if goal == "top" and not 1 <= wanted <= n:
        raise UsageError(f"the wanted number of rows must lie between 1 and {n}, not {wanted!r}.")
    if goal != "top" and not 0.0 < wanted <= 1.0:
        raise UsageError(f"the wanted {goal} must be above 0 and at most 1, not {wanted!r}.")
    return float(wanted)
