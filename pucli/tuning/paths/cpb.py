"""The path-wise route of CPB-GLPUAL: one graph per fold, features per width, one similarity form per sigma."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pucli.core.arrays import Floats
from pucli.solvers.cpb.dc import solve_cpb
from pucli.solvers.cpb.problem import CPBProblem
from pucli.solvers.kernels.graph import mutual_knn, similarity_form
from pucli.solvers.kernels.intercept import with_intercept
from pucli.solvers.kernels.low_rank import rbf_features, rbf_map
from pucli.tuning.paths.base import GridPosition, PathRoute, in_order, limit
from pucli.tuning.routes import Outcomes, Point

ORDER = ("n_neighbors", "kernel", "width", "sigma")


class CPBPath(PathRoute):
    """The route of cpb-glpual."""

    @staticmethod
    def supports(params: Point) -> bool:
        """Return whether the solver is that of the route; a missing prior is estimated by the estimator."""
        return (
            params.get("form", "rkhs") == "rkhs"
            and params.get("solver", "dc") == "dc"
            and params.get("max_rank") is None
            and params.get("prior") is not None
        )

    def batch(self, point: Point) -> tuple[str, float | None]:
        """Return the key of points with the same features, which are evaluated together."""
        return point["kernel"], point["width"]

    def fold_outcomes(self, points: Sequence[Point], place: GridPosition) -> Outcomes:
        """Fit the points to the training rows, each starting from its neighbor."""
        train, valid = self.fold(place)
        X, labeled = np.ascontiguousarray(self.X[train]), self.s[train] == 1
        previous: Point = {}
        graph = edges = similarity = dual = None
        Z = Z_valid = np.empty(0)
        result = self.empty(len(points), len(valid))
        for p in in_order(points, lambda point: (*(point[name] for name in ORDER), -point["lam"])):
            point = points[p]
            changed = {name for name in ORDER if previous.get(name) != point[name]}
            if "n_neighbors" in changed:
                graph = mutual_knn(X, point["n_neighbors"])
            if changed & {"kernel", "width"}:
                Z, Z_valid = self._features(point, X, self.X[valid])
            if changed:
                assert graph is not None
                edges = graph.edges(point["sigma"])
                similarity, dual = similarity_form(Z[:, :-1], edges), None
            assert edges is not None
            problem = CPBProblem(Z, labeled, edges, point["prior"], point["lam"])
            fit = solve_cpb(problem, point["tol"], limit(solve_cpb, point), similarity, dual)
            dual = fit.dual
            result[p] = self.seen(Z_valid @ fit.coef, self.s[valid])
            previous = point
        return result

    @staticmethod
    def _features(point: Point, X: Floats, X_valid: Floats) -> tuple[Floats, Floats]:
        if point["kernel"] == "linear":
            return with_intercept(X), with_intercept(X_valid)
        features = rbf_map(X, point["width"])
        valid = rbf_features(X_valid, X[features.pivots], features.factor, point["width"])
        return with_intercept(features.L), with_intercept(valid)
