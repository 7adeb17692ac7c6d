"""Tuning scores and selection rules, which use only the labels of labeled rows.

All of them are functions of four counts per validation fold: labeled rows predicted positive, labeled rows,
unlabeled rows predicted positive, unlabeled rows. PUF (Wang 2024, eq. 3.14) is recall^2 / P(predicted positive). It is
zero if no row of the denominator is predicted positive, since a model that finds no positives is useless, whatever its
recall on labeled rows. F1 is 2 prior recall / (P(predicted positive) + prior), with an estimate of the class prior:
unlike PUF, it does not square the recall, which few labeled rows make noisy. PU-AUC, the AUC of labeled against
unlabeled held-out rows, needs scores instead of counts (`pucli.tuning.evidence`); afterwards the threshold is moved to
where the estimated F1 is greatest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.errors import unknown
from pucli.metrics import puf
from pucli.metrics.pu import Denominator
from pucli.tuning.grids import regularization_key

RANKING = "pu-auc"
RULES: dict[str, str] = {
    RANKING: "AUC of labeled against unlabeled held-out rows, the scores of all folds together, averaged over the "
    "repeats; the threshold is then moved to where F1 is greatest, estimated with the class prior of the same rows",
    "puf": "mean over folds of PUF; ties go to the more regularized point (Wang 2024, section 3.6.4)",
    "puf-pooled": "PUF of all out-of-fold predictions together, over all repeats of the cross-validation",
    "puf-lower-1se": "bound = pooled PUF less one standard error; of the points that predict both classes and whose "
    "bound is within one standard error of the best, the one with the strongest ridge",
    "f1": "F1 of all out-of-fold predictions together, with the class prior estimated from the same rows",
}
# The number of cross-validations where none is given, and the largest number of rows for it. Tables state their own.
DEFAULT_REPEATS, REPEATED_ROWS = 2, 20_000


class PointScores(NamedTuple):
    """Scores, standard errors, and whether only one class is predicted; each of shape (n_points,)."""

    score: Floats
    standard_error: Floats
    constant: Bools

    def of(self, point: int) -> tuple[float, float, bool]:
        """Return the score, its standard error and whether it is degenerate, for one point."""
        return float(self.score[point]), float(self.standard_error[point]), bool(self.constant[point])


class Rule(NamedTuple):
    """Rule for scoring points and choosing one."""

    name: str  # a key of `RULES`
    denominator: Denominator  # rows in the denominator of PUF
    # order of regularization of the method, see `pucli.tuning.grids.regularization_key`
    regularization: Mapping[str, int]
    ridge: str = "lam"  # the parameter meant by "strongest ridge"
    prior: float = float("nan")  # for "f1" and "pu-auc": share of positives among the rows in the denominator
    # whether predictions are positive above the threshold with the greatest estimated F1, not above zero
    moves_threshold: bool = False


def check_rule(rule: str, denominator: str) -> Denominator:
    """Return the denominator; raise UsageError, with the nearest names, for an unknown rule or denominator."""
    if rule not in RULES:
        raise unknown("score", rule, RULES)
    for known in get_args(Denominator):
        if known == denominator:
            return known  # type: ignore[no-any-return]
    raise unknown("denominator", denominator, get_args(Denominator))


def score_counts(counts: Ints, rule: Rule) -> PointScores:
    """Score points from `counts` of shape (n_points, repeats, folds, 4).

    The standard error is that of the mean of the per-fold scores, over all folds of all repeats.
    """

    def value(counts: Ints) -> Floats:
        return estimated_f1(counts, rule) if rule.name == "f1" else puf(counts, rule.denominator)

    n_folds = counts.shape[1] * counts.shape[2]
    per_fold = value(counts).reshape(len(counts), n_folds)
    error = per_fold.std(axis=1, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else np.zeros(len(counts))
    pooled = counts.sum(axis=(1, 2))
    score = per_fold.mean(axis=1) if rule.name == "puf" else value(pooled)
    positive = pooled[:, 0] + pooled[:, 2]
    constant = (positive == 0) | (positive == pooled[:, 1] + pooled[:, 3])
    return PointScores(score, error, constant)


def estimated_f1(counts: Ints, rule: Rule) -> Floats:
    """Return 2 prior recall / (share predicted positive + prior), of shape (...), for counts of shape (..., 4)."""
    found, labeled, called, unlabeled = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    if rule.denominator == "all":
        called, unlabeled = called + found, unlabeled + labeled
    recall, share = found / np.maximum(labeled, 1.0), called / np.maximum(unlabeled, 1.0)
    result: Floats = 2.0 * rule.prior * recall / (share + rule.prior)
    return result


def most_f1(counts: Ints) -> Floats:
    """Return the F1 of this recall on labeled rows if every predicted row is positive; counts of shape (..., 4)."""
    found, labeled = np.asarray(counts, dtype=np.float64)[..., 0], np.asarray(counts)[..., 1]
    return 2.0 * found / np.maximum(found + labeled, 1.0)


def choose(points: Sequence[Mapping[str, Any]], scores: PointScores, rule: Rule) -> int:
    """Return the index of the chosen point; ties go to the more regularized one, never to the first."""

    def order(point: int) -> tuple[Any, ...]:
        return regularization_key(points[point], rule.regularization)

    def ridge(point: int) -> float:
        return float(points[point].get(rule.ridge, 0.0))

    both = np.flatnonzero(~scores.constant).tolist()
    if rule.name == "puf-lower-1se" and both:
        # The best of many noisy scores is biased upwards; the best lower bound is not.
        lower = scores.score - scores.standard_error
        top = min(both, key=lambda i: (-lower[i], order(i)))
        near = [i for i in both if lower[i] >= lower[top] - scores.standard_error[top]]
        strongest = max(ridge(i) for i in near)
        return min((i for i in near if ridge(i) == strongest), key=lambda i: (-lower[i], order(i)))
    best = scores.score.max()
    tolerance = 1e-12 * max(1.0, abs(best))
    return min(np.flatnonzero(scores.score >= best - tolerance).tolist(), key=order)
