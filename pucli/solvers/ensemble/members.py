"""The members of the ensemble, each a family of models with its own held-out scores.

A member has a name, the view of the features that it learns from, and a function `fit(rows, rng)` that returns a model
with a method `score`, the held-out scores of the training rows, and the chosen parameters. To add a member, pass
`AutoPU(members=[*MEMBERS, mine])` with another `Member`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from pucli.core.saved_state import Array, Nested, State
from pucli.solvers.ensemble.boosting.bags import BagKind, fit_bags
from pucli.solvers.ensemble.boosting.categories import Categories
from pucli.solvers.ensemble.forests import BoostingKind, ForestKind, fit_boosting, fit_forest
from pucli.solvers.ensemble.least_squares.linear import fit_linear
from pucli.solvers.ensemble.ridge import fit_kernel_ridge, refit_kernel_ridge
from pucli.solvers.ensemble.rows import GaussianRanks, Standardize, make_gaussian_ranks, make_standardize
from pucli.solvers.ensemble.screening import best_size, fit_centroids, is_wide
from pucli.solvers.ensemble.trees import Bins, make_bins

# Soft labels are less noisy, so they are fitted with a smaller ridge (by this factor) and smaller leaves.
SOFT_RIDGE, SOFT_LEAST = 0.3, 3
# Tables with more than `SMALL` rows have bags of boosted trees in place of single boosted models, of two sizes, as the
# best size depends on the table, and do without the members that cost more than they add there: half of the ridges and,
# above `MEDIUM` rows, the extra trees.
SMALL, MEDIUM = 800, 2000
# Tables with more columns also have linear least squares: of many columns, such as words, few single ones matter.
WIDE = 300


class Model(Protocol):
    """A fitted model."""

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the scores (n,) of rows in the member's view."""


@dataclass
class Views:
    """Views of the features, of which each member takes one."""

    # (m,), 1 or -1, by which each feature is multiplied first (`pucli.solvers.ensemble.rows.feature_signs`)
    signs: np.ndarray
    raw: Standardize  # standardized features
    ranks: GaussianRanks  # Gaussian quantiles of ranks
    bins: Bins  # bins for trees
    saved_state: ClassVar[State] = {
        "signs": Array("m", low=-1.0, high=1.0),
        "raw": Nested("Standardize"),
        "ranks": Nested("GaussianRanks"),
        "bins": Nested("Bins"),
    }

    def of(self, X: np.ndarray) -> dict[str, np.ndarray]:
        """Return the rows of X (n, m) in each view."""
        return {name: self.one(name, X) for name in ("raw", "ranks", "bins")}

    def one(self, name: str, X: np.ndarray) -> np.ndarray:
        """Return the rows of X (n, m) in one view."""
        view: Standardize | GaussianRanks | Bins = getattr(self, name)
        return view.of(X * self.signs)


def make_views(X: np.ndarray, signs: np.ndarray | None = None) -> Views:
    """Return the views of the training rows X (n, m) times `signs` (m,); None means +1 for every feature."""
    signs = np.ones(X.shape[1]) if signs is None else signs
    X = X * signs
    return Views(signs, make_standardize(X), make_gaussian_ranks(X), make_bins(X))


@dataclass(frozen=True)
class MemberRows:
    """Training rows of a member."""

    X: np.ndarray  # (n, m), rows in the view of the member
    labeled: np.ndarray  # (n,), True for labeled positives
    folds: np.ndarray  # (repeats, n), fold of each row in each division, from 0
    categories: Categories | None = None  # categories among the features


Fit = Callable[[MemberRows, np.random.Generator], tuple[Model, np.ndarray, dict[str, Any]]]


Refit = Callable[
    [MemberRows, np.ndarray, Any, dict[str, Any], np.random.Generator],
    tuple[Model, np.ndarray],
]


@dataclass(frozen=True)
class Member:
    """A member of the ensemble."""

    name: str
    view: str  # of the features that it takes: "raw", "ranks" or "bins"
    # takes the training rows and a generator; returns the model, the held-out scores (n,) and the chosen parameters
    fit: Fit
    # takes the training rows, targets (n,) from -1 to 1, the first model, its parameters and a generator; returns the
    # model and the held-out scores (n,)
    refit: Refit | None = None
    # the member is used for tables with more than `above` and at most `most` rows
    above: int = 0
    most: int | None = None
    wider: int = 0  # the member is used for tables with more than so many columns
    # the member is used for wide tables alone, for all others, or, if None, for both
    wide: bool | None = None


def members_for(members: Sequence[Member], n: int, m: int) -> tuple[Member, ...]:
    """Return the members that are used for a table; all of them if none is meant for it."""
    found = tuple(
        member
        for member in members
        if member.above < n
        and (member.most is None or n <= member.most)
        and member.wider < m
        and member.wide in (None, is_wide(n, m))
    )
    return found or tuple(members)


def _ridge(kernel: str, rows: MemberRows, rng: np.random.Generator) -> tuple[Model, np.ndarray, dict[str, Any]]:
    return fit_kernel_ridge(rows.X, rows.labeled, rows.folds[:1], kernel, rng)


def _ridge_again(
    rows: MemberRows, targets: np.ndarray, model: Any, parameters: dict[str, Any], rng: np.random.Generator
) -> tuple[Model, np.ndarray]:
    ridge = SOFT_RIDGE * parameters["ridge"]
    return refit_kernel_ridge(model, rows.X, rows.labeled, targets, rows.folds[0], ridge)


def _forest(kind: ForestKind, rows: MemberRows, rng: np.random.Generator) -> tuple[Model, np.ndarray, dict[str, Any]]:
    grown = kind if len(rows.X) <= MEDIUM else kind.for_many(int(np.count_nonzero(rows.labeled)))
    model, held_out, chosen = best_size(
        lambda size: fit_forest(rows.X, rows.labeled, rows.folds, grown, rng, size=size), rows.X, rows.labeled
    )
    return model, held_out, {"trees": grown.trees, "least": grown.least} | chosen


def _forest_again(
    kind: ForestKind,
    rows: MemberRows,
    targets: np.ndarray,
    model: Any,
    parameters: dict[str, Any],
    rng: np.random.Generator,
) -> tuple[Model, np.ndarray]:
    return fit_forest(rows.X, rows.labeled, rows.folds, kind, rng, targets, parameters.get("columns"))


def _boosting(rows: MemberRows, rng: np.random.Generator) -> tuple[Model, np.ndarray, dict[str, Any]]:
    kind = BoostingKind()
    model, held_out, chosen = best_size(
        lambda size: fit_boosting(rows.X, rows.labeled, rows.folds, kind, rng, size), rows.X, rows.labeled
    )
    return model, held_out, {"rounds": kind.rounds, "rate": kind.rate, "depth": kind.depth} | chosen


def _bags(kind: BagKind, rows: MemberRows, rng: np.random.Generator) -> tuple[Model, np.ndarray, dict[str, Any]]:
    model, held_out, rounds = fit_bags(rows.X, rows.labeled, rows.folds, kind, rng, rows.categories)
    return model, held_out, {"bags": kind.bags, "rounds": rounds, "rate": kind.rate, "leaves": kind.leaves}


def _linear(rows: MemberRows, rng: np.random.Generator) -> tuple[Model, np.ndarray, dict[str, Any]]:
    return fit_linear(rows.X, rows.labeled, rows.folds[0], rng)


def _centroids(rows: MemberRows, rng: np.random.Generator) -> tuple[Model, np.ndarray, dict[str, Any]]:
    return fit_centroids(rows.X, rows.labeled, rows.folds)


EXTRA = ForestKind()
RANDOM = ForestKind(random=False, bootstrap=True)
SOFT_EXTRA, SOFT_RANDOM = (replace(kind, least=SOFT_LEAST) for kind in (EXTRA, RANDOM))

MEMBERS: tuple[Member, ...] = (
    Member("ridge-gaussian", "raw", partial(_ridge, "gaussian"), _ridge_again),
    Member("ridge-laplace", "raw", partial(_ridge, "laplace"), _ridge_again, most=SMALL, wide=False),
    Member("ridge-gaussian-ranks", "ranks", partial(_ridge, "gaussian"), _ridge_again, most=SMALL, wide=False),
    Member("ridge-laplace-ranks", "ranks", partial(_ridge, "laplace"), _ridge_again),
    Member("least-squares", "raw", _linear, above=SMALL, wider=WIDE),
    Member("shrunken-centroids", "ranks", _centroids, wide=True),
    Member("extra-trees", "bins", partial(_forest, EXTRA), partial(_forest_again, SOFT_EXTRA), most=MEDIUM),
    Member("random-forest", "bins", partial(_forest, RANDOM), partial(_forest_again, SOFT_RANDOM)),
    Member("boosted-trees", "bins", _boosting, most=SMALL),
    Member("boosted-small-trees", "bins", partial(_bags, BagKind(leaves=8, bags=6, rounds=210)), above=SMALL),
    Member("boosted-large-trees", "bins", partial(_bags, BagKind()), above=SMALL),
)
