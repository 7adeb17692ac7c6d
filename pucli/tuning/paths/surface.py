"""The path-wise route of EKF-GLPUAL.

The surface features, products and graph are computed once per fold, Z'RZ once per sigma, and the quadratic once per
(sigma, lam2, c_u); along lam1, starting from the constant model, each fit starts from its neighbour. Equal quadratics
are solved once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from pucli.kernels.graph import mutual_knn, similarity_form
from pucli.kernels.intercept import with_intercept
from pucli.kernels.quadratic_surface import check_memory, surface_features, surface_ridge
from pucli.solvers.surface.problem import SurfaceSolution, assemble, quadratic
from pucli.solvers.surface.working_set import solve_surface
from pucli.tuning.paths.base import PathRoute, Place, in_order, limit
from pucli.tuning.routes import Outcomes, Point

ORDER = ("n_neighbors", "sigma", "lam2", "c_u", "c_p")


class SurfacePath(PathRoute):
    """The route of ekf-glpual."""

    @staticmethod
    def supports(params: Point) -> bool:
        """Return whether the solver is that of the route."""
        return bool(params.get("solver", "working-set") == "working-set")

    def fold_outcomes(self, points: Sequence[Point], place: Place) -> Outcomes:
        """Fit the points to the training rows, each starting from its neighbour."""
        check_memory(*self.X.shape)
        train, valid = self.fold(place)
        X, labelled = self.X[train], self.s[train] == 1
        Z = with_intercept(surface_features(X))
        Zu = Z[~labelled]
        G, ZuZu = surface_ridge(X), Zu.T @ Zu
        Z_valid = with_intercept(surface_features(self.X[valid]))
        result = self.empty(len(points), len(valid))
        groups: dict[tuple[Any, ...], list[int]] = {}
        for p in in_order(points, lambda point: (*(point[name] for name in ORDER), -point["lam1"])):
            groups.setdefault(tuple(points[p][name] for name in ORDER), []).append(p)
        solved: dict[tuple[Any, ...], list[int]] = {}
        graph, similarity = None, np.empty(0)
        previous: tuple[Any, ...] = (None, None)
        for group, members in groups.items():
            n_neighbors, sigma, lam2, c_u, c_p = group
            if n_neighbors != previous[0]:
                graph = mutual_knn(X, n_neighbors)
            if group[:2] != previous[:2]:
                assert graph is not None
                similarity = similarity_form(Z, graph.edges(sigma))
            previous = group
            A = quadratic(G, ZuZu, similarity, lam2, c_u)
            # where sigma is far below the distances the weights of the graph vanish: the same problem again
            along = tuple(points[p][name] for p in members for name in ("lam1", "tol", "max_iter"))
            same = (hashlib.blake2b(A.tobytes()).digest(), c_u, c_p, along)
            if same in solved:
                for p, q in zip(members, solved[same], strict=True):
                    result[p] = result[q]
                continue
            solved[same] = members
            problem = assemble(Z, A, labelled, c_p, c_u)
            fit: SurfaceSolution | None = None
            for p in members:
                point = points[p]
                fit = solve_surface(problem, point["lam1"], point["tol"], limit(solve_surface, point), start=fit)
                result[p] = self.seen(Z_valid @ fit.coef, self.s[valid])
        return result
