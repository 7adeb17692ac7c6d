"""The path-wise route of EKF-GLPUAL.

The surface features, products and graph are computed once per fold, Z'RZ once per sigma, and the quadratic once per
(sigma, lam2, c_u), if any fit needs it. Each fit starts from its best neighbor.

Most points of a large grid need no fit. The objective grows with lam1, lam2 and c_u, and with sigma through the weights
of the graph. A bound on the minimum at one point is therefore a bound at every larger one, and a neighbor's solution
whose objective here is within the tolerance of it is a solution here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pucli.core.arrays import Bools, Floats
from pucli.solvers.kernels.graph import NeighborGraph, edge_weights, mutual_knn, similarity_form
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.quadratic_surface import check_memory, surface_features, surface_groups, surface_ridge
from pucli.solvers.surface.problem import SurfaceProblem, SurfaceSolution, assemble, quadratic
from pucli.solvers.surface.working_set import solve_surface
from pucli.tuning.paths.base import GridPosition, PathRoute, in_order, limit
from pucli.tuning.routes import Outcomes, Point

# Points that agree in these share the matrix of the similarity term.
COMMON = ("n_neighbors", "c_p", "tol", "max_iter", "sigma")


class _Known(NamedTuple):
    """A solution of a point, which may have been found for its neighbor."""

    fit: SurfaceSolution
    parts: Floats  # (4,), its terms that lam1, lam2, c_u and c_p weigh
    rough: Floats  # (n_edges,), squared differences of its scores along the edges of the graph, which R weighs
    bound: float  # lower bound on the minimum at this point


class _Fold:
    """Solutions for the training rows of a fold, asked for in the order of `order`."""

    def __init__(self, X: Floats, labeled: Bools, score_error: float) -> None:
        self.X, self.labeled = X, labeled
        self.Z, self.G = with_intercept(surface_features(X)), surface_ridge(X)
        Zu = self.Z[~labeled]
        self.ZuZu = Zu.T @ Zu
        self.allowed = score_error**2 * len(Zu)
        self.graph: NeighborGraph | None = None
        self.common: tuple[Any, ...] = (None,) * len(COMMON)
        self.line: tuple[float, float] | None = None
        # solutions at the next smaller sigma, by (c_u, lam2, lam1); at this one; and at the next smaller lam2, by lam1
        self.smoother: dict[Any, _Known] = {}
        self.here: dict[Any, _Known] = {}
        self.flatter: dict[float, _Known] = {}
        self.last: _Known | None = None
        self.problem: SurfaceProblem | None = None

    @staticmethod
    def order(point: Point) -> tuple[Any, ...]:
        """Return a sort key: lam1 falls, starting from the constant model, and the other parameters rise."""
        return (*(point[name] for name in COMMON), point["c_u"], point["lam2"], -point["lam1"])

    def solution(self, point: Point) -> SurfaceSolution:
        self._go_to(point)
        lam1, place = point["lam1"], (point["c_u"], point["lam2"], point["lam1"])
        below = [known for known in (self.smoother.get(place), self.flatter.get(lam1)) if known is not None]
        near = below + ([self.last] if self.last else [])
        factors = np.array([lam1, point["lam2"], point["c_u"], point["c_p"]])
        values = [float(known.parts @ factors + known.rough @ self.weights) for known in near]
        best = int(np.argmin(values)) if near else -1
        bound = max((known.bound for known in below), default=-np.inf)
        allowed = self.allowed * point["c_u"]
        if near and values[best] - bound <= max(allowed, point["tol"] * values[best]):
            known = near[best]._replace(bound=bound)
        else:
            known = self._solved(point, near[best].fit if near else None, allowed)
        self.last = self.here[place] = self.flatter[lam1] = known
        return known.fit

    def _go_to(self, point: Point) -> None:
        """Prepare the parts of the problem that differ from those of the previous point."""
        common, line = tuple(point[name] for name in COMMON), (point["c_u"], point["lam2"])
        if common != self.common:
            if self.graph is None or common[0] != self.common[0]:
                self.graph = mutual_knn(self.X, point["n_neighbors"])
            self.smoother, self.here = (self.here if common[:-1] == self.common[:-1] else {}), {}
            self.weights = edge_weights(self.graph, point["sigma"])
            self.similarity = similarity_form(self.Z, self.graph.edges(point["sigma"]))
            self.common, self.line = common, None
        if line != self.line:
            if self.line is None or line[0] != self.line[0]:
                self.flatter = {}
            self.line, self.last, self.problem = line, None, None

    def _solved(self, point: Point, start: SurfaceSolution | None, allowed: float) -> _Known:
        assert self.graph is not None
        if self.problem is None:
            A = quadratic(self.G, self.ZuZu, self.similarity, point["lam2"], point["c_u"])
            self.problem = assemble(self.Z, A, self.labeled, point["c_p"], point["c_u"])
        steps = limit(solve_surface, point)
        fit = solve_surface(self.problem, point["lam1"], point["tol"], steps, start, allowed)
        f, alpha = self.Z @ fit.coef, fit.coef[:-1]
        parts = [
            0.5 * np.linalg.norm(alpha[surface_groups(self.X.shape[1])], axis=1).sum(),
            0.5 * float(alpha @ self.G @ alpha),
            np.sum((1.0 + f[~self.labeled]) ** 2),
            np.maximum(1.0 - f[self.labeled], 0.0).sum(),
        ]
        rough = (f[self.graph.i] - f[self.graph.j]) ** 2
        return _Known(fit, np.array(parts), rough, fit.objective - fit.gap)


class SurfacePath(PathRoute):
    """The route of ekf-glpual."""

    @staticmethod
    def supports(params: Point) -> bool:
        """Return whether the solver is that of the route."""
        return bool(params.get("solver", "working-set") == "working-set")

    def fold_outcomes(self, points: Sequence[Point], place: GridPosition) -> Outcomes:
        """Fit the points to the training rows, or take a neighbor's fit."""
        check_memory(*self.X.shape)
        train, valid = self.fold(place)
        digest = hashlib.blake2b(repr(points).encode())
        digest.update(train.tobytes())
        key = ("surface", digest.digest(), self.score_error)
        if self.cache is not None and key in self.cache:  # another column of the table, with the same folds
            return np.array(self.cache[key])
        fold = _Fold(self.X[train], self.s[train] == 1, self.score_error)
        Z_valid = with_intercept(surface_features(self.X[valid]))
        result = self.empty(len(points), len(valid))
        seen: Any = None
        fit: SurfaceSolution | None = None
        for p in in_order(points, fold.order):
            found = fold.solution(points[p])
            if found is not fit:
                fit, seen = found, self.seen(Z_valid @ found.coef, self.s[valid])
            result[p] = seen
        if self.cache is not None:
            self.cache[key] = result.copy()
        return result
