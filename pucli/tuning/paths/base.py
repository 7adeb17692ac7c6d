"""Base of the path-wise routes: defaults, folds and their order, progress, limits from the signature of the solver."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from pucli.arrays import Floats, Ints
from pucli.kernels.graph import Graph, graph_of_part, mutual_knn
from pucli.kernels.neighbours import nearest
from pucli.methods import Method, estimator_class
from pucli.tuning.folds import Fold
from pucli.tuning.routes import Counts, Point, Progress, keeping

# Up to so many rows each fold is searched for itself; above, neighbours are found once for all folds.
SEPARATE_ROWS = 10_000
# Neighbours that are found for each one of a graph, so that enough of them are in every fold's training rows.
SHARED = 3
# (repeat, fold)
Place = tuple[int, int]


class PathRoute(ABC):
    """Route that evaluates all points on one fold at a time and shares work between them.

    Subclasses define `supports` and `fold_counts`.

    Parameters
    ----------
    method : Method
        The entry in `pucli.methods`.
    X : ndarray of shape (n, m)
        Rows.
    s : ndarray of shape (n,)
        1 for labelled, 0 for unlabeled rows.
    folds : list of lists of (training rows, validation rows)
        One list for each repeat of the cross-validation.
    params : mapping
        Parameters shared by all points; the others are the defaults of the estimator.
    cache : dict, optional
        Values for these rows that routes of other methods can reuse.
    """

    def __init__(
        self,
        method: Method,
        X: Floats,
        s: Ints,
        folds: list[list[Fold]],
        params: Point,
        cache: dict[Any, Any] | None = None,
    ) -> None:
        self.defaults: dict[str, Any] = {**estimator_class(method)().get_params(), **method.params, **params}
        self.X, self.s, self.folds, self.cache = np.ascontiguousarray(X), s, folds, cache
        self._neighbours: dict[int, Ints] = {}

    @staticmethod
    @abstractmethod
    def supports(params: Point) -> bool:
        """Return whether the route supports these fixed parameters."""

    @abstractmethod
    def fold_counts(self, points: Sequence[Point], place: Place) -> Ints | list[Counts]:
        """Return the counts (n_points, 4) of complete points on one fold."""

    def batch(self, point: Point) -> Hashable:
        """Return a key shared by points that must be evaluated together; by default, by all points."""
        return None

    def counts(self, points: Sequence[Point], progress: Progress | None = None) -> Ints:
        """Return the counts (n_points, repeats, folds, 4) of `pucli.tuning.scorers`, batch by batch."""
        full = [{**self.defaults, **point} for point in points]
        batches: dict[Hashable, list[int]] = {}
        for p, point in enumerate(full):
            batches.setdefault(self.batch(point), []).append(p)
        places = [(r, f) for r, folds in enumerate(self.folds) for f in range(len(folds))]
        result = np.zeros((len(points), len(self.folds), len(self.folds[0]), 4), dtype=np.int64)
        there = np.zeros(result.shape[:3], dtype=bool)
        done = 0
        with keeping(result, there):
            for members in batches.values():
                chosen = [full[p] for p in members]
                for place in places:
                    result[members, *place], there[members, *place] = self.fold_counts(chosen, place), True
                    done += len(members)
                    if progress is not None:
                        progress(done // len(places), len(points))
        return result

    def fold_graph(self, X: Floats, train: Ints, k: int) -> Graph:
        """Return the graph of the training rows among rows X; of many by neighbours found once for all folds."""
        if len(train) <= SEPARATE_ROWS:
            return mutual_knn(np.ascontiguousarray(X[train]), k)
        if k not in self._neighbours:
            self._neighbours[k] = nearest(X, SHARED * k).rows
        return graph_of_part(X, self._neighbours[k], train, k)

    def fold(self, place: Place) -> Fold:
        """Return (training rows, validation rows)."""
        return self.folds[place[0]][place[1]]


def in_order(points: Sequence[Point], key: Callable[[Point], Any]) -> list[int]:
    """Return the positions of `points` sorted by `key`."""
    return sorted(range(len(points)), key=lambda p: key(points[p]))


def limit(solve: Callable[..., Any], point: Point, name: str = "max_iter") -> int:
    """Return the parameter `name` of a point, or the default of the solver if it is None."""
    value = point.get(name)
    return int(inspect.signature(solve).parameters[name].default if value is None else value)
