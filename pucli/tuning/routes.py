"""Routes, which compute the counts of the points of a grid on the folds.

`GenericRoute` fits any estimator point by point. A method may name a path-wise route (`Method.path`,
`pucli.tuning.paths`) that shares graphs, factorisations and warm starts between the points. Both use the same folds and
give the same counts.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from pucli.arrays import Bools, Floats, Ints
from pucli.errors import DegenerateModelWarning, EstimatedPriorWarning, UsageError, unknown
from pucli.methods import Method, estimator_class
from pucli.processes import in_workers
from pucli.tuning.folds import Fold

Progress = Callable[[int, int], None]
Point = Mapping[str, Any]
Counts = tuple[int, int, int, int]
ROUTES = ("auto", "generic", "path")


class Partial(KeyboardInterrupt):
    """Ctrl-C before all counts were computed.

    Attributes
    ----------
    counts : ndarray of shape (n_points, repeats, folds, 4)
        The counts so far.
    there : ndarray of bool, shape (n_points, repeats, folds)
        Mask of the final counts.
    """

    def __init__(self, counts: Ints, there: Bools) -> None:
        super().__init__()
        self.counts, self.there = counts, there


@contextmanager
def keeping(counts: Ints, there: Bools) -> Iterator[None]:
    """Raise `Partial` with the counts so far when Ctrl-C interrupts the context."""
    try:
        yield
    except KeyboardInterrupt:
        raise Partial(counts, there) from None


class Route(Protocol):
    """Object that computes the counts (n_points, repeats, folds, 4) of points; see `pucli.tuning.scorers`."""

    def counts(self, points: Sequence[Point], progress: Progress | None = None) -> Ints:
        """Return the counts of `points`; `progress` is called with the number of finished points."""
        ...


class GenericRoute:
    """Route that fits and predicts each point on each fold with the estimator of the method."""

    def __init__(self, method: Method, X: Floats, s: Ints, folds: list[list[Fold]], params: Point) -> None:
        self.estimator = estimator_class(method)
        self.X, self.s, self.folds, self.params = X, s, folds, params

    def counts(self, points: Sequence[Point], progress: Progress | None = None) -> Ints:
        """Return the counts (n_points, repeats, folds, 4)."""
        result = np.zeros((len(points), len(self.folds), len(self.folds[0]), 4), dtype=np.int64)
        there = np.zeros(result.shape[:3], dtype=bool)
        with keeping(result, there), warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateModelWarning)  # points of a grid may be degenerate
            warnings.simplefilter("once", EstimatedPriorWarning)
            for p, point in enumerate(points):
                for r, folds in enumerate(self.folds):
                    for f, (train, valid) in enumerate(folds):
                        model = self.estimator(**{**self.params, **point}).fit(self.X[train], self.s[train])
                        result[p, r, f] = count_positive(model.predict(self.X[valid]) == 1, self.s[valid])
                        there[p, r, f] = True
                if progress is not None:
                    progress(p + 1, len(points))
        return result


class FoldsInParallel:
    """One route per fold, each in its own process with one BLAS thread; the counts equal those of one process."""

    def __init__(self, routes: list[list[Route]], n_jobs: int) -> None:
        self.routes, self.n_jobs = routes, n_jobs

    def counts(self, points: Sequence[Point], progress: Progress | None = None) -> Ints:
        """Return the counts (n_points, repeats, folds, 4)."""
        flat = [route for repeat in self.routes for route in repeat]
        result = np.empty((len(points), len(self.routes), len(self.routes[0]), 4), dtype=np.int64)
        there = np.zeros(result.shape[:3], dtype=bool)
        with keeping(result, there):
            jobs = ((route, points) for route in flat)
            for done, counts in enumerate(in_workers(_counts, jobs, self.n_jobs)):
                place = divmod(done, len(self.routes[0]))
                result[:, *place], there[:, *place] = counts[:, 0, 0], True
                if progress is not None:
                    progress((done + 1) * len(points) // len(flat), len(points))
        return result


def _counts(route: Route, points: Sequence[Point]) -> Ints:
    return route.counts(points)


def count_positive(positive: Bools, s: Ints) -> Counts:
    """Return (labelled predicted positive, labelled, unlabeled predicted positive, unlabeled)."""
    labelled = s == 1
    n_l = int(np.count_nonzero(labelled))
    tp = int(np.count_nonzero(positive & labelled))
    return tp, n_l, int(np.count_nonzero(positive)) - tp, len(s) - n_l


def make_route(
    route: str,
    method: Method,
    X: Floats,
    s: Ints,
    folds: list[list[Fold]],
    fixed: Point,
    cache: dict[Any, Any] | None,
    n_jobs: int = 1,
) -> Route:
    """Return the route called `route` for a method with the parameters `fixed`.

    Parameters
    ----------
    route : {"auto", "generic", "path"}
        "auto" is path-wise if the method has such a route and the parameters allow it.
    method : Method
        The entry in `pucli.methods`.
    X : ndarray of shape (n, m)
        Rows.
    s : ndarray of shape (n,)
        1 for labelled, 0 for unlabeled rows.
    folds : list of lists of (training rows, validation rows)
        One list for each repeat of the cross-validation.
    fixed : mapping
        Parameters shared by all points.
    cache : dict or None
        Values shared by routes of several methods on the same rows.
    n_jobs : int, default 1
        Processes; each takes one fold at a time.

    Raises
    ------
    UsageError
        The route is unknown, or there is no path-wise route for these parameters.
    """
    if route not in ROUTES:
        raise unknown("route", route, ROUTES)
    if n_jobs != 1:
        single = [[make_route(route, method, X, s, [[fold]], fixed, None) for fold in repeat] for repeat in folds]
        return FoldsInParallel(single, n_jobs)
    if route != "generic" and method.path:
        module, _, name = method.path.partition(":")
        path = getattr(importlib.import_module(module), name)
        if path.supports(fixed):
            made: Route = path(method, X, s, folds, fixed, cache)
            return made
    if route == "path":
        raise UsageError(f"method {method.name!r} has no path-wise route for these parameters; use route 'generic'.")
    return GenericRoute(method, X, s, folds, fixed)
