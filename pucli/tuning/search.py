"""Grid search with cross-validation on PU scores, and the greedy refinement of Wang 2024, section 3.6.4.

Two routes give the counts that the scores need: `GenericRoute` fits any estimator point by point; a method may name a
path-wise evaluator (`Method.path`) that shares graphs, factorisations and warm starts between the points. Both see
the same folds.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pucli.errors import UsageError, unknown
from pucli.methods import Method, check_value, estimator_class, get_method
from pucli.tuning.folds import Fold, pu_folds
from pucli.tuning.grids import expand, resolve
from pucli.tuning.scorers import check_rule, choose, score_counts

Progress = Callable[[int, int], None]
STAGES = ("grid", "greedy")


class Route(Protocol):
    """Gives the counts (n_points, repeats, folds, 4) of points: see `pucli.tuning.scorers`."""

    def counts(self, points: Sequence[Mapping[str, Any]], progress: Progress | None = None) -> np.ndarray: ...


class GenericRoute:
    """Fit and predict each point on each fold with the method's estimator."""

    def __init__(self, method: Method, X: np.ndarray, s: np.ndarray, folds: list[list[Fold]], params: Mapping) -> None:
        self.estimator = estimator_class(method)
        self.X, self.s, self.folds, self.params = X, s, folds, params

    def counts(self, points: Sequence[Mapping[str, Any]], progress: Progress | None = None) -> np.ndarray:
        result = np.zeros((len(points), len(self.folds), len(self.folds[0]), 4), dtype=np.int64)
        for p, point in enumerate(points):
            for r, folds in enumerate(self.folds):
                for f, (train, valid) in enumerate(folds):
                    model = self.estimator(**{**self.params, **point}).fit(self.X[train], self.s[train])
                    result[p, r, f] = count_positive(model.predict(self.X[valid]) == 1, self.s[valid])
            if progress is not None:
                progress(p + 1, len(points))
        return result


class FoldsInParallel:
    """One route for each fold, each in its own process with one BLAS thread; the counts are those of one process."""

    def __init__(self, routes: list[list[Route]], n_jobs: int) -> None:
        self.routes, self.n_jobs = routes, n_jobs

    def counts(self, points: Sequence[Mapping[str, Any]], progress: Progress | None = None) -> np.ndarray:
        from joblib import Parallel, delayed, parallel_config

        flat = [route for repeat in self.routes for route in repeat]
        result = np.empty((len(points), len(self.routes), len(self.routes[0]), 4), dtype=np.int64)
        with parallel_config("loky", n_jobs=self.n_jobs, inner_max_num_threads=1):
            found = Parallel(return_as="generator")(delayed(_counts)(route, points) for route in flat)
            for done, counts in enumerate(found):
                result[:, done // len(self.routes[0]), done % len(self.routes[0])] = counts[:, 0, 0]
                if progress is not None:
                    progress((done + 1) * len(points) // len(flat), len(points))
        return result


def _counts(route: Route, points: Sequence[Mapping[str, Any]]) -> np.ndarray:
    return route.counts(points)


def count_positive(positive: np.ndarray, s: np.ndarray) -> tuple[int, int, int, int]:
    """Return (labelled predicted positive, labelled, unlabeled predicted positive, unlabeled)."""
    labelled = s == 1
    n_l = int(np.count_nonzero(labelled))
    tp = int(np.count_nonzero(positive & labelled))
    return tp, n_l, int(np.count_nonzero(positive)) - tp, len(s) - n_l


@dataclass
class Trials(Sequence):
    """Every point that was tried, by column; iterating gives one dict a trial."""

    columns: dict[str, np.ndarray] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns.get("score", ()))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = {k: v[index].item() if hasattr(v[index], "item") else v[index] for k, v in self.columns.items()}
        return {
            "stage": STAGES[row.pop("stage")],
            "params": {k: row.pop(k) for k in self.parameters},
            **row,
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))


@dataclass
class TuneResult:
    """What tuning found.

    params : constructor parameters, complete; score, score_se : of the choice; trials : every point tried;
    notes : what a reader should know (edge of the grid, one class predicted); n_fits, seconds : the work done.
    """

    params: dict[str, Any]
    score: float
    score_se: float
    trials: Trials
    notes: list[str]
    n_fits: int
    seconds: float


def tune(
    method: str,
    X: np.ndarray,
    s: np.ndarray,
    *,
    params: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
    folds: int = 4,
    cv_repeats: int = 1,
    rule: str = "puf",
    denominator: str = "unlabeled",
    greedy_step: float | None = None,
    seed: int = 0,
    route: str = "auto",
    n_jobs: int = 1,
    cache: dict | None = None,
    progress: Progress | None = None,
) -> TuneResult:
    """Choose hyper-parameters of a method from positive and unlabeled rows.

    Parameters
    ----------
    method : name in `pucli.methods`.
    X : (n, m) training rows; s : (n,) labelling indicator, 1 labelled positive, 0 unlabeled.
    params : fixed constructor parameters, over the method's own.
    grid : parameter -> values or a named series; default the method's grid.
    folds, cv_repeats : folds of one cross-validation, and how many with fresh folds.
    rule : a key of `pucli.tuning.RULES`.
    denominator : "unlabeled" (case-control) or "all" (single training set) rows in PUF's denominator.
    greedy_step : e.g. 0.1: from the grid's choice, move one parameter at a time by that share while the score rises.
        Parameters whose grid values are integers stay where the grid put them.
    seed : of the folds.
    route : "generic", "path", or "auto" (path-wise where the method has it and the parameters allow it).
    n_jobs : processes, one fold at a time each; -1 for as many as there are processors. The result is the same.
    cache : a dict that lives as long as these rows do; path-wise routes keep in it what methods share.
    progress : called with (points done, points in all).

    Raises
    ------
    UsageError : unknown names, a value out of its range, an empty grid, fewer labelled rows than folds.
    """
    started = time.perf_counter()
    entry = get_method(method)
    check_rule(rule, denominator)
    fixed = {**entry.params, **(params or {})}
    grid = resolve(entry.grid if grid is None else grid)
    _check_names(entry, [*fixed, *grid])
    for name, values in [*((name, [value]) for name, value in fixed.items()), *grid.items()]:
        for value in values:
            check_value(method, name, value)
    s = np.asarray(s).astype(np.int8)
    dealt = pu_folds(s, folds, seed, cv_repeats)
    evaluator: Route
    if n_jobs == 1:
        evaluator = _route(route, entry, X, s, dealt, fixed, cache)
    else:
        single = [[_route(route, entry, X, s, [[fold]], fixed, None) for fold in repeat] for repeat in dealt]
        evaluator = FoldsInParallel(single, n_jobs)
    points = expand(grid)
    counts = evaluator.counts(points, progress)
    scores = score_counts(counts, rule, denominator)
    chosen = choose(points, scores, rule)
    notes = _edge_notes(grid, points[chosen])
    current, value = dict(points[chosen]), float(scores.score[chosen])
    error, constant = float(scores.standard_error[chosen]), bool(scores.constant[chosen])
    tried_points, tried_counts = list(points), [counts]
    if greedy_step is not None:
        for point, extra, new in _greedy(evaluator, current, value, greedy_step, rule, denominator):
            tried_points.append(point)
            tried_counts.append(extra[None])
            if new is not None:
                current, value, error, constant = point, *new
    counts = np.concatenate(tried_counts)
    if constant:
        notes.append("the chosen point predicts one class only on the validation rows")
    trials = _trials(tried_points, counts, len(points), rule, denominator)
    n_fits = len(tried_points) * folds * cv_repeats
    return TuneResult({**fixed, **current}, value, error, trials, notes, n_fits, time.perf_counter() - started)


def _greedy(
    evaluator: Route, current: dict, value: float, step: float, rule: str, denominator: str
) -> Iterator[tuple[dict, np.ndarray, tuple[float, float, bool] | None]]:
    """Yield (point, counts, None or the new (score, error, constant)) until no single move improves the score.

    Each parameter in turn is raised and lowered by the share `step`; the better of the two is kept if it beats the
    present score. A round without a gain ends the search.
    """
    seen: dict[tuple, None] = {}
    while True:
        improved = False
        for name in [k for k, v in current.items() if isinstance(v, float)]:
            moves = [{**current, name: current[name] * (1 + sign * step)} for sign in (1, -1)]
            moves = [move for move in moves if tuple(move.items()) not in seen]
            if not moves:
                continue
            seen.update(dict.fromkeys(tuple(move.items()) for move in moves))
            counts = evaluator.counts(moves)
            scores = score_counts(counts, rule, denominator)
            best = choose(moves, scores, "puf")
            gain = scores.score[best] > value + 1e-12 * max(1.0, abs(value))
            for k, move in enumerate(moves):
                if k == best and gain:
                    continue
                yield move, counts[k], None
            if gain:
                current, value = moves[best], float(scores.score[best])
                improved = True
                yield current, counts[best], (value, float(scores.standard_error[best]), bool(scores.constant[best]))
        if not improved:
            return


def _route(route: str, method: Method, X, s, folds, fixed, cache) -> Route:
    if route not in ("auto", "generic", "path"):
        raise unknown("route", route, ["auto", "generic", "path"])
    if route != "generic" and method.path:
        module, _, name = method.path.partition(":")
        path = getattr(importlib.import_module(module), name)
        if path.supports(fixed):
            return path(method, X, s, folds, fixed, cache)
    if route == "path":
        raise UsageError(f"method {method.name!r} has no path-wise route for these parameters; use route 'generic'.")
    return GenericRoute(method, X, s, folds, fixed)


def _check_names(method: Method, names: Sequence[str]) -> None:
    known = estimator_class(method)._get_param_names()  # type: ignore[attr-defined]
    for name in names:
        if name not in known:
            raise unknown(f"parameter of {method.name}", name, known)


def _edge_notes(grid: Mapping[str, list], point: Mapping[str, Any]) -> list[str]:
    notes = []
    for name, values in grid.items():
        if len(values) > 2 and all(isinstance(v, int | float) for v in values):
            low, high = min(values), max(values)
            if point[name] in (low, high):
                side = "lower" if point[name] == low else "upper"
                notes.append(f"{name} = {point[name]:g} lies on the {side} edge of its grid ({low:g} to {high:g})")
    return notes


def _trials(points: list[dict], counts: np.ndarray, n_grid: int, rule: str, denominator: str) -> Trials:
    scores = score_counts(counts, rule, denominator)
    pooled = counts.sum(axis=(1, 2))
    names = tuple(points[0])
    columns: dict[str, np.ndarray] = {
        "stage": (np.arange(len(points)) >= n_grid).astype(np.int8),
        **{name: np.array([point[name] for point in points]) for name in names},
        "score": scores.score,
        "score_se": scores.standard_error,
        "positive_labelled": pooled[:, 0],
        "n_labelled": pooled[:, 1],
        "positive_unlabeled": pooled[:, 2],
        "n_unlabeled": pooled[:, 3],
        "constant": scores.constant,
    }
    return Trials(columns, names)
