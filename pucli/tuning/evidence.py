"""Evidence from the folds on the points of a grid: counts of predictions, or ranking and threshold by held-out scores.

The rule "pu-auc" judges a point by its ranking: the AUC of labeled against unlabeled rows, from the scores of all
folds of a cross-validation together, averaged over the repeats. It needs no threshold and no class prior. The threshold
of a point maximizes the estimated F1, 2 prior r / (q + prior), where r is the share of labeled rows above the
threshold and q that of the population. Only thresholds just below the score of a labeled row are candidates: from
there up to the next labeled row only q changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints
from pucli.tuning.folds import Fold
from pucli.tuning.routes import Outcomes, Route
from pucli.tuning.scorers import RANKING, PointScores, Rule, score_counts


class Evidence(NamedTuple):
    """Evidence on the points of a grid."""

    counts: Ints  # (n_points, repeats, folds, 4), as in `pucli.tuning.scorers`, at the threshold
    # (n_points,), PU-AUC and its standard error; NaN without scores
    ranking: Floats
    ranking_error: Floats
    threshold: Floats  # (n_points,), score above which rows are predicted positive; zero without scores

    def scores(self, rule: Rule) -> PointScores:
        """Return the scores of the points by a rule."""
        found = score_counts(self.counts, rule)
        return PointScores(self.ranking, self.ranking_error, found.constant) if rule.name == RANKING else found

    def of(self, points: Sequence[int]) -> Evidence:
        """Return the evidence of some of the points."""
        return Evidence._make(values[list(points)] for values in self)


def joined(parts: Sequence[Evidence]) -> Evidence:
    """Return the evidence of all points of several parts."""
    return Evidence._make(np.concatenate(values) for values in zip(*parts, strict=True))


def evidence(route: Route, outcomes: Outcomes, rule: Rule, there: Bools | None = None) -> Evidence:
    """Return the evidence in the outcomes of a route."""
    if not route.scores:
        nothing = np.full(len(outcomes), np.nan)
        counts = outcomes if there is None else outcomes[:, None, there]
        return Evidence(counts.astype(np.int64), nothing, nothing, np.zeros(len(outcomes)))
    shape = (len(route.folds), len(route.folds[0])) if there is None else (1, int(there.sum()))
    labeled, home = route.s == 1, _homes(route.folds, len(route.s), there)
    parts = [(r, rows & labeled, rows & ~labeled) for r, rows in enumerate(home >= 0) if rows.any()]
    marked, others = (home >= 0) & labeled, (home >= 0) & ~labeled
    ranking, threshold = np.empty((len(outcomes), 2)), np.zeros(len(outcomes))
    counts = np.zeros((len(outcomes), shape[0] * shape[1], 4), dtype=np.int64)
    counts[:, :, 1] = np.bincount(home[marked], minlength=counts.shape[1])
    counts[:, :, 3] = np.bincount(home[others], minlength=counts.shape[1])
    for p, scores in enumerate(outcomes):
        ranking[p] = np.mean([ranked(scores[r, upper], scores[r, lower]) for r, upper, lower in parts], axis=0)
        if rule.moves_threshold:
            threshold[p] = _best_threshold(scores[marked], scores[others], rule)
        for column, rows in ((0, marked), (2, others)):
            counts[p, :, column] = np.bincount(home[rows & (scores > threshold[p])], minlength=counts.shape[1])
    return Evidence(counts.reshape(len(outcomes), *shape, 4), ranking[:, 0], ranking[:, 1], threshold)


def _homes(folds: list[list[Fold]], n: int, there: Bools | None) -> Ints:
    """Return the number of the fold that leaves a row out, counted over all repeats, (repeats, n); -1 without one."""
    home = np.full((len(folds), n), -1, dtype=np.int64)
    number = 0
    for r, repeat in enumerate(folds):
        for f, (_, valid) in enumerate(repeat):
            if there is None or there[r, f]:
                home[r, valid] = number
                number += 1
    return home


def ranked(upper: Floats, lower: Floats) -> tuple[float, float]:
    """Return the share of pairs in which the score of `upper` is above that of `lower`, and its standard error.

    Ties count half. The standard error is that of DeLong, DeLong, Clarke-Pearson (1988).
    """
    shares = []
    for values, other in ((upper, np.sort(lower)), (np.sort(lower), np.sort(upper))):
        below = np.searchsorted(other, values, side="left") + np.searchsorted(other, values, side="right")
        shares.append(below / (2.0 * len(other)))
    variance = sum(share.var(ddof=min(1, len(share) - 1)) / len(share) for share in shares)
    return float(shares[0].mean()), float(np.sqrt(variance))


def _best_threshold(upper: Floats, lower: Floats, rule: Rule) -> float:
    """Return the threshold, between two scores, with the greatest estimated F1 and, of equal ones, the most recall."""
    upper, lower = np.sort(upper), np.sort(lower)
    below = np.searchsorted(upper, upper, side="left"), np.searchsorted(lower, upper, side="left")
    recall, share = 1.0 - below[0] / len(upper), 1.0 - below[1] / len(lower)
    if rule.denominator == "all":
        share = (recall * len(upper) + share * len(lower)) / (len(upper) + len(lower))
    best = int(np.argmax(2.0 * rule.prior * recall / (share + rule.prior)))
    top = float(upper[best])
    lesser = [float(scores[k[best] - 1]) for scores, k in zip((upper, lower), below, strict=True) if k[best] > 0]
    if not lesser:
        return float(np.nextafter(top, -np.inf))
    middle = 0.5 * (max(lesser) + top)
    return middle if max(lesser) <= middle < top else max(lesser)
