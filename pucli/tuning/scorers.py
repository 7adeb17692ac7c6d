"""Scores and rules of choice that read labels of labelled rows only.

All of them are functions of four counts per validation fold: labelled rows predicted positive, labelled rows,
unlabeled rows predicted positive, unlabeled rows. PUF (Wang 2024, eq. 3.14) is recall^2 / P(predicted positive), zero
where none of the rows of the denominator is predicted positive: a model that finds no positive is of no use, however
few labelled rows it recalls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pucli.errors import unknown
from pucli.metrics import puf
from pucli.tuning.grids import regularisation_key

RULES: dict[str, str] = {
    "puf": "mean over folds of PUF; ties go to the more regularised point (Wang 2024, section 3.6.4)",
    "puf-pooled": "PUF of all out-of-fold predictions together, over all repeats of the cross-validation",
    "puf-lower-1se": "bound = pooled PUF less one standard error; of the points that predict both classes and whose "
    "bound is within one standard error of the best, the one with the strongest ridge",
}
DENOMINATORS = {"unlabeled": "unlabeled rows (case-control)", "all": "all rows (single training set)"}


class Scores(NamedTuple):
    """score, standard error, and whether one class only is predicted; each (n_points,)."""

    score: np.ndarray
    standard_error: np.ndarray
    constant: np.ndarray


def check_rule(rule: str, denominator: str) -> None:
    """Raise UsageError for an unknown rule or denominator, with the nearest names."""
    if rule not in RULES:
        raise unknown("score", rule, RULES)
    if denominator not in DENOMINATORS:
        raise unknown("denominator", denominator, DENOMINATORS)


def score_counts(counts: np.ndarray, rule: str, denominator: str) -> Scores:
    """Score points from `counts` (n_points, repeats, folds, 4).

    The standard error is that of the mean of the per-fold scores, over all folds of all repeats.
    """
    per_fold = puf(counts, denominator).reshape(len(counts), -1)
    n_folds = per_fold.shape[1]
    error = per_fold.std(axis=1, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else np.zeros(len(counts))
    pooled = counts.sum(axis=(1, 2))
    score = per_fold.mean(axis=1) if rule == "puf" else puf(pooled, denominator)
    positive = pooled[:, 0] + pooled[:, 2]
    constant = (positive == 0) | (positive == pooled[:, 1] + pooled[:, 3])
    return Scores(score, error, constant)


def choose(points: Sequence[Mapping[str, Any]], scores: Scores, rule: str) -> int:
    """Return the index of the chosen point; ties are broken by `regularisation_key`, never by position."""
    best = scores.score.max()
    tolerance = 1e-12 * max(1.0, abs(best))
    candidates = np.flatnonzero(scores.score >= best - tolerance).tolist()
    if rule == "puf-lower-1se":
        both = np.flatnonzero(~scores.constant).tolist()
        if both:
            # The best of many noisy scores is a lucky one; the best lower bound is not.
            lower = scores.score - scores.standard_error
            top = min(both, key=lambda i: (-lower[i], regularisation_key(points[i])))
            near = [i for i in both if lower[i] >= lower[top] - scores.standard_error[top]]
            strongest = max(_ridge(points[i]) for i in near)
            near = [i for i in near if _ridge(points[i]) == strongest]
            return min(near, key=lambda i: (-lower[i], regularisation_key(points[i])))
    return min(candidates, key=lambda i: regularisation_key(points[i]))


def _ridge(point: Mapping[str, Any]) -> float:
    return float(point.get("lam", point.get("lam2", 0.0)))
