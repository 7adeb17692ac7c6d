"""Search in stages: all points on few rows or few features of the kernel, the better ones on more, the best on all.

On a share q of the rows a sum over them is a share q of what it was, and a ridge beside it counts for more. So rows of
a sample weigh 1 / q, and a point means the same model at every stage. Samples are nested: each holds the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pucli.arrays import Floats, Ints
from pucli.methods import Method, estimator_class
from pucli.seeding import stream
from pucli.tuning.folds import pu_folds
from pucli.tuning.paths.landmarks import METHODS, LandmarkRoute
from pucli.tuning.routes import Point, Route, make_route
from pucli.tuning.scorers import Rule, Scores, choose, score_counts

# Up to so many rows a kernel's points are evaluated one and all on the whole kernel, and a linear method's on all rows.
WHOLE_KERNEL_ROWS = 600
WHOLE_LINEAR_ROWS = 50_000
# Up to so many rows the last stage takes `LAST_RANK` features of the kernel, above `LATER_RANK`.
EXACT_ROWS = 5000
# Rows of a sample, and of them at least so many labelled ones, if there are any more.
SAMPLE_ROWS = (20_000, 100_000)
LABELLED_ROWS = 500
# Features of a kernel at the stages before the last one, and at that.
FIRST_RANK, LATER_RANK, LAST_RANK = 256, 512, 1500
# Above `EXACT_ROWS` so many numbers in all, within limits.
FEATURE_NUMBERS, LEAST_RANK = 60_000_000, 64
# Points that go on to the last stage, and share of them that goes on from one before.
FINALISTS = 6
SURVIVORS = 0.2
# Parameters that weigh each row of a sum: the kind of rows they weigh.
ROW_WEIGHTS = {"c_p": "labelled", "c_u": "unlabeled", "C": "all"}


class Stage(NamedTuple):
    """How the points that are left are evaluated.

    Attributes
    ----------
    rows : int
        Rows of the sample; all of them at the last stage.
    rank : int or None
        Features of the kernel, as many as rows for the whole kernel; None is the method as it is.
    keep : int
        Points that go on.
    """

    rows: int
    rank: int | None
    keep: int


def plan_stages(method: Method, params: Point, n: int, n_points: int) -> list[Stage]:
    """Return the stages for n rows, the last one with all of them.

    Parameters
    ----------
    method : Method
        The entry in `pucli.methods`.
    params : mapping
        Parameters that all points share.
    n, n_points : int
        Rows, and points of the grid.
    """
    rank = FIRST_RANK if _is_rbf(method, params) else None
    whole = WHOLE_LINEAR_ROWS if rank is None else WHOLE_KERNEL_ROWS
    features = min(n, LAST_RANK) if n <= EXACT_ROWS else max(LEAST_RANK, min(LATER_RANK, FEATURE_NUMBERS // n))
    last = Stage(n, None if rank is None else features, 1)
    if n <= whole or n_points <= FINALISTS:
        return [last if n > whole else Stage(n, None, 1)]
    if rank is None:
        sizes = [size for size in SAMPLE_ROWS if size < n]
    else:
        sizes = [min(n, EXACT_ROWS), *(size for size in SAMPLE_ROWS[:1] if size < n)]
    stages, left = [], n_points
    for place, size in enumerate(sizes):
        left = FINALISTS if place == len(sizes) - 1 else max(FINALISTS, round(SURVIVORS * left))
        stages.append(Stage(size, rank, left))
    return [*stages, last]


def _is_rbf(method: Method, params: Point) -> bool:
    """Whether all points take the RBF kernel of a method that `LandmarkRoute` knows."""
    known = {**estimator_class(method)().get_params(), **params}
    plain = known.get("form", "rkhs") == "rkhs" and known.get("max_rank") is None
    plain = plain and known.get("solver", "dual") != "admm"
    return method.name in METHODS and known.get("kernel") == "rbf" and plain


class Sample(NamedTuple):
    """Part of the rows: their numbers, sorted, and the share of each kind of row that they are."""

    rows: Ints
    shares: Mapping[str, float]


def nested_sample(s: Ints, size: int, seed: int) -> Sample:
    """Return `size` of the rows; a smaller sample of the same seed is part of a larger one.

    Labelled rows are in proportion, but at least `LABELLED_ROWS` of them, if there are so many.
    """
    n = len(s)
    if size >= n:
        return Sample(np.arange(n), {"labelled": 1.0, "unlabeled": 1.0, "all": 1.0})
    order = stream(seed, "stages").permutation(n)
    labelled, unlabeled = order[s[order] == 1], order[s[order] != 1]
    n_l = min(len(labelled), max(round(size * len(labelled) / n), LABELLED_ROWS))
    n_u = min(len(unlabeled), size - n_l)
    shares = {"labelled": n_l / len(labelled), "unlabeled": n_u / len(unlabeled), "all": (n_l + n_u) / n}
    return Sample(np.sort(np.concatenate([labelled[:n_l], unlabeled[:n_u]])), shares)


class StagedPoints:
    """The evaluation of a grid's points in stages.

    Parameters
    ----------
    method : Method
    X : ndarray of shape (n, m)
    s : ndarray of shape (n,)
    fixed : mapping
        Parameters that all points share, numbers in place of words.
    cut : tuple of (folds, repeats)
        Of the cross-validation.
    seed : int
        Of samples and folds.
    rule : Rule
        By which the better points are told.
    n_jobs : int
    """

    def __init__(
        self,
        method: Method,
        X: Floats,
        s: Ints,
        fixed: Point,
        cut: tuple[int, int],
        seed: int,
        rule: Rule,
        n_jobs: int = 1,
    ) -> None:
        self.method, self.X, self.s, self.fixed = method, X, s, fixed
        self.cut, self.seed, self.rule, self.n_jobs = cut, seed, rule, n_jobs
        self.defaults = estimator_class(method)().get_params()

    def route(self, stage: Stage, sample: Sample) -> Route:
        """Return the route of one stage; of a sample, points have to be `weighed`."""
        X, s = (self.X, self.s) if len(sample.rows) == len(self.s) else (self.X[sample.rows], self.s[sample.rows])
        folds = pu_folds(s, self.cut[0], self.seed, self.cut[1])
        fixed = self.weighed(dict(self.fixed), sample, self.defaults)
        if stage.rank is not None:
            return LandmarkRoute(self.method, X, s, folds, {**self.defaults, **fixed}, stage.rank, self.n_jobs)
        return make_route("auto", self.method, X, s, folds, fixed, None, self.n_jobs)

    def weighed(self, point: Point, sample: Sample, defaults: Point | None = None) -> dict[str, Any]:
        """Return a point whose weights of rows are those that stand for all rows; `defaults` are weighed as well."""
        found = dict(point)
        for name, kind in ROW_WEIGHTS.items():
            value = found.get(name, (defaults or {}).get(name))
            if isinstance(value, int | float) and sample.shares[kind] < 1.0:
                found[name] = value / sample.shares[kind]
        return found

    def leading(self, points: Sequence[Point], counts: Ints, keep: int) -> list[int]:
        """Return the `keep` better points, in their order: the one that the rule chooses, then by score."""
        scores = score_counts(counts, self.rule)
        best = choose(points, scores, self.rule)
        worth = _worth(scores, self.rule)
        worth[best] = np.inf
        return sorted(np.argsort(-worth, kind="stable")[:keep].tolist())

    def told(self, first: Sequence[Stage], last: Stage, finalists: int) -> str:
        """Return a line on what the stages before the last one were, if there were any."""
        if not first:
            return ""
        n = len(self.s)
        parts = []
        for stage in first:
            rows = "all rows" if stage.rows == n else f"{stage.rows} of {n} rows"
            parts.append(rows if stage.rank is None else f"{rows} and {stage.rank} features of the kernel")
        end = "all rows" if last.rank is None else "the whole kernel"
        if last.rank is not None and last.rank < n:
            end = f"all rows and {last.rank} features"
        return f"points were compared on {', then on '.join(parts)}, and the best {finalists} of them on {end}"


def _worth(scores: Scores, rule: Rule) -> Floats:
    """Return the number by which points are sorted: the score or its lower bound; constant models come last."""
    worth = scores.score - (scores.standard_error if rule.name == "puf-lower-1se" else 0.0)
    return np.where(scores.constant, -np.inf, worth)
