"""Search in stages: all points on few rows or kernel features, the better points on more, the best on all.

A sum over a share q of the rows is smaller by the factor q, so that a ridge has more effect. Rows of a sample therefore
have weight 1 / q, so that a point means the same model at every stage. Samples are nested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pucli.core.arrays import Floats, Ints
from pucli.core.seeding import stream
from pucli.methods import Method, estimator_class
from pucli.tuning.evidence import Evidence
from pucli.tuning.folds import pu_folds
from pucli.tuning.paths.landmarks import LandmarkRoute
from pucli.tuning.routes import FoldedRows, Point, Route, make_route
from pucli.tuning.scorers import RANKING, Rule, choose

# Up to these numbers of rows, all points are evaluated on the whole kernel, or on all rows for a linear method.
WHOLE_KERNEL_ROWS = 600
WHOLE_LINEAR_ROWS = 50_000
# Up to this number of rows, the last stage uses `LAST_RANK` features of the kernel; above, and for methods whose steps
# are `cubic`, it uses `LATER_RANK`.
EXACT_ROWS = 5000
# Numbers of rows of the samples, and their minimum number of labeled rows, if available.
SAMPLE_ROWS = (20_000, 100_000)
LABELED_ROWS = 500
# Numbers of features of a kernel at the stages before the last one, and at the last one.
FIRST_RANK, LATER_RANK, LAST_RANK = 256, 512, 1000
# Above `EXACT_ROWS` so many numbers in all, within limits.
FEATURE_NUMBERS, LEAST_RANK = 25_000_000, 32
# Number of points at the last stage, of most methods and of those whose steps are `cubic`, and share of points kept at
# each earlier stage.
FINALISTS, CUBIC_FINALISTS = 6, 4
SURVIVORS = 0.2
# Parameters that weight the rows of a sum, with the kind of rows that they weight.
ROW_WEIGHTS = {"c_p": "labeled", "c_u": "unlabeled", "C": "all"}


class Stage(NamedTuple):
    """Evaluation of the remaining points."""

    rows: int  # number of rows of the sample; all rows at the last stage
    # number of features of the kernel, equal to the number of rows for the whole kernel; None for the method itself
    rank: int | None
    keep: int  # number of points for the next stage
    once: bool = False  # whether one cross-validation is enough


def plan_stages(method: Method, params: Point, n: int, n_points: int) -> list[Stage]:
    """Return the stages for n rows; the last stage has all rows."""
    rank = FIRST_RANK if _is_rbf(method, params) else None
    whole = WHOLE_LINEAR_ROWS if rank is None else WHOLE_KERNEL_ROWS
    slow = method.cubic and rank is not None
    finalizts = min(FINALISTS, CUBIC_FINALISTS) if slow else FINALISTS
    most = LATER_RANK if n > EXACT_ROWS or slow else LAST_RANK
    features = min(n, most) if n <= EXACT_ROWS else max(LEAST_RANK, min(most, FEATURE_NUMBERS // n))
    last = Stage(n, None if rank is None else features, 1)
    if n <= whole or n_points <= finalizts:
        return [last if n > whole else Stage(n, None, 1)]
    if rank is None:
        sizes = [size for size in SAMPLE_ROWS if size < n]
    else:
        sizes = [min(n, EXACT_ROWS), *(size for size in SAMPLE_ROWS[:1] if size < n)]
    stages, left = [], n_points
    for place, size in enumerate(sizes):
        left = finalizts if place == len(sizes) - 1 else max(finalizts, round(SURVIVORS * left))
        stages.append(Stage(size, rank, left, once=place == 0))
    return [*stages, last]


def _is_rbf(method: Method, params: Point) -> bool:
    """Return whether all points have the RBF kernel of a method supported by `LandmarkRoute`."""
    known = {**estimator_class(method)().get_params(), **params}
    plain = known.get("form", "rkhs") == "rkhs" and known.get("max_rank") is None
    plain = plain and known.get("solver", "dual") != "admm" and known.get("threshold") is None
    return method.on_features and known.get("kernel") == "rbf" and plain


class SampledRows(NamedTuple):
    """A sample of rows: their sorted numbers, and the sampled share of each kind of row."""

    rows: Ints
    shares: Mapping[str, float]


@dataclass(frozen=True)
class StagedPoints:
    """Evaluation of the points of a grid in stages."""

    # as in `tune`, and so are n_jobs and groups
    method: Method
    X: Floats
    s: Ints
    fixed: Point  # parameters shared by all points, with numbers in place of words
    # numbers of folds and of cross-validations; the first of several stages has one cross-validation
    n_folds: int
    cv_repeats: int
    seed: int  # seed of samples and folds
    rule: Rule  # rule by which points are compared
    n_jobs: int = 1
    groups: Ints | None = None

    @property
    def defaults(self) -> dict[str, Any]:
        """The parameters of the method that no point sets."""
        found: dict[str, Any] = estimator_class(self.method)().get_params()
        return found

    def sample(self, size: int) -> SampledRows:
        """Return a sample of `size` rows; samples are nested, and one of n or more has all rows.

        Labeled rows are sampled in proportion, but at least `LABELED_ROWS` of them if available.
        """
        n = len(self.s)
        if size >= n:
            return SampledRows(np.arange(n), {"labeled": 1.0, "unlabeled": 1.0, "all": 1.0})
        order = stream(self.seed, "stages").permutation(n)
        labeled, unlabeled = order[self.s[order] == 1], order[self.s[order] != 1]
        n_l = min(len(labeled), max(round(size * len(labeled) / n), LABELED_ROWS))
        n_u = min(len(unlabeled), size - n_l)
        shares = {"labeled": n_l / len(labeled), "unlabeled": n_u / len(unlabeled), "all": (n_l + n_u) / n}
        return SampledRows(np.sort(np.concatenate([labeled[:n_l], unlabeled[:n_u]])), shares)

    def route(self, stage: Stage, sample: SampledRows) -> Route:
        """Return the route of a stage; for a sample, points must be `weighed`."""
        X, s = (self.X, self.s) if len(sample.rows) == len(self.s) else (self.X[sample.rows], self.s[sample.rows])
        groups = None if self.groups is None else self.groups[sample.rows]
        folds = pu_folds(s, self.n_folds, self.seed, 1 if stage.once else self.cv_repeats, groups)
        fixed, scores = self.weighed(dict(self.fixed), sample, self.defaults), self.rule.name == RANKING
        if stage.rank is not None:
            params = {**self.defaults, **fixed}
            return LandmarkRoute(self.method, X, s, folds, params, stage.rank, self.n_jobs, scores)
        return make_route("auto", self.method, FoldedRows(X, s, folds), fixed, None, self.n_jobs, scores)

    def weighed(self, point: Point, sample: SampledRows, defaults: Point | None = None) -> dict[str, Any]:
        """Return a point with row weights that make the sample represent all rows."""
        found = dict(point)
        for name, kind in ROW_WEIGHTS.items():
            value = found.get(name, (defaults or {}).get(name))
            if isinstance(value, int | float) and sample.shares[kind] < 1.0:
                found[name] = value / sample.shares[kind]
        return found

    def leading(self, points: Sequence[Point], found: Evidence, keep: int) -> list[int]:
        """Return the ascending indices of the best points: the choice of the rule and those with the highest scores."""
        scores = found.scores(self.rule)
        worth = scores.score - (scores.standard_error if self.rule.name == "puf-lower-1se" else 0.0)
        worth = np.where(scores.constant, -np.inf, worth)
        worth[choose(points, scores, self.rule)] = np.inf
        return sorted(np.argsort(-worth, kind="stable")[:keep].tolist())

    def description(self, first: Sequence[Stage], last: Stage, finalizts: int) -> str:
        """Describe the stages before the last one, if any."""
        if not first:
            return ""
        n = len(self.s)
        parts = []
        for stage in first:
            rows = "all rows" if stage.rows == n else f"{stage.rows} of {n} rows"
            once = " by one cross-validation" if stage.once and self.cv_repeats > 1 else ""
            parts.append(rows if stage.rank is None else f"{rows} and {stage.rank} features of the kernel{once}")
        end = "all rows" if last.rank is None else "the whole kernel"
        if last.rank is not None and last.rank < n:
            end = f"all rows and {last.rank} features"
        return f"points were compared on {', then on '.join(parts)}, and the best {finalizts} of them on {end}"
