"""The estimate whose guaranteed gain over the complete rows is largest: the minimax problem (6.19) of Bertazzi 2018.

The thesis leaves it open for several incomplete blocks of columns. It is a convex problem. A lower triangular map, the
Cholesky factor of the complete-case covariance with the columns in the order of the pattern, turns the complete-case
estimate into N(0, I) and keeps the pattern. Let x be the columns of the first block, which every row has, and y the
others. The law of x is that of all rows, as it does not depend on hidden entries. Write z for (1, x) in the coordinates
in which the sum of zz' over all n rows is nI, and y | x ~ N(P^-1 N z, P^-1). Then the log ratio of the conditional
densities of y under the estimate and under N(0, I) is

    (z, y)' Q (z, y) / 2 + log|P| / 2 - z' N' P^-1 N z / 2,    Q = [[0, N'], [N, K]],    K = I - P,

which is concave in (N, K) and quadratic in y. For a row that lacks the columns h, its infimum over y_h is finite if
K_hh > 0, and is attained at y_h = T (z, y_rest), T = -K_hh^-1 Q_h,rest. With S, the sum over rows of (z, y)(z, y)' with
the hidden entries at these values, the contrastive pessimistic likelihood is

    f(N, K) = n/2 log|P| - n/2 tr(N' P^-1 N) + tr(Q S) / 2,

concave as an infimum of concave functions. The hidden columns of a row contain those of the rows that have more, so
K > 0 is the one constraint (the last block needs none, see `_kept`). Newton's method follows the maximizers of
f + mu log|K| for mu -> 0.

Any completion of the rows bounds f from above by the gain of the maximum likelihood estimate of the completed rows. The
one used is S with 2 mu K^-1 added to the moments of y, which a spread of the hidden entries of the least observed rows
can give. Its bound is mu p above f(N, K) on the path, p the number of columns in y.

N = 0 and K = 0 is the one-block estimate of Corollary 6.5, whose gain is the same whatever is hidden. The minimax
estimate gains at least f(N, K) >= f(0, 0) = 0 more, which proves (6.20) for all hidden entries. The two are the same,
against Conjecture 6.6, if and only if hidden entries can be such that S gives y the law N(0, I) independent of z.

A `ridge` adds noise to every entry, observed and hidden, after hidden values have been chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from pucli.core.arrays import Floats, Ints
from pucli.solvers.result import Certificate
from pucli.solvers.safe.gaussian import Gaussian, Pattern, relative_rounding, sample_moments

# Nats to which the guaranteed gain is maximized, and the relative accuracy where that is less.
TOL = 1e-6
RELATIVE_TOL = 1e-9
MAX_ITER = 200
# Factor from one mu to the next, and squared Newton decrement, relative to mu, of an iterate on the path.
_SHRINK = 0.03
_CENTERD = 1e-3
# Shortest step along a Newton direction; where it is shorter, rounding has ended the progress.
_SHORTEST = 1e-9
# Least eigenvalue of K, in units of the rounding of a precision matrix; nearer to 0, hidden entries may break a bound.
_LEAST = 8.0


@dataclass(frozen=True, kw_only=True)
class MinimaxSolution(Certificate):
    """The estimate, and its certificate in nats: `objective` is the gain over the complete rows that it guarantees."""

    model: Gaussian  # mean and covariance
    # a bound on the rounding of `objective`, for missing entries that fit the estimate as well as the observed ones
    rounding: float


class _Game(NamedTuple):
    """The rows as moments: n, columns q of z and p of y, per pattern the known columns of y and a root, and noise."""

    n: float
    q: int
    p: int
    known: list[int]
    roots: list[Floats]
    noise: Floats


class _MinimaxPoint(NamedTuple):
    """A point (N, K), f and log|K| there, K^-1, P^-1, per pattern K_hh^-1 and moments with the worst entries, and S."""

    N: Floats
    K: Floats
    f: float
    logdet: float
    inverse: Floats
    covariance: Floats
    completed: list[tuple[Floats, Floats]]
    S: Floats


def solve_minimax(X: Floats, pattern: Pattern, reference: Gaussian, ridge: float = 0.0) -> MinimaxSolution:
    """Return the Gaussian that maximizes the gain over `reference` guaranteed for any values of the missing entries.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli.solvers.safe.gaussian import monotone_pattern, sample_moments
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) @ np.array([[1, 1, 1], [0, 1, 1], [0, 0, 1]])
    >>> X[20:, 2] = X[40:, 1] = np.nan
    >>> fit = solve_minimax(X, monotone_pattern(np.isnan(X)), sample_moments(X[:20]))
    >>> bool(0 <= fit.gap < 1e-5 < fit.objective)
    True
    """
    order = np.concatenate(pattern.blocks)
    middle, root = reference.mean[order], np.linalg.cholesky(reference.covariance[np.ix_(order, order)])
    inner = solve_triangular(root, np.eye(len(order)), lower=True)
    noise = ridge * inner @ inner.T
    first, kept = len(pattern.blocks[0]), _kept(pattern, ridge)
    rows, count = np.full((len(X), kept), np.nan), (~np.isnan(X)).sum(axis=1)
    for size in np.cumsum([len(block) for block in pattern.blocks]):
        have, known = np.flatnonzero(count == size), min(size, kept)
        rows[have, :known] = (X[np.ix_(have, order[:known])] - middle[:known]) @ inner[:known, :known].T
    x = sample_moments(rows[:, :first])
    x = Gaussian(x.mean, x.covariance + noise[:first, :first])
    gain = _gain_of_first(x, len(rows))
    to_z = np.linalg.inv(np.linalg.cholesky(x.covariance))
    game = _game(rows, to_z, x.mean, noise[:kept, :kept])
    unit = relative_rounding(reference)
    point, bound, n_iter = _follow(game, _LEAST * unit)
    whitened = _joined(point, x, to_z, len(order))
    model = Gaussian(np.empty(len(order)), np.empty((len(order), len(order))))
    model.mean[order] = middle + root @ whitened.mean
    model.covariance[np.ix_(order, order)] = root @ whitened.covariance @ root.T
    size = len(X) * (len(order) + 2) + abs(gain) + abs(point.f) + 2.0 * np.trace(point.S)
    gap = max(bound - point.f, 0.0)
    return MinimaxSolution(
        objective=gain + point.f,
        gap=gap,
        n_iter=n_iter,
        converged=bool(gap <= max(TOL, RELATIVE_TOL * point.f)),
        model=model,
        rounding=float(max(unit, relative_rounding(model)) * size),
    )


def unknowns(pattern: Pattern, ridge: float = 0.0) -> int:
    """Return the number of unknowns in (N, K), whose cube the time of an iteration grows with."""
    q = len(pattern.blocks[0]) + 1
    p = _kept(pattern, ridge) + 1 - q
    return p * q + p * (p + 1) // 2


def _kept(pattern: Pattern, ridge: float) -> int:
    """Return the number of columns that the problem is about.

    Only complete rows have the last block. Its law given the other blocks is that of the reference, which is best on
    these rows whatever is hidden. With noise, hidden entries may not be able to follow that law.
    """
    return sum(len(block) for block in (pattern.blocks if ridge > 0.0 else pattern.blocks[:-1]))


def _gain_of_first(x: Gaussian, n: int) -> float:
    """Return the gain in log-likelihood of the first block, whose estimate in whitened units is x."""
    squares = np.trace(x.covariance) + x.mean @ x.mean
    return float(0.5 * n * (squares - len(x.mean) - np.linalg.slogdet(x.covariance)[1]))


def _game(rows: Floats, to_z: Floats, mean: Floats, noise: Floats) -> _Game:
    """Return the moments of whitened rows (n, kept) with the first block as z."""
    n, kept = rows.shape
    first = len(mean)
    z = np.column_stack([np.ones(n), (rows[:, :first] - mean) @ to_z.T, rows[:, first:]])
    change = np.eye(kept)
    change[:first, :first] = to_z
    around = np.zeros((kept + 1, kept + 1))
    around[1:, 1:] = n * change @ noise @ change.T
    have = (~np.isnan(z)).sum(axis=1)
    roots = [np.asarray(np.linalg.qr(z[have == count, :count])[1]).T for count in np.unique(have)]
    known = [int(count) - first - 1 for count in np.unique(have)]
    return _Game(float(n), first + 1, kept - first, known, roots, around)


def _point(game: _Game, N: Floats, K: Floats) -> _MinimaxPoint | None:
    """Return f and what its derivatives need at (N, K); None outside of 0 < K < I."""
    n, q, p = game.n, game.q, game.p
    try:
        of_K, of_P = np.linalg.cholesky(K), np.linalg.cholesky(np.eye(p) - K)
        inverses = [_inverse(np.linalg.cholesky(K[known:, known:])) for known in game.known]
    except np.linalg.LinAlgError:
        return None
    Q = np.block([[np.zeros((q, q)), N.T], [N, K]])
    completed = []
    for known, root, inverse in zip(game.known, game.roots, inverses, strict=True):
        o = q + known
        filled = np.vstack([root, -inverse @ (Q[o:, :o] @ root)])
        completed.append((inverse, filled @ filled.T))
    S = game.noise + sum(moments for _, moments in completed)
    covariance = _inverse(of_P)
    f = n * np.log(np.diag(of_P)).sum() + 0.5 * (np.sum(Q * S) - n * np.sum(N * (covariance @ N)))
    return _MinimaxPoint(
        N, K, float(f), float(2.0 * np.log(np.diag(of_K)).sum()), _inverse(of_K), covariance, completed, S
    )


def _inverse(factor: Any) -> Floats:
    """Return the inverse of a matrix with this Cholesky factor, without negative eigenvalues from rounding."""
    inner = solve_triangular(factor, np.eye(len(factor)), lower=True)
    return np.asarray(inner.T @ inner)


def _bound(game: _Game, point: _MinimaxPoint, mu: float) -> float:
    """Return the gain of maximum likelihood on completed rows, which no estimate can guarantee more than."""
    n, q, p = game.n, game.q, game.p
    spread = point.S[q:, q:] + 2.0 * mu * point.inverse
    B = point.S[q:, :q] / n
    sign, logdet = np.linalg.slogdet(spread / n - B @ B.T)
    return float(0.5 * (np.trace(spread) - n * logdet - n * p)) if sign > 0 else np.inf


def _follow(game: _Game, least: float) -> tuple[_MinimaxPoint, float, int]:
    """Return the best point with no eigenvalue of K below `least`, the least upper bound, and the number of steps."""
    n, q, p = game.n, game.q, game.p
    point = best = _start(game)
    bound, mu = (np.inf if p else 0.0), n
    where = _positions(q, p)
    for step in range(1, MAX_ITER + 1 if p else 1):
        moved, decrement = _newton(game, point, mu, where)
        if moved is None:
            return best, bound, step
        point = moved
        bound = min(bound, _bound(game, point, mu))
        if point.f > best.f and np.linalg.eigvalsh(point.K)[0] >= least:
            best = point
        if bound - best.f <= max(TOL, RELATIVE_TOL * best.f):
            return best, bound, step
        if decrement <= _CENTERD * mu:
            if np.linalg.eigvalsh(point.K)[0] < least:
                return best, bound, step
            mu *= _SHRINK
    return best, bound, MAX_ITER


def _start(game: _Game) -> _MinimaxPoint:
    """Return the point with N = 0 and half the precision of moments with y = 0 and some spread where it is missing."""
    n, q, p = game.n, game.q, game.p
    moments = n * np.eye(p) + game.noise[q:, q:]
    for known, root in zip(game.known, game.roots, strict=True):
        moments[:known, :known] += root[q:] @ root[q:].T
    values, axes = np.linalg.eigh(moments / n)
    K = axes * (1.0 - 0.5 / np.maximum(values, 1.0)) @ axes.T
    point = _point(game, np.zeros((p, q)), 0.5 * (K + K.T))
    if point is None:
        raise np.linalg.LinAlgError("rows are too far from the complete ones")
    return point


def _positions(q: int, p: int) -> tuple[Ints, Ints, Floats]:
    """Return, per unknown, its place in (N, K), (p, q + p), the place of its mirror in K, and if they differ."""
    i, j = np.triu_indices(p)
    width = q + p
    of_N = (np.arange(p)[:, None] * width + np.arange(q)).ravel()
    places, mirrors = np.append(of_N, i * width + q + j), np.append(of_N, j * width + q + i)
    return places, mirrors, (places != mirrors).astype(float)


def _newton(
    game: _Game, point: _MinimaxPoint, mu: float, where: tuple[Ints, Ints, Floats]
) -> tuple[_MinimaxPoint | None, float]:
    """Return the next point and the squared Newton decrement of f + mu log|K|; None where rounding ends the progress.

    The second derivative of f along (dN, dK) is a sum of terms -tr(A dQ_y. B dQ_.y), with Kronecker products for
    Hessians: A = P^-1 with the moments that the model gives to (z, y), those of the residual halved, and A = K_hh^-1
    with the completed moments.
    """
    n, q, p = game.n, game.q, game.p
    places, mirrors, twice = where
    mean = np.vstack([np.eye(q), point.covariance @ point.N])
    model = n * mean @ mean.T
    excess = point.S - model
    excess[q:, q:] += 2.0 * mu * point.inverse - n * point.covariance
    gradient = np.hstack([excess[q:, :q], 0.5 * excess[q:, q:]]).ravel()
    gradient = gradient[places] + twice * gradient[mirrors]
    model[q:, q:] += 0.5 * n * point.covariance
    barrier = np.zeros_like(model)
    barrier[q:, q:] = mu * point.inverse
    H = np.kron(point.covariance, model) + np.kron(point.inverse, barrier)
    for known, (inverse, moments) in zip(game.known, point.completed, strict=True):
        o = known * (q + p)  # the rows of (N, K) of the columns that are hidden
        H[o:, o:] += np.kron(inverse, moments)
    H = H[places] + twice[:, None] * H[mirrors]
    H = H[:, places] + twice * H[:, mirrors]
    scale = 1.0 / np.sqrt(np.diag(H))
    try:
        factor = cho_factor(scale[:, None] * H * scale, lower=True)
    except np.linalg.LinAlgError:
        return None, 0.0
    step = scale * cho_solve(factor, scale * gradient)
    decrement, merit = float(step @ gradient), point.f + mu * point.logdet
    flat = np.zeros(p * (q + p))
    flat[places] = flat[mirrors] = step
    change = flat.reshape(p, q + p)
    length = 1.0
    while length > _SHORTEST:
        found = _point(game, point.N + length * change[:, :q], point.K + length * change[:, q:])
        least = merit + 0.1 * length * decrement - 1e-13 * (n + abs(merit))
        if found is not None and found.f + mu * found.logdet >= least:
            return found, decrement
        length *= 0.5
    return None, decrement


def _joined(point: _MinimaxPoint, x: Gaussian, to_z: Floats, D: int) -> Gaussian:
    """Return the whitened Gaussian of all D columns; those that were left out are as in the reference."""
    p, first = len(point.K), len(x.mean)
    B = point.covariance @ point.N
    slope = B[:, 1:] @ to_z
    mean, covariance = np.zeros(D), np.eye(D)
    kept = first + p
    mean[:kept] = np.append(x.mean, B[:, 0])
    covariance[:first, :first] = x.covariance
    covariance[first:kept, :first] = slope @ x.covariance
    covariance[:first, first:kept] = covariance[first:kept, :first].T
    inside = point.covariance + slope @ x.covariance @ slope.T
    covariance[first:kept, first:kept] = 0.5 * (inside + inside.T)
    return Gaussian(mean, covariance)
