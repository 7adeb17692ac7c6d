"""Kernel methods on the leading features of their kernel, computed once per width and shared by all folds.

The features of all rows span the same functions for every fold. They depend on the rows but not on labels. A method
whose norm is that of the kernel space is the linear method on these features, up to the error of the limited rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.methods import Method
from pucli.solvers.kernels.graph import NO_EDGES, NeighborGraph, squared_distances
from pucli.solvers.kernels.low_rank import LANDMARK_ROWS, landmark_map, pivoted_cholesky, rbf_from_distances
from pucli.tuning.folds import Fold
from pucli.tuning.paths.base import GridPosition
from pucli.tuning.paths.glpual import FoldData, GLLCPath, GlobalLocalPath
from pucli.tuning.routes import (
    Filling,
    FoldedRows,
    FoldsInParallel,
    Outcomes,
    Partial,
    Point,
    Progress,
    Route,
    make_route,
)

# Up to this rank, columns of the kernel are computed on demand; above, from its matrix, if that is small.
FROM_COLUMNS = 512


class NoGraphPath(GLLCPath):
    """The route of blssvm, which is GLLC without a graph, on features of a kernel."""

    def __init__(self, method: Method, X: Floats, s: Ints, folds: list[list[Fold]], params: Point, *more: Any) -> None:
        super().__init__(method, X, s, folds, {**params, "form": "rkhs", "sigma": 1.0, "n_neighbors": 1}, *more)

    def _fold_data(self, place: GridPosition) -> FoldData:
        train, valid = self.fold(place)
        i, j, weight = NO_EDGES
        return FoldData(train, valid, self.s[train] == 1, self.s[valid], NeighborGraph(i, j, weight, len(train)))


class LandmarkRoute:
    """Evaluate points of a kernel method by the linear method on at most `rank` features for each width."""

    def __init__(
        self,
        method: Method,
        X: Floats,
        s: Ints,
        folds: list[list[Fold]],
        params: Point,
        rank: int,
        n_jobs: int = 1,
        scores: bool = False,
    ) -> None:
        self.method, self.X, self.s, self.folds, self.params = method, X, s, folds, dict(params)
        self.rank, self.n_jobs, self.scores = rank, n_jobs, scores
        self._routes: dict[float, Route] = {}

    def outcomes(self, points: Sequence[Point], progress: Progress | None = None) -> Outcomes:
        """Return the counts (n_points, repeats, folds, 4) or the scores (n_points, repeats, n), width by width."""
        widths = np.array([float(point.get("width", self.params.get("width"))) for point in points])
        result = Filling(self, len(points))
        done = 0
        for width in dict.fromkeys(widths.tolist()):
            members = np.flatnonzero(widths == width)

            def shown(part: int, _: int, before: int = done) -> None:
                if progress is not None:
                    progress(before + part, len(points))

            linear = [self._linear(points[p]) for p in members.tolist()]
            try:
                result.outcomes[members] = self._route(width).outcomes(linear, shown)
            except Partial as stop:
                result.outcomes[members], result.there[members] = stop.outcomes, stop.there
                raise Partial(result.outcomes, result.there) from None
            result.there[members] = True
            done += len(members)
        return result.outcomes

    def _linear(self, point: Point) -> dict[str, Any]:
        return {name: value for name, value in point.items() if name not in ("kernel", "width")}

    def _route(self, width: float) -> Route:
        """Return the route of the linear method on the features of a width, with the graph of the original rows."""
        if width not in self._routes:
            self._routes.clear()  # keep the features of only one width
            features = _features(self.X, width, self.rank)
            params = {**self._linear(self.params), "kernel": "linear"}
            method = self.method
            if method.features_path:
                method = replace(method, path=method.features_path)
            rows = FoldedRows(features, self.s, self.folds)
            route = make_route("auto", method, rows, params, None, self.n_jobs, self.scores)
            _take_graph_from(route, np.ascontiguousarray(self.X))
            self._routes[width] = route
        return self._routes[width]


def _features(X: Floats, width: float, rank: int) -> Floats:
    """Return at most `rank` features (n, r) of the kernel, from its matrix if this is faster."""
    if rank > FROM_COLUMNS and len(X) <= LANDMARK_ROWS:
        return pivoted_cholesky(rbf_from_distances(squared_distances(np.ascontiguousarray(X)), width), rank).L
    return landmark_map(X, width, rank).L


def _take_graph_from(route: Route, rows: Floats) -> None:
    """Let a route that needs neighbors find them among `rows` (n, m)."""
    if isinstance(route, FoldsInParallel):
        for repeat in route.routes:
            for one in repeat:
                _take_graph_from(one, rows)
    elif isinstance(route, GlobalLocalPath):
        route.graph_rows = rows
