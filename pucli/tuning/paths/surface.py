"""Path-wise evaluation of EKF-GLPUAL grids.

A fold's surface features, products and graph are made once, Z'RZ once per sigma, one quadratic per (sigma, lam2, c_u),
and along lam1, from the constant model down, each fit starts from its neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pucli.kernels.graph import edge_weights, laplacian_product, mutual_knn
from pucli.kernels.intercept import with_intercept
from pucli.kernels.quadratic_surface import check_memory, surface_features, surface_ridge
from pucli.methods import Method, estimator_class
from pucli.solvers.surface.problem import SurfaceFit, assemble
from pucli.solvers.surface.working_set import solve_surface
from pucli.tuning.folds import Fold
from pucli.tuning.search import Progress, count_positive

ORDER = ("n_neighbors", "sigma", "lam2", "c_u", "c_p")


class SurfacePath:
    """The path-wise route of `pucli.tuning.search` for the method ekf-glpual."""

    def __init__(
        self, method: Method, X: np.ndarray, s: np.ndarray, folds: list[list[Fold]], params: Mapping, cache: dict | None
    ) -> None:
        self.defaults = {**estimator_class(method)().get_params(), **method.params, **params}
        self.X, self.s, self.folds = np.ascontiguousarray(X), s, folds
        check_memory(*X.shape)

    @staticmethod
    def supports(params: Mapping[str, Any]) -> bool:
        """Whether these fixed parameters leave the route's solver in place."""
        return params.get("solver", "working-set") == "working-set"

    def counts(self, points: Sequence[Mapping[str, Any]], progress: Progress | None = None) -> np.ndarray:
        """Return the counts (n_points, repeats, folds, 4) of `pucli.tuning.scorers`."""
        full = [{**self.defaults, **point} for point in points]
        order = sorted(range(len(full)), key=lambda p: (*(full[p][name] for name in ORDER), -full[p]["lam1"]))
        result = np.zeros((len(points), len(self.folds), len(self.folds[0]), 4), dtype=np.int64)
        places = [(r, f) for r in range(len(self.folds)) for f in range(len(self.folds[0]))]
        for done, (r, f) in enumerate(places):
            for p, count in zip(order, self._fold([full[p] for p in order], *self.folds[r][f]), strict=True):
                result[p, r, f] = count
            if progress is not None:
                progress((done + 1) * len(points) // len(places), len(points))
        return result

    def _fold(self, points: list[dict], train: np.ndarray, valid: np.ndarray) -> list[tuple[int, int, int, int]]:
        """Fit sorted points to the training rows and count on the validation rows."""
        X, labelled = self.X[train], self.s[train] == 1
        Z = with_intercept(surface_features(X))
        Zu = Z[~labelled]
        G, ZuZu = surface_ridge(X), Zu.T @ Zu
        Z_valid = with_intercept(surface_features(self.X[valid]))
        graph, similarity, problem = None, np.empty(0), None
        fit: SurfaceFit | None = None
        previous: dict[str, Any] = {}
        counts = []
        for point in points:
            changed = {name for name in ORDER if previous.get(name) != point[name]}
            if "n_neighbors" in changed:
                graph = mutual_knn(X, point["n_neighbors"])
            if changed & {"n_neighbors", "sigma"}:
                assert graph is not None
                similarity = Z.T @ laplacian_product(graph.i, graph.j, edge_weights(graph, point["sigma"]), Z)
            if changed:
                problem = assemble(Z, G, labelled, ZuZu, similarity, point["lam2"], point["c_p"], point["c_u"])
                fit = None
            assert problem is not None
            fit = solve_surface(problem, point["lam1"], point["tol"], point["max_iter"] or 500, start=fit)
            previous = point
            counts.append(count_positive(Z_valid @ fit.w > 0, self.s[valid]))
        return counts
