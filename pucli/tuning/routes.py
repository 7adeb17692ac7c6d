"""Routes, which compute the outcomes of the points of a grid on the folds: counts, or the scores of held-out rows.

`GenericRoute` fits any estimator point by point. A method may name a path-wise route (`Method.path`,
`pucli.tuning.paths`) that shares graphs, factorizations and warm starts between the points. Both use the same folds and
give the same counts.

Counts have the shape (n_points, repeats, folds, 4), and scores (n_points, repeats, n): each row is scored by the fit of
the fold that leaves it out.
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from pucli.core.arrays import Bools, Floats, Ints
from pucli.core.errors import DegenerateModelWarning, EstimatedPriorWarning, UsageError, unknown
from pucli.core.processes import in_workers
from pucli.methods import Method, estimator_class
from pucli.tuning.folds import Fold

Progress = Callable[[int, int], None]
Point = Mapping[str, Any]
Counts = tuple[int, int, int, int]
Outcomes = Ints | Floats
ROUTES = ("auto", "generic", "path")


class Partial(KeyboardInterrupt):
    """Ctrl-C before all outcomes were computed; `there` is the mask of the final ones (n_points, repeats, folds)."""

    def __init__(self, outcomes: Outcomes, there: Bools) -> None:
        super().__init__()
        self.outcomes, self.there = outcomes, there


class Route(Protocol):
    """Object that computes the outcomes of points on `FoldedRows`; see `pucli.tuning.scorers` for the counts."""

    s: Ints
    folds: list[list[Fold]]
    scores: bool  # whether the outcomes are scores of held-out rows in place of counts

    def outcomes(self, points: Sequence[Point], progress: Progress | None = None) -> Outcomes:
        """Return the outcomes of `points`; `progress` is called with the number of finished points."""
        ...


class Filling:
    """Outcomes of points, filled fold by fold; as a context, it raises `Partial` with those so far on Ctrl-C.

    Scores start as NaN, counts as 0.
    """

    def __init__(self, route: Route, n_points: int) -> None:
        self.folds = route.folds
        self.there = np.zeros((n_points, len(self.folds), len(self.folds[0])), dtype=bool)
        self.outcomes: Outcomes = np.zeros((*self.there.shape, 4), dtype=np.int64)
        if route.scores:
            self.outcomes = np.full((n_points, len(self.folds), len(route.s)), np.nan)

    def put(self, points: Any, place: tuple[int, int], found: Any) -> None:
        """Take the outcomes of points on one fold."""
        repeat, fold = place
        if self.outcomes.ndim == 4:
            self.outcomes[points, repeat, fold] = found
        else:
            self.outcomes[np.atleast_1d(points)[:, None], repeat, self.folds[repeat][fold][1]] = found
        self.there[points, repeat, fold] = True

    def __enter__(self) -> Filling:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            raise Partial(self.outcomes, self.there) from None


class GenericRoute:
    """Route that fits and predicts each point on each fold with the estimator of the method."""

    def __init__(
        self, method: Method, X: Floats, s: Ints, folds: list[list[Fold]], params: Point, scores: bool = False
    ) -> None:
        self.estimator = estimator_class(method)
        self.X, self.s, self.folds, self.params, self.scores = X, s, folds, params, scores

    def outcomes(self, points: Sequence[Point], progress: Progress | None = None) -> Outcomes:
        """Return the counts (n_points, repeats, folds, 4) or the scores (n_points, repeats, n)."""
        with (
            Filling(self, len(points)) as result,
            warnings.catch_warnings(action="ignore", category=DegenerateModelWarning),
        ):
            warnings.simplefilter("once", EstimatedPriorWarning)
            for p, point in enumerate(points):
                for r, folds in enumerate(self.folds):
                    for f, (train, valid) in enumerate(folds):
                        model = self.estimator(**{**self.params, **point}).fit(self.X[train], self.s[train])
                        result.put(p, (r, f), self._seen(model, valid))
                if progress is not None:
                    progress(p + 1, len(points))
        return result.outcomes

    def _seen(self, model: Any, valid: Ints) -> Any:
        if self.scores:
            return model.decision_function(self.X[valid])
        return count_positive(model.predict(self.X[valid]) == 1, self.s[valid])


class FoldsInParallel:
    """One route per fold, each in its own process with one BLAS thread; the outcomes equal those of one process."""

    def __init__(self, routes: list[list[Route]], s: Ints, folds: list[list[Fold]], scores: bool, n_jobs: int) -> None:
        self.routes, self.s, self.folds, self.scores, self.n_jobs = routes, s, folds, scores, n_jobs

    def outcomes(self, points: Sequence[Point], progress: Progress | None = None) -> Outcomes:
        """Return the counts (n_points, repeats, folds, 4) or the scores (n_points, repeats, n)."""
        flat = [route for repeat in self.routes for route in repeat]
        with Filling(self, len(points)) as result:
            jobs = ((route, points) for route in flat)
            for done, found in enumerate(in_workers(_outcomes, jobs, self.n_jobs)):
                repeat, fold = place = divmod(done, len(self.routes[0]))
                part = found[:, 0, self.folds[repeat][fold][1]] if self.scores else found[:, 0, 0]
                result.put(range(len(points)), place, part)
                if progress is not None:
                    progress((done + 1) * len(points) // len(flat), len(points))
        return result.outcomes


def _outcomes(route: Route, points: Sequence[Point]) -> Outcomes:
    return route.outcomes(points)


def count_positive(positive: Bools, s: Ints) -> Counts:
    """Return (labeled predicted positive, labeled, unlabeled predicted positive, unlabeled)."""
    labeled = s == 1
    n_l = int(np.count_nonzero(labeled))
    tp = int(np.count_nonzero(positive & labeled))
    return tp, n_l, int(np.count_nonzero(positive)) - tp, len(s) - n_l


class FoldedRows(NamedTuple):
    """Rows and the folds of their cross-validation."""

    X: Floats  # (n, m), rows
    s: Ints  # (n,), 1 for labeled, 0 for unlabeled rows
    folds: list[list[Fold]]  # one list for each repeat of the cross-validation


def make_route(
    route: str,
    method: Method,
    rows: FoldedRows,
    fixed: Point,
    cache: dict[Any, Any] | None,
    n_jobs: int = 1,
    scores: bool = False,
    score_error: float = 0.0,
) -> Route:
    """Return the route called `route` for a method with the parameters `fixed`."""
    if route not in ROUTES:
        raise unknown("route", route, ROUTES)
    if n_jobs != 1:
        alone = functools.partial(make_route, scores=scores, score_error=score_error)
        one = [[alone(route, method, rows._replace(folds=[[f]]), fixed, None) for f in repeat] for repeat in rows.folds]
        return FoldsInParallel(one, rows.s, rows.folds, scores, n_jobs)
    if route != "generic" and method.path and fixed.get("threshold") is None:
        module, _, name = method.path.partition(":")
        path = getattr(importlib.import_module(module), name)
        if path.supports(fixed):
            made: Route = path(method, *rows, fixed, cache, scores, score_error)
            return made
    if route == "path":
        raise UsageError(f"method {method.name!r} has no path-wise route for these parameters; use route 'generic'.")
    return GenericRoute(method, *rows, fixed, scores)
