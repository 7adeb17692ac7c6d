"""Guarantees of contrastive pessimistic likelihood on generated problems, computed in extended precision.

With the means and covariances of a fit, and those of the labeled rows alone, the gain in log-likelihood is computed
for the worst labels of the unlabeled rows. It must be at least `improvement_`. The contrast at the best parameters for
the soft labels of the fit bounds the saddle value from above, and `dual_gap_` must reach it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.methods import make_estimator
from tests.trust.fits import Cases, fitted
from tests.trust.objectives import Long
from tests.trust.problems import partly_labeled

SEED = 23
COUNTS = (100, 10_000)
# Rounding that a bound may ignore, in nats for each row and nat of its log-likelihood.
ROUNDING = 1e-10


class Gaussians(NamedTuple):
    """Log-priors (K,), means (K, d) and covariances (K, d, d)."""

    log_prior: Long
    mean: Long
    covariance: Long

    @property
    def pseudo(self) -> Any:
        """The log-likelihood of pseudo rows: 0, there are none."""
        return np.longdouble(0)

    def log_joint(self, X: Long) -> Long:
        """Return the log-density of rows X (n, d) together with each class, (n, K)."""
        found = []
        for log_prior, mean, covariance in zip(*self, strict=True):
            factor = _cholesky(covariance)
            whitened = _solved(factor, (X - mean).T)
            constant = log_prior - np.log(np.diag(factor)).sum() - X.shape[1] * np.log(2 * np.longdouble(np.pi)) / 2
            found.append(constant - (whitened * whitened).sum(axis=0) / 2)
        return np.array(found).T


class Counts(NamedTuple):
    """Log-priors (K,) and means (K, d) of binary features, or of counts, with pseudo rows of a mean (d,)."""

    log_prior: Long
    mean: Long
    binary: bool
    pseudo_mean: Long

    @property
    def pseudo(self) -> Any:
        """The log-likelihood of the pseudo rows, of weight PSEUDO_ROWS in each class."""
        return PSEUDO_ROWS * (self.log_joint(self.pseudo_mean[None])[0] - self.log_prior).sum()

    def log_joint(self, X: Long) -> Long:
        """Return the log-density of rows X (n, d) together with each class, (n, K), up to a constant of each row."""
        other = (1 - X) @ np.log1p(-self.mean).T if self.binary else -self.mean.sum(axis=1)
        return self.log_prior + X @ np.log(self.mean).T + other


PSEUDO_ROWS = 1.0
# Method and parameters of each line.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "mcpl-lda": ("mcpl-lda", {}),
    "mcpl-qda": ("mcpl-qda", {}),
    "mcpl (gaussian-diagonal)": ("mcpl", {"family": "gaussian-diagonal"}),
    "mcpl (bernoulli)": ("mcpl", {"family": "bernoulli", "pseudo_rows": PSEUDO_ROWS}),
    "mcpl (poisson)": ("mcpl", {"family": "poisson", "pseudo_rows": PSEUDO_ROWS}),
}


def cases() -> list[Cases]:
    return [Cases(f"guarantees of {name}", COUNTS, partial(_judged, name)) for name in METHODS]


def _judged(name: str, number: int) -> tuple[str, str]:
    kind, X, y = generated(number)
    return kind, judged(name, as_counts(name, X), y)


def as_counts(name: str, X: Floats) -> Floats:
    """Return rows that the family of a line takes: above the median or not, or counts up to some thousands."""
    if "bernoulli" not in name and "poisson" not in name:
        return X
    away = X - np.median(X, axis=0)
    if "bernoulli" in name:
        return (away > 0).astype(float)
    spread = np.median(np.abs(away), axis=0)
    return np.floor(np.exp(np.clip(away / np.where(spread > 0.0, spread, 1.0), -3.0, 8.0)))


def generated(number: int, seed: int = SEED) -> tuple[str, Floats, Ints]:
    """Return the kind of a problem, rows, and labels, -1 for unlabeled rows."""
    return partly_labeled(np.random.default_rng([seed, number]))


def judged(name: str, X: Floats, y: Ints) -> str:
    """Return what is wrong with a fit, "" if nothing, "refused" if the method refused the rows with a reason."""
    method, params = METHODS[name]
    model = make_estimator(method, **params)
    if wrong := fitted(model, X, y):
        return wrong
    if model.supervised_only_:
        return ""
    with np.errstate(all="ignore"):
        return _wrong(model, str(model.family), X, y)


def _wrong(model: Any, family: str, X: Floats, y: Ints) -> str:
    rows: Any = X.astype(np.longdouble)
    counts = family in ("bernoulli", "poisson")
    center = 0 * rows[0] if counts else rows.mean(axis=0)
    scale = 0 * rows[0] + 1 if counts else np.abs(rows - center).max(axis=0)
    rows = (rows - center) / np.where(scale > 0, scale, 1)
    pseudo = np.asarray(model.pseudo_mean_, dtype=np.longdouble)

    def most_likely(rows: Long, weights: Long) -> Gaussians | Counts:
        return _counted(rows, weights, family, pseudo) if counts else _most_likely(rows, weights, family)

    labeled, K = y >= 0, len(model.classes_)
    own = np.eye(K)[np.searchsorted(model.classes_, y[labeled])].astype(np.longdouble)
    supervised = most_likely(rows[labeled], own)
    try:
        stored = _stored_counts(model, family, pseudo) if counts else stored_gaussians(model, center, scale, family)
        before, after = supervised.log_joint(rows), stored.log_joint(rows)
        order = np.append(np.flatnonzero(labeled), np.flatnonzero(~labeled))
        best = most_likely(rows[order], np.vstack([own, model.soft_labels_]))
        most = best.log_joint(rows) - before
    except np.linalg.LinAlgError:
        return "" if model.improvement_ == 0.0 else "a guarantee for a singular covariance"
    gain = after - before
    certain = (own * gain[labeled]).sum() + stored.pseudo - supervised.pseudo
    least = float(certain + gain[~labeled].min(axis=1).sum())
    slack = ROUNDING * float(np.abs(after).max(axis=1).sum() + np.abs(before).max(axis=1).sum() + len(X))
    # without an improvement the parameters are the supervised ones, whatever their rounding
    if model.improvement_ > 0.0 and model.improvement_ - least > slack:
        return f"improvement {model.improvement_:.6g}, but it is {least:.6g} for some labels"
    above = float((own * most[labeled]).sum() + (model.soft_labels_ * most[~labeled]).sum())
    above += float(best.pseudo - supervised.pseudo)
    if above - model.objective_ > model.dual_gap_ + slack:
        return f"objective {model.objective_:.9g}, gap {model.dual_gap_:.3g}, but the saddle may be at {above:.9g}"
    if model.improvement_ > 0.0 and model.objective_ - least > model.dual_gap_ + slack:
        return f"objective {model.objective_:.9g}, gap {model.dual_gap_:.3g}, but {least:.9g} for some labels"
    return ""


def _counted(rows: Long, weights: Long, family: str, pseudo_mean: Long) -> Counts:
    """Return the most likely means of binary features or counts, given weights (n, K)."""
    weights = weights.astype(np.longdouble)
    count = weights.sum(axis=0)
    mean = (weights.T @ rows + PSEUDO_ROWS * pseudo_mean) / (count[:, None] + PSEUDO_ROWS)
    return Counts(np.log(count / count.sum()), mean, family == "bernoulli", pseudo_mean)


def _stored_counts(model: Any, family: str, pseudo_mean: Long) -> Counts:
    prior, mean = (np.asarray(part, dtype=np.longdouble) for part in (model.priors_, model.means_))
    return Counts(np.log(prior), mean, family == "bernoulli", pseudo_mean)


def stored_gaussians(model: Any, center: Long, scale: Long, family: str) -> Gaussians:
    """Return the parameters that a model states, in the units of standardized rows."""
    covariance = np.asarray(model.covariance_, dtype=np.longdouble)
    if family == "gaussian-shared":
        covariance = np.repeat(covariance[None], len(model.priors_), axis=0)
    if family == "gaussian-diagonal":
        covariance = covariance[:, :, None] * np.eye(covariance.shape[1])
    unit: Any = np.where(scale > 0, scale, 1)
    mean: Long = (np.asarray(model.means_, dtype=np.longdouble) - center) / unit
    inside: Long = covariance / unit / unit[:, None]
    return Gaussians(np.log(np.asarray(model.priors_, dtype=np.longdouble)), mean, inside)


def _most_likely(rows: Long, weights: Long, family: str) -> Gaussians:
    """Return the maximum likelihood fit to rows (n, d) with weights (n, K)."""
    weights = weights.astype(np.longdouble)
    count = weights.sum(axis=0)
    mean = (weights.T @ rows) / count[:, None]
    away = rows[None] - mean[:, None]
    scatter = np.array([(w[:, None] * a).T @ a for w, a in zip(weights.T, away, strict=True)])
    covariance = scatter / count[:, None, None]
    if family == "gaussian-shared":
        covariance = np.repeat(scatter.sum(axis=0)[None] / count.sum(), len(count), axis=0)
    if family == "gaussian-diagonal":
        covariance = covariance * np.eye(rows.shape[1])
    return Gaussians(np.log(count / count.sum()), mean, covariance)


def _cholesky(S: Long) -> Long:
    factor = np.zeros_like(S)
    for j in range(len(S)):
        rest = S[j:, j] - factor[j:, :j] @ factor[j, :j]
        if not rest[0] > 0:
            raise np.linalg.LinAlgError
        factor[j:, j] = rest / np.sqrt(rest[0])
    return factor


def _solved(factor: Long, right: Long) -> Long:
    found = np.zeros_like(right)
    for j in range(len(factor)):
        found[j] = (right[j] - factor[j, :j] @ found[:j]) / factor[j, j]
    return found
