"""Path-wise evaluation of E-GLPUAL grids: a graph a fold, an inverse per (sigma, lam2, c_u), warm starts on lam1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pucli.kernels.graph import mutual_knn
from pucli.kernels.intercept import with_intercept
from pucli.methods import Method, estimator_class
from pucli.solvers.elastic.path import elastic_path
from pucli.tuning.folds import Fold
from pucli.tuning.search import Progress

TABLE = ("sigma", "lam2", "c_u", "c_p", "lam1")


class ElasticPath:
    """The path-wise route of `pucli.tuning.search` for the method e-glpual."""

    def __init__(
        self, method: Method, X: np.ndarray, s: np.ndarray, folds: list[list[Fold]], params: Mapping, cache: dict | None
    ) -> None:
        self.defaults = {**estimator_class(method)().get_params(), **method.params, **params}
        self.X, self.s, self.folds = X, s, folds
        self._graphs: dict[tuple[int, int, int], Any] = {}

    @staticmethod
    def supports(params: Mapping[str, Any]) -> bool:
        """Whether these fixed parameters leave the route's solver in place."""
        return params.get("solver", "dual") == "dual"

    def counts(self, points: Sequence[Mapping[str, Any]], progress: Progress | None = None) -> np.ndarray:
        """Return the counts (n_points, repeats, folds, 4) of `pucli.tuning.scorers`."""
        full = [{**self.defaults, **point} for point in points]
        result = np.zeros((len(points), len(self.folds), len(self.folds[0]), 4), dtype=np.int64)
        groups: dict[tuple[int, float, int], list[int]] = {}
        for p, point in enumerate(full):
            key = (int(point["n_neighbors"]), float(point["tol"]), int(point["max_iter"] or 2000))
            groups.setdefault(key, []).append(p)
        places = [(r, f) for r in range(len(self.folds)) for f in range(len(self.folds[0]))]
        for done, place in enumerate(places):
            for (k, tol, max_iter), members in groups.items():
                order = sorted(members, key=lambda p: _path_order(full[p]))
                table = np.array([[full[p][name] for name in TABLE] for p in order], dtype=float)
                result[order, place[0], place[1]] = self._evaluate(place, k, table, tol, max_iter)
            if progress is not None:
                progress((done + 1) * len(points) // len(places), len(points))
        return result

    def _evaluate(self, place: tuple[int, int], k: int, table: np.ndarray, tol: float, max_iter: int) -> np.ndarray:
        train, valid = self.folds[place[0]][place[1]]
        if (k, *place) not in self._graphs:
            self._graphs[k, *place] = mutual_knn(np.ascontiguousarray(self.X[train]), k)
        graph = self._graphs[k, *place]
        labelled_valid = self.s[valid] == 1
        positive = elastic_path(
            with_intercept(self.X[train]), self.s[train] == 1, graph.i, graph.j, graph.squared_distance,
            with_intercept(self.X[valid]), labelled_valid, table, tol, max_iter,
        )  # fmt: skip
        counts = np.empty((len(table), 4), dtype=np.int64)
        counts[:, 0], counts[:, 2] = positive[:, 0], positive[:, 1]
        counts[:, 1] = np.count_nonzero(labelled_valid)
        counts[:, 3] = np.count_nonzero(~labelled_valid)
        return counts


def _path_order(point: Mapping[str, Any]) -> tuple[float, ...]:
    """Equal quadratics stand together; along lam1 from the sparsest model to the densest."""
    return (*(float(point[name]) for name in TABLE[:-1]), -float(point["lam1"]))
