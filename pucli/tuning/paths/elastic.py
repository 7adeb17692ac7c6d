"""The path-wise route of E-GLPUAL: one graph per fold, one inverse per (sigma, lam2, c_u), warm starts along lam1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pucli.solvers.elastic.dual import solve_elastic
from pucli.solvers.elastic.path import elastic_path
from pucli.solvers.kernels.graph import NeighborGraph
from pucli.solvers.kernels.intercept import with_intercept
from pucli.tuning.paths.base import GridPosition, PathRoute, in_order, limit
from pucli.tuning.routes import Outcomes, Point

TABLE = ("sigma", "lam2", "c_u", "c_p", "lam1")


class ElasticPath(PathRoute):
    """The route of e-glpual."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._graphs: dict[tuple[int, GridPosition], NeighborGraph] = {}

    @staticmethod
    def supports(params: Point) -> bool:
        """Return whether the solver is that of the route."""
        return bool(params.get("solver", "dual") == "dual")

    def batch(self, point: Point) -> tuple[int, float, int]:
        """Return neighbors and tolerances; points with the same ones form one path."""
        return int(point["n_neighbors"]), float(point["tol"]), limit(solve_elastic, point)

    def fold_outcomes(self, points: Sequence[Point], place: GridPosition) -> Outcomes:
        """Return the counts or the scores of one path."""
        train, valid = self.fold(place)
        k, tol, max_iter = self.batch(points[0])
        order = in_order(points, _path_order)
        table = np.array([[points[p][name] for name in TABLE] for p in order], dtype=float)
        if (k, place) not in self._graphs:
            self._graphs[k, place] = self.fold_graph(self.X, train, k)
        graph = self._graphs[k, place]
        scores = np.empty((len(table) if self.scores else 0, len(valid)))
        positive = elastic_path(
            with_intercept(self.X[train]), self.s[train] == 1, graph.i, graph.j, graph.squared_distance,
            with_intercept(self.X[valid]), self.s[valid] == 1, table, tol, max_iter, scores,
        )  # fmt: skip
        result = self.empty(len(points), len(valid))
        result[order] = self._from_loop(positive, scores, self.s[valid])
        return result


def _path_order(point: Point) -> tuple[float, ...]:
    """Sort key that groups equal quadratics and orders lam1 from the sparsest to the densest model."""
    return (*(float(point[name]) for name in TABLE[:-1]), -float(point["lam1"]))
