"""Grid search by cross-validation on labelled and unlabeled rows, and the refinement of Wang 2024, section 3.6.4."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg  # noqa: F401 - a library that is loaded later escapes the limit on threads
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from pucli.arrays import AnyArray, Floats, Ints
from pucli.errors import unknown
from pucli.estimators.base.pu import LEAST_RECALL, NEARLY_NONE
from pucli.estimators.base.scales import in_numbers
from pucli.methods import Method, check_value, estimator_class
from pucli.tuning.folds import pu_folds
from pucli.tuning.grids import expand, resolve
from pucli.tuning.inputs import labelling, named_method, share_of_positives
from pucli.tuning.routes import Partial, Point, Progress, Route, make_route
from pucli.tuning.scorers import Rule, check_rule, choose, score_counts
from pucli.tuning.stages import StagedPoints, nested_sample, plan_stages
from pucli.tuning.trials import Trials


@dataclass(frozen=True)
class TuneResult:
    """Result of tuning.

    Attributes
    ----------
    params : dict
        All chosen constructor parameters.
    score, score_se : float
        Score of the choice and its standard error, NaN if the score is that of a single fold.
    trials : Trials
        All points tried.
    notes : list of str
        Warnings, e.g. about a choice on the edge of the grid or a model that predicts only one class.
    n_fits : int
        Number of fits.
    seconds : float
        Wall-clock time.
    how : str
        For a search in stages, a description of the stages.
    done : str
        After an interruption, a description of what was compared by then; "" if the search is complete.
    """

    params: dict[str, Any]
    score: float
    score_se: float
    trials: Trials
    notes: list[str]
    n_fits: int
    seconds: float
    how: str = ""
    done: str = ""


class TuningInterrupted(KeyboardInterrupt):
    """Ctrl-C while parameters are tuned.

    Attributes
    ----------
    so_far : TuneResult or None
        The choice among the finished points, or from the finished folds; None if there are none.
    """

    def __init__(self, so_far: TuneResult | None) -> None:
        super().__init__()
        self.so_far = so_far


class _Choice(NamedTuple):
    """A point with its score, the standard error, and whether it predicts only one class."""

    point: dict[str, Any]
    score: float
    standard_error: float
    constant: bool


@dataclass
class _Search:
    """Points tried so far and the choice among them."""

    fixed: Mapping[str, Any]
    grid: Mapping[str, list[Any]]
    rule: Rule
    started: float
    points: list[Point] = field(default_factory=list)
    counts: list[Ints] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: list[tuple[list[Point], Ints]] = field(default_factory=list)
    how: str = ""
    done: str = ""
    comparing: Sequence[Point] = ()
    sample: str = ""
    n_grid: int = 0
    choice: _Choice | None = None

    def leave_out(self, points: Sequence[Point], counts: Ints) -> None:
        """Record points eliminated at an earlier stage, with their counts."""
        self.left_out.append((list(points), counts))

    def take_grid(self, points: Sequence[Point], counts: Ints) -> None:
        """Choose among the points of the grid."""
        scores = score_counts(counts, self.rule)
        best = choose(points, scores, self.rule)
        self.points, self.counts, self.n_grid = list(points), [counts], len(points)
        self.choice = _Choice(dict(points[best]), *scores.of(best))
        self.notes = _edge_notes(self.grid, points[best])

    def take_part(self, part: Partial) -> None:
        """Choose among the points finished on all folds or, without any, from the folds finished for all points."""
        points = self.comparing
        whole = part.there.all(axis=(1, 2))
        folds = part.there.all(axis=0)
        if whole.any():
            self.take_grid([points[p] for p in np.flatnonzero(whole).tolist()], part.counts[whole])
            self.done = f"{whole.sum()} of {len(points)} points were compared, each on all {folds.size} folds"
        elif folds.any():
            self.take_grid(points, part.counts[:, None, folds])
            self.done = f"all {len(points)} points were compared, but on {folds.sum()} of {folds.size} folds only"
            # the points left out before count on as many folds
            short = [(out, counts.reshape(len(out), 1, -1, 4)[:, :, : folds.sum()]) for out, counts in self.left_out]
            self.left_out = short
        self.done += self.sample if self.done else ""

    def take_move(self, point: Point, counts: Ints, better: _Choice | None) -> None:
        """Add a point of the refinement."""
        self.points.append(point)
        self.counts.append(counts[None])
        self.choice = better or self.choice

    def result(self) -> TuneResult:
        """Return the result."""
        assert self.choice is not None
        counts = np.concatenate(self.counts)
        chosen = max(p for p, point in enumerate(self.points) if point == self.choice.point)
        grid, n = np.split(counts, [self.n_grid]), self.n_grid
        parts = [("screen", *out) for out in self.left_out]
        parts += [("grid", self.points[:n], grid[0]), ("greedy", self.points[n:], grid[1])]
        parts = [part for part in parts if part[1]]
        return TuneResult(
            params={**self.fixed, **self.choice.point},
            score=self.choice.score,
            score_se=self.choice.standard_error if counts[0, ..., 0].size > 1 else np.nan,
            trials=Trials.joined([Trials.of(points, found, stage, self.rule) for stage, points, found in parts]),
            notes=[*self.notes, *_degenerate(counts[chosen].sum(axis=(0, 1)))],
            n_fits=sum(found[..., 0].size for _, _, found in parts),
            seconds=time.perf_counter() - self.started,
            how=self.how,
            done=self.done,
        )


def tune(
    method: str,
    X: Floats,
    s: AnyArray,
    *,
    params: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
    folds: int = 4,
    cv_repeats: int = 1,
    rule: str = "puf",
    denominator: str = "unlabeled",
    greedy_step: float | None = None,
    stay_on_grid: Mapping[str, Sequence[Any]] | None = None,
    seed: int = 0,
    route: str = "auto",
    n_jobs: int = 1,
    cache: dict[Any, Any] | None = None,
    progress: Progress | None = None,
) -> TuneResult:
    """Choose hyper-parameters of a method from positive and unlabeled rows.

    Parameters
    ----------
    method : str
        A name in `pucli.methods`.
    X : array-like of shape (n, m)
        Training rows.
    s : array-like of shape (n,)
        1 for labelled positives, 0 for unlabeled rows; or two other labels, read as by the estimators: the larger of
        two numbers, or the one of two words that means yes, marks the positives; "pos_label" in `params` overrides it.
    params : mapping, optional
        Fixed constructor parameters, which override those of the method.
    grid : mapping, optional
        Parameter -> values or the name of a series. Default: the method's grid.
    folds, cv_repeats : int, default 4 and 1
        Number of folds, and number of cross-validations, each with new folds.
    rule : str, default "puf"
        A key of `pucli.tuning.RULES`.
    denominator : {"unlabeled", "all"}, default "unlabeled"
        Rows in the denominator of PUF: "unlabeled" for case-control data, "all" for a single training set.
    greedy_step : float, optional
        For example 0.1: starting at the best point of the grid, move one parameter at a time by this share while the
        score increases. The parameters that may move are `refine` of the method.
    stay_on_grid : mapping, optional
        Parameter -> values of the grid that the refinement keeps.
    seed : int, default 0
        Seed of the folds.
    route : {"auto", "generic", "path", "stages"}, default "auto"
        Fit point by point, or path-wise if the method has such a route and the parameters allow it. "stages" evaluates
        all points on few rows, or with few features of the kernel, and only the best points on the whole problem
        (`pucli.tuning.stages`); for few rows it is the same as "auto".
    n_jobs : int, default 1
        Number of processes, each of which handles one fold at a time; -1 for the number of processors. The result does
        not depend on it.
    cache : dict, optional
        Values for these rows that the path-wise routes of several methods share.
    progress : callable, optional
        Called with the number of finished points and the total.

    Returns
    -------
    TuneResult

    Raises
    ------
    UsageError
        A name is unknown, a value is out of range, a grid is empty, or there are fewer labelled rows than folds.
    TuningInterrupted
        Ctrl-C was pressed; this KeyboardInterrupt holds the best choice so far.

    Examples
    --------
    >>> import numpy as np
    >>> from pucli import tune
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(1, 1, (30, 2)), rng.normal(-1, 1, (60, 2))])
    >>> s = np.r_[np.ones(20), np.zeros(70)]
    >>> result = tune("glpual", X, s, grid={"lam": [0.1, 10.0]})
    >>> sorted(result.params)
    ['lam']
    """
    started = time.perf_counter()
    entry = named_method(method)
    by = Rule(rule, check_rule(rule, denominator), entry.regularisation, entry.ridge)
    fixed = {**entry.params, **(params or {})}
    grid = resolve(entry.grid if grid is None else grid)
    _check_parameters(entry, fixed, grid)
    X, s = X if issparse(X) else np.asarray(X, dtype=np.float64), labelling(s, fixed.get("pos_label"))
    fixed = in_numbers(estimator_class(entry), fixed, grid, X, s == 1)
    if rule == "f1":
        by = by._replace(prior=share_of_positives(X, s == 1, by.denominator, seed))
    search = _Search(dict(fixed), grid, by, started)
    fixed.pop("pos_label", None)  # it was needed for s, which is 1 and 0
    points = expand(grid)
    search.comparing = points
    try:
        # the systems are small: several BLAS threads would be slower, and the bits would depend on their number
        with threadpool_limits(limits=1):
            if route == "stages":
                staged = StagedPoints(entry, X, s, fixed, (folds, cv_repeats), seed, by, n_jobs)
                evaluator, points = _in_stages(staged, search, points, progress)
            else:
                evaluator = make_route(route, entry, X, s, pu_folds(s, folds, seed, cv_repeats), fixed, cache, n_jobs)
                search.take_grid(points, evaluator.counts(points, progress))
            if greedy_step is not None:
                assert search.choice is not None
                steps = _refined(evaluator, search.choice, greedy_step, entry.refine, stay_on_grid or {}, by)
                for point, counts, better in steps:
                    search.take_move(point, counts, better)
    except Partial as stop:
        if search.choice is None:
            search.take_part(stop)
        raise TuningInterrupted(search.result() if search.choice else None) from None
    return search.result()


def _in_stages(
    staged: StagedPoints, search: _Search, points: list[dict[str, Any]], progress: Progress | None
) -> tuple[Route, list[dict[str, Any]]]:
    """Choose among the points in stages; return the route of the last stage and the points that reached it."""
    *first, last = plan_stages(staged.method, staged.fixed, len(staged.s), len(points))
    total, done = len(points) + sum(stage.keep for stage in first), 0

    def shown(part: int, _: int) -> None:
        if progress is not None:
            progress(done + part, total)

    for stage in first:
        sample = nested_sample(staged.s, stage.rows, staged.seed)
        search.sample = f", of a sample of {stage.rows} rows" if stage.rows < len(staged.s) else ""
        counts = staged.route(stage, sample).counts([staged.weighed(point, sample) for point in points], shown)
        done += len(points)
        kept = staged.leading(points, counts, stage.keep)
        out = sorted(set(range(len(points))) - set(kept))
        search.leave_out([points[p] for p in out], counts[out])
        points = [points[p] for p in kept]
        search.comparing = points
    search.sample = ""
    route = staged.route(last, nested_sample(staged.s, len(staged.s), staged.seed))
    search.take_grid(points, route.counts(points, shown))
    search.how = staged.description(first, last, len(points))
    return route, points


def _refined(
    evaluator: Route,
    start: _Choice,
    step: float,
    refine: Sequence[str],
    stay: Mapping[str, Sequence[Any]],
    by: Rule,
) -> Iterator[tuple[dict[str, Any], Ints, _Choice | None]]:
    """Yield (point, counts, the new choice or None) until no single move improves the score.

    Each parameter in turn is increased and decreased by the share `step`; the better of the two points is kept if its
    score exceeds the current score, whatever the rule. A round without improvement ends the search.
    """
    current = start
    plain = by._replace(name="puf")
    seen: dict[tuple[tuple[str, Any], ...], None] = {}
    improved = True
    while improved:
        improved = False
        for name in current.point:
            value = current.point[name]
            if name not in refine or value in stay.get(name, ()) or isinstance(value, str | bool):
                continue
            moves = [{**current.point, name: value * (1 + sign * step)} for sign in (1, -1)]
            moves = [move for move in moves if tuple(move.items()) not in seen]
            if not moves:
                continue
            seen.update(dict.fromkeys(tuple(move.items()) for move in moves))
            counts = evaluator.counts(moves)
            scores = score_counts(counts, by)
            best = choose(moves, scores, plain)
            gain = scores.score[best] > current.score + 1e-12 * max(1.0, abs(current.score))
            for k, move in enumerate(moves):
                if k != best or not gain:
                    yield move, counts[k], None
            if gain:
                current = _Choice(moves[best], *scores.of(best))
                improved = True
                yield current.point, counts[best], current


def _check_parameters(method: Method, fixed: Point, grid: Mapping[str, list[Any]]) -> None:
    """Raise UsageError for a parameter that the method does not have or a value out of range."""
    known = estimator_class(method)._get_param_names()
    for name in [*fixed, *grid]:
        if name not in known:
            raise unknown(f"parameter of {method.name}", name, known)
    for name, values in [*((name, [value]) for name, value in fixed.items()), *grid.items()]:
        for value in values:
            check_value(method.name, name, value)


def _degenerate(counts: Ints) -> list[str]:
    """Return a note if four counts, summed over the folds, show a degenerate model."""
    found, labelled, called, unlabeled = counts.tolist()
    if found + called in (0, labelled + unlabeled):
        return ["the chosen point predicts one class only on the validation rows"]
    recall, share = found / labelled, called / unlabeled
    shown = f"{100 * share:.3g} % of the unlabeled and {100 * recall:.3g} % of the labelled validation rows"
    if recall < LEAST_RECALL or share < NEARLY_NONE:
        return [f"the chosen point predicts nearly no row positive: {shown}"]
    if share > 1.0 - NEARLY_NONE:
        return [f"the chosen point predicts nearly every row positive: {shown}"]
    return []


def _edge_notes(grid: Mapping[str, list[Any]], point: Point) -> list[str]:
    notes = []
    for name, values in grid.items():
        if len(values) > 2 and all(isinstance(v, int | float) for v in values):
            low, high = min(values), max(values)
            if point[name] in (low, high):
                side = "lower" if point[name] == low else "upper"
                notes.append(f"{name} = {point[name]:g} lies on the {side} edge of its grid ({low:g} to {high:g})")
    return notes
