"""Mean and covariance of a Gaussian from rows with missing entries, never worse than from the complete rows alone.

Bertazzi 2018, chapter 6 and appendix B; Anderson 1957. A pattern of missing entries is monotone if the columns can be
ordered so that a row that lacks a column lacks all later ones. The columns then form blocks, and the likelihood of the
observed entries splits into one regression per block on the blocks before it, each fitted on the rows that have both
(6.7)-(6.9), (B.6)-(B.8).

With one incomplete block this estimate is also the saddle point of the contrastive likelihood against the complete
rows (Theorem 6.2), so it is better on the completed data whatever the missing entries are (Theorem 6.3). With several
blocks that holds for the estimate that takes all incomplete columns as one block (Corollary 6.5). Whether it holds for
maximum likelihood depends on the data: `guaranteed_improvement` computes the exact bound, which may be -inf.
`pucli.solvers.safe.minimax` has the estimate with the largest bound.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pucli.core.arrays import Bools, Floats, Ints

# Means this many deviations from zero are rounded to fewer digits than a precision matrix has.
_FAR = 1e4
Ridge: TypeAlias = Floats | float


class Gaussian(NamedTuple):
    """Mean (D,) and covariance (D, D)."""

    mean: Floats
    covariance: Floats


class Pattern(NamedTuple):
    """A monotone pattern: blocks of columns, and for each block the rows that have it (nested)."""

    blocks: list[Ints]
    rows: list[Ints]


def clashing_rows(missing: Bools) -> tuple[int, int] | None:
    """Return two rows of missing (n, D) that each lack a column of the other; None if the pattern is monotone.

    A pattern is monotone if and only if the sets of missing columns of its rows are nested.
    """
    order = np.argsort(missing.sum(axis=1), kind="stable")
    for before, after in pairwise(order):
        if np.any(missing[before] & ~missing[after]):
            return int(min(before, after)), int(max(before, after))
    return None


def monotone_cover(missing: Bools) -> Bools:
    """Return `missing` (n, D) with entries added to it, so that its pattern is monotone.

    Columns are taken from the most to the least often observed one; a row keeps those before its first missing one.
    """
    order = np.argsort(missing.sum(axis=0), kind="stable")
    covered = np.empty_like(missing)
    covered[:, order] = np.logical_or.accumulate(missing[:, order], axis=1)
    return covered


def monotone_pattern(missing: Bools) -> Pattern:
    """Return the blocks of columns with the same missing rows, the most often observed first."""
    counts = missing.sum(axis=0)
    blocks = [np.flatnonzero(counts == c) for c in np.unique(counts)]
    return Pattern(blocks, [np.flatnonzero(~missing[:, block[0]]) for block in blocks])


def sample_moments(X: Floats, ridge: Ridge = 0.0) -> Gaussian:
    """Return the maximum likelihood mean and covariance (6.9) of the rows of X, `ridge` (a number or (D,)) added."""
    mean = X.mean(axis=0)
    centered = X - mean
    return Gaussian(mean, centered.T @ centered / len(X) + ridge * np.eye(X.shape[1]))


def fit_by_blocks(X: Floats, pattern: Pattern, ridge: Ridge = 0.0) -> Gaussian:
    """Return the maximum likelihood estimate for a monotone pattern, one regression per block, (B.6)-(B.8)."""
    D = X.shape[1]
    mean, covariance = np.empty(D), np.empty((D, D))
    done = np.empty(0, dtype=int)
    for block, rows in zip(pattern.blocks, pattern.rows, strict=True):
        columns = np.concatenate([done, block])
        own = sample_moments(X[np.ix_(rows, columns)], np.broadcast_to(ridge, D)[columns])
        p = len(done)
        regression = np.linalg.solve(own.covariance[:p, :p], own.covariance[:p, p:]).T  # B, (6.8)
        mean[block] = own.mean[p:] + regression @ (mean[done] - own.mean[:p])
        known = covariance[np.ix_(done, done)]
        covariance[np.ix_(block, done)] = regression @ known
        covariance[np.ix_(done, block)] = covariance[np.ix_(block, done)].T
        residual = own.covariance[p:, p:] - regression @ own.covariance[:p, :p] @ regression.T
        covariance[np.ix_(block, block)] = residual + regression @ known @ regression.T
        done = columns
    return Gaussian(mean, 0.5 * (covariance + covariance.T))


def log_density(X: Floats, model: Gaussian, columns: Ints, ridge: float = 0.0) -> Floats:
    """Return the log marginal density of some columns of each row (n,), averaged over noise of variance `ridge`."""
    if len(columns) == 0:
        return np.zeros(len(X))
    factor = cho_factor(model.covariance[np.ix_(columns, columns)], lower=True)
    centered = X[:, columns] - model.mean[columns]
    inside = np.einsum("ij,ji->i", centered, cho_solve(factor, centered.T))
    if ridge > 0.0:
        inside = inside + ridge * np.trace(cho_solve(factor, np.eye(len(columns))))
    values: Floats = -0.5 * (inside + len(columns) * np.log(2.0 * np.pi)) - np.sum(np.log(np.diag(factor[0])))
    return values


def conditional(model: Gaussian, observed: Ints, hidden: Ints) -> tuple[Floats, Floats, Floats]:
    """Return the law of hidden columns given the observed ones, (6.3): offset (h,), B (h, o) and the covariance (h, h).

    The mean is offset + B x.
    """
    inside = model.covariance[np.ix_(observed, observed)]
    cross = model.covariance[np.ix_(hidden, observed)]
    regression = np.asarray(np.linalg.solve(inside, cross.T).T, dtype=np.float64)
    covariance = model.covariance[np.ix_(hidden, hidden)] - regression @ cross.T
    return model.mean[hidden] - regression @ model.mean[observed], regression, 0.5 * (covariance + covariance.T)


def _log_ratio(model: Gaussian, reference: Gaussian, X: Floats, columns: Ints, ridge: float) -> tuple[float, float]:
    """Return the sum over rows of log p(columns) under `model` minus that under `reference`, and its terms' size."""
    ours, theirs = (log_density(X, fit, columns, ridge) for fit in (model, reference))
    return np.sum(ours - theirs), np.sum(np.abs(ours) + np.abs(theirs))


def _least_log_ratio(
    model: Gaussian, reference: Gaussian, X: Floats, observed: Ints, hidden: Ints, ridge: float
) -> tuple[float, float]:
    """Return the sum over rows of the least log p(hidden | observed) under `model` minus that under `reference`.

    The second number is the size of its terms, for a bound on rounding, which the division by a small P' - P raises.
    The minimum is over all values of the hidden entries. It is -inf unless the reference's conditional is narrower in
    every direction: u = m' + v gives v'(P' - P)v / 2 + v'P delta - delta'P delta / 2 with delta = m - m'.
    """
    offset, B, S = conditional(model, observed, hidden)
    offset_ref, B_ref, S_ref = conditional(reference, observed, hidden)
    P, P_ref = np.linalg.inv(S), np.linalg.inv(S_ref)
    excess, axes = np.linalg.eigh(P_ref - P)
    delta = (offset - offset_ref) + X[:, observed] @ (B - B_ref).T
    pull = delta @ P @ axes
    if np.any(excess <= 1e-12 * np.abs(P_ref).max()):
        return -np.inf, 0.0
    terms = np.sum(pull**2 / excess**2) * np.abs(P_ref).max() + np.sum(np.abs(delta @ P * delta))
    least = -0.5 * np.sum(pull**2 / excess, axis=1) - 0.5 * np.einsum("ij,jk,ik->i", delta, P, delta)
    constant = 0.5 * (np.linalg.slogdet(P)[1] - np.linalg.slogdet(P_ref)[1])
    jitter = 0.5 * ridge * (np.trace(P_ref) + np.trace(B_ref.T @ P_ref @ B_ref) - np.trace(P) - np.trace(B.T @ P @ B))
    return float(np.sum(least) + len(X) * (constant + jitter)), float(terms + len(X) * (abs(constant) + abs(jitter)))


def relative_rounding(model: Gaussian) -> float:
    """Return the relative error of a precision matrix, and of means that are far from zero, in double precision.

    A Cholesky factor of n rows has a backward error of n + 1 units of rounding (Higham 2002, theorem 10.3).
    """
    deviation = np.sqrt(np.diag(model.covariance))
    condition = float(np.linalg.cond(model.covariance / np.outer(deviation, deviation)))
    far = float(np.max(np.abs(model.mean) / deviation))
    return (len(model.mean) + 1) * float(np.finfo(float).eps) * condition * (far if far > _FAR else 1.0)


def guaranteed_improvement(
    X: Floats, pattern: Pattern, model: Gaussian, reference: Gaussian, *, by_blocks: bool, ridge: float = 0.0
) -> float:
    """Return the least gain in log-likelihood of the completed rows over all values of the hidden entries, in nats.

    A bound on its rounding is subtracted: the relative error of a precision matrix (the condition number of the
    reference's correlations times that of double precision) times the size of the terms and of the quadratic forms of
    hidden entries that resemble observed ones. So it is negative where rounding hides the gain, and minus infinity if
    there is no bound.
    """
    last = pattern.rows[-1]
    columns = np.concatenate(pattern.blocks)
    gain, size = _log_ratio(model, reference, X[last], columns, ridge)
    for b in range(len(pattern.blocks) - 1):
        rows = np.setdiff1d(pattern.rows[b], pattern.rows[b + 1])
        if len(rows) == 0:
            continue
        observed = np.concatenate(pattern.blocks[: b + 1])
        hidden = pattern.blocks[b + 1 : -1]
        if not by_blocks and len(pattern.blocks[0]):
            # the densities of the other observed columns are equal, up to their rounding
            size += sum(np.sum(np.abs(log_density(X[rows], fit, observed, ridge))) for fit in (model, reference))
            observed = pattern.blocks[0]
        more, terms = _log_ratio(model, reference, X[rows], observed, ridge)
        gain, size = gain + more, size + terms
        if by_blocks and hidden:
            least, terms = _least_log_ratio(model, reference, X[rows], observed, np.concatenate(hidden), ridge)
            gain, size = gain + least, size + terms
    unit = max(relative_rounding(reference), relative_rounding(model))
    rounding = unit * (size + len(X) * (len(columns) + 2))
    return float(gain - rounding)
