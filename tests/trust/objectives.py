"""Objectives of the PU methods in extended precision, and the best point that a search finds for one.

A score is f = F theta + b, with the rows themselves as F for a linear model, and the kernel matrix for a sum of
kernels. Every loss of a row is the greatest of a few lines plus a square, so that an independent solver, Clarabel,
takes them all. For losses that are not convex, the concave part is replaced by its tangent at the scores of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from pucli.core.arrays import Bools, Floats, Ints

Long = NDArray[np.longdouble]
Weights = dict[str, float]
# Kernel directions below this share of the largest are left out of a search.
SMALLEST = 1e-13


def by_clarabel(P: Any, q: Floats, A: Any, b: Floats, cones: Callable[[Any], Sequence[Any]]) -> Floats | None:
    """Return the minimizer of x'Px / 2 + q'x with b - Ax in cones; None where Clarabel is not there or finds none.

    `cones` makes them from the module.
    """
    try:
        import clarabel
    except ImportError:
        return None
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    upper, rows = sparse.triu(sparse.csc_array(P), format="csc"), sparse.csc_array(A)
    point = np.asarray(clarabel.DefaultSolver(upper, q, rows, b, cones(clarabel), settings).solve().x)
    return point if len(point) and np.isfinite(point).all() else None


def by_descent(at: Callable[[Long, Any], tuple[Any, Long, Any]], theta: Long, b: Any, A: Long) -> Any:
    """Return the least value that L-BFGS finds from a point along the directions A (theta, r) and b.

    `at` returns the value and its slopes by theta and by b.
    """

    def value(point: Floats) -> tuple[float, Floats]:
        found, by_theta, by_b = at(theta + A @ point[:-1], b + np.longdouble(point[-1]))
        return float(found), np.append(np.asarray(by_theta @ A, dtype=float), float(by_b))

    x = minimize(value, np.zeros(A.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 40}).x
    return at(theta + A @ x[:-1], b + np.longdouble(x[-1]))[0]


class Losses(NamedTuple):
    """Losses of rows: the greatest of the lines slope f + level, both (n, lines), plus square (f - target)^2, (n,)."""

    slope: Long
    level: Long
    square: Long
    target: Long

    def at(self, f: Long) -> tuple[Any, Long]:
        """Return the sum of the losses at scores f (n,), and a slope of each."""
        lines = self.slope * f[:, None] + self.level
        largest = lines.argmax(axis=1)[:, None]
        away = f - self.target
        slope = np.take_along_axis(self.slope, largest, 1)[:, 0] + 2 * self.square * away
        return np.take_along_axis(lines, largest, 1).sum() + (self.square * away * away).sum(), slope

    def times(self, weights: Floats) -> Losses:
        """Return the losses with a factor for each row (n,)."""
        each: Long = weights.astype(np.longdouble)
        return Losses(each[:, None] * self.slope, each[:, None] * self.level, each * self.square, self.target)


def _losses(p: Bools, labeled: Any, unlabeled: Any, square: Any = (0.0, 0.0)) -> Losses:
    """Return losses from lines (slope, level) and weights of squares about +1 and -1, for both kinds of rows."""
    count = max(len(labeled), len(unlabeled))
    kinds = [np.array([*lines, *[lines[-1]] * (count - len(lines))]).T for lines in (labeled, unlabeled)]
    chosen = np.where(p[:, None, None], *kinds).astype(np.longdouble)
    return Losses(
        chosen[:, 0],
        chosen[:, 1],
        np.where(p, *square).astype(np.longdouble),
        np.where(p, 1.0, -1.0).astype(np.longdouble),
    )


_NONE = [(0.0, 0.0)]


def _hinge(weight: float, sign: float) -> list[tuple[float, float]]:
    return [(0.0, 0.0), (-sign * weight, weight)]


def _double_hinge(weight: float) -> list[tuple[float, float]]:
    return [(0.0, 0.0), (0.5 * weight, 0.5 * weight), (weight, 0.0)]


def hinges(p: Bools, c: Weights, f: Long) -> Losses:
    return _losses(p, _hinge(c["c_p"], 1.0), _hinge(c["c_u"], -1.0))


def balanced_hinges(p: Bools, c: Weights, f: Long) -> Losses:
    half = c["C"] * len(p) / 2
    return _losses(p, _hinge(half / p.sum(), 1.0), _hinge(half / (~p).sum(), -1.0))


def squares(p: Bools, c: Weights, f: Long) -> Losses:
    return _losses(p, _NONE, _NONE, (c["c_p"], c["c_u"]))


def hinge_and_squares(p: Bools, c: Weights, f: Long) -> Losses:
    return _losses(p, _hinge(c["c_p"], 1.0), _NONE, (0.0, c["c_u"]))


def usmo(p: Bools, c: Weights, f: Long) -> Losses:
    """Return the losses over 2 lam."""
    c1, c2 = c["prior"] / (2 * c["lam"] * p.sum()), 1.0 / (2 * c["lam"] * (~p).sum())
    return _losses(p, [(-c1, 0.0)], _double_hinge(c2))


def upu_hinge(p: Bools, c: Weights, f: Long) -> Losses:
    return _losses(p, [(-c["prior"] / p.sum(), 0.0)], _double_hinge(1.0 / (~p).sum()))


def upu_square(p: Bools, c: Weights, f: Long) -> Losses:
    return _losses(p, [(-c["prior"] / p.sum(), 0.0)], _NONE, (0.0, 0.25 / (~p).sum()))


def cpb(p: Bools, c: Weights, f: Long) -> Losses:
    """Return the losses of CPB-GLPUAL, with the tangent of -|1 + f| at the scores."""
    a, b = c["prior"] / p.sum(), 1.0 / (~p).sum()
    found = _losses(p, _hinge(a, 1.0), [(b, b), (-b, -b)])
    side = np.where(p, a * np.where(f >= -1, 1.0, -1.0), 0.0)[:, None]
    return found._replace(slope=found.slope - side, level=found.level - side)


def ramp(p: Bools, c: Weights, f: Long) -> Losses:
    """Return the losses of the ramp loss, over 2 lam, with the tangent of their concave parts at the scores."""
    c1, c2 = c["prior"] / (2 * c["lam"] * p.sum()), 1.0 / (2 * c["lam"] * (~p).sum())
    found = _losses(p, _hinge(c1, 1.0), _hinge(0.5 * c2, -1.0))
    cut = np.where(p, np.where(f < -1, c1, 0.0), np.where(f > 1, -0.5 * c2, 0.0))[:, None]
    return found._replace(slope=found.slope + cut, level=found.level + np.abs(cut))


LossesAt = Callable[[Bools, Weights, Long], Losses]


class Objective(NamedTuple):
    """Losses of f = F theta + b, plus ridge / 2 of theta'N theta, plus the squared differences along the edges.

    `N` is None for the identity. `A` (theta, r) has directions of a search as columns, in which F and N are near one.
    `lasso` / 2 times the norm of each of the `groups` of theta is added, too.
    """

    F: Long
    N: Long | None
    losses: Losses
    ridge: Any
    edges: Any
    A: Floats
    lasso: Any = 0.0
    groups: Sequence[Ints] = ()

    def at(self, theta: Long, b: Any) -> tuple[Any, Long, Any]:
        """Return the value and its slopes by theta and by b."""
        f = self.F @ theta + b
        value, slope = self.losses.at(f)
        if self.edges is not None:
            i, j, weight = self.edges
            difference = f[i] - f[j]
            value = value + (weight * difference * difference).sum()
            np.add.at(slope, i, 2 * weight * difference)
            np.add.at(slope, j, -2 * weight * difference)
        turned = theta if self.N is None else self.N @ theta
        by_theta = slope @ self.F + self.ridge * turned
        for group in self.groups:
            size = np.sqrt((theta[group] ** 2).sum())
            value = value + self.lasso / 2 * size
            by_theta[group] += self.lasso / 2 * theta[group] / (size or 1)
        return value + self.ridge / 2 * (theta @ turned), by_theta, slope.sum()

    def lowest(self, theta: Long, b: Any) -> tuple[Any, str]:
        """Return the least value that was found, and where: constants, a general minimizer, Clarabel."""
        zero = np.zeros(self.F.shape[1], np.longdouble)
        found = [(self.at(zero, np.longdouble(constant))[0], "a constant") for constant in (-1, 0, 1)]
        found.append((by_descent(self.at, theta, b, self.A.astype(np.longdouble)), "a general minimizer"))
        point = self._by_clarabel()
        if point is not None:
            found.append((self.at(self.A.astype(np.longdouble) @ point[:-1], point[-1])[0], "Clarabel"))
        finite = [pair for pair in found if np.isfinite(pair[0])]
        return min(finite, key=lambda pair: float(pair[0]))

    def _by_clarabel(self) -> Long | None:
        """Return the minimizer along the directions A, and b last; None where Clarabel finds none."""
        n, r, g = self.F.shape[0], self.A.shape[1], len(self.groups)
        Z = np.column_stack([np.asarray(self.F @ self.A, dtype=float), np.ones(n)])
        slope, level, square, target = (np.asarray(part, dtype=float) for part in self.losses)
        size = float(max(np.abs(slope).max(), square.max(), 1e-300))
        P = 2 * (Z.T * (square / size)) @ Z
        if self.edges is not None:
            i, j, weight = self.edges
            D = Z[i] - Z[j]
            P += 2 * (D.T * (weight / size)) @ D
        N = self.A.T @ self.A if self.N is None else self.A.T @ np.asarray(self.N @ self.A, dtype=float)
        P[:r, :r] += float(self.ridge) / size * 0.5 * (N + N.T)
        whole = sparse.block_diag([P, sparse.csc_array((n + g, n + g))], format="csc")
        goal = np.concatenate([-2 * (square / size * target) @ Z, np.ones(n), np.full(g, float(self.lasso) / 2 / size)])
        lines = [
            sparse.hstack(
                [sparse.csc_array(slope[:, k, None] / size * Z), -sparse.eye_array(n), sparse.csc_array((n, g))]
            )
            for k in range(slope.shape[1])
        ]
        for k, group in enumerate(self.groups):  # the norm of a group is at most its variable
            cone = np.zeros((1 + len(group), r + 1 + n + g))
            cone[0, r + 1 + n + k] = -1.0
            cone[1:, :r] = -self.A[group]
            lines.append(sparse.csc_array(cone))
        limits = np.concatenate([-(level / size).T.ravel(), np.zeros(sum(1 + len(group) for group in self.groups))])

        def cones(clarabel: Any) -> list[Any]:
            norms = [clarabel.SecondOrderConeT(1 + len(group)) for group in self.groups]
            return [clarabel.NonnegativeConeT(n * slope.shape[1]), *norms]

        point = by_clarabel(whole, goal, sparse.vstack(lines, format="csc"), limits, cones)
        return None if point is None else point[: r + 1].astype(np.longdouble)


def linear_objective(X: Floats, losses: Losses, ridge: Any, edges: Any) -> tuple[Objective, Long]:
    """Return the objective of a linear model over (w, b + center'w), and the center subtracted from the rows."""
    center = X.mean(axis=0).astype(np.longdouble)
    F = X.astype(np.longdouble) - center
    scale = float(np.abs(F).max()) or 1.0
    return Objective(F, None, losses, ridge, edges, np.eye(X.shape[1]) / scale), center


def kernel(X: Floats, width: float, degree: int | None = None) -> Long:
    """Return the matrix of the Gaussian kernel, or with a `degree` that of (1 + x.y)^degree."""
    if degree is not None:
        rows = X.astype(np.longdouble)
        return (1 + (rows[:, None] * rows[None]).sum(axis=2)) ** degree
    # rows far from zero keep their digits in a difference, but not in a division
    rows = (X.astype(np.longdouble) - X[0]) / np.longdouble(width)
    return np.exp(-((rows[:, None] - rows[None]) ** 2).sum(axis=2) / 2)


def sum_objective(K: Long, losses: Losses, ridge: Any) -> Objective:
    """Return the objective of a sum of kernels at the rows, over their weights and b, for a kernel matrix."""
    values, vectors = np.linalg.eigh(np.asarray(K, dtype=float))
    kept = values > SMALLEST * values[-1]
    return Objective(K, K, losses, ridge, None, vectors[:, kept] / np.sqrt(values[kept]))


def surface_objective(X: Floats, losses: Losses, ridge: Any, edges: Any, lasso: Any) -> Objective:
    """Return the objective of a quadratic surface x'Ax/2 + x'beta + b over the upper triangle of A, and beta."""
    rows, m = X.astype(np.longdouble), X.shape[1]
    j, k = np.triu_indices(m)
    F = np.hstack([rows[:, j] * rows[:, k] * np.where(j == k, 0.5, 1.0), rows])
    slopes = np.zeros((m, *F.shape), np.longdouble)  # of f by each feature
    for place, (a, b) in enumerate(zip(j, k, strict=True)):
        slopes[a, :, place] = rows[:, b]
        slopes[b, :, place] = rows[:, a]
    slopes[np.arange(m), :, len(j) + np.arange(m)] = 1.0
    flat = slopes.reshape(-1, F.shape[1])
    groups = [np.append(np.flatnonzero((j == a) | (k == a)), len(j) + a) for a in range(m)]
    largest = np.asarray(np.abs(F).max(axis=0), dtype=float)
    A = np.diag(1.0 / np.where(largest > 0.0, largest, 1.0))
    return Objective(F, flat.T @ flat, losses, ridge, edges, A, lasso, groups)
