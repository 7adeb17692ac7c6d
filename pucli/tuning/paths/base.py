"""Base of the path-wise routes: defaults, folds and their order, progress, limits from the signature of the solver."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.methods import Method, estimator_class
from pucli.solvers.kernels.graph import NeighborGraph, graph_of_part, mutual_knn
from pucli.solvers.kernels.neighbors import nearest
from pucli.tuning.folds import Fold
from pucli.tuning.routes import Filling, Outcomes, Point, Progress, count_positive

# Up to so many rows each fold is searched for itself; above, neighbors are found once for all folds.
SEPARATE_ROWS = 10_000
# Neighbors that are found for each one of a graph, so that enough of them are in every fold's training rows.
SHARED = 3
# (repeat, fold)
GridPosition = tuple[int, int]


class PathRoute(ABC):
    """Route that evaluates all points on one fold at a time and shares work between them.

    Subclasses define `supports` and `fold_outcomes`.

    Parameters
    ----------
    method : Method
        The entry in `pucli.methods`.
    X : ndarray of shape (n, m)
        Rows.
    s : ndarray of shape (n,)
        1 for labeled, 0 for unlabeled rows.
    folds : list of lists of (training rows, validation rows)
        One list for each repeat of the cross-validation.
    params : mapping
        Parameters shared by all points; the others are the defaults of the estimator.
    cache : dict, optional
        Values for these rows that routes of other methods can reuse; they are not used for scores.
    scores : bool, default False
        Whether the outcomes are held-out scores in place of counts.
    score_error : float, default 0
        Tolerated root mean square error of the scores of the unlabeled training rows, proven by the gaps of the fits. A
        route may ignore it.
    """

    def __init__(
        self,
        method: Method,
        X: Floats,
        s: Ints,
        folds: list[list[Fold]],
        params: Point,
        cache: dict[Any, Any] | None = None,
        scores: bool = False,
        score_error: float = 0.0,
    ) -> None:
        self.defaults: dict[str, Any] = {**estimator_class(method)().get_params(), **method.params, **params}
        self.X, self.s, self.folds = np.ascontiguousarray(X), s, folds
        self.scores, self.cache, self.score_error = scores, None if scores else cache, score_error
        self._neighbors: dict[int, Ints] = {}

    @staticmethod
    @abstractmethod
    def supports(params: Point) -> bool:
        """Return whether the route supports these fixed parameters."""

    @abstractmethod
    def fold_outcomes(self, points: Sequence[Point], place: GridPosition) -> Outcomes:
        """Return the counts (n_points, 4) or the scores (n_points, n_valid) of the points of a batch on one fold."""

    def empty(self, n_points: int, n_valid: int) -> Outcomes:
        """Return room for the outcomes of points on one fold."""
        return np.empty((n_points, n_valid)) if self.scores else np.empty((n_points, 4), dtype=np.int64)

    def seen(self, f: Floats, s_valid: Ints) -> Any:
        """Return the outcome of one point on one fold from the scores f (n_valid,) of its validation rows."""
        return f if self.scores else count_positive(f > 0, s_valid)

    def _from_loop(self, positive: Ints, scores: Floats, s_valid: Ints) -> Outcomes:
        """Return scores, or the four counts from the numbers (n_points, 2) of rows of each kind predicted positive."""
        if self.scores:
            return scores
        labeled = np.count_nonzero(s_valid == 1)
        return np.insert(positive, [1, 2], [labeled, len(s_valid) - labeled], axis=1)

    def batch(self, point: Point) -> Hashable:
        """Return a key shared by points that must be evaluated together; by default, by all points."""
        return None

    def outcomes(self, points: Sequence[Point], progress: Progress | None = None) -> Outcomes:
        """Return the counts (n_points, repeats, folds, 4) or the scores (n_points, repeats, n), batch by batch."""
        full = [{**self.defaults, **point} for point in points]
        batches: dict[Hashable, list[int]] = {}
        for p, point in enumerate(full):
            batches.setdefault(self.batch(point), []).append(p)
        places = [(r, f) for r, folds in enumerate(self.folds) for f in range(len(folds))]
        done = 0
        with Filling(self, len(points)) as result:
            for members in batches.values():
                chosen = [full[p] for p in members]
                for place in places:
                    result.put(members, place, self.fold_outcomes(chosen, place))
                    done += len(members)
                    if progress is not None:
                        progress(done // len(places), len(points))
        return result.outcomes

    def fold_graph(self, X: Floats, train: Ints, k: int) -> NeighborGraph:
        """Return the graph of the training rows among rows X; of many by neighbors found once for all folds."""
        if len(train) <= SEPARATE_ROWS:
            return mutual_knn(np.ascontiguousarray(X[train]), k)
        if k not in self._neighbors:
            self._neighbors[k] = nearest(X, SHARED * k).rows
        return graph_of_part(X, self._neighbors[k], train, k)

    def fold(self, place: GridPosition) -> Fold:
        """Return (training rows, validation rows)."""
        return self.folds[place[0]][place[1]]


def in_order(points: Sequence[Point], key: Callable[[Point], Any]) -> list[int]:
    """Return the positions of `points` sorted by `key`."""
    return sorted(range(len(points)), key=lambda p: key(points[p]))


def limit(solve: Callable[..., Any], point: Point) -> int:
    """Return `max_iter` of a point, or the default in the signature of the solver if it is None."""
    value = point.get("max_iter")
    return _default_limit(solve) if value is None else int(value)


@functools.cache
def _default_limit(solve: Callable[..., Any]) -> int:
    """Return the default of `max_iter`; a grid asks for it at each of its points."""
    return int(inspect.signature(solve).parameters["max_iter"].default)
