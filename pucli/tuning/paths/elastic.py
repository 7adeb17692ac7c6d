"""The path-wise route of E-GLPUAL: one graph per fold, one inverse per (sigma, lam2, c_u), warm starts along lam1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pucli.core.arrays import Floats
from pucli.solvers.elastic.dual import solve_elastic
from pucli.solvers.elastic.path import elastic_path
from pucli.solvers.kernels.graph import Graph
from pucli.solvers.kernels.intercept import with_intercept
from pucli.tuning.paths.base import PathRoute, Place, in_order, limit
from pucli.tuning.routes import Outcomes, Point

TABLE = ("sigma", "lam2", "c_u", "c_p", "lam1")


class ElasticPath(PathRoute):
    """The route of e-glpual."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._graphs: dict[tuple[int, Place], Graph] = {}

    @staticmethod
    def supports(params: Point) -> bool:
        """Return whether the solver is that of the route."""
        return bool(params.get("solver", "dual") == "dual")

    def fold_outcomes(self, points: Sequence[Point], place: Place) -> Outcomes:
        """Return the counts or the scores; points with equal neighbours and tolerances form one path."""
        result = self.empty(len(points), len(self.fold(place)[1]))
        groups: dict[tuple[int, float, int], list[int]] = {}
        for p in in_order(points, _path_order):
            point = points[p]
            key = (int(point["n_neighbors"]), float(point["tol"]), limit(solve_elastic, point))
            groups.setdefault(key, []).append(p)
        for (k, tol, max_iter), members in groups.items():
            table = np.array([[points[p][name] for name in TABLE] for p in members], dtype=float)
            result[members] = self._evaluate(place, k, table, tol, max_iter)
        return result

    def _evaluate(self, place: Place, k: int, table: Floats, tol: float, max_iter: int) -> Outcomes:
        train, valid = self.fold(place)
        if (k, place) not in self._graphs:
            self._graphs[k, place] = self.fold_graph(self.X, train, k)
        graph = self._graphs[k, place]
        labelled_valid = self.s[valid] == 1
        scores = np.empty((len(table) if self.scores else 0, len(valid)))
        positive = elastic_path(
            with_intercept(self.X[train]), self.s[train] == 1, graph.i, graph.j, graph.squared_distance,
            with_intercept(self.X[valid]), labelled_valid, table, tol, max_iter, scores,
        )  # fmt: skip
        if self.scores:
            return scores
        counts = np.empty((len(table), 4), dtype=np.int64)
        counts[:, 0], counts[:, 2] = positive[:, 0], positive[:, 1]
        counts[:, 1] = np.count_nonzero(labelled_valid)
        counts[:, 3] = np.count_nonzero(~labelled_valid)
        return counts


def _path_order(point: Point) -> tuple[float, ...]:
    """Sort key that groups equal quadratics and orders lam1 from the sparsest to the densest model."""
    return (*(float(point[name]) for name in TABLE[:-1]), -float(point["lam1"]))
