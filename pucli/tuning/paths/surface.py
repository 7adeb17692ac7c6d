"""The path-wise route of EKF-GLPUAL.

The surface features, products and graph are computed once per fold, Z'RZ once per sigma, and the quadratic once per
(sigma, lam2, c_u); along lam1, starting from the constant model, each fit starts from its neighbour.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pucli.kernels.graph import mutual_knn, similarity_form
from pucli.kernels.intercept import with_intercept
from pucli.kernels.quadratic_surface import check_memory, surface_features, surface_ridge
from pucli.solvers.surface.problem import SurfaceSolution, assemble
from pucli.solvers.surface.working_set import solve_surface
from pucli.tuning.paths.base import PathRoute, Place, in_order, limit
from pucli.tuning.routes import Counts, Point, count_positive

ORDER = ("n_neighbors", "sigma", "lam2", "c_u", "c_p")


class SurfacePath(PathRoute):
    """The route of ekf-glpual."""

    @staticmethod
    def supports(params: Point) -> bool:
        """Return whether the solver is that of the route."""
        return bool(params.get("solver", "working-set") == "working-set")

    def fold_counts(self, points: Sequence[Point], place: Place) -> list[Counts]:
        """Fit the points to the training rows, each starting from its neighbour, and count on the validation rows."""
        check_memory(*self.X.shape)
        train, valid = self.fold(place)
        X, labelled = self.X[train], self.s[train] == 1
        Z = with_intercept(surface_features(X))
        Zu = Z[~labelled]
        G, ZuZu = surface_ridge(X), Zu.T @ Zu
        Z_valid = with_intercept(surface_features(self.X[valid]))
        graph, similarity, problem = None, np.empty(0), None
        fit: SurfaceSolution | None = None
        previous: Point = {}
        counts: list[Counts] = [(0, 0, 0, 0)] * len(points)
        for p in in_order(points, lambda point: (*(point[name] for name in ORDER), -point["lam1"])):
            point = points[p]
            changed = {name for name in ORDER if previous.get(name) != point[name]}
            if "n_neighbors" in changed:
                graph = mutual_knn(X, point["n_neighbors"])
            if changed & {"n_neighbors", "sigma"}:
                assert graph is not None
                similarity = similarity_form(Z, graph.edges(point["sigma"]))
            if changed:
                problem = assemble(Z, G, labelled, ZuZu, similarity, point["lam2"], point["c_p"], point["c_u"])
                fit = None
            assert problem is not None
            fit = solve_surface(problem, point["lam1"], point["tol"], limit(solve_surface, point), start=fit)
            previous = point
            counts[p] = count_positive(Z_valid @ fit.coef > 0, self.s[valid])
        return counts
