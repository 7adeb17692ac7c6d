"""Gaussians of rows with missing entries: the guarantee and the likelihood of a fit, computed in extended precision.

The gain in log-likelihood over the complete rows alone is computed with the missing entries at their means, at draws
from the estimate, and at the values that are worst for the blocks that matter: `improvement_` may not be above it. The
maximum likelihood estimate, computed again, may not be better than a gap of zero allows, and no estimate in closed form
may guarantee more than the minimax estimate and its gap.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pucli.core.arrays import Floats
from pucli.methods import make_estimator
from tests.trust.fits import Cases, fitted
from tests.trust.likelihoods import Gaussians
from tests.trust.objectives import Long
from tests.trust.problems import problem

SEED = 25
COUNTS = (100, 10_000)
BLOCKS = ("safe", "all", "one", "minimax")
# Rounding that a bound may ignore, in nats for each row and nat of its log-likelihood.
ROUNDING = 1e-10
DRAWS = 3


def cases() -> list[Cases]:
    return [Cases(f"guarantees of gaussian-mcpl ({blocks})", COUNTS, partial(_judged, blocks)) for blocks in BLOCKS]


def _judged(blocks: str, number: int) -> tuple[str, str]:
    kind, X, ridge = generated(number)
    return kind, judged(blocks, X, ridge, number)


def generated(number: int, seed: int = SEED) -> tuple[str, Floats, float]:
    """Return the kind of a problem, rows with missing entries in a monotone pattern, and the ridge."""
    rng = np.random.default_rng([seed, number])
    task = problem(rng, ("prior",), (15, 50), 5)
    X = task.X.copy()
    n, m = X.shape
    spread = float(np.abs(X - X.mean(axis=0)).max()) or 1.0
    last = np.sort(rng.integers(1, m + 1, n))[::-1]  # columns that each row has
    last[: min(n, m + 3)] = m
    X[np.arange(m)[None] >= last[:, None]] = np.nan
    ridge = 0.0 if rng.random() < 0.6 else float(10.0 ** rng.uniform(-6, 0)) * spread**2
    return task.kind, X[rng.permutation(n)][:, rng.permutation(m)], ridge


def judged(blocks: str, X: Floats, ridge: float, number: int = 0) -> str:
    """Return what is wrong with a fit, "" if nothing, "refused" if the method refused the rows with a reason."""
    model = make_estimator("gaussian-mcpl", blocks=blocks, ridge=ridge)
    if wrong := fitted(model, X):
        return wrong
    with np.errstate(all="ignore"):
        try:
            return _wrong(model, X, ridge, np.random.default_rng([SEED, number, 1]))
        except np.linalg.LinAlgError:
            return "a guarantee for a singular covariance" if model.improvement_ > 0.0 else ""


def _wrong(model: Any, X: Floats, ridge: float, rng: np.random.Generator) -> str:
    center, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    scale[~(scale > 0.0)] = 1.0
    rows: Long = (X.astype(np.longdouble) - center) / scale
    noise = np.longdouble(ridge) / scale.astype(np.longdouble) ** 2
    fit = _inside(model.mean_, model.covariance_, center, scale)
    old = _inside(model.complete_mean_, model.complete_covariance_, center, scale)
    units = -(~np.isnan(X) * np.log(scale.astype(np.longdouble))).sum()
    own = _observed(rows, fit, noise) + units
    size = float(abs(own)) + float(abs(_observed(rows, old, noise))) + X.size
    slack = ROUNDING * size
    likely = len(_blocks(rows)) <= 2 and model.used_blocks_ != "minimax"  # the likelihood is maximal, but for the gap
    if likely and model.dual_gap_ >= 0.0:
        slack += model.dual_gap_
    else:
        correlations = fit.covariance[0] / np.sqrt(np.outer(np.diag(fit.covariance[0]), np.diag(fit.covariance[0])))
        slack += 8 * np.finfo(float).eps * np.linalg.cond(np.asarray(correlations, dtype=float)) * size
    if abs(float(own) - model.objective_) > slack:
        return f"the log-likelihood is {float(own):.12g}, not {model.objective_:.12g}"
    if likely and not model.supervised_only_:
        best = _observed(rows, _most_likely(rows, noise), noise) + units
        if float(best) - model.objective_ > slack:
            return f"gap {model.dual_gap_:.3g}, but {float(best) - model.objective_:.3g} nats are possible"
    elif model.dual_gap_ >= 0.0:
        one = float(_gain_of_one_block(rows, old, noise))
        if one - model.improvement_ > model.dual_gap_ + slack:
            return (
                f"improvement {model.improvement_:.9g}, gap {model.dual_gap_:.3g}, but one block guarantees {one:.9g}"
            )
    for completed in _completed(rows, model, fit, old, rng):
        every = np.arange(X.shape[1])
        gain = float((_density(completed, fit, every, noise) - _density(completed, old, every, noise)).sum())
        if model.improvement_ - gain > ROUNDING * size:
            return f"improvement {model.improvement_:.9g}, but {gain:.9g} for some entries"
    return ""


def _inside(mean: Floats, covariance: Floats, center: Floats, scale: Floats) -> Gaussians:
    """Return one Gaussian in the units of standardized columns."""
    inner: Any = covariance.astype(np.longdouble) / scale / scale[:, None]
    middle: Any = (mean.astype(np.longdouble) - center) / scale
    return Gaussians(np.zeros(1, np.longdouble), middle[None], inner[None])


def _density(rows: Long, model: Gaussians, columns: Any, noise: Long) -> Long:
    """Return the log-density of some columns of rows that have them, (n,), averaged over noise."""
    part = Gaussians(model.log_prior, model.mean[:, columns], model.covariance[:, columns][:, :, columns])
    found: Long = part.log_joint(rows[:, columns])[:, 0]
    if noise.max() > 0.0:
        found = found - (np.diag(inverse(part.covariance[0])) * noise[columns]).sum() / 2
    return found


def inverse(S: Long) -> Long:
    """Return the inverse of a covariance, refined in extended precision."""
    found = np.linalg.inv(np.asarray(S, dtype=float)).astype(np.longdouble)
    for _ in range(4):
        found = found + found @ (np.eye(len(S), dtype=np.longdouble) - S @ found)
    return found


def _observed(rows: Long, model: Gaussians, noise: Long) -> Any:
    """Return the log-likelihood of the observed entries."""
    patterns, which = np.unique(np.isnan(rows), axis=0, return_inverse=True)
    total = np.longdouble(0)
    for k, pattern in enumerate(patterns):
        if not pattern.all():
            total += _density(rows[which.ravel() == k], model, np.flatnonzero(~pattern), noise).sum()
    return total


def _blocks(rows: Long) -> list[Any]:
    """Return the columns of each block, the most often observed first."""
    counts = np.isnan(rows).sum(axis=0)
    return [np.flatnonzero(counts == count) for count in np.unique(counts)]


def _most_likely(rows: Long, noise: Long) -> Gaussians:
    """Return the maximum likelihood estimate, a regression of each block on the blocks before it."""
    m = rows.shape[1]
    mean, covariance, done = np.zeros(m, np.longdouble), np.zeros((m, m), np.longdouble), np.zeros(0, int)
    for block in _blocks(rows):
        columns = np.append(done, block)
        known = rows[~np.isnan(rows[:, columns]).any(axis=1)][:, columns]
        own = known.mean(axis=0)
        S = (known - own).T @ (known - own) / len(known) + np.diag(noise[columns])
        p = len(done)
        B = S[p:, :p] @ inverse(S[:p, :p]) if p else np.zeros((len(block), 0), np.longdouble)
        before = covariance[np.ix_(done, done)]
        mean[block] = own[p:] + B @ (mean[done] - own[:p])
        covariance[np.ix_(block, done)] = B @ before
        covariance[np.ix_(done, block)] = (B @ before).T
        covariance[np.ix_(block, block)] = S[p:, p:] - B @ S[:p, p:] + B @ before @ B.T
        done = columns
    return Gaussians(np.zeros(1, np.longdouble), mean[None], covariance[None])


def _gain_of_one_block(rows: Long, old: Gaussians, noise: Long) -> Any:
    """Return what the estimate with all incomplete columns as one block gains, whatever is hidden."""
    first = _blocks(rows)[0]
    seen = rows[~np.isnan(rows[:, first]).any(axis=1)][:, first]
    new = _most_likely(seen, noise[first])
    part = Gaussians(old.log_prior, old.mean[:, first], old.covariance[:, first][:, :, first])
    every = np.arange(len(first))
    return (_density(seen, new, every, noise[first]) - _density(seen, part, every, noise[first])).sum()


def _completed(rows: Long, model: Any, fit: Gaussians, old: Gaussians, rng: np.random.Generator) -> list[Long]:
    """Return the rows with their missing entries at the means, at draws, and where the fit loses most."""
    found = [rows.copy() for _ in range(DRAWS + 2)]
    last = _blocks(rows)[-1]
    P, Q = inverse(fit.covariance[0]), inverse(old.covariance[0])
    for i in np.flatnonzero(np.isnan(rows).any(axis=1)):
        gone = np.isnan(rows[i])
        if gone.all():
            continue
        mean, root = _conditional(rows[i], gone, fit)
        for turn, completed in enumerate(found):
            completed[i, gone] = mean + (root @ rng.normal(size=len(mean)) if 0 < turn <= DRAWS else 0)
        # the last block follows the same law in both, but for noise, and so do all missing ones that count as one block
        tied = np.isin(np.arange(len(gone)), last) & (model.used_blocks_ == "all" or model.ridge == 0.0)
        if model.used_blocks_ in ("all", "minimax") and (gone & ~tied).any() and np.isfinite(model.improvement_):
            found[-1][i] = _worst(found[-1][i], gone & ~tied, tied, (fit, P), (old, Q))
    return found


def _conditional(row: Long, gone: Any, model: Gaussians) -> tuple[Long, Long]:
    """Return mean and a root of the covariance of missing entries of a row, given its others."""
    S, mean = model.covariance[0], model.mean[0]
    B = S[np.ix_(gone, ~gone)] @ inverse(S[np.ix_(~gone, ~gone)])
    left = np.asarray(S[np.ix_(gone, gone)] - B @ S[np.ix_(~gone, gone)], dtype=float)
    values, vectors = np.linalg.eigh((left + left.T) / 2)
    return mean[gone] + B @ (row[~gone] - mean[~gone]), vectors * np.sqrt(np.maximum(values, 0.0))


def _worst(row: Long, free: Any, last: Any, fit: Any, old: Any) -> Long:
    """Return a row with the entries `free` where its density falls most, and those in `last` at their mean."""
    kept = ~last
    S, R = (inverse(model.covariance[0][np.ix_(kept, kept)]) for model, _ in (fit, old))
    f, k = free[kept], ~free[kept]
    a, b = fit[0].mean[0][kept], old[0].mean[0][kept]
    x = row[kept]
    # minimize (x - b)'R(x - b) / 2 - (x - a)'S(x - a) / 2 over the free entries
    H = np.asarray((R - S)[np.ix_(f, f)], dtype=float)
    g = R[np.ix_(f, k)] @ (x - b)[k] - S[np.ix_(f, k)] @ (x - a)[k] - R[np.ix_(f, f)] @ b[f] + S[np.ix_(f, f)] @ a[f]
    if not np.linalg.eigvalsh((H + H.T) / 2)[0] > 0.0:
        return row
    found = row.copy()
    found[free] = np.linalg.solve(H, -np.asarray(g, dtype=float))
    if not last.any():
        return found
    found[last] = np.nan
    found[last] = _conditional(found, last, old[0])[0]
    return found
