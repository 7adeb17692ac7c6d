"""Grid search by cross-validation on labeled and unlabeled rows, and the refinement after it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401 - a library that is loaded later escapes the limit on threads
from threadpoolctl import threadpool_limits

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError
from pucli.data.splits.groups import group_numbers
from pucli.estimators.base.data_defaults import in_numbers
from pucli.methods import estimator_class
from pucli.tuning.evidence import Evidence, evidence, joined
from pucli.tuning.folds import COPIES, copies_together, pu_folds
from pucli.tuning.grids import expand, resolve
from pucli.tuning.inputs import (
    check_parameters,
    estimator_of_prior,
    finite_rows,
    in_population,
    labeling,
    named_method,
    rule_for,
    share_of_positives,
)
from pucli.tuning.notes import degenerate, edge_notes
from pucli.tuning.refinement import Choice, refined
from pucli.tuning.routes import FoldedRows, Partial, Point, Progress, Route, make_route
from pucli.tuning.scorers import DEFAULT_REPEATS, RANKING, REPEATED_ROWS, Rule, choose, estimated_f1, most_f1
from pucli.tuning.stages import StagedPoints, plan_stages
from pucli.tuning.trials import Trials


@dataclass(frozen=True)
class TuneResult:
    """Result of tuning.

    Attributes
    ----------
    params : dict
        All chosen constructor parameters; for "pu-auc" with the threshold and, if the method estimates a class prior
        that is not given, the estimate that all fits took.
    score, score_se : float
        Score of the choice and its standard error, for counts NaN if the score is that of a single fold.
    rule : str
        The rule of the choice, a key of `pucli.tuning.RULES`.
    f1 : float
        Estimated F1 of the choice on held-out rows, at most that of its recall with every predicted row positive; NaN
        for a rule that does not estimate the class prior.
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
        After an interruption, a description of the points compared by then; "" if the search is complete.
    """

    params: dict[str, Any]
    score: float
    score_se: float
    rule: str
    f1: float
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


@dataclass
class _Search:
    """Points tried so far and the choice among them."""

    fixed: Mapping[str, Any]
    grid: Mapping[str, list[Any]]
    rule: Rule
    started: float
    points: list[Point] = field(default_factory=list)
    found: list[Evidence] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    about_rows: list[str] = field(default_factory=list)
    left_out: list[tuple[list[Point], Evidence]] = field(default_factory=list)
    how: str = ""
    done: str = ""
    comparing: Sequence[Point] = ()
    route: Route | None = None
    sample: str = ""
    n_grid: int = 0
    choice: Choice | None = None

    def seen(
        self, route: Route, points: Sequence[Point], progress: Progress | None, asked: Sequence[Point]
    ) -> Evidence:
        """Return the evidence that `route` gives for the points, in the form `asked` that it takes."""
        self.comparing, self.route = points, route
        return evidence(route, route.outcomes(asked, progress), self.rule)

    def take_grid(self, points: Sequence[Point], found: Evidence) -> None:
        """Choose among the points of the grid."""
        scores = found.scores(self.rule)
        best = choose(points, scores, self.rule)
        self.points, self.found, self.n_grid = list(points), [found], len(points)
        self.choice = Choice(dict(points[best]), *scores.of(best))
        self.notes = edge_notes(self.grid, points[best])

    def take_part(self, part: Partial) -> None:
        """Choose among the points finished on all folds or, without any, from the folds finished for all points."""
        points, route = self.comparing, self.route
        assert route is not None
        whole = part.there.all(axis=(1, 2))
        folds = np.asarray(part.there.all(axis=0))
        if whole.any():
            found = evidence(route, part.outcomes[whole], self.rule)
            self.take_grid([points[p] for p in np.flatnonzero(whole).tolist()], found)
            self.done = f"{whole.sum()} of {len(points)} points were compared, each on all {folds.size} folds"
        elif folds.any():
            self.take_grid(points, evidence(route, part.outcomes, self.rule, folds))
            self.done = f"all {len(points)} points were compared, but on {folds.sum()} of {folds.size} folds only"
        self.done += self.sample if self.done else ""

    def take_move(self, point: Point, found: Evidence, better: Choice | None) -> None:
        self.points.append(point)
        self.found.append(found)
        self.choice = better or self.choice

    def result(self) -> TuneResult:
        assert self.choice is not None
        found = joined(self.found)
        chosen = max(p for p, point in enumerate(self.points) if point == self.choice.point)
        counts, n = found.counts[chosen], self.n_grid
        pooled = counts.sum(axis=(0, 1))
        f1, most = float(estimated_f1(pooled, self.rule)), float(most_f1(pooled))
        notes = [*self.about_rows, *self.notes, *degenerate(pooled)]
        if f1 > most + 1e-9:
            notes.append(
                f"the estimated class prior, {self.rule.prior:.3g}, is too high for these rows: it implies more "
                f"positives than are predicted. With this recall F1 is at most {most:.3g}, which is given instead."
            )
        parts = [("screen", *out) for out in self.left_out]
        parts += [("grid", self.points[:n], found.of(range(n)))]
        parts += [("greedy", self.points[n:], found.of(range(n, len(self.points))))]
        parts = [part for part in parts if part[1]]
        threshold = {"threshold": float(found.threshold[chosen])} if self.rule.moves_threshold else {}
        return TuneResult(
            params={**self.fixed, **self.choice.point, **threshold},
            score=self.choice.score,
            score_se=self.choice.standard_error if counts[..., 0].size > 1 or self.rule.name == RANKING else np.nan,
            rule=self.rule.name,
            f1=min(f1, most) if np.isfinite(f1) else f1,
            trials=Trials.joined([Trials.of(points, part, stage, self.rule) for stage, points, part in parts]),
            notes=notes,
            n_fits=sum(part.counts[..., 0].size for _, _, part in parts),
            seconds=time.perf_counter() - self.started,
            how=self.how,
            done=self.done,
        )


def tune(  # noqa: PLR0913
    method: str,
    X: Floats,
    s: AnyArray,
    *,
    params: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
    folds: int = 4,
    cv_repeats: int | None = None,
    rule: str | None = None,
    denominator: str = "unlabeled",
    greedy_step: float | None = None,
    stay_on_grid: Mapping[str, Sequence[Any]] | None = None,
    score_error: float = 0.0,
    seed: int = 0,
    route: str = "auto",
    n_jobs: int = 1,
    groups: AnyArray | str | None = COPIES,
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
        1 for labeled positives, 0 for unlabeled rows; or two other labels, read as by the estimators: the larger of
        two numbers, or whichever word means yes, marks the positives; "pos_label" in `params` overrides it.
    params : mapping, optional
        Fixed constructor parameters, which override those of the method.
    grid : mapping, optional
        Parameter -> values or the name of a series. Default: the method's grid.
    folds : int, default 4
        Number of folds.
    cv_repeats : int, optional
        Number of cross-validations, each with new folds. Default: 2, or 1 above 20,000 rows.
    rule : str, optional
        A key of `pucli.tuning.RULES`. Default: "pu-auc", or "f1" for a method that has no parameter `threshold`.
    denominator : {"unlabeled", "all"}, default "unlabeled"
        Rows in the denominator of PUF: "unlabeled" for case-control data, "all" for a single training set.
    greedy_step : float, optional
        For example 0.1: starting at the best point of the grid, move one parameter at a time by this share while the
        score increases. The parameters that may move are `refine` of the method.
    stay_on_grid : mapping, optional
        Parameter -> values of the grid that the refinement keeps.
    score_error : float, default 0
        For example 0.02: the fits of a large grid may leave the scores of the unlabeled rows they are fitted to off
        those of the minimum by this root mean square, which their gaps prove, where the route of the method uses it
        (ekf-glpual).
    seed : int, default 0
        Seed of the folds.
    route : {"auto", "generic", "path", "stages"}, default "auto"
        Fit point by point, or path-wise if the method has such a route and the parameters allow it. "stages" evaluates
        all points on few rows, or with few features of the kernel, and only the best points on the whole problem
        (`pucli.tuning.stages`); for few rows it is the same as "auto".
    n_jobs : int, default 1
        Number of processes, each of which handles one fold at a time; -1 for the number of processors. The result does
        not depend on it.
    groups : array-like of shape (n,), "copies" or None, default "copies"
        Group of each row, such as the person of a visit: rows of one group are in one fold. "copies": exact and near
        copies of a labeled row are a group, if there are more than by chance.
    cache : dict, optional
        Values for these rows that the path-wise routes of several methods share.
    progress : callable, optional
        Called with the number of finished points and the total.

    Returns
    -------
    TuneResult
        The chosen parameters, with their score and all trials.

    Raises
    ------
    UsageError
        A name is unknown, a value is out of range, a grid is empty, or there are fewer labeled rows than folds.
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
    ['c_u', 'lam', 'threshold']
    """
    started = time.perf_counter()
    entry = named_method(method)
    fixed = {**entry.params, **(params or {})}
    grid = resolve(entry.grid if grid is None else grid)
    check_parameters(entry, fixed, grid)
    X, s = finite_rows(entry, X), labeling(s, fixed.get("pos_label"))
    if len(s) != X.shape[0]:
        raise UsageError(f"there are {len(s)} labels for {X.shape[0]} rows.")
    together, notes = _groups(groups, X, s == 1, folds)
    fixed = in_numbers(estimator_class(entry), fixed, grid, X, s == 1)
    by = rule_for(entry, rule, denominator, fixed)
    pooled, estimator = by.name in ("f1", RANKING), estimator_of_prior(entry, fixed, grid)
    if pooled or estimator == "auto":
        hidden = share_of_positives(X, s == 1, seed, groups=together)
    if pooled:
        by = by._replace(prior=in_population(hidden, s == 1, by.denominator))
    if estimator == "auto":
        fixed["prior"] = hidden  # in every fit it would take its time
    elif estimator and pooled:
        # with priors of their own, the scores of two folds could not be compared
        fixed["prior"] = share_of_positives(X, s == 1, seed, estimator)
    if cv_repeats is None:
        cv_repeats = DEFAULT_REPEATS if X.shape[0] <= REPEATED_ROWS else 1
    search = _Search(dict(fixed), grid, by, started, about_rows=notes)
    fixed.pop("pos_label", None)  # it was needed for s, which is 1 and 0
    points = expand(grid)
    try:
        # the systems are small: several BLAS threads would be slower, and the bits would depend on their number
        with threadpool_limits(limits=1):
            if route == "stages":
                staged = StagedPoints(entry, X, s, fixed, folds, cv_repeats, seed, by, n_jobs, together)
                evaluator, points = _in_stages(staged, search, points, progress)
            else:
                folded = FoldedRows(X, s, pu_folds(s, folds, seed, cv_repeats, together))
                evaluator = make_route(route, entry, folded, fixed, cache, n_jobs, by.name == RANKING, score_error)
                search.take_grid(points, search.seen(evaluator, points, progress, points))
            if greedy_step is not None:
                assert search.choice is not None
                steps = refined(evaluator, search.choice, greedy_step, entry.refine, stay_on_grid or {}, by)
                for point, found, better in steps:
                    search.take_move(point, found, better)
    except Partial as stop:
        if search.choice is None:
            search.take_part(stop)
        raise TuningInterrupted(search.result() if search.choice else None) from None
    return search.result()


def _groups(groups: AnyArray | str | None, X: Floats, labeled: Bools, folds: int) -> tuple[Ints | None, list[str]]:
    """Return the group of each row (n,), numbered from 0, and notes on copies."""
    if groups is None:
        return None, []
    if isinstance(groups, str):
        if groups != COPIES:
            raise UsageError(f"groups={groups!r}: give the group of each row, {COPIES!r} or None.")
        return copies_together(X, labeled, folds)
    return group_numbers(groups, len(labeled)), []


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
        sample = staged.sample(stage.rows)
        search.sample = f", of a sample of {stage.rows} rows" if stage.rows < len(staged.s) else ""
        weighed = [staged.weighed(point, sample) for point in points]
        found = search.seen(staged.route(stage, sample), points, shown, weighed)
        done += len(points)
        kept = staged.leading(points, found, stage.keep)
        out = sorted(set(range(len(points))) - set(kept))
        search.left_out.append(([points[p] for p in out], found.of(out)))
        points = [points[p] for p in kept]
    search.sample = ""
    route = staged.route(last, staged.sample(len(staged.s)))
    search.take_grid(points, search.seen(route, points, shown, points))
    search.how = staged.description(first, last, len(points))
    return route, points
