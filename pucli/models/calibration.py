"""Probabilities for methods that have scores alone, from held-out scores and the prior.

As in `pucli auto`, the probability is the prior times the ratio of two densities, of the scores of labeled rows and of
the population (`pucli.solvers.ensemble.calibration`). The scores are held out (`pucli.models.validation`). In large
tables only a sample of rows is held out, and `in_its_scale` moves its scores to the scale of the model. A given prior
is used; otherwise it is estimated from these scores, or from those of a kernel ridge regression on the same rows if
that ranks labeled rows better: the worse the ranking, the more an estimate is only an upper bound. Where rows of both
classes are labeled, a logistic curve is fitted to their held-out scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils import _safe_indexing

from pucli.core.arrays import AnyArray, Bools, Floats
from pucli.core.seeding import sample_of_each_kind, stream
from pucli.data.features import Standardizer
from pucli.metrics.ranking import pu_auc
from pucli.models.scores import decision_values
from pucli.models.validation import SAMPLE, HeldOutScores
from pucli.solvers.ensemble.calibration import KNOTS, averaged, calibration_curves, greatest_end, least_end
from pucli.solvers.ensemble.estimates import Estimate
from pucli.solvers.ensemble.hidden_share import estimate_prior
from pucli.solvers.ensemble.joint import joint_estimate
from pucli.solvers.ensemble.refit import QuantileMap
from pucli.solvers.prior.best_bin import held_out_scores as ridge_scores

# With more columns or rows of a kind, the ridge regression would take longer than the method itself.
RIDGE_COLUMNS = 3000
RIDGE_LABELED, RIDGE_UNLABELED = 300, 900
# Number of unlabeled rows not held out, which show the distribution of the model's scores.
LEAST_OTHERS, MOST_OTHERS = 500, 10_000
# Quantiles of the bootstrap samples that bound a probability, if the prior is known.
LEVELS = (0.05, 0.95)
# Reach of a logistic curve beyond the scores that it was fitted to, in standard deviations.
MARGIN = 2.0


@dataclass(frozen=True)
class ProbabilityCurve:
    """Probabilities of a positive by score, linear between the knots and constant beyond them."""

    prior: Estimate  # share of positives in the population, with its 90 % interval; a given one has no width
    # (knots,), the probabilities with the prior, and the ends of their range: those with each end of the prior's
    # interval, and those of bootstrap samples. `probability` and `high` are never zero if there are rows below all
    # labeled ones
    scores: Floats
    probability: Floats
    low: Floats
    high: Floats

    def of(self, scores: Floats) -> dict[str, Floats]:
        """Return columns of predictions for scores (n,): "probability", and its range if there is one."""
        found = {"probability": np.interp(scores, self.scores, self.probability)}
        if np.any(self.low < self.high):
            found["probability_low"] = np.interp(scores, self.scores, self.low)
            found["probability_high"] = np.interp(scores, self.scores, self.high)
        return found

    def record(self) -> dict[str, Any]:
        """Return the curve as JSON values, for the metadata of a model (`pucli.models.prediction`)."""
        curves = {"scores": self.scores, "probability": self.probability, "low": self.low, "high": self.high}
        prior = {"prior": self.prior.value, "prior_low": self.prior.low, "prior_high": self.prior.high}
        return prior | {name: values.tolist() for name, values in curves.items()}


def probability_curve(
    found: HeldOutScores, X: AnyArray, given: float | None, all_rows: tuple[int, int] | None, seed: int
) -> ProbabilityCurve:
    """Return the probability curve from held-out scores."""
    s = found.labeled
    positive, population = found.scores[s], _population(found.scores, s, all_rows)
    if given is not None:
        share = given if all_rows is None else (given * all_rows[1] + all_rows[0]) / sum(all_rows)
        prior = Estimate(share, share, share)
    else:
        prior = _estimated(found, X, all_rows, seed)
    return curve_of(positive, population, prior, seed)


def curve_of(positive: Floats, population: Floats, prior: Estimate, seed: int = 0) -> ProbabilityCurve:
    """Return the probabilities from scores of labeled rows (p,) and of the population (n,) with a prior."""
    positive, population = np.sort(positive), np.sort(population)
    knots, curves = calibration_curves(positive, population, prior.value, stream(seed, "calibration"))
    curve = averaged(knots, curves, population, prior.value)
    least = curve.least(positive, population, prior.value)
    p = np.maximum(curve.probabilities, least)
    ends = curve.scaled(p, population, prior.value, (prior.low, prior.high), least)
    ends += [*np.quantile(curves, LEVELS, axis=0), p]
    low = np.minimum(np.min(ends, axis=0), greatest_end(positive, population, prior.low))
    high = np.maximum(np.max(ends, axis=0), least_end(positive, population, prior.high))
    return ProbabilityCurve(prior, knots, p, low, high)


def in_its_scale(found: HeldOutScores, pipeline: Any, X: Any, labeled: Bools, seed: int) -> HeldOutScores:
    """Return held-out scores moved to the scale of the scores of the model of all rows.

    Models of fewer rows, or of another share of labeled rows, can have scores of another size. The quantiles of the
    held-out unlabeled rows are mapped to the quantiles that the model gives to the other unlabeled rows.
    """
    others = np.setdiff1d(np.flatnonzero(~labeled), found.rows)
    if len(others) < LEAST_OTHERS:
        return found
    others = np.sort(stream(seed, "other rows").permutation(others)[:MOST_OTHERS])
    here = decision_values(pipeline, _safe_indexing(X, others))
    assert here is not None  # there are held-out scores
    there = np.sort(found.scores[~found.labeled])
    moved = QuantileMap(there, np.quantile(here, np.linspace(0.0, 1.0, len(there))))
    return found._replace(scores=moved.of(found.scores))


def class_curve(scores: Floats, last: Bools) -> ProbabilityCurve:
    """Return the probabilities of the last of two classes by Platt's logistic curve (Platt 1999; Lin et al. 2007)."""
    n_last = int(last.sum())
    target = np.where(last, (n_last + 1.0) / (n_last + 2.0), 1.0 / (len(last) - n_last + 2.0))
    spread = max(float(scores.std()), 1e-300)
    z = (scores - scores.mean()) / spread

    def loss(line: Floats) -> tuple[float, Floats]:
        f = line[0] * z + line[1]
        error = expit(f) - target
        return float((np.logaddexp(0.0, f) - target * f).sum()), np.array([error @ z, error.sum()])

    slope, offset = minimize(loss, np.zeros(2), jac=True, bounds=[(0.0, None), (None, None)]).x
    knots = np.linspace(z.min() - MARGIN, z.max() + MARGIN, KNOTS)
    p = expit(slope * knots + offset)
    share = n_last / len(last)
    return ProbabilityCurve(Estimate(share, share, share), scores.mean() + spread * knots, p, p, p)


def _population(scores: Floats, labeled: AnyArray, all_rows: tuple[int, int] | None) -> Floats:
    """Return scores of the population: of the unlabeled rows, with labeled ones in proportion in a single sample."""
    if all_rows is None:
        return scores[~labeled]
    count = round(int((~labeled).sum()) * all_rows[0] / all_rows[1])
    marked = np.quantile(scores[labeled], (np.arange(count) + 0.5) / max(count, 1))
    return np.concatenate([scores[~labeled], marked])


def _estimated(found: HeldOutScores, X: AnyArray, all_rows: tuple[int, int] | None, seed: int) -> Estimate:
    """Return the share of positives in the population with its interval."""
    few = sample_of_each_kind(found.labeled, stream(seed, SAMPLE), RIDGE_LABELED, RIDGE_UNLABELED)
    s, scores = found.labeled[few], found.scores[few]
    if isinstance(X, np.ndarray) and X.shape[1] <= RIDGE_COLUMNS:
        home = found.fold[few] if found.grouped else None
        other = ridge_scores(Standardizer().fit_transform(X[found.rows[few]]), s, stream(seed, "ridge"), home)
        scores = other if pu_auc(other, s) > pu_auc(scores, s) else scores
    positive, population = np.sort(scores[s]), np.sort(_population(scores, s, all_rows))
    if found.prior is None or all_rows is None:
        return prior_of(positive, population, found.prior, seed)
    return prior_of(positive, population, (found.prior * all_rows[1] + all_rows[0]) / sum(all_rows), seed)


def prior_of(positive: Floats, population: Floats, value: float | None, seed: int = 0) -> Estimate:
    """Return the share of positives in the population with its interval."""
    found = estimate_prior(positive, population, stream(seed, "prior"))
    prior = joint_estimate(positive, population, found).prior
    if value is None:
        return prior
    low = prior.low if value >= prior.low else max(0.0, value - (prior.value - prior.low))
    high = prior.high if value <= prior.high else min(1.0, value + (prior.high - prior.value))
    return Estimate(value, low, high)
